//! Parts of a session that clients read.

pub(crate) mod attachments;
pub(super) mod call;
pub(crate) mod changed_inputs;
pub(crate) mod persisted_output;
pub(super) mod rewind;
pub(super) mod snapshot;
mod subscribe;
