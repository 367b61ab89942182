//! The integration tests of the crate, as one program.

mod control;
mod corpus;
mod entry;
mod hooks;
mod native_events;
mod properties;
mod robustness;
mod seed_000;
mod seed_002;
mod seed_002_mobile;
mod seed_003;
mod seed_004;
mod tools;
