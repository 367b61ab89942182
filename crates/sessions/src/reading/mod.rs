//! Parts of a session that clients read.

pub mod attachments;
pub(super) mod call;
pub mod changed_inputs;
pub mod persisted_output;
pub(super) mod rewind;
pub(super) mod snapshot;
mod subscribe;
