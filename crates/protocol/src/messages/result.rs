//! The result of a turn.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::api::{ApiStopReason, ModelUsage, UsageInfo};
use super::user::Origin;
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Extra, Json, Misfit, Reading, Wire, object, open_string};

/// Result of a turn. One per turn, so several per process.
///
/// `Success` means that the turn ran to its end, not that it succeeded: see [`ResultDetails::is_error`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "patterns of rusty_claw need the fields unboxed")]
pub enum ResultMessage {
    /// The turn ran to its end.
    Success {
        /// Final text, or the error message.
        result: String,
        /// Wall time of the turn.
        duration_ms: Option<u64>,
        /// Number of rounds of model and tools in this turn.
        num_turns: Option<u32>,
        /// The session.
        session_id: Option<String>,
        /// Total cost of the session so far.
        total_cost_usd: Option<f64>,
        /// Token counts of this turn's main loop.
        usage: Option<UsageInfo>,
        /// Fields that only the real CLI sends.
        details: Box<ResultDetails>,
    },
    /// Error of the `rusty_claw` wire format; the real CLI sends the kinds under `Failed`.
    Error {
        /// Error message.
        error: String,
        /// Every other key.
        extra: Value,
    },
    /// Pause for input in the `rusty_claw` wire format; the real CLI uses control requests instead.
    InputRequired,
    /// The turn ended early: an interrupt, a limit, a failed start, or an unknown reason.
    Failed(Box<ResultError>),
}

/// A turn that ended early.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ResultError {
    /// Kind of the early end.
    pub subtype: ResultSubtype,
    /// Error messages to show.
    pub errors: Vec<String>,
    /// Reason why the process could not start.
    pub startup_failure_reason: Option<String>,
    /// Wall time of the turn.
    pub duration_ms: Option<u64>,
    /// Number of rounds of model and tools in this turn.
    pub num_turns: Option<u32>,
    /// The session.
    pub session_id: Option<String>,
    /// Total cost of the session so far.
    pub total_cost_usd: Option<f64>,
    /// Token counts of this turn's main loop.
    pub usage: Option<UsageInfo>,
    /// All other fields.
    pub details: ResultDetails,
}

object! {
    /// Fields of a result that only the real CLI sends.
    pub struct ResultDetails {
        opt is_error: bool,
        /// Cumulative over the process.
        opt duration_api_ms: u64,
        opt stop_reason: ApiStopReason,
        /// Cumulative, all models, sub-agents included.
        opt model_usage: BTreeMap<String, ModelUsage> as "modelUsage",
        opt permission_denials: Vec<PermissionDenial>,
        /// Prompts still queued: more results follow without input.
        opt queued_turn_count: u64,
        opt terminal_reason: TerminalReason,
        /// Counts from 0 per process; a gap means a lost result.
        opt result_index: u64,
        opt credential_expires_at: String,
        opt fast_mode_state: String,
        opt fast_mode_disabled_reason: String,
        opt origin: Origin,
        opt user_message_uuid: String,
        opt user_message_uuids: Vec<String>,
        opt resume_reason: String,
        opt uuid: String,
        /// HTTP status of the API call that failed.
        opt api_error_status: u16,
        opt structured_output: Json,
        opt deferred_tool_use: DeferredToolUse,
        opt local_command: String,
        opt ttft_ms: f64,
        opt ttft_stream_ms: f64,
        opt time_to_request_ms: f64,
        opt request_sent_wall_ms: f64,
        opt first_content_frame_ms: f64,
        opt time_to_request_from_spawn_ms: f64,
        opt time_origin_ms: f64,
        opt warm_spare_claimed: bool,
        opt first_stream_post_ms: f64,
        opt first_stream_post_ack_ms: f64,
        opt first_stream_post_queue_wait_ms: f64,
        /// Kind of wait before the first stream event: `durable_post`, `ephemeral_post`, `hold` or others.
        opt first_stream_post_queued_behind: String,
        opt first_stream_post_wall_ms: f64,
        opt first_text_post_ms: f64,
        opt first_text_post_queue_wait_ms: f64,
        /// Kind of wait before the first text, with the same values.
        opt first_text_post_queued_behind: String,
        opt first_text_post_wall_ms: f64,
        opt invalid_config_file: InvalidConfigFile,
    }

    /// A denied tool call.
    pub struct PermissionDenial {
        req tool_name: String,
        opt tool_use_id: String,
        opt tool_input: Json,
    }

    /// A tool call that a hook deferred: the turn ended before it ran.
    pub struct DeferredToolUse {
        req id: String,
        req name: String,
        opt input: Json,
    }

    /// A configuration file that could not be read.
    pub struct InvalidConfigFile {
        req path: String,
        opt is_global: bool,
        opt backup_searched: bool,
        opt backup_path: String,
    }

    /// Fields common to all results, as on the wire.
    struct Shared {
        def result: String,
        opt duration_ms: u64,
        opt num_turns: u32,
        opt session_id: String,
        opt total_cost_usd: f64,
        opt usage: UsageInfo,
        def errors: Vec<String>,
        opt startup_failure_reason: String,
    }

    struct SeedError { req error: String }
}

open_string! {
    /// Kinds of `result`.
    pub struct ResultSubtype {
        ERROR_DURING_EXECUTION = "error_during_execution",
        ERROR_MAX_TURNS = "error_max_turns",
        ERROR_MAX_BUDGET_USD = "error_max_budget_usd",
        ERROR_MAX_STRUCTURED_OUTPUT_RETRIES = "error_max_structured_output_retries",
        SUCCESS = "success",
        ERROR = "error",
        INPUT_REQUIRED = "input_required",
    }

    /// Reason why the loop of model and tools ended.
    pub struct TerminalReason {
        COMPLETED = "completed",
        BLOCKING_LIMIT = "blocking_limit",
        RAPID_REFILL_BREAKER = "rapid_refill_breaker",
        PROMPT_TOO_LONG = "prompt_too_long",
        IMAGE_ERROR = "image_error",
        MODEL_ERROR = "model_error",
        API_ERROR = "api_error",
        MALFORMED_TOOL_USE_EXHAUSTED = "malformed_tool_use_exhausted",
        ABORTED_STREAMING = "aborted_streaming",
        ABORTED_TOOLS = "aborted_tools",
        STOP_HOOK_PREVENTED = "stop_hook_prevented",
        HOOK_STOPPED = "hook_stopped",
        TOOL_DEFERRED = "tool_deferred",
        MAX_TURNS = "max_turns",
        BACKGROUND_REQUESTED = "background_requested",
        BUDGET_EXHAUSTED = "budget_exhausted",
        STRUCTURED_OUTPUT_RETRY_EXHAUSTED = "structured_output_retry_exhausted",
        TOOL_DEFERRED_UNAVAILABLE = "tool_deferred_unavailable",
        TURN_SETUP_FAILED = "turn_setup_failed",
    }
}

impl ResultMessage {
    /// A success in the `rusty_claw` wire format.
    pub fn success(result: impl Into<String>) -> Self {
        let result = result.into();
        let mut details = Box::<ResultDetails>::default();
        if result.is_empty() {
            details.extra.insert("result", &result);
        }
        ResultMessage::Success {
            result,
            duration_ms: None,
            num_turns: None,
            session_id: None,
            total_cost_usd: None,
            usage: None,
            details,
        }
    }

    /// The `subtype` on the wire.
    pub fn subtype(&self) -> &str {
        match self {
            ResultMessage::Success { .. } => "success",
            ResultMessage::Error { .. } => "error",
            ResultMessage::InputRequired => "input_required",
            ResultMessage::Failed(error) => error.subtype.as_str(),
        }
    }

    /// Reads the members of a `result` frame.
    pub(crate) fn read_frame(
        cursor: &mut Cursor<'_>,
        subtype: &str,
        reading: &mut Reading,
    ) -> Result<Self, Misfit> {
        const TAKEN: &[&str] = &["type", "subtype"];
        if subtype == "error" {
            let SeedError { error, extra } = read_object(cursor, reading, TAKEN)?;
            return Ok(ResultMessage::Error { error, extra: tree(&extra)? });
        }
        let shared: Shared = read_object(cursor, reading, TAKEN)?;
        if subtype == "input_required" && shared == Shared::default() {
            return Ok(ResultMessage::InputRequired);
        }
        let Shared { result, duration_ms, num_turns, session_id, total_cost_usd, usage, .. } = shared;
        let mut rest = shared.extra;
        if subtype == "success" {
            // Error messages next to a success are not fields of its own.
            if !shared.errors.is_empty() {
                rest.insert("errors", &shared.errors);
            }
            if let Some(reason) = &shared.startup_failure_reason {
                rest.insert("startup_failure_reason", reason);
            }
            let details = Box::new(ResultDetails::read_members(&mut rest.cursor(), reading, &[])?);
            return Ok(ResultMessage::Success {
                result,
                duration_ms,
                num_turns,
                session_id,
                total_cost_usd,
                usage,
                details,
            });
        }
        if !result.is_empty() {
            rest.insert("result", &result);
        }
        Ok(ResultMessage::Failed(Box::new(ResultError {
            subtype: subtype.into(),
            errors: shared.errors,
            startup_failure_reason: shared.startup_failure_reason,
            duration_ms,
            num_turns,
            session_id,
            total_cost_usd,
            usage,
            details: ResultDetails::read_members(&mut rest.cursor(), reading, &[])?,
        })))
    }

    /// Writes all members except `type`.
    pub(crate) fn write_members(&self, out: &mut ObjectOut<'_>) {
        out.string("subtype", self.subtype());
        match self {
            ResultMessage::Success {
                result,
                duration_ms,
                num_turns,
                session_id,
                total_cost_usd,
                usage,
                details,
            } => Shared {
                result: result.clone(),
                duration_ms: *duration_ms,
                num_turns: *num_turns,
                session_id: session_id.clone(),
                total_cost_usd: *total_cost_usd,
                usage: usage.clone(),
                ..Shared::default()
            }
            .write_with(details, out),
            ResultMessage::Error { error, extra } => {
                out.field("error", error);
                out.value_members(extra, |key| matches!(key, "type" | "subtype" | "error"));
            }
            ResultMessage::InputRequired => {}
            ResultMessage::Failed(error) => Shared {
                duration_ms: error.duration_ms,
                num_turns: error.num_turns,
                session_id: error.session_id.clone(),
                total_cost_usd: error.total_cost_usd,
                usage: error.usage.clone(),
                errors: error.errors.clone(),
                startup_failure_reason: error.startup_failure_reason.clone(),
                ..Shared::default()
            }
            .write_with(&error.details, out),
        }
    }
}

impl Shared {
    /// Writes both halves of a result; the extra members are with the details.
    fn write_with(&self, details: &ResultDetails, out: &mut ObjectOut<'_>) {
        out.fields_and_extra(&[self, details], &details.extra);
    }
}

/// Without the frame's `type`, a message is an object with a `subtype`.
impl Wire for ResultMessage {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let subtype = cursor.tag("subtype").ok_or_else(|| Misfit::missing("subtype"))?;
        ResultMessage::read_frame(cursor, &subtype.get(), reading)
    }

    fn write(&self, out: &mut String) {
        let mut object = ObjectOut::open(out);
        self.write_members(&mut object);
        object.close();
    }
}

object!(@through_wire ResultMessage);

/// The members as a tree, for types with `extra: Value`.
pub(crate) fn tree(extra: &Extra) -> Result<Value, Misfit> {
    let mut map = Map::new();
    for (key, value) in extra {
        let value = value.value().map_err(|_| {
            let misfit = Misfit::here(&mut value.cursor(), "a value that a tree can hold");
            misfit.within(&key.get())
        })?;
        map.insert(key.get().into_owned(), value);
    }
    Ok(Value::Object(map))
}
