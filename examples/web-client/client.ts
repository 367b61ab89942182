// Subscribes to one session, sends prompts to it, and answers its requests.
import type { SocketMessage, SocketRequest, UiMessage } from "../../schema/tidings";

const [said, asked, form] = ["#said", "#asked", "form"].map((name) => document.querySelector(name)!);
const wanted = new URLSearchParams(location.search);
const [server, session] = [wanted.get("server") ?? location.origin, wanted.get("session") ?? "1"];
const token = prompt("The credential, from `tidings token create`") ?? "";
let socket: WebSocket, after: string | undefined, wait = 500;

function connect(): void {
  socket = new WebSocket(`${server.replace("http", "ws")}/v1/ws`, "tidings.v1");
  socket.onopen = () => {
    send({ type: "auth", token });
    send({ id: 1, type: "subscribe", session, after, deltas: "coalesced:50" });
  };
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  socket.onclose = ({ code, reason }) => {
    // Codes from 4400 on are permanent, except for 4409: reconnect with the last cursor.
    if (code >= 4400 && code !== 4409) return say("closed", reason);
    setTimeout(connect, (wait = Math.min(wait * 2, 30_000)) * (0.5 + Math.random()));
  };
}

function hear(message: SocketMessage): void {
  if (message.type === "event") {
    after = message.cursor;
    show(message.event);
  } else if (message.type === "ack" && message.subscribed) {
    wait = 500;
    for (const each of message.subscribed.pending_permissions) ask(each.tool_use_id, each.details.tool_name);
  } else if (message.type === "error") say("error", `${message.problem.detail} (${message.problem.hint})`);
}

function show(event: UiMessage): void {
  if ("TextChunk" in event) say("agent", event.TextChunk.text);
  else if ("UserPrompt" in event) say("you", event.UserPrompt.text);
  else if ("ToolExecuting" in event) say("tool", event.ToolExecuting.tool_name);
  else if ("PermissionDetails" in event) ask(event.PermissionDetails.tool_use_id, event.PermissionDetails.tool_name);
  else if ("PermissionResolved" in event) document.getElementById(event.PermissionResolved.tool_use_id)?.remove();
}

function ask(id: string, what: string): void {
  if (document.getElementById(id)) return;
  const row = Object.assign(document.createElement("li"), { id, textContent: what });
  for (const decision of ["allow", "deny"] as const) {
    const onclick = () => send({ type: "answer", session, to: id, permission: { decision } });
    row.append(Object.assign(document.createElement("button"), { textContent: decision, onclick }));
  }
  asked?.append(row);
}

const send = (request: SocketRequest) => socket.send(JSON.stringify(request));
const say = (who: string, text: string) =>
  said?.append(Object.assign(document.createElement("li"), { className: who, textContent: text }));
form?.addEventListener("submit", () => {
  const content = String(new FormData(form as HTMLFormElement).get("prompt"));
  send({ type: "input", session, input: { content, client_id: crypto.randomUUID() } });
});
connect();
