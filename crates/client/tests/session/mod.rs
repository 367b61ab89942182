//! Sessions over the in-memory transport, with simulated time.

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
