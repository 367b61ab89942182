// The current view, as the part of the address after the `#`, which the server does not receive.

import { signal } from "@preact/signals";

export type Route =
  | { view: "home" }
  | { view: "session"; id: string; /** The pending request that a notification was about. */ ask?: string | undefined; /** The message that a link is about. */ at?: string | undefined }
  | { view: "inbox"; state: string; kind: string | undefined }
  | { view: "new"; resume: string | undefined; cwd: string | undefined; /** True if the session is to be forked. */ fork?: boolean; /** True if an app shared something with this page. */ shared?: boolean }
  | { view: "history"; id: string | undefined; wanted?: Wanted }
  | { view: "cost" }
  | { view: "settings"; /** Name of a section. */ section?: string | undefined };

/** Search of the sessions on disk, and the displayed part of one of them. */
export interface Wanted {
  words?: string | undefined;
  /** The matching line in a session. */
  around?: string | undefined;
  project?: string | undefined;
  sort?: string | undefined;
  /** The message that a link is about. */
  message?: string | undefined;
  /** The last entry of the displayed branch. */
  leaf?: string | undefined;
}

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
      return `#/s/${encodeURIComponent(to.id)}${queryOf({ ask: to.ask, at: to.at })}`;
    case "inbox":
      return `#/inbox${queryOf({ state: to.state === "all" ? undefined : to.state, kind: to.kind })}`;
    case "new":
      return `#/new${queryOf({ resume: to.resume, cwd: to.cwd, fork: to.fork ? "1" : undefined, shared: to.shared ? "1" : undefined })}`;
    case "history": {
      const { words, around, project, sort, message, leaf } = to.wanted ?? {};
      return `#/history${to.id === undefined ? "" : `/${encodeURIComponent(to.id)}`}${queryOf({ q: words, at: around, project, sort, leaf, message })}`;
    }
    case "cost":
      return "#/cost";
    case "settings":
      return `#/settings${to.section === undefined ? "" : `/${to.section}`}`;
  }
}

export function go(to: Route): void {
  location.hash = href(to);
}

/** Replaces the parameters of the current view without a new history entry, so that Back leaves the view. */
export function amend(to: Route): void {
  history.replaceState(history.state, "", href(to));
  route.value = to;
}

function queryOf(given: Record<string, string | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined && value !== "") query.set(name, value);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view, id] = path.split("/");
  const name = id === undefined || id === "" ? undefined : decode(id);
  const asked = new URLSearchParams(query);
  const given = (what: string) => asked.get(what) ?? undefined;
  if (view === "s" && name !== undefined) return { view: "session", id: name, ask: given("ask"), at: given("at") };
  if (view === "inbox") return { view: "inbox", state: given("state") ?? "all", kind: given("kind") };
  if (view === "new") return { view: "new", resume: given("resume"), cwd: given("cwd"), fork: given("fork") === "1", shared: given("shared") === "1" };
  if (view === "history") return { view: "history", id: name, wanted: { words: given("q"), around: given("at"), project: given("project"), sort: given("sort"), message: given("message"), leaf: given("leaf") } };
  if (view === "cost") return { view: "cost" };
  if (view === "settings") return { view: "settings", section: name };
  return { view: "home" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
