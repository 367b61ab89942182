// A typed client of a Tidings server, for Node.js and browsers.

export type { Answered } from "./answers.ts";
export type { Link, Listener, Request, Surroundings } from "./connection.ts";
export { Connection, DOUBT_MS, HEARTBEAT_MS, OFFLINE_DOUBT_MS, surroundingsAt } from "./connection.ts";
export type { ErrorKind, Retry } from "./error.ts";
export { RemoteError } from "./error.ts";
export type { EventOptions, SessionEvent, SessionUpdate } from "./events.ts";
export { SessionEvents } from "./events.ts";
export type { HttpRequest, Method, Query, RemoteOptions } from "./http.ts";
export { Http } from "./http.ts";
export { newClientId } from "./ids.ts";
export type { NoticeUpdate } from "./notices.ts";
export { Notices } from "./notices.ts";
export type { Command, CommandStore, OutboxListener, UnsentCommand } from "./outbox.ts";
export { Outbox } from "./outbox.ts";
export type { RequestUpdate, SessionRequest } from "./requests.ts";
export { RequestStream } from "./requests.ts";
export { RemoteServer } from "./server.ts";
export { RemoteSession } from "./session.ts";
export type { PromptEnd, TurnAnswer } from "./turn.ts";
export { INPUT_BYTES_MAX } from "./wire.ts";
export type * from "./wire.ts";
