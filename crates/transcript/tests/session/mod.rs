//! A session as a tree: the specification, faults, and recordings.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod agents;
mod faults;
mod forks;
mod given;
mod recorded;
mod seed;
mod shape;
