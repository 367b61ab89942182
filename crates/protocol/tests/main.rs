//! The integration tests of the crate, as one program.

mod control;
mod control_frames;
mod corpus;
mod entry;
mod event_facts;
mod hooks;
mod lines;
mod native_events;
mod plain_delta;
mod properties;
mod published;
mod robustness;
mod seed_000;
mod seed_002;
mod seed_002_mobile;
mod seed_003;
mod seed_004;
mod strings;
mod tool_names;
mod tool_summary;
mod tools;

/// The source of a private module, whose tests are in it.
#[path = "../src/json/plain.rs"]
mod plain_runs;
