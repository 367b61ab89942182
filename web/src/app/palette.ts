// Entries of the command palette: sessions, actions on the open session, views and settings.

import { signal } from "@preact/signals";
import { can } from "../model/capabilities.ts";
import type { Entry } from "../model/groups.ts";
import { entryName, entryTime, fileOf, folderOf } from "../model/groups.ts";
import { rankOf } from "../model/rank.ts";
import { baseName } from "../text/format.ts";
import type { IconName } from "../view/icons.tsx";
import { canStart } from "./agents.ts";
import { keysShown } from "./keys.ts";
import { viewOf } from "./list.ts";
import { hasMark, setMark } from "./marks.ts";
import { wantNotifications } from "./notify.ts";
import { prefs, setPref } from "./prefs.ts";
import type { Route } from "./route.ts";
import { go } from "./route.ts";
import { sessionActions } from "./session-actions.ts";
import { deleting, entries } from "./sessions.ts";
import { SECTIONS } from "./sections.ts";
import { command, hasScope, open } from "./store.ts";

export interface Command {
  id: string;
  kind: "Session" | "Action" | "Go to" | "Setting";
  icon: IconName;
  label: string;
  /** Text beside the label, which is searched too. */
  hint: string;
  keys?: string;
  run(): void;
}

export const paletteShown = signal(false);

/** Number of sessions that are listed before the user types. */
const SESSIONS_FIRST = 6;
const RESULTS_MAX = 60;

/** The entries for some words, the best first; without words those that are most likely wanted. */
export function commandsFor(words: string): Command[] {
  const actions = [...sessionCommands(), ...views(), ...settings()];
  if (words.trim() === "") return [...sessionEntries().slice(0, SESSIONS_FIRST), ...actions];
  return [...sessionEntries(), ...actions]
    .flatMap((one) => {
      const rank = rankOf(words, one.label, `${one.hint} ${one.kind} ${one.kind === "Action" ? "this session" : ""}`);
      return rank === undefined ? [] : [{ one, rank }];
    })
    .sort((one, other) => other.rank - one.rank)
    .slice(0, RESULTS_MAX)
    .map(({ one }) => one);
}

function sessionEntries(): Command[] {
  const needs = (entry: Entry) => Number(entry.kind === "live" && entry.session.state === "needs_you");
  return [...entries.value]
    .sort((one, other) => needs(other) - needs(one) || entryTime(other).localeCompare(entryTime(one)))
    .map((entry) => ({
      id: `session ${entry.key}`,
      kind: "Session" as const,
      icon: entry.kind === "disk" ? "disk" : needs(entry) > 0 ? "bell" : entry.session.origin === "terminal" ? "terminal" : "chat",
      label: entryName(entry),
      hint: [baseName(folderOf(entry)), entry.kind === "disk" ? "on disk" : entry.session.state === "needs_you" ? "needs you" : ""].filter(Boolean).join(" · "),
      run: () => go(entry.kind === "live" ? { view: "session", id: entry.key } : { view: "history", id: entry.key }),
    }));
}

/** Actions on the open session, as far as it and this device allow them. */
function sessionCommands(): Command[] {
  const session = open.value === undefined ? undefined : viewOf(open.value.name);
  const on = sessionActions.value;
  if (session === undefined || on === undefined) return [];
  const made: Command[] = [];
  const add = (label: string, icon: IconName, run: () => void, keys?: string) => made.push({ id: `action ${label}`, kind: "Action", icon, label, hint: "", run, ...(keys === undefined ? {} : { keys }) });
  const busy = session.state === "running" || session.state === "needs_you" || session.state === "starting";
  const entry: Entry = { kind: "live", key: session.key, session };
  if (hasScope("prompt")) {
    if (busy && can(session, "interrupt")) add("Interrupt the turn", "stop", () => command(session.key, "interrupt"), "Esc");
    if (can(session, "compact")) add("Compact the conversation", "compress", () => command(session.key, "compact"));
    if (can(session, "rewind")) add("Rewind files…", "undo", () => on.setPanel("rewind"));
    if (can(session, "stop")) add("Stop the agent", "stop", () => command(session.key, "stop"));
    add("Rename the session", "pencil", () => document.querySelector<HTMLElement>(".title-button")?.click());
    const [pinned, archived] = [hasMark(entry, "pinned"), hasMark(entry, "archived")];
    add(pinned ? "Unpin the session" : "Pin the session", "pin", () => void setMark(entry, "pinned", !pinned));
    add(archived ? "Unarchive the session" : "Archive the session", "archive", () => void setMark(entry, "archived", !archived));
    const file = fileOf(session);
    if (file !== undefined) add("Fork the session…", "branch", () => go({ view: "new", resume: file, cwd: session.cwd, fork: true }));
  }
  add("Find in this session", "search", on.find);
  add("Show changed files", "diff", () => on.setPanel("diff"));
  add("Browse files", "folder", () => on.setPanel("files"));
  add("Show the overview", "list", () => on.setPanel("overview"));
  if (hasScope("admin")) add("Delete the session…", "trash", () => (deleting.value = [session.key]));
  return made;
}

function views(): Command[] {
  const to = (label: string, icon: IconName, where: Route, keys?: string): Command => ({ id: `go ${label}`, kind: "Go to", icon, label, hint: "", run: () => go(where), ...(keys === undefined ? {} : { keys }) });
  return [
    ...(hasScope("prompt") && canStart.value ? [to("New session", "plus", { view: "new", resume: undefined, cwd: undefined }, "Alt+N")] : []),
    to("Inbox", "bell", { view: "inbox", state: "all", kind: undefined }),
    to("History", "clock", { view: "history", id: undefined }),
    to("Cost", "chart", { view: "cost" }),
    to("Settings", "gear", { view: "settings" }),
    { id: "go keys", kind: "Go to", icon: "keys", label: "Keyboard shortcuts", hint: "", keys: "?", run: () => (keysShown.value = true) },
  ];
}

function settings(): Command[] {
  const { theme, contrast, notify, showAll } = prefs.value;
  const set = (label: string, icon: IconName, hint: string, run: () => void): Command => ({ id: `set ${label}`, kind: "Setting", icon, label, hint, run });
  const themes = (["auto", "light", "dark"] as const).filter((one) => one !== theme);
  return [
    ...themes.map((one) => set(`Colours: ${one === "auto" ? "like the system" : one}`, "spark", "theme", () => setPref("theme", one))),
    set(contrast ? "Normal contrast" : "High contrast", "spark", "theme", () => setPref("contrast", !contrast)),
    set(notify ? "Turn notifications of this tab off" : "Turn notifications of this tab on", "bell", "", () => void wantNotifications(!notify)),
    set(showAll ? "Hide notes that are meant for logs" : "Show notes that are meant for logs", "list", "", () => setPref("showAll", !showAll)),
    ...SECTIONS.filter(({ scope }) => scope === undefined || hasScope(scope)).map(({ name, title, icon, words }) => set(`Settings: ${title}`, icon, words, () => go({ view: "settings", section: name }))),
  ];
}

