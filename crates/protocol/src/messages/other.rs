//! Frames outside of the conversation and the control protocol.

use std::collections::BTreeMap;

use crate::frame::FrameRef;
use crate::json::{Extra, Reading, Wire, object, open_string};
use crate::messages::AssistantError;
use crate::stream::Event;

object! {
    /// `stream_event`: an event of a streamed answer.
    pub struct PartialMessage {
        req event: Event,
        opt parent_tool_use_id: String,
        opt uuid: String,
        opt session_id: String,
        opt ttft_ms: f64,
        opt user_message_uuid: String,
        opt user_message_uuids: Vec<String>,
        opt resume_reason: String,
    }

    /// Stand-alone stream event of the `rusty_claw` wire format; the real frame is [`PartialMessage`].
    pub struct StreamEvent {
        req event_type: String,
        req data: serde_json::Value,
    }

    /// `tool_progress`: a tool has been running for a while.
    pub struct ToolProgressFrame {
        req tool_use_id: String,
        opt tool_name: String,
        opt parent_tool_use_id: String,
        opt elapsed_time_seconds: f64,
        opt task_id: String,
        opt heartbeat: bool,
        opt subagent_type: String,
        opt subagent_retry: SubagentRetry,
        opt uuid: String,
        opt session_id: String,
    }

    /// A sub-agent's API call failed and will be retried.
    pub struct SubagentRetry {
        opt agent_id: String,
        opt attempt: u64,
        opt max_retries: u64,
        opt retry_delay_ms: f64,
        opt error_status: u16,
        opt error_category: AssistantError,
    }

    /// `tool_use_summary`: one-line summary of the preceding tool calls.
    pub struct ToolUseSummary {
        req summary: String,
        def preceding_tool_use_ids: Vec<String>,
        opt uuid: String,
        opt session_id: String,
    }

    /// `auth_status`: a login is in progress.
    pub struct AuthStatus {
        opt is_authenticating: bool as "isAuthenticating",
        def output: Vec<String>,
        opt error: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `prompt_suggestion`: suggestion for the user's next prompt.
    pub struct PromptSuggestion {
        req suggestion: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `conversation_reset`: a new conversation starts in the same process; `session_id` is the old one.
    pub struct ConversationReset {
        opt new_conversation_id: String,
        opt trigger: String,
        opt user_message_uuid: String,
        opt timestamp: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `active_goal`: a goal was set, has changed, or is gone.
    pub struct ActiveGoal {
        opt value: Goal,
        opt uuid: String,
        opt session_id: String,
    }

    /// A goal that the session works towards.
    pub struct Goal {
        opt condition: String,
        opt iterations: u64,
        opt set_at: f64,
        opt tokens_at_start: u64,
        opt last_reason: String,
    }

    /// `keep_alive`: keeps the connection open; either side may send it.
    pub struct KeepAlive {
        opt startup_mark: String,
    }

    /// `control_cancel_request`: the sender of a request withdraws it.
    pub struct ControlCancelRequest {
        req request_id: String,
    }

    /// `update_environment_variables`: changes the CLI's environment at run time.
    pub struct UpdateEnvironmentVariables {
        req variables: BTreeMap<String, String>,
        opt request_id: String,
    }

    /// Body of a `rate_limit_event`: state of the plan's limits.
    pub struct RateLimitInfo {
        req status: RateLimitStatus,
        /// Seconds since 1970.
        opt resets_at: i64 as "resetsAt",
        opt rate_limit_type: RateLimitType as "rateLimitType",
        /// Used share, from 0 to 1.
        opt utilization: f64,
        opt overage_status: RateLimitStatus as "overageStatus",
        opt overage_resets_at: i64 as "overageResetsAt",
        opt overage_disabled_reason: String as "overageDisabledReason",
        opt is_using_overage: bool as "isUsingOverage",
        opt overage_in_use: bool as "overageInUse",
        opt overage_enabled: bool as "overageEnabled",
        opt surpassed_threshold: f64 as "surpassedThreshold",
        opt limit_scope: String as "limitScope",
        opt error_code: String as "errorCode",
        opt can_user_purchase_credits: bool as "canUserPurchaseCredits",
        opt has_chargeable_saved_payment_method: bool as "hasChargeableSavedPaymentMethod",
    }

    /// Fields of a `rate_limit_event`; read from its payload on demand.
    pub struct RateLimitDetails {
        opt rate_limit_info: RateLimitInfo,
        opt uuid: String,
        opt session_id: String,
    }
}

impl RateLimitInfo {
    /// Takes over values with `snake_case` keys, which some programs write; the CLI writes `camelCase`.
    pub(crate) fn adopt_snake_case(&mut self) {
        let extra = &mut self.extra;
        adopt(&mut self.resets_at, extra, "resets_at");
        adopt(&mut self.rate_limit_type, extra, "rate_limit_type");
        adopt(&mut self.is_using_overage, extra, "is_using_overage");
        adopt(&mut self.overage_status, extra, "overage_status");
        adopt(&mut self.overage_resets_at, extra, "overage_resets_at");
        adopt(&mut self.overage_disabled_reason, extra, "overage_disabled_reason");
    }
}

fn adopt<T: Wire>(field: &mut Option<T>, extra: &mut Extra, key: &str) {
    let value = extra.get(key).filter(|_| field.is_none());
    if let Some(Ok(value)) = value.map(|value| T::read(&mut value.cursor(), &mut Reading::default())) {
        *field = Some(value);
        extra.remove(key);
    }
}

impl PartialMessage {
    /// An event of the main conversation, in the form of the CLI.
    pub fn new(event: Event) -> Self {
        let mut partial = PartialMessage { event, ..PartialMessage::default() };
        partial.extra.keep_null("parent_tool_use_id");
        partial
    }

    /// A delta in the shape of nearly all frames of a stream, read from the positions noted by decoding.
    ///
    /// Returns `None` for anything unusual; the frame is then read like any other.
    pub(crate) fn plain_delta(frame: &FrameRef<'_>) -> Option<Self> {
        let mut partial = PartialMessage { event: Event::plain_delta(frame)?, ..PartialMessage::default() };
        for member in frame.others()? {
            partial.extra.keep(member);
        }
        let fields = [&mut partial.uuid, &mut partial.session_id, &mut partial.parent_tool_use_id];
        for ((key, value), field) in frame.usual().into_iter().zip(fields) {
            let Some(value) = value else { continue };
            match value.text() {
                Some(text) => *field = Some(text.get().into_owned()),
                None if value.is_null() => partial.extra.keep_null(key),
                None => return None,
            }
        }
        Some(partial)
    }
}

open_string! {
    /// State of a limit.
    pub struct RateLimitStatus {
        ALLOWED = "allowed",
        ALLOWED_WARNING = "allowed_warning",
        REJECTED = "rejected",
    }

    /// Name of a limit.
    pub struct RateLimitType {
        FIVE_HOUR = "five_hour",
        SEVEN_DAY = "seven_day",
        SEVEN_DAY_OPUS = "seven_day_opus",
        SEVEN_DAY_SONNET = "seven_day_sonnet",
        SEVEN_DAY_OVERAGE_INCLUDED = "seven_day_overage_included",
        OVERAGE = "overage",
    }
}
