//! Hosts as whole processes: with shell scripts in place of `claude`, and bridges that are killed.

#![cfg(all(target_os = "linux", feature = "host"))]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod bridges;
mod client;
mod ending;
mod filter;
mod input;
mod kills;
mod raw;
mod spool;
mod stage;
