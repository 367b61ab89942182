//! The HTTP API on real sockets: REST, server-sent events and the WebSocket.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod capabilities;
#[path = "../chance/mod.rs"]
mod chance;
mod dialects;
mod folders;
mod limits;
mod live;
mod offers;
mod rest;
mod server;
#[path = "../sessions/stand_in.rs"]
mod stand_in;
#[path = "../stories/mod.rs"]
mod stories;
mod streams;
