//! Parts of a session that clients read.

pub(crate) mod attachments;
pub(super) mod call;
pub(super) mod rewind;
pub(super) mod snapshot;
mod subscribe;
