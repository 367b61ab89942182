//! The integration tests of the crate, as one program.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod acp;
mod api;
mod auth;
mod hosts_state;
mod mobile;
mod notify;
mod observed;
mod outlive;
mod push;
mod seed_003;
mod served;
mod sessions;
mod stories;
mod test_server;
mod transcripts;
