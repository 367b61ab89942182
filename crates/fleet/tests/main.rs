//! Tests against real NATS servers, which `e2e/install.sh nats` downloads.

mod attacks;
mod commands;
mod replication;
mod support;
