//! Stand-ins for the Messages API and for the `claude` CLI, played from one readable script.
//!
//! Developers who build on Claude Code need to run it without a key, a network or a bill, and with the same
//! result each time. [`script::Script`] defines the answers of the model; [`player::Player`] selects the
//! answer to a request. The API stand-in serves these answers to the real CLI; the agent stand-in plays CLI
//! and model at once.

pub mod acp;
pub mod agent;
pub mod api;
mod chance;
mod input_schema;
pub mod player;
pub mod recording;
pub mod script;

pub use chance::Chance;
