// Finding sessions: groups, filter, palette, recalled prompts, folders.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../src/model/conversation.ts";
import { listedFolders, queryFor, suggestFolders } from "../src/model/folders.ts";
import type { Entry, Marks } from "../src/model/groups.ts";
import { entriesOf, groupsOf, recentFolders } from "../src/model/groups.ts";
import { rankOf } from "../src/model/rank.ts";
import { earlierPrompts, recall } from "../src/model/recall.ts";
import type { SessionView, Transcript } from "../src/wire.ts";

const session = (key: string, more: Partial<SessionView> = {}): SessionView =>
  ({ key, handle: 1, cwd: "/home/me/shop", state: "idle", labels: {}, cli_session_ids: [`cli-${key}`], active: "2026-11-02T10:00:00Z", origin: "server", title: key, totals: { turns: 0, cost_usd: 0 }, ...more }) as SessionView;
const file = (id: string, more: Partial<Transcript> = {}): Transcript => ({ id, project: "shop", cwd: "/home/me/shop", subagents: 0, bytes: 1, title: `File ${id}`, modified: "2026-11-01T10:00:00Z", ...more }) as Transcript;
const marks = (pinned: string[] = [], archived: string[] = []): Marks => ({ pinned: ({ key }) => pinned.includes(key), archived: ({ key }) => archived.includes(key), unread: ({ key }) => key === "new" });
const shown = (groups: { title: string; entries: Entry[] }[]) => groups.map(({ title, entries }) => [title, ...entries.map(({ key }) => key)]);

test("a file that a session of the server continues is listed once", () => {
  const all = entriesOf([session("a", { cli_session_ids: ["one", "two"] })], [file("one"), file("two"), file("three")]);
  assert.deepEqual(all.map(({ key }) => key), ["a", "three"]);
});

test("a project with a session that needs the user is first, then pinned sessions, then projects by their last use", () => {
  const all = entriesOf(
    [session("asks", { state: "needs_you", active: "2026-10-01T00:00:00Z" }), session("a"), session("b", { cwd: "/home/me/blog", active: "2026-11-03T00:00:00Z" }), session("p")],
    [file("d"), file("e", { cwd: "/srv/blog" })],
  );
  assert.deepEqual(shown(groupsOf(all, "all", "", marks(["p"]))), [["shop", "asks", "a", "d"], ["Pinned", "p"], ["me/blog", "b"], ["srv/blog", "e"]]);
});

test("copies of a repository on several servers are one project, with the folder of this server", () => {
  const project = "example.com/acme/shop";
  const all = entriesOf(
    [session("there", { cwd: "/srv/copy", node: "two", project }), session("here", { project }), session("part", { cwd: "/home/me/shop/web", project: `${project}:web` }), session("blog", { cwd: "/home/me/blog" }), session("disk", { cwd: "/nfs/a", node: "two", project: "folder:01" }), session("disk-here", { cwd: "/nfs/a", project: "folder:01" })],
    [file("d"), file("e", { cwd: "/srv/copy" })],
  );
  const groups = groupsOf(all, "all", "", marks());
  assert.deepEqual(shown(groups), [["shop", "there", "here", "d"], ["web", "part"], ["blog", "blog"], ["a", "disk", "disk-here"], ["copy", "e"]]);
  assert.deepEqual(groups.map(({ folder, about }) => [folder, about])[0], ["/home/me/shop", project]);
  assert.deepEqual(groupsOf(all, "all", "acme", marks()).flatMap(({ entries }) => entries).map(({ key }) => key), ["there", "here", "part"]);
  assert.deepEqual(groupsOf(all, "all", "two", marks()).flatMap(({ entries }) => entries).map(({ key }) => key), ["there", "disk"]);
});

test("copies in the archive are listed with archived sessions, each once", () => {
  const all = entriesOf([session("a", { cli_session_ids: ["hosted"] })], [file("d")], [file("d", { archived: true }), file("hosted", { archived: true }), file("gone", { archived: true })]);
  assert.deepEqual(shown(groupsOf(all, "all", "", marks())), [["shop", "a", "d"]]);
  assert.deepEqual(shown(groupsOf(all, "archived", "", marks())), [["shop", "gone"]]);
  assert.deepEqual(shown(groupsOf(all, "archived", "archived copy", marks())), [["shop", "gone"]]);
});

test("archived sessions are listed apart, unless they need the user", () => {
  const all = entriesOf([session("asks", { state: "needs_you" }), session("a"), session("old")], [file("d")]);
  const given = marks([], ["old", "asks", "d"]);
  assert.deepEqual(shown(groupsOf(all, "all", "", given)), [["shop", "asks", "a"]]);
  assert.deepEqual(shown(groupsOf(all, "archived", "", given)), [["shop", "asks", "old", "d"]]);
  assert.deepEqual(shown(groupsOf(all, "disk", "", marks())), [["shop", "d"]]);
});

test("p5 the filter finds everything that a card shows", () => {
  const all = entriesOf([session("a", { title: "", first_prompt: "Mend the gate", model: "claude-opus-5-5", labels: { forked_from: "x" } }), session("new", { origin: "terminal", last_line: "It is done" })], [file("d", { title: "Paint the fence" })]);
  for (const [words, key] of [["gate", "a"], ["opus 5.5", "a"], ["fork", "a"], ["terminal done", "new"], ["unread", "new"], ["fence", "d"], ["on disk", "d"], ["shop paint", "d"]] as const) {
    assert.deepEqual(groupsOf(all, "all", words, marks()).flatMap(({ entries }) => entries).map((entry) => entry.key), [key], words);
  }
  assert.deepEqual(groupsOf(all, "all", "gate fence", marks()), []);
});

test("recent folders are each listed once, the last used first", () => {
  const all = entriesOf([session("a"), session("b", { cwd: "/x", active: "2026-11-04T00:00:00Z" })], [file("d"), file("e", { cwd: "" })]);
  assert.deepEqual(recentFolders(all), ["/x", "/home/me/shop"]);
});

test("the palette ranks beginnings over insides, and finds initials", () => {
  assert.ok(rankOf("new", "New session")! > rankOf("new", "Renew the certificate")!);
  assert.ok(rankOf("sess", "New session")! > rankOf("ess", "New session")!);
  assert.ok(rankOf("ns", "New session")! > 0);
  assert.equal(rankOf("new fence", "New session"), undefined);
  assert.ok(rankOf("session shop", "New session", "shop")! > 0);
});

const prompt = (text: string): Item => ({ kind: "prompt", key: text, text, uuid: undefined, origin: undefined, attachments: [], dropped: undefined });

test("the arrow keys recall earlier prompts and return to the empty field", () => {
  const prompts = earlierPrompts([prompt("one"), prompt("two"), prompt("one"), prompt(" ")]);
  assert.deepEqual(prompts, ["two", "one"]);
  assert.equal(recall(prompts, "", "ArrowUp"), "one");
  assert.equal(recall(prompts, "one", "ArrowUp"), "two");
  assert.equal(recall(prompts, "two", "ArrowUp"), undefined);
  assert.equal(recall(prompts, "two", "ArrowDown"), "one");
  assert.equal(recall(prompts, "one", "ArrowDown"), "");
  assert.equal(recall(prompts, "", "ArrowDown"), undefined);
  assert.equal(recall(prompts, "something else", "ArrowUp"), undefined, "a changed text is not replaced");
  assert.equal(recall([], "", "ArrowUp"), undefined);
});

test("a typed path asks for its folder and the beginning of a name", () => {
  assert.deepEqual(queryFor(""), {});
  assert.deepEqual(queryFor("~"), { path: "~" });
  assert.deepEqual(queryFor("~/pro"), { path: "~", q: "pro" });
  assert.deepEqual(queryFor("/home/me/"), { path: "/home/me" });
  assert.deepEqual(queryFor("/ho"), { path: "/", q: "ho" });
  assert.deepEqual(queryFor("shop"), { q: "shop" });
});

test("a path is completed by listed folders, and a word by recent ones", () => {
  const listed = listedFolders({ items: [{ path: "/home/me/shop", git: true }, { path: "/home/me/shelf" }] });
  assert.deepEqual(suggestFolders("/home/me/sh", ["/home/me/shop", "/srv/shed"], listed).map(({ path, kind }) => [path, kind]), [["/home/me/shop", "repository"], ["/home/me/shelf", "folder"]]);
  assert.deepEqual(suggestFolders("shed", ["/home/me/shop", "/srv/shed"], []).map(({ path }) => path), ["/srv/shed"]);
  assert.deepEqual(suggestFolders("/srv/shed", ["/home/me/shop", "/srv/shed"], []).map(({ path }) => path), ["/home/me/shop"], "a chosen one offers the others");
});
