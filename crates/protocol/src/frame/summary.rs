//! Summary accessors of frames: outcome, errors, tool calls, usage and cost.

use std::borrow::Cow;

use super::{FrameRef, Kind};
use crate::json::{Raw, Reading, Text, Wire};
use crate::messages::{RateLimitInfo, UsageInfo};
use crate::view::{Block, Blocks};

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall<'a> {
    /// Id of the call.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
    /// Input, as written.
    pub input: Raw<'a>,
}

/// Outcome of a turn, by what a caller would do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It ran to its end.
    Completed,
    /// The API failed; the subtype is still `success`.
    ApiError {
        /// HTTP status, if there was a response.
        status: Option<u16>,
    },
    /// The user interrupted it.
    Interrupted,
    /// It reached the limit of rounds.
    MaxTurns,
    /// It reached the limit of cost.
    MaxBudget,
    /// No answer matched the requested schema.
    StructuredOutput,
    /// A hook deferred a tool call.
    Deferred,
    /// It waits for input (`rusty_claw` wire format only).
    InputRequired,
    /// It failed in some other way.
    Failed,
}

/// Error of a turn that the user interrupted, for people.
pub(crate) const INTERRUPTED: &str = "The turn was interrupted";

/// True if a turn with this `terminal_reason` was interrupted by the user.
pub(crate) fn is_interruption(terminal_reason: &str) -> bool {
    matches!(terminal_reason, "aborted_streaming" | "aborted_tools")
}

impl<'a> FrameRef<'a> {
    /// True if the frame ends a turn.
    pub fn is_final(&self) -> bool {
        self.kind() == Kind::Result
    }

    /// True if the frame ends a failed turn, in any spelling.
    pub fn is_error(&self) -> bool {
        self.is_final()
            && (self.get("is_error").and_then(Raw::bool) == Some(true)
                || self.subtype().is_some_and(|subtype| subtype.starts_with("error")))
    }

    /// Outcome of the turn; `None` if the frame does not end one.
    pub fn outcome(&self) -> Option<Outcome> {
        if !self.is_final() {
            return None;
        }
        let reason = self.get("terminal_reason").and_then(Raw::text).map(Text::get).unwrap_or_default();
        Some(match (self.subtype().as_deref(), &*reason) {
            (Some("input_required"), _) => Outcome::InputRequired,
            (_, "tool_deferred") => Outcome::Deferred,
            (Some("error_max_turns"), _) => Outcome::MaxTurns,
            (Some("error_max_budget_usd"), _) => Outcome::MaxBudget,
            (Some("error_max_structured_output_retries"), _) => Outcome::StructuredOutput,
            (_, reason) if is_interruption(reason) => Outcome::Interrupted,
            (Some("success"), "api_error") if self.is_error() => {
                let status = self.get("api_error_status").and_then(Raw::u64);
                Outcome::ApiError { status: status.and_then(|status| status.try_into().ok()) }
            }
            _ if self.is_error() => Outcome::Failed,
            _ => Outcome::Completed,
        })
    }

    /// Error message of a failed turn, or a description of its subtype.
    pub fn error_text(&self) -> Option<String> {
        if !self.is_error() {
            return None;
        }
        let written = self
            .get("error")
            .and_then(Raw::text)
            .or_else(|| self.get("errors")?.items().find_map(Raw::text))
            .or_else(|| self.get("result")?.text())
            .map(|text| text.get().into_owned());
        Some(written.filter(|text| !text.is_empty()).unwrap_or_else(|| {
            let meaning = match self.outcome() {
                Some(Outcome::MaxTurns) => "The turn reached its limit of rounds",
                Some(Outcome::MaxBudget) => "The session reached its budget",
                Some(Outcome::StructuredOutput) => "No answer fitted the schema",
                Some(Outcome::Interrupted) => INTERRUPTED,
                Some(Outcome::ApiError { .. }) => "The API failed",
                _ => "The turn failed",
            };
            meaning.to_owned()
        }))
    }

    /// Blocks of a user or assistant frame; empty for others. Plain text is one text block.
    pub fn content_blocks(&self) -> Blocks<'a> {
        let content = match self.kind() {
            Kind::Assistant | Kind::User => self.message_spans().content.raw(self.text()),
            _ => None,
        };
        Blocks::of(content)
    }

    /// Tool calls of an assistant frame.
    pub fn tool_calls(&self) -> Vec<ToolCall<'a>> {
        if self.kind() != Kind::Assistant {
            return Vec::new();
        }
        let calls = self.content_blocks().filter_map(|block| match block {
            Block::ToolUse { id, name, input } => Some(ToolCall { id: id.get(), name: name.get(), input }),
            _ => None,
        });
        calls.collect()
    }

    /// Checkpoint named by a user frame, to which files can be rewound.
    pub fn user_uuid(&self) -> Option<Cow<'a, str>> {
        if self.kind() == Kind::User { self.uuid() } else { None }
    }

    /// Token counts: of the API response for an assistant frame, of the turn for a result.
    ///
    /// An assistant frame repeats the usage of its response: count once per message id.
    pub fn usage(&self) -> Option<UsageInfo> {
        let usage = match self.kind() {
            Kind::Assistant => self.message_spans().usage.raw(self.text())?,
            Kind::Result => self.get("usage")?,
            _ => return None,
        };
        UsageInfo::read(&mut usage.cursor(), &mut Reading::default()).ok()
    }

    /// Total cost of the session so far, from a result.
    pub fn cost_usd(&self) -> Option<f64> {
        self.get("total_cost_usd").filter(|_| self.is_final())?.f64()
    }

    /// State of the plan's rate limits, from a `rate_limit_event`.
    pub fn rate_limit(&self) -> Option<RateLimitInfo> {
        let info = self.get("rate_limit_info").filter(|_| self.kind() == Kind::RateLimitEvent)?;
        let mut info = RateLimitInfo::read(&mut info.cursor(), &mut Reading::default()).ok()?;
        info.adopt_snake_case();
        Some(info)
    }
}
