//! Sessions with a child process: the stand-in for `claude`, played from scripts, and programs that
//! misbehave.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod faults;
#[cfg(target_os = "linux")]
mod orphans;
mod recordings;
#[cfg(feature = "sessions")]
mod sessions;
mod starting;
mod talking;
#[cfg(feature = "mcp")]
mod tools;
