//! Starting sessions and their agents.

mod agent;
pub(super) mod agent_slots;
pub(super) mod agents;
pub(super) mod claude;
pub(super) mod create;
mod deny_rules;
pub(super) mod fork;
pub mod import;
pub(super) mod launch;
pub(super) mod writer;
