use super::{Chained, CompactMetadata, EntryMessage};
use crate::json::object;

/// An entry of the rewrite of seed 001, whichever of its four kinds.
pub type RewriteEntry = Chained<RewriteFields>;

object! {
    /// What the rewrite's kinds add to the envelope.
    pub struct RewriteFields {
        opt message: EntryMessage,
        opt subtype: String,
        opt compact_metadata: CompactMetadata as "compactMetadata",
    }
}
