use std::fmt;

use crate::control::Call;
use crate::messages::{ResultSubtype, SystemMessage};

/// The `type` of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// `system`
    System,
    /// `assistant`
    Assistant,
    /// `user`
    User,
    /// `result`
    Result,
    /// `stream_event`
    StreamEvent,
    /// `control_request`
    ControlRequest,
    /// `control_response`
    ControlResponse,
    /// `control_cancel_request`
    ControlCancelRequest,
    /// `keep_alive`
    KeepAlive,
    /// `rate_limit_event`
    RateLimitEvent,
    /// `mcp_message`, a frame of the `rusty_claw` wire format only
    McpMessage,
    /// `tool_progress`
    ToolProgress,
    /// `tool_use_summary`
    ToolUseSummary,
    /// `auth_status`
    AuthStatus,
    /// `prompt_suggestion`
    PromptSuggestion,
    /// `conversation_reset`
    ConversationReset,
    /// `active_goal`
    ActiveGoal,
    /// `update_environment_variables`
    UpdateEnvironmentVariables,
    /// Anything else: internal, new, or not a string.
    Unknown,
}

impl Kind {
    /// All known kinds.
    pub const KNOWN: &'static [Kind] = &[
        Kind::System,
        Kind::Assistant,
        Kind::User,
        Kind::Result,
        Kind::StreamEvent,
        Kind::ControlRequest,
        Kind::ControlResponse,
        Kind::ControlCancelRequest,
        Kind::KeepAlive,
        Kind::RateLimitEvent,
        Kind::McpMessage,
        Kind::ToolProgress,
        Kind::ToolUseSummary,
        Kind::AuthStatus,
        Kind::PromptSuggestion,
        Kind::ConversationReset,
        Kind::ActiveGoal,
        Kind::UpdateEnvironmentVariables,
    ];

    /// The wire's spelling; empty for [`Kind::Unknown`].
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::System => "system",
            Kind::Assistant => "assistant",
            Kind::User => "user",
            Kind::Result => "result",
            Kind::StreamEvent => "stream_event",
            Kind::ControlRequest => "control_request",
            Kind::ControlResponse => "control_response",
            Kind::ControlCancelRequest => "control_cancel_request",
            Kind::KeepAlive => "keep_alive",
            Kind::RateLimitEvent => "rate_limit_event",
            Kind::McpMessage => "mcp_message",
            Kind::ToolProgress => "tool_progress",
            Kind::ToolUseSummary => "tool_use_summary",
            Kind::AuthStatus => "auth_status",
            Kind::PromptSuggestion => "prompt_suggestion",
            Kind::ConversationReset => "conversation_reset",
            Kind::ActiveGoal => "active_goal",
            Kind::UpdateEnvironmentVariables => "update_environment_variables",
            Kind::Unknown => "",
        }
    }

    #[inline]
    pub(crate) fn of(text: &str) -> Self {
        // By far the most frequent kind first.
        if text == "stream_event" {
            return Kind::StreamEvent;
        }
        Kind::KNOWN.iter().copied().find(|kind| kind.as_str() == text).unwrap_or(Kind::Unknown)
    }

    /// True if a subtype distinguishes frames of this kind.
    pub(crate) fn has_subtype(self) -> bool {
        matches!(self, Kind::System | Kind::Result | Kind::ControlRequest | Kind::ControlResponse)
    }

    /// True if frames of this kind and subtype have a typed form.
    pub(crate) fn knows(self, subtype: Option<&str>) -> bool {
        let subtype = subtype.unwrap_or_default();
        match self {
            Kind::System => SystemMessage::KNOWN.contains(&subtype),
            Kind::Result => ResultSubtype::KNOWN.contains(&subtype),
            Kind::ControlRequest => Call::KNOWN.contains(&subtype),
            Kind::ControlResponse => matches!(subtype, "success" | "error"),
            Kind::Unknown => false,
            _ => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
