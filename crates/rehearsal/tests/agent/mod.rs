//! Tests of the stand-in for `claude`, driven by a host.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod differential;
mod expectations;
mod faults;
mod host;
mod sessions;
mod turns;
