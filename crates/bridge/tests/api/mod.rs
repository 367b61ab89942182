//! The HTTP API on real sockets: REST, server-sent events and the WebSocket.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod capabilities;
use crate::chance;
mod dialects;
mod folders;
mod limits;
mod live;
mod offers;
mod project;
mod rest;
pub(crate) mod server;
use crate::stories;
mod streams;
