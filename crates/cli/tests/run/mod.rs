//! `tidings run` in a real terminal, as a user runs it, and in pipes, as a script runs it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod background;
mod piped;
mod sandbox;
mod signals;
mod started;
mod terminal;
mod window;
