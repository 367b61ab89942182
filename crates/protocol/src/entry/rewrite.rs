//! Entries of the later revision of the session specification.

use super::{Chained, EntryCompactMetadata, EntryMessage};
use crate::json::object;

/// An entry of the later revision of the session specification, for all four of its kinds.
pub type RewriteEntry = Chained<RewriteFields>;

object! {
    /// Fields of that revision's kinds besides the envelope.
    pub struct RewriteFields {
        opt message: EntryMessage,
        opt subtype: String,
        opt compact_metadata: EntryCompactMetadata as "compactMetadata",
    }
}
