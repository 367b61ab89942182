//! Events around compaction.

use crate::json::{object, open_string};

open_string! {
    /// Trigger of a compaction.
    pub struct CompactTrigger {
        MANUAL = "manual",
        AUTO = "auto",
    }
}

object! {
    /// The conversation is about to be compacted.
    pub struct PreCompact {
        opt trigger: CompactTrigger,
        /// Text that the user wrote after `/compact`.
        opt custom_instructions: String,
    }

    /// The conversation was compacted.
    pub struct PostCompact {
        opt trigger: CompactTrigger,
        def compact_summary: String,
    }
}
