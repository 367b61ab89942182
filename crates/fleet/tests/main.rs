//! Tests against real NATS servers, which `e2e/install.sh nats` downloads.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod accounts;
mod another_stream;
mod attacks;
mod commands;
mod leases;
mod lost_bucket;
mod pairing;
mod refused_stream;
mod removal;
mod replication;
mod support;
mod versions;
