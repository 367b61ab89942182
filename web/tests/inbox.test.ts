// The inbox and notifications as data.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deliveryLine, joined, newsOf } from "../src/model/inbox.ts";
import { parseReminders, remindersText, toggled } from "../src/model/notify.ts";
import { notificationOf, testText } from "../src/model/push.ts";
import type { InboxItem, PushMessage } from "../src/wire.ts";

const item = (id: string, more: Partial<InboxItem> = {}): InboxItem => ({ id, position: 1, kind: "finished", at: "2026-01-01T00:00:00Z", link: "#/", ...more });

const message: Extract<PushMessage, { type: "notify" }> = {
  type: "notify",
  v: 1,
  id: "1",
  tag: "t",
  kind: "permission",
  title: "shop",
  body: "A permission request waits",
  url: "#/s/k?ask=toolu_1",
  at: "2026-01-01T00:00:00Z",
  reminder: 0,
  waiting: true,
  badge: 1,
  risk: "LOW",
  actions: { token: "once", decisions: ["allow", "deny"] },
};

test("a request of low or medium risk has buttons, and the token is only in its data", () => {
  for (const risk of ["LOW", "MEDIUM"] as const) {
    const { title, options } = notificationOf({ ...message, risk });
    assert.equal(title, "shop");
    assert.deepEqual(options.actions, [{ action: "allow", title: "Allow once" }, { action: "deny", title: "Deny" }]);
    assert.deepEqual(options.data, { place: "#/s/k?ask=toolu_1", token: "once" });
    assert.equal(options.requireInteraction, true);
    assert.ok(!`${title} ${options.body} ${options.tag}`.includes("once"));
  }
});

test("a request of high risk has no buttons, even if a message offers them", () => {
  const { options } = notificationOf({ ...message, risk: "HIGH" });
  assert.equal(options.actions, undefined);
  assert.deepEqual(options.data, { place: "#/s/k?ask=toolu_1" });
});

test("only a reminder alerts again, and only a message with details shows them", () => {
  assert.equal(notificationOf(message).options.renotify, false);
  assert.equal(notificationOf({ ...message, reminder: 2 }).options.renotify, true);
  assert.equal(notificationOf(message).options.body, "A permission request waits");
  assert.equal(notificationOf({ ...message, detail: "Bash: make" }).options.body, "A permission request waits\nBash: make");
});

test("a failed test says what went wrong", () => {
  assert.equal(testText({ sent: false, kind: "gone", message: "The subscription has ended", hint: "turn notifications on again" }), "The subscription has ended (turn notifications on again).");
  assert.equal(testText({ sent: false, kind: "tls" }), "tls.");
  assert.match(testText({ sent: true }), /sent/);
});

test("news of a session are its unread items that do not wait", () => {
  const items = [item("a", { session: "s", unread: true }), item("b", { session: "s" }), item("c", { session: "s", unread: true, waiting: true }), item("d", { session: "other", unread: true })];
  assert.deepEqual(newsOf(items, "s"), ["a"]);
});

test("pages are joined without repeating an item that moved between them", () => {
  assert.deepEqual(joined([item("a"), item("b")], [item("b"), item("c")]).map(({ id }) => id), ["a", "b", "c"]);
});

test("reminders are minutes to the user and seconds to the server", () => {
  assert.equal(remindersText([60, 300, 1800]), "1, 5, 30");
  assert.deepEqual(parseReminders(" 1, 5 30;0.5"), [60, 300, 1800, 30]);
  assert.deepEqual(parseReminders(""), []);
  for (const wrong of ["soon", "0", "-1", "1, x"]) assert.equal(parseReminders(wrong), undefined, wrong);
});

test("a delivery is one line with its reason", () => {
  assert.equal(deliveryLine({ target: "1", kind: "ntfy", name: "phone", state: "failed", at: "", tries: 1, error: "timeout" }), "phone: failed (timeout)");
  assert.equal(deliveryLine({ target: "1", kind: "ntfy", name: "phone", state: "waiting", at: "", tries: 0 }), "phone: not sent yet");
});

test("muting a session twice leaves the others as they were", () => {
  assert.deepEqual(toggled(["a"], "b"), ["a", "b"]);
  assert.deepEqual(toggled(["a", "b"], "b"), ["a"]);
});
