//! The kinds of frames and their spelling.

use std::fmt;

use crate::control::Call;
use crate::messages::{ResultSubtype, SystemMessage};

/// Declares the kinds and their spelling.
macro_rules! kinds {
    ($( $(#[$meta:meta])* $Kind:ident = $text:literal, )+) => {
        /// The `type` of a frame.
        ///
        /// The enum is exhaustive: code that handles every kind does not compile when one is added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $(
                #[doc = concat!("`", $text, "`")]
                $(#[$meta])*
                $Kind,
            )+
            /// Anything else: internal, new, or not a string.
            Unknown,
        }

        impl Kind {
            /// All known kinds.
            pub const KNOWN: &'static [Kind] = &[$(Kind::$Kind),+];

            /// The wire's spelling; empty for [`Kind::Unknown`].
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Kind::$Kind => $text, )+
                    Kind::Unknown => "",
                }
            }

            #[inline]
            pub(crate) fn of(text: &str) -> Self {
                // By far the most frequent kind first.
                if text == Kind::StreamEvent.as_str() {
                    return Kind::StreamEvent;
                }
                match text {
                    $( $text => Kind::$Kind, )+
                    _ => Kind::Unknown,
                }
            }
        }
    };
}

kinds! {
    System = "system",
    Assistant = "assistant",
    User = "user",
    Result = "result",
    StreamEvent = "stream_event",
    ControlRequest = "control_request",
    ControlResponse = "control_response",
    ControlCancelRequest = "control_cancel_request",
    KeepAlive = "keep_alive",
    RateLimitEvent = "rate_limit_event",
    /// (in the `rusty_claw` wire format only)
    McpMessage = "mcp_message",
    ToolProgress = "tool_progress",
    ToolUseSummary = "tool_use_summary",
    AuthStatus = "auth_status",
    PromptSuggestion = "prompt_suggestion",
    ConversationReset = "conversation_reset",
    ActiveGoal = "active_goal",
    UpdateEnvironmentVariables = "update_environment_variables",
}

impl Kind {
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
