//! The integration tests of the crate, as one program.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod acp;
mod api;
mod auth;
#[cfg(feature = "conformance")]
mod broadcast;
mod chance;
#[cfg(feature = "conformance")]
mod conformance;
mod conversation;
#[cfg(feature = "conformance")]
mod engines;
mod hosts_state;
mod kill;
mod mobile;
#[cfg(feature = "conformance")]
mod model;
mod notify;
mod observed;
mod outlive;
mod power;
mod push;
#[cfg(feature = "conformance")]
mod resume;
mod seed_003;
mod served;
mod sessions;
mod snapshot;
mod sqlite;
mod stand_in;
mod stories;
mod transcripts;
