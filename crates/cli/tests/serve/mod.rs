//! `tidings serve` as a user runs it: a process, its ports, its files and its signals.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod agents;
mod backup;
mod commands;
mod drain;
mod editor;
#[cfg(target_os = "linux")]
mod file_size;
mod journal;
pub(crate) mod machine;
mod open_files;
mod remote;
mod secrets;
mod start;
mod users;
mod writers;
