//! Stand-ins for the Messages API and for the `claude` CLI, played from one readable script.
//!
//! Whoever builds on Claude Code needs to run it without a key, a network or a bill, and to get the same result twice.
//! [`script::Script`] says what the model answers; [`player::Player`] finds the answer to a request.
//! The API stand-in serves these answers to the real CLI, the agent stand-in plays CLI and model at once.

pub mod agent;
pub mod api;
pub mod player;
pub mod recording;
pub mod script;
