//! Serves many Claude Code sessions to many subscribers.
//!
//! [`tidings_journal`] stores the events of each session and delivers them to subscribers, and
//! [`tidings_sessions`] runs the agents. This crate puts them on the network: [`api`] has the routes,
//! [`auth`] the credentials, [`notify`] the notifications, [`fleet`] the other servers and [`server`] the
//! listeners.

#![cfg_attr(not(feature = "fleet"), expect(dead_code, unused_imports, reason = "only a fleet uses them"))]

pub mod api;
pub mod auth;
#[cfg_attr(not(feature = "fleet"), path = "no_fleet.rs")]
pub mod fleet;
mod http;
mod inbox;
mod limits;
mod marks;
pub mod notify;
pub mod server;

pub use api::Api;
pub use auth::Auth;
pub use http::http_client;
pub use server::Server;

#[cfg(test)]
#[path = "../tests/stories/mod.rs"]
mod stories;
