//! All tests of this crate in one program.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod adapter;
mod agent;
mod relay;
