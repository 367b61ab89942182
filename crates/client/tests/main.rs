//! The integration tests of the crate, as one program.

mod examples;
mod host;
mod options;
mod page_000;
mod parity;
mod process;
mod read_session;
mod session;
#[cfg(feature = "sessions")]
mod session_store;
#[cfg(unix)]
mod stage;
