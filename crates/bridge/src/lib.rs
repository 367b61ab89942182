//! Many Claude Code sessions for many watchers, and nothing lost on the way.
//!
//! The [`journal`] keeps what happened in each session: an event has a number once it is stored, and not before.
//! The [`hub`] shows it to whoever watches: first what was missed, then what happens, without a seam between them.

pub mod api;
pub mod auth;
pub mod broadcast;
mod caller;
mod error;
#[cfg(unix)]
pub mod hosts;
mod http;
pub mod journal;
mod limits;
pub mod notify;
mod plural;
pub mod server;
pub mod sessions;
pub mod snapshot;

pub use api::Api;
pub use auth::Auth;
pub use broadcast::Broadcast;
pub use caller::{Caller, Scope, Scopes};
pub use error::{Code, Error};
pub use http::http_client;
pub use journal::{Cursor, Journal, MemoryJournal, SqliteJournal};
pub use server::Server;
pub use sessions::Sessions;

#[cfg(test)]
#[path = "../tests/chance/mod.rs"]
mod chance;
#[cfg(test)]
#[path = "../tests/stories/mod.rs"]
mod stories;
