//! `tidings run` as a person has it, in a real terminal, and as a script has it, in pipes.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod background;
mod piped;
mod signals;
mod stage;
mod started;
mod terminal;
mod window;
