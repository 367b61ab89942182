//! The stand-in for `claude`, driven as a host drives it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod differential;
mod expectations;
mod faults;
mod host;
mod sessions;
mod turns;
