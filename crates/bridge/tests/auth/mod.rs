//! Authentication, devices, pairing and trust.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod browser;
mod devices;
mod files;
mod folders;
mod test_router;
