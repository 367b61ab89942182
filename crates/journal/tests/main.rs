//! The integration tests of the crate, as one program.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

#[cfg(feature = "conformance")]
mod broadcast;
#[cfg(feature = "conformance")]
mod conformance;
mod conversation;
#[cfg(feature = "conformance")]
mod engines;
mod kill;
#[cfg(feature = "conformance")]
mod merging;
#[cfg(feature = "conformance")]
mod model;
mod power;
#[cfg(feature = "conformance")]
mod resume;
mod snapshot;
mod sqlite;
