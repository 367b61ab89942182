//! Sessions over the carrier in memory: what the client does with what a CLI says, in time that a test turns.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod calls;
mod cli;
mod closing;
mod control;
mod hooks;
mod lagging;
#[cfg(feature = "mcp")]
mod mcp;
mod permissions;
mod pool;
mod query;
mod replay;
#[cfg(feature = "otel")]
mod spans;
mod turns;
mod writing;
