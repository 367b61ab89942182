//! The HTTP API on real sockets: REST, server-sent events and the WebSocket.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod audit_log;
mod capabilities;
mod dialects;
mod folder_scope;
mod folders;
mod git;
mod history;
mod limits;
mod live;
mod offers;
mod project;
mod routes;
pub(crate) mod server;
use crate::stories;

mod streams;
mod texts;
