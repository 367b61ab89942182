//! Entries about the session itself: hooks, commands, prompts that were not sent.

use super::compact::EntryCompactMetadata;
use super::{Chained, EntryMessage};
use crate::json::{Json, object, open_string};
use crate::messages::ContextUsageReport;

/// An event of the session, distinguished by its subtype.
pub type SystemEntry = Chained<SystemFields>;

object! {
    /// Fields of `system` entries besides the envelope; each subtype has some of them.
    pub struct SystemFields {
        opt subtype: SystemSubtype,
        /// Text to show.
        opt content: String,
        /// `info`, `suggestion`, `warning` or `error`.
        opt level: String,
        /// Key of the session specification for `content`.
        opt message: EntryMessage,

        /// Of `compact_boundary`.
        opt compact_metadata: EntryCompactMetadata as "compactMetadata",
        /// Of `microcompact_boundary`.
        opt microcompact_metadata: Json as "microcompactMetadata",

        /// Of `api_error`: the error of the API or the network.
        opt error: Json,
        opt cause: Json,
        opt retry_in_ms: f64 as "retryInMs",
        opt retry_attempt: u64 as "retryAttempt",
        opt max_retries: u64 as "maxRetries",
        opt source: String,

        /// Of `stop_hook_summary`.
        opt hook_count: u64 as "hookCount",
        opt hook_infos: Vec<HookInfo> as "hookInfos",
        opt hook_errors: Vec<Json> as "hookErrors",
        opt hook_additional_context: Vec<Json> as "hookAdditionalContext",
        opt prevented_continuation: bool as "preventedContinuation",
        opt stop_reason: String as "stopReason",
        opt has_output: bool as "hasOutput",
        opt tool_use_id: String as "toolUseID",

        /// Of `turn_duration`.
        opt duration_ms: f64 as "durationMs",
        opt message_count: u64 as "messageCount",
        opt pending_background_agent_count: u64 as "pendingBackgroundAgentCount",

        /// Of `local_command`.
        opt command_run: CommandRun as "commandRun",
        opt command_outcome: CommandOutcome as "commandOutcome",
        opt context_usage: ContextUsageReport as "contextUsage",

        /// Of `informational`.
        opt prevent_continuation: bool as "preventContinuation",
        opt prompt_submit_ending: PromptSubmitEnding as "promptSubmitEnding",

        /// Of `model_fallback`, `model_refusal_fallback` and `model_refusal_no_fallback`.
        opt trigger: String,
        opt direction: String,
        opt scope: String,
        opt original_model: String as "originalModel",
        opt fallback_model: String as "fallbackModel",
        opt request_id: String as "requestId",
        opt api_refusal_category: String as "apiRefusalCategory",
        opt api_refusal_explanation: String as "apiRefusalExplanation",
        /// Messages to remove from the screen.
        opt retracted_message_uuids: Vec<String> as "retractedMessageUuids",
        opt refused_user_message_uuid: String as "refusedUserMessageUuid",

        /// Of `scheduled_task_fire`.
        opt cron_kind: String as "cronKind",
    }

    /// A hook that ran at the end of a turn.
    pub struct HookInfo {
        opt command: String,
        opt prompt_text: String as "promptText",
        opt duration_ms: f64 as "durationMs",
    }

    /// A slash command and its outcome.
    pub struct CommandRun {
        opt command: String,
        opt args: String,
    }

    /// Outcome of a slash command.
    pub struct CommandOutcome {
        opt kind: String,
    }

    /// Outcome of a prompt that was not sent to the model.
    pub struct PromptSubmitEnding {
        opt ending: PromptEnding,
        opt prompt_kept: bool as "promptKept",
    }

    /// Reason why a prompt was not sent.
    pub struct PromptEnding {
        opt kind: String,
        opt reason: String,
    }
}

open_string! {
    /// Kinds of `system` entries; the last three are of the session specification.
    pub struct SystemSubtype {
        INFORMATIONAL = "informational",
        LOCAL_COMMAND = "local_command",
        COMPACT_BOUNDARY = "compact_boundary",
        MICROCOMPACT_BOUNDARY = "microcompact_boundary",
        API_ERROR = "api_error",
        STOP_HOOK_SUMMARY = "stop_hook_summary",
        TURN_DURATION = "turn_duration",
        MODEL_FALLBACK = "model_fallback",
        MODEL_REFUSAL_FALLBACK = "model_refusal_fallback",
        MODEL_REFUSAL_NO_FALLBACK = "model_refusal_no_fallback",
        AWAY_SUMMARY = "away_summary",
        BRIDGE_STATUS = "bridge_status",
        SCHEDULED_TASK_FIRE = "scheduled_task_fire",
        PERMISSION_RETRY = "permission_retry",
        AGENTS_KILLED = "agents_killed",
        TOOL_RESULT = "tool_result",
        ERROR = "error",
        META = "meta",
    }
}
