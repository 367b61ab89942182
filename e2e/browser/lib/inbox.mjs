// The inbox, Web Push and the rules of notifications as a server in memory, for cases about what the page does with
// them. It answers for every page of a browser context.

const NOW = Date.now();
const ago = (minutes) => new Date(NOW - minutes * 60_000).toISOString();

/** An item of each sort: two that wait, then news. */
export function sampleItems() {
  const items = [
    { kind: "permission", at: ago(1), title: "Check the invoices", project: "shop", tool: "Bash", line: "cargo test --package invoices", risk: "medium", waiting: true, unread: true, next_reminder: ago(-4), deliveries: [{ target: "1", kind: "web_push", name: "Chrome on Android", state: "sent", at: ago(1), tries: 1 }, { target: "2", kind: "ntfy", name: "ntfy.sh", state: "failed", at: ago(1), tries: 2, error: "timeout", retry_at: ago(-2) }] },
    { kind: "plan", at: ago(6), title: "Move the settings to TOML", project: "tools", line: "Move the settings in three steps", waiting: true },
    { kind: "limit", at: ago(12), title: "Speed up the search", project: "website", line: "The five-hour limit is used up", resets_at: ago(-95), unread: true },
    { kind: "failed", at: ago(25), title: "Upgrade to Node 22", project: "website", line: "API error 529: overloaded", unread: true },
    { kind: "denied", at: ago(31), title: "Trim the Docker image", project: "api", tool: "Bash", line: "curl https://example.org/install.sh | sh", unread: true },
    { kind: "finished", at: ago(44), title: "Write the release notes", project: "shop", line: "The notes for 2.4 are in CHANGELOG.md.", deliveries: [{ target: "1", kind: "web_push", name: "Chrome on Android", state: "sent", at: ago(44), tries: 1 }] },
    { kind: "permission", at: ago(70), title: "Fix the flaky login test", project: "api", tool: "Bash", line: "npm test", risk: "low", outcome: "allowed", settled_at: ago(69) },
    { kind: "agent_gone", at: ago(130), title: "Find the memory leak", project: "api", line: "The agent ended with exit code 1" },
    { kind: "disk_full", at: ago(1500), line: "The journal cannot be written" },
  ];
  return items.map((item, index) => ({ id: `item-${index}`, position: 100 - index, ...(item.kind === "disk_full" ? { link: "#/" } : { session: `session-${index}`, handle: index + 1, link: `#/s/session-${index}` }), ...item }));
}

export class InboxServer {
  items = sampleItems();
  settings = { first_after_s: 3, reminders_s: [60, 300, 1800], off_kinds: [], off_sessions: [], details: false, coalesce_from: 4 };
  targets = [];
  subscription = undefined;
  testResult = { sent: true };
  visible = [];
  /** Answers a button of a notification. */
  act = () => [200, { outcome: "allowed" }];
  /** Bodies of all requests that changed something. */
  sent = [];

  async serve(context) {
    await context.route(/\/v1\/(inbox|push|notify)\b/, (route) => {
      const request = route.request();
      const url = new URL(request.url());
      const path = url.pathname.replace(/^.*\/v1\//, "");
      const body = request.postData() === null ? undefined : request.postDataJSON();
      if (request.method() !== "GET") this.sent.push({ method: request.method(), path, body });
      const [status, answer] = this.answer(request.method(), path, url.searchParams, body);
      return route.fulfill(answer === undefined ? { status } : { status, contentType: status < 400 ? "application/json" : "application/problem+json", body: JSON.stringify(answer) });
    });
  }

  counts() {
    const waiting = this.items.filter((item) => item.waiting).length;
    const unread = this.items.filter((item) => item.unread && !item.waiting).length;
    return { waiting, unread, badge: waiting + unread, position: Math.max(...this.items.map(({ position }) => position)) };
  }

  push() {
    const base = { key: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", available: true, subscribed: this.subscription !== undefined };
    return this.subscription === undefined ? base : { ...base, subscription: { device: "1", host: new URL(this.subscription.endpoint).host, created: ago(1), state: "new" } };
  }

  answer(method, path, query, body) {
    const target = /^notify\/targets\/([^/]+)/.exec(path)?.[1];
    switch (`${method} ${target === undefined ? path : path.replace(target, "ID")}`) {
      case "GET inbox": {
        const [state, kinds, limit] = [query.get("state") ?? "all", query.get("kind")?.split(","), Number(query.get("limit") ?? 50)];
        const before = Number(query.get("before") ?? Infinity);
        const items = this.items.filter((item) => (state === "all" || (state === "waiting" ? item.waiting : item.unread)) && (kinds === undefined || kinds.includes(item.kind)) && item.position < before);
        const next = items.length > limit ? { next: items[limit - 1].position } : {};
        return [200, { items: items.slice(0, limit), ...this.counts(), ...next }];
      }
      case "POST inbox/read":
        for (const item of this.items) if (body.ids?.includes(item.id) || item.position <= body.up_to) delete item.unread;
        return [200, this.counts()];
      case "POST inbox/visible":
        this.visible.push(body);
        return [200, { accepted: 1 }];
      case "POST inbox/act":
        return this.act(body);
      case "GET push":
        return [200, this.push()];
      case "PUT push":
        this.subscription = body;
        return [200, this.push()];
      case "DELETE push":
        this.subscription = undefined;
        return [204];
      case "POST push/test":
      case "POST notify/targets/ID/test":
        return [200, this.testResult];
      case "GET notify/settings":
        return [200, this.settings];
      case "PUT notify/settings":
        this.settings = body;
        return [200, body];
      case "GET notify/targets":
        return [200, { items: this.targets }];
      case "POST notify/targets": {
        const { url, secret, token, name = new URL(url).host, ...rest } = body;
        this.targets.push({ id: `target-${this.targets.length}`, source: "page", state: "new", has_secret: secret !== undefined, has_token: token !== undefined, name, ...rest });
        return [201, this.targets.at(-1)];
      }
      case "DELETE notify/targets/ID":
        this.targets = this.targets.filter(({ id }) => id !== target);
        return [204];
      default:
        return [404, { type: "about:blank", title: "Not found", status: 404, code: "not_found", detail: `${method} ${path}`, hint: "", retryable: false, request_id: "" }];
    }
  }
}
