// Entry point: exchanges a pairing code in the address for a credential, removes it, and renders the page.

import { render } from "preact";
import { followClock } from "./app/clock.ts";
import { followEscape } from "./app/dismiss.ts";
import { followKeys } from "./app/keys.ts";
import { followDisk } from "./app/disk.ts";
import { followSeen } from "./app/marks.ts";
import { paletteShown } from "./app/palette.ts";
import { followPrefs } from "./app/prefs.ts";
import { followCodes, pairByAddress, pairProblem } from "./app/pairing.ts";
import { followAddress } from "./app/route.ts";
import { keepShell } from "./app/shell.ts";
import { followStorage } from "./app/storage.ts";
import { authenticate, authState, followAttention, followRoute } from "./app/store.ts";
import { followInbox } from "./app/inbox.ts";
import { followTitle } from "./app/title.ts";
import { followInitialView } from "./app/initial-view.ts";
import { hasCode } from "./model/code.ts";
import { App } from "./view/app.tsx";
import "./style/main.css";

async function begin(): Promise<void> {
  const root = document.getElementById("root");
  if (root === null) return;
  followPrefs();
  followAddress();
  followClock();
  followEscape();
  followKeys(() => (paletteShown.value = !paletteShown.value));
  followAttention();
  followStorage();
  const isPairing = hasCode(location.hash);
  if (isPairing) await pairByAddress();
  else await authenticate();
  if (authState.value === "unpaired" && pairProblem.value === "" && isPairing) pairProblem.value = "The code was used or has expired.";
  followCodes();
  followRoute();
  followInitialView();
  followInbox();
  followDisk();
  followSeen();
  followTitle();
  render(<App />, root);
  keepShell();
}

void begin();
