use super::Chained;
use crate::json::{Json, object, open_string};

/// A step of a compaction in seed 001. The CLI writes `system/compact_boundary` instead.
pub type CompactSystemEntry = Chained<CompactSystemFields>;

object! {
    /// What `compact_system` entries add to the envelope.
    pub struct CompactSystemFields {
        /// Which step.
        opt operation: CompactOperation as "message",
        opt metadata: CompactStatistics,
    }

    /// How much a compaction of seed 001 saved.
    pub struct CompactStatistics {
        opt preserved_messages: u64 as "preservedMessages",
        opt total_messages: u64 as "totalMessages",
        opt compression_ratio: f64 as "compressionRatio",
    }

    /// How the CLI compacted a conversation.
    pub struct CompactMetadata {
        /// `manual` or `auto`.
        opt trigger: String,
        opt pre_tokens: u64 as "preTokens",
        opt post_tokens: u64 as "postTokens",
        opt duration_ms: f64 as "durationMs",
        /// Over all compactions of the session.
        opt cumulative_dropped_tokens: u64 as "cumulativeDroppedTokens",
        opt pre_compact_discovered_tools: Vec<Json> as "preCompactDiscoveredTools",
        opt preserved_segment: PreservedSegment as "preservedSegment",
        /// Supersedes `preserved_segment`.
        opt preserved_messages: PreservedMessages as "preservedMessages",
        opt running_turn_prompt: Json as "runningTurnPrompt",
    }

    /// The entries that stayed, by their ends.
    pub struct PreservedSegment {
        opt head_uuid: String as "headUuid",
        opt anchor_uuid: String as "anchorUuid",
        opt tail_uuid: String as "tailUuid",
    }

    /// The entries that stayed, in order; for the model they follow the anchor.
    pub struct PreservedMessages {
        opt anchor_uuid: String as "anchorUuid",
        def uuids: Vec<String>,
        def all_uuids: Vec<String> as "allUuids",
    }
}

open_string! {
    /// The steps of seed 001's compaction.
    pub struct CompactOperation {
        COMPACTING = "conversation_compacting",
        COMPACTED = "conversation_compacted",
        RESTORING = "conversation_restoring",
        RESTORED = "conversation_restored",
    }
}
