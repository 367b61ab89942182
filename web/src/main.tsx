// The beginning: a code in the address is exchanged for a credential and taken out of it, then the page is drawn.

import { render } from "preact";
import { followClock } from "./app/clock.ts";
import { followKeys } from "./app/keys.ts";
import { followPrefs } from "./app/prefs.ts";
import { followAddress, route } from "./app/route.ts";
import { keepShell } from "./app/shell.ts";
import { enter, entrance, followAttention, followRoute, pair, words } from "./app/store.ts";
import { followTitle } from "./app/title.ts";
import { followFirst } from "./app/first.ts";
import { App } from "./view/app.tsx";
import "./style/main.css";

async function begin(): Promise<void> {
  const root = document.getElementById("root");
  if (root === null) return;
  followPrefs();
  followAddress();
  followClock();
  followKeys();
  followAttention();
  let problem = "";
  const code = /[#&]code=([^&]+)/.exec(location.hash)?.[1];
  if (code !== undefined) {
    // Taken out at once: it is good for nothing afterwards, and nobody should copy it.
    history.replaceState(null, "", `${location.pathname}#/`);
    route.value = { view: "home" };
    try {
      await pair(decodeURIComponent(code));
    } catch (error) {
      problem = words(error);
      await enter();
    }
  } else {
    await enter();
  }
  if (entrance.value === "outside" && problem === "" && code !== undefined) problem = "The code is not good any more.";
  followRoute();
  followFirst();
  followTitle();
  render(<App problem={problem} />, root);
  keepShell();
}

void begin();
