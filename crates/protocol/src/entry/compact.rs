//! Compactions in session files.

use super::Chained;
use crate::json::{Json, object, open_string};

/// A step of a compaction in the session specification. The CLI writes `system/compact_boundary` instead.
pub type CompactSystemEntry = Chained<CompactSystemFields>;

object! {
    /// Fields of `compact_system` entries besides the envelope.
    pub struct CompactSystemFields {
        /// The step.
        opt operation: CompactOperation as "message",
        opt metadata: CompactStatistics,
    }

    /// Statistics of a compaction in the session specification.
    pub struct CompactStatistics {
        opt preserved_messages: u64 as "preservedMessages",
        opt total_messages: u64 as "totalMessages",
        opt compression_ratio: f64 as "compressionRatio",
    }

    /// Metadata of a compaction by the CLI.
    pub struct EntryCompactMetadata {
        /// `manual` or `auto`.
        opt trigger: String,
        opt pre_tokens: u64 as "preTokens",
        opt post_tokens: u64 as "postTokens",
        opt duration_ms: f64 as "durationMs",
        /// Total over all compactions of the session.
        opt cumulative_dropped_tokens: u64 as "cumulativeDroppedTokens",
        opt pre_compact_discovered_tools: Vec<Json> as "preCompactDiscoveredTools",
        opt preserved_segment: PreservedEntryRange as "preservedSegment",
        /// Supersedes `preserved_segment`.
        opt preserved_messages: PreservedEntries as "preservedMessages",
        opt running_turn_prompt: Json as "runningTurnPrompt",
    }

    /// Preserved entries, by the ends of their range.
    pub struct PreservedEntryRange {
        opt head_uuid: String as "headUuid",
        opt anchor_uuid: String as "anchorUuid",
        opt tail_uuid: String as "tailUuid",
    }

    /// Preserved entries, in order; for the model they follow the anchor.
    pub struct PreservedEntries {
        opt anchor_uuid: String as "anchorUuid",
        def uuids: Vec<String>,
        def all_uuids: Vec<String> as "allUuids",
    }
}

open_string! {
    /// Steps of a compaction in the session specification.
    pub struct CompactOperation {
        COMPACTING = "conversation_compacting",
        COMPACTED = "conversation_compacted",
        RESTORING = "conversation_restoring",
        RESTORED = "conversation_restored",
    }
}
