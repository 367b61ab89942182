//! Runs, stores and publishes many Claude Code sessions for many subscribers.
//!
//! The [`journal`] stores the events of each session; an event gets its number when it is stored. The
//! [`broadcast`] delivers them to subscribers: first the missed events, then live ones, without gaps or
//! repetitions.

pub mod api;
mod archive;
pub mod auth;
pub mod broadcast;
mod caller;
mod error;
mod files;
pub mod fleet;
mod git;
mod hex;
#[cfg(unix)]
pub mod hosts;
mod http;
mod inbox;
pub mod journal;
mod limits;
mod marks;
pub mod notify;
mod pictures;
mod plural;
mod process;
mod project_files;
pub mod server;
pub mod sessions;
pub mod snapshot;
mod text;

pub use api::Api;
pub use archive::Archive;
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
