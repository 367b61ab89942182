//! The task of a session: input goes to its agent, and events come from it.

pub(super) mod actor;
mod admission;
pub(super) mod changes;
pub(super) mod command_ids;
pub(super) mod commands;
pub(super) mod event_ids;
pub mod frames;
pub(super) mod input;
pub(super) mod mode_guard;
pub(super) mod prompt;
pub(super) mod sink;
pub(super) mod turn_time;
pub(super) mod waiters;
