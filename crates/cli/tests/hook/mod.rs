//! `tidings hook`, as users and Claude Code run it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod desk;
mod entries;
mod ignore;
mod install;
mod listener;
mod run;
mod status;
#[cfg(target_os = "linux")]
mod upgrade;
