//! The inbox and Web Push over a whole server: a push service on this machine decrypts every message.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod actions;
mod browser;
mod inbox;
#[cfg(target_os = "linux")]
mod outlive;
mod rules;
mod test_server;
