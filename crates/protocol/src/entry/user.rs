//! Entries of the user, of tools and of the client.

use super::{Chained, EntryMessage};
use crate::json::{Json, object};
use crate::messages::{Origin, Priority};
use crate::permissions::PermissionMode;

/// A message of the user, a tool or the client to the model.
pub type UserEntry = Chained<UserFields>;

object! {
    /// Fields of `user` entries besides the envelope.
    pub struct UserFields {
        opt message: EntryMessage,
        /// The tool's whole structured output; see [`crate::tools::ToolOutput`]. A string when the call
        /// failed.
        opt tool_use_result: Json as "toolUseResult",
        /// Entry of the call that this answers. Each of several parallel calls has its own.
        opt source_tool_assistant_uuid: String as "sourceToolAssistantUUID",
        opt source_tool_use_id: String as "sourceToolUseID",
        opt permission_mode: PermissionMode as "permissionMode",
        opt prompt_source: String as "promptSource",
        opt turn_origin: String as "turnOrigin",
        opt turn_position: TurnPosition as "turnPosition",
        /// Origin of this message.
        opt origin: Origin,
        opt image_paste_ids: Vec<Json> as "imagePasteIds",
        /// True for the text that replaces everything before a compaction.
        opt is_compact_summary: bool as "isCompactSummary",
        opt repeats_compact_summary: bool as "repeatsCompactSummary",
        /// True if the model never sees this entry.
        opt is_visible_in_transcript_only: bool as "isVisibleInTranscriptOnly",
        opt plan_content: Json as "planContent",
        opt mcp_meta: Json as "mcpMeta",
        opt mcp_call_not_read_only: String as "mcpCallNotReadOnly",
        opt permission_decision: PermissionDecision as "permissionDecision",
        opt tool_denial_kind: String as "toolDenialKind",
        opt tool_denial_unanswered: String as "toolDenialUnanswered",
        opt tool_ends_turn: bool as "toolEndsTurn",
        opt sandboxed: bool,
        opt queue_priority: Priority as "queuePriority",
        opt queue_skip_attachments: bool as "queueSkipAttachments",
        opt queue_transcript_only: bool as "queueTranscriptOnly",
        opt turn_companion: bool as "turnCompanion",
        opt turn_attribution_key: String as "turnAttributionKey",
        opt holds_persons_words: bool as "holdsPersonsWords",
        opt merged_send_uuids: Vec<String> as "mergedSendUuids",
        opt summarized_turn_prompt_uuids: Vec<String> as "summarizedTurnPromptUuids",
        opt user_feedback: Json as "userFeedback",
        opt interrupted_message_id: String as "interruptedMessageId",
        opt interrupted_by_shutdown: bool as "interruptedByShutdown",
        opt refused_message_id: String as "refusedMessageId",
        opt classifier_meta_lines: Json as "classifierMetaLines",
    }

    /// Position in the session: prompt and turn.
    pub struct TurnPosition {
        opt prompt_index: u64 as "promptIndex",
        opt turn_index: u64 as "turnIndex",
    }

    /// Decision on a tool call, with its source.
    pub struct PermissionDecision {
        /// `accept` or `reject`.
        opt decision: String,
        /// `config`, `user_temporary`, `hook`, …
        opt source: String,
        opt reason_type: String as "reasonType",
        opt reason_code: String as "reasonCode",
        opt grant_scope: String as "grantScope",
        opt rule_source: String as "ruleSource",
    }
}
