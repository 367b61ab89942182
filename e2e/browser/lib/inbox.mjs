// An inbox with an item of each kind, some of which a test cannot cause, such as a full disk. It answers for
// every page of a browser context; other routes reach the server.

const NOW = Date.now();
const ago = (minutes) => new Date(NOW - minutes * 60_000).toISOString();

/** An item of each sort: two that wait, then news. */
function sampleItems() {
  const items = [
    { kind: "permission", at: ago(1), title: "Check the invoices", project: "shop", tool: "Bash", line: "cargo test --package invoices", risk: "MEDIUM", waiting: true, unread: true, next_reminder: ago(-4), deliveries: [{ target: "1", kind: "web_push", name: "Chrome on Android", state: "sent", at: ago(1), tries: 0 }, { target: "2", kind: "ntfy", name: "ntfy.sh", state: "failed", at: ago(1), tries: 2, error: "timeout", retry_at: ago(-2) }] },
    { kind: "plan", at: ago(6), title: "Move the settings to TOML", project: "tools", line: "Move the settings in three steps", waiting: true },
    { kind: "limit", at: ago(12), title: "Speed up the search", project: "website", line: "The five-hour limit is used up", resets_at: ago(-95), unread: true },
    { kind: "failed", at: ago(25), title: "Upgrade to Node 22", project: "website", line: "API error 529: overloaded", unread: true },
    { kind: "denied", at: ago(31), title: "Trim the Docker image", project: "api", tool: "Bash", line: "curl https://example.org/install.sh | sh", unread: true },
    { kind: "finished", at: ago(44), title: "Write the release notes", project: "shop", line: "The notes for 2.4 are in CHANGELOG.md.", deliveries: [{ target: "1", kind: "web_push", name: "Chrome on Android", state: "sent", at: ago(44), tries: 0 }] },
    { kind: "permission", at: ago(70), title: "Fix the flaky login test", project: "api", tool: "Bash", line: "npm test", risk: "LOW", outcome: "allowed", settled_at: ago(69) },
    { kind: "agent_gone", at: ago(130), title: "Find the memory leak", project: "api", line: "The agent ended with exit code 1" },
    { kind: "disk_full", at: ago(1500), line: "The journal cannot be written" },
  ];
  return items.map((item, index) => ({ id: `item-${index}`, position: 100 - index, ...(item.kind === "disk_full" ? { link: "#/" } : { session: `session-${index}`, handle: index + 1, link: `#/s/session-${index}` }), ...item }));
}

/** Serves the sample in place of the server's inbox. */
export async function serveSample(context) {
  const all = sampleItems();
  const waiting = all.filter((item) => item.waiting).length;
  const unread = all.filter((item) => item.unread && !item.waiting).length;
  const counts = { waiting, unread, badge: waiting + unread, position: 100 };
  await context.route(/\/v1\/inbox\?/, (route) => {
    const state = new URL(route.request().url()).searchParams.get("state") ?? "all";
    const items = all.filter((item) => state === "all" || (state === "waiting" ? item.waiting : item.unread));
    return route.fulfill({ contentType: "application/json", body: JSON.stringify({ items, ...counts }) });
  });
  await context.route(/\/v1\/inbox\/visible/, (route) => route.fulfill({ contentType: "application/json", body: '{"accepted":0}' }));
}
