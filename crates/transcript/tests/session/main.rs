//! A session as a tree: what the pages say, what goes wrong, what was recorded.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod agents;
mod faults;
mod forks;
mod given;
mod recorded;
mod seed;
mod shape;
