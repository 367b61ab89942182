// Which view is shown, as the part of the address after the `#`: the server needs to know none of it.

import { signal } from "@preact/signals";

export type Route =
  | { view: "home" }
  | { view: "session"; id: string }
  | { view: "new"; resume: string | undefined; cwd: string | undefined }
  | { view: "history"; id: string | undefined }
  | { view: "cost" }
  | { view: "settings" };

export const route = signal<Route>(parse(location.hash));

export function followAddress(): void {
  addEventListener("hashchange", () => {
    route.value = parse(location.hash);
  });
}

export function href(to: Route): string {
  switch (to.view) {
    case "home":
      return "#/";
    case "session":
      return `#/s/${encodeURIComponent(to.id)}`;
    case "new": {
      const query = new URLSearchParams();
      if (to.resume !== undefined) query.set("resume", to.resume);
      if (to.cwd !== undefined) query.set("cwd", to.cwd);
      const text = query.toString();
      return `#/new${text === "" ? "" : `?${text}`}`;
    }
    case "history":
      return to.id === undefined ? "#/history" : `#/history/${encodeURIComponent(to.id)}`;
    case "cost":
      return "#/cost";
    case "settings":
      return "#/settings";
  }
}

export function go(to: Route): void {
  location.hash = href(to);
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, id] = path.split("/");
  const name = id === undefined || id === "" ? undefined : decode(id);
  const wanted = new URLSearchParams(query);
  if (view === "s" && name !== undefined) return { view: "session", id: name };
  if (view === "new") return { view: "new", resume: wanted.get("resume") ?? undefined, cwd: wanted.get("cwd") ?? undefined };
  if (view === "history") return { view: "history", id: name };
  if (view === "cost") return { view: "cost" };
  if (view === "settings") return { view: "settings" };
  return { view: "home" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
