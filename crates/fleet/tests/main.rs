//! Tests against real NATS servers, which `e2e/install.sh nats` downloads.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod accounts;
mod attacks;
mod commands;
mod leases;
mod pairing;
mod replication;
mod support;
mod versions;
