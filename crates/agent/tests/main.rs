//! The integration tests of the crate, as one program.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod always;
mod batches;
mod commands;
mod derivation;
mod grants;
mod history;
mod pending;
mod policies;
mod properties;
mod questions;
mod registry;
mod requests;
mod seed_002;
mod seed_003;
mod session;
mod shapes;
mod shell_agreement;
mod snapshots;
mod support;
mod unasked;
