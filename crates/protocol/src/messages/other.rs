//! The frames that are neither conversation nor control.

use std::collections::BTreeMap;

use crate::frame::FrameRef;
use crate::json::{Extra, Json, Reading, Wire, object, open_string};
use crate::messages::AssistantError;
use crate::stream::Event;

object! {
    /// `stream_event`: the model's answer while it is being written.
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

    /// Seed 000's stand-alone stream event; the real frame is [`PartialMessage`].
    pub struct StreamEvent {
        req event_type: String,
        req data: serde_json::Value,
    }

    /// `tool_progress`: a tool has been running for a while.
    pub struct ToolProgress {
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

    /// A sub-agent's API call failed and will be tried again.
    pub struct SubagentRetry {
        opt agent_id: String,
        opt attempt: u64,
        opt max_retries: u64,
        opt retry_delay_ms: f64,
        opt error_status: u16,
        opt error_category: AssistantError,
    }

    /// `tool_use_summary`: one line about the tool calls before it.
    pub struct ToolUseSummary {
        req summary: String,
        def preceding_tool_use_ids: Vec<String>,
        opt uuid: String,
        opt session_id: String,
    }

    /// `auth_status`: a login is under way.
    pub struct AuthStatus {
        opt is_authenticating: bool as "isAuthenticating",
        def output: Vec<String>,
        opt error: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `prompt_suggestion`: what the user may want to say next.
    pub struct PromptSuggestion {
        req suggestion: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `conversation_reset`: a new conversation begins in the same process; `session_id` is the old one.
    pub struct ConversationReset {
        opt new_conversation_id: String,
        opt trigger: String,
        opt user_message_uuid: String,
        opt timestamp: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `active_goal`: a goal was set, has moved on, or is gone.
    pub struct ActiveGoal {
        opt value: Goal,
        opt uuid: String,
        opt session_id: String,
    }

    /// A goal that the session works towards.
    pub struct Goal {
        opt condition: String,
        opt iterations: u64,
        opt set_at: Json,
        opt tokens_at_start: u64,
        opt last_reason: String,
    }

    /// `keep_alive`: nothing; either side may send it.
    pub struct KeepAlive {
        opt startup_mark: String,
    }

    /// `control_cancel_request`: whoever sent a request takes it back.
    pub struct ControlCancelRequest {
        req request_id: String,
    }

    /// `update_environment_variables`: changes the CLI's environment while it runs.
    pub struct UpdateEnvironmentVariables {
        req variables: BTreeMap<String, String>,
        opt request_id: String,
    }

    /// The body of a `rate_limit_event`: how a plan's limits stand.
    pub struct RateLimitInfo {
        req status: RateLimitStatus,
        /// Seconds since 1970.
        opt resets_at: i64 as "resetsAt",
        opt rate_limit_type: RateLimitType as "rateLimitType",
        /// From 0 to 1.
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
}

impl RateLimitInfo {
    /// Takes over what is spelled as seed 004 spells it; the CLI itself writes camelCase.
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
    /// A delta in the shape that nearly all frames of a stream have, read with what decoding noted.
    ///
    /// Gives up on anything unusual; the frame is then read by the table like any other.
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
    /// Whether a limit lets requests through.
    pub struct RateLimitStatus {
        ALLOWED = "allowed",
        ALLOWED_WARNING = "allowed_warning",
        REJECTED = "rejected",
    }

    /// Which limit.
    pub struct RateLimitType {
        FIVE_HOUR = "five_hour",
        SEVEN_DAY = "seven_day",
        SEVEN_DAY_OPUS = "seven_day_opus",
        SEVEN_DAY_SONNET = "seven_day_sonnet",
        SEVEN_DAY_OVERAGE_INCLUDED = "seven_day_overage_included",
        OVERAGE = "overage",
    }
}
