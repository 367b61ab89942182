// Settings and starting: the QR code, links, the audit log, versions, budgets, shared content.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { parseAudit } from "../src/model/audit.ts";
import { NO_BUDGET, budgetLine, budgetOf } from "../src/model/choices.ts";
import { defaultsFor } from "../src/model/defaults.ts";
import { besideTested, driftOf } from "../src/model/drift.ts";
import { isLoopback, linkFor } from "../src/model/pair-link.ts";
import { sharedPrompt } from "../src/model/share.ts";
import { qrCode, qrPath } from "../src/text/qr.ts";

// Codes of these texts were read with another program, jsQR 1.4.0.
const CODES: [text: string, size: number, sha256: string][] = [
  ["http://127.0.0.1:7717/#code=ABCDE-FGHJK", 29, "4ce9268c1f72923b"],
  ["https://tidings.example.org/tidings/#code=ABCDE-FGHJK", 33, "8ad42c6e738b4828"],
  ["x".repeat(213), 57, "f8a692e420006d88"],
];

test("a QR code has the modules that another program reads", () => {
  for (const [text, size, wanted] of CODES) {
    const modules = qrCode(text);
    assert.equal(modules.length, size);
    assert.ok(modules.every((row) => row.length === size));
    const hash = createHash("sha256").update(modules.map((row) => row.map(Number).join("")).join("\n")).digest("hex");
    assert.equal(hash.slice(0, 16), wanted, text);
  }
  assert.throws(() => qrCode("x".repeat(214)), RangeError);
  // Four light modules on each side.
  assert.equal(qrPath("x").size, 21 + 8);
});

test("a device gets the address of this page if the server knows only its loopback address", () => {
  assert.ok(isLoopback("http://127.0.0.1:7717/#code=A") && isLoopback("http://[::1]:1/") && isLoopback("http://localhost/"));
  assert.ok(!isLoopback("http://192.168.1.2/") && !isLoopback("https://127.0.0.1.example.org/"));
  assert.equal(linkFor("http://127.0.0.1:7717/t/#code=A", "https://box.ts.net/t/#/settings"), "https://box.ts.net/t/#code=A");
  assert.equal(linkFor("https://box.ts.net/#code=A", "http://127.0.0.1:7717/#/settings"), "https://box.ts.net/#code=A");
  assert.equal(linkFor("http://127.0.0.1:7717/#code=A", "http://localhost:7717/"), "http://127.0.0.1:7717/#code=A");
});

test("the audit log is read line by line, the newest first", () => {
  const line = (number: number, more: object) => JSON.stringify({ number, at_us: number, who: "user", decision: "allowed", ...more });
  const { lines, broken } = parseAudit([line(1, { device: "Phone", session: "k1" }), "half a li", line(2, { decision: "denied", rule: "Bash(make)" }), "null", ""].join("\n"));
  assert.deepEqual([lines.map(({ number }) => number), broken], [[2, 1], 2]);
});

test("a CLI of another version is compared with all versions that were tested", () => {
  const tone = (installed: string | undefined, tested = "2.1.325") => driftOf(installed, tested, ["2.1.197", "2.1.326"])?.tone;
  assert.equal(tone("2.1.325 (Claude Code)"), "same");
  assert.equal(tone("2.1.326"), "known");
  assert.equal(tone("2.1.300"), "known");
  assert.equal(tone("2.2.0"), "newer");
  assert.equal(tone("2.1.99"), "older");
  assert.equal(tone(undefined), undefined);
  assert.equal(tone("2.1.325", ""), undefined);
});

test("c30 a version other than the tested one is shown beside it", () => {
  assert.equal(besideTested("2.1.330", "2.1.327"), "2.1.330, tested with 2.1.327");
  assert.equal(besideTested("Claude Code 2.1.197", "2.1.327"), "Claude Code 2.1.197, tested with 2.1.327");
  assert.equal(besideTested("2.1.327 (Claude Code)", "2.1.327"), "2.1.327 (Claude Code)");
  assert.equal(besideTested("Claude Code", "2.1.327"), "Claude Code");
  assert.equal(besideTested("2.1.330", undefined), "2.1.330");
});

test("a folder has the defaults of the nearest folders above it", () => {
  const all = [{ folder: "/srv", model: "opus", policy: "deny" as const }, { folder: "/srv/shop", permission_mode: "plan", policy: "standard" as const }, { folder: "/srv/shop-2", model: "haiku" }];
  assert.deepEqual(defaultsFor("/srv/shop/api", all), { model: "opus", mode: "plan", policy: "standard", from: ["/srv/shop", "/srv"] });
  assert.deepEqual(defaultsFor("/srv/shop-2", all), { model: "haiku", policy: "deny", from: ["/srv/shop-2", "/srv"] });
  assert.deepEqual(defaultsFor("/home", all), { from: [] });
});

test("a budget takes positive numbers only, and is summed up in one line", () => {
  assert.deepEqual(budgetOf({ dollars: "2,5", turns: "3", minutes: "1.5" }), { budget_usd: 2.5, max_turns: 3, max_seconds: 90 });
  assert.deepEqual(budgetOf(NO_BUDGET), {});
  for (const [name, text] of [["dollars", "-1"], ["dollars", "Infinity"], ["turns", "1.5"], ["minutes", "soon"], ["turns", "0"]] as const) assert.equal(budgetOf({ ...NO_BUDGET, [name]: text }), name);
  assert.equal(budgetLine({ dollars: "2", turns: "", minutes: "30" }), "$2, 30 min");
  assert.equal(budgetLine(NO_BUDGET), "No budget");
});

test("shared parts become one prompt, and a part that repeats another is left out", () => {
  assert.equal(sharedPrompt(["An article", "Look at https://x.org/a", "https://x.org/a"]), "An article\n\nLook at https://x.org/a");
  assert.equal(sharedPrompt([null, " same ", "same"]), "same");
  assert.equal(sharedPrompt([null, "", null]), "");
});
