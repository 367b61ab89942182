//! The integration tests of the crate, as one program.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod cuts;
mod examples;
mod proxy;
mod reach;
mod recorded;
mod requests;
mod sessions;

#[expect(dead_code, unused_imports, reason = "other tests use the rest of it")]
#[path = "../../bridge/tests/test_server/mod.rs"]
mod test_server;
