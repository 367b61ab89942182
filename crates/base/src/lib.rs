//! Small things that several crates of Tidings need once.

pub mod backoff;
pub mod files;
pub mod hex;
pub mod plural;
