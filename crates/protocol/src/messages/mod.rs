//! Every frame as an owned value, with the names of the `rusty_claw` wire format.
//!
//! Enums are open: a match needs a wildcard arm, and an unknown kind arrives as `Unknown` with its raw text.
//! A value can be edited and written back without losing unknown members.

mod api;
mod assistant;
mod content;
mod ids;
mod other;
mod result;
mod system;
mod user;

use serde_json::{Map, Value};

use crate::control::{ControlRequest, ControlResponse};
use crate::frame::FrameRef;
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Json, Misfit, Raw, Reading, Wire, object};
use crate::stream::{Delta, Event};
pub use api::{
    ApiMessage, ApiStopReason, CacheCreation, ModelUsage, OutputTokensDetails, ServerToolUsage, UsageInfo,
};
pub use assistant::{
    AssistantError, AssistantMessage, ContextOverLimit, ContextReportAgent, ContextReportCategory,
    ContextReportFile, ContextReportSkill, ContextReportTool, ContextUsageReport, PlanLimit, PlanLimitLabel,
    PlanLimitScope, PlanUsage, SessionUsage, UsageReport,
};
pub use content::{
    Content, ContentBlock, Document, Image, Opaque, RedactedThinking, SearchResult, ServerToolResult,
    ServerToolResultKind, ServerToolUse, Source, ToolReference,
};
pub(crate) use content::{read_block, write_block};
pub use ids::MessageIds;
pub use other::{
    ActiveGoal, AuthStatus, ControlCancelRequest, ConversationReset, Goal, KeepAlive, PartialMessage,
    PromptSuggestion, RateLimitDetails, RateLimitInfo, RateLimitStatus, RateLimitType, StreamEvent,
    SubagentRetry, ToolProgressFrame, ToolUseSummary, UpdateEnvironmentVariables,
};
pub use result::{
    DeferredToolUse, InvalidConfigFile, PermissionDenial, ResultDetails, ResultError, ResultMessage,
    ResultSubtype, TerminalReason,
};
pub use system::*;
pub use user::{Origin, OriginKind, Priority, UserMessage};

/// One line of the wire, in either direction.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// Lifecycle events. An unknown subtype arrives as `Unknown`.
    System(SystemMessage),
    /// A response of the model.
    Assistant(AssistantMessage),
    /// A message of the user, or the result of a tool.
    User(UserMessage),
    /// Result of a turn.
    Result(ResultMessage),
    /// A control request of either side.
    ControlRequest {
        /// Id that links the response to the request.
        request_id: String,
        /// The request.
        request: ControlRequest,
    },
    /// The response to a control request.
    ControlResponse {
        /// Id of the request.
        request_id: String,
        /// The response.
        response: ControlResponse,
    },
    /// The plan's limits changed; the whole payload. See [`Message::rate_limit_details`].
    RateLimitEvent(Value),
    /// Top-level MCP frame of the `rusty_claw` wire format; the whole payload. On the real wire it is a
    /// control request.
    McpMessage(Value),
    /// An event of a streamed answer.
    StreamEvent(Box<PartialMessage>),
    /// Withdrawal of a request.
    ControlCancelRequest(ControlCancelRequest),
    /// Keeps the connection open.
    KeepAlive(KeepAlive),
    /// A tool has been running for a while.
    ToolProgress(ToolProgressFrame),
    /// One-line summary of the preceding tool calls.
    ToolUseSummary(ToolUseSummary),
    /// A login is in progress.
    AuthStatus(AuthStatus),
    /// Suggestion for the user's next prompt.
    PromptSuggestion(PromptSuggestion),
    /// A new conversation starts in the same process.
    ConversationReset(ConversationReset),
    /// A goal was set, has changed, or is gone.
    ActiveGoal(ActiveGoal),
    /// Changes the CLI's environment at run time.
    UpdateEnvironmentVariables(UpdateEnvironmentVariables),
    /// A frame that is internal, new or unreadable.
    Unknown(Unknown),
}

/// A frame kept unchanged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Unknown {
    /// The `type` on the wire, if it is a string.
    pub kind: Option<String>,
    /// The `subtype` on the wire, if present.
    pub subtype: Option<String>,
    /// The whole frame.
    pub raw: Json,
    /// Reason why a frame of a known kind could not be read; `None` for an unknown kind.
    pub reason: Option<Misfit>,
}

const TAKEN: &[&str] = &["type"];

impl Message {
    /// Reads a frame. Never fails: an unreadable frame becomes [`Message::Unknown`], with the reason.
    pub(crate) fn read_frame(frame: &FrameRef<'_>, reading: &mut Reading) -> Self {
        let reason = match Self::read_known(frame, reading) {
            Ok(Some(message)) => return message,
            Ok(None) => None,
            Err(misfit) => Some(misfit),
        };
        reading.refused.clear();
        Message::Unknown(Unknown {
            kind: frame.type_name().map(Into::into),
            subtype: frame.subtype().map(Into::into),
            raw: frame.json().to_json(),
            reason,
        })
    }

    /// Reads a frame of a known kind; `None` for an unknown kind.
    fn read_known(frame: &FrameRef<'_>, reading: &mut Reading) -> Result<Option<Self>, Misfit> {
        use crate::frame::Kind;
        let raw = frame.json();
        let cursor = &mut raw.cursor();
        let subtype = frame.subtype().unwrap_or_default();
        Ok(Some(match frame.kind() {
            Kind::System if !frame.is_known() => return Ok(None),
            Kind::System => Message::System(SystemMessage::read_frame(cursor, &subtype, reading)?),
            Kind::Assistant => {
                let mut assistant: AssistantMessage = read_object(cursor, reading, TAKEN)?;
                imply_role(&mut assistant.message, "assistant");
                Message::Assistant(assistant)
            }
            Kind::User => {
                let mut user: UserMessage = read_object(cursor, reading, TAKEN)?;
                imply_role(&mut user.message, "user");
                Message::User(user)
            }
            Kind::Result if frame.subtype().is_none() => return Err(Misfit::missing("subtype")),
            Kind::Result => Message::Result(ResultMessage::read_frame(cursor, &subtype, reading)?),
            Kind::ControlRequest => {
                let (request_id, request) = ControlRequest::read_frame(raw, reading)?;
                Message::ControlRequest { request_id, request }
            }
            Kind::ControlResponse => {
                let (request_id, response) = ControlResponse::read_frame(raw, reading)?;
                Message::ControlResponse { request_id, response }
            }
            Kind::RateLimitEvent => {
                // Read only to record what does not fit: the payload stays a tree.
                read_object::<RateLimitDetails>(cursor, reading, TAKEN)?;
                Message::RateLimitEvent(payload(raw)?)
            }
            Kind::McpMessage => Message::McpMessage(payload(raw)?),
            Kind::StreamEvent => {
                let partial = match PartialMessage::plain_delta(frame) {
                    Some(partial) => partial,
                    None => read_object(cursor, reading, TAKEN)?,
                };
                Message::StreamEvent(Box::new(partial))
            }
            Kind::ControlCancelRequest => Message::ControlCancelRequest(read_object(cursor, reading, TAKEN)?),
            Kind::KeepAlive => Message::KeepAlive(read_object(cursor, reading, TAKEN)?),
            Kind::ToolProgress => Message::ToolProgress(read_object(cursor, reading, TAKEN)?),
            Kind::ToolUseSummary => Message::ToolUseSummary(read_object(cursor, reading, TAKEN)?),
            Kind::AuthStatus => Message::AuthStatus(read_object(cursor, reading, TAKEN)?),
            Kind::PromptSuggestion => Message::PromptSuggestion(read_object(cursor, reading, TAKEN)?),
            Kind::ConversationReset => Message::ConversationReset(read_object(cursor, reading, TAKEN)?),
            Kind::ActiveGoal => Message::ActiveGoal(read_object(cursor, reading, TAKEN)?),
            Kind::UpdateEnvironmentVariables => {
                Message::UpdateEnvironmentVariables(read_object(cursor, reading, TAKEN)?)
            }
            Kind::Unknown => return Ok(None),
        }))
    }

    /// The `type` on the wire.
    pub fn type_name(&self) -> &str {
        match self {
            Message::System(_) => "system",
            Message::Assistant(_) => "assistant",
            Message::User(_) => "user",
            Message::Result(_) => "result",
            Message::ControlRequest { .. } => "control_request",
            Message::ControlResponse { .. } => "control_response",
            Message::RateLimitEvent(_) => "rate_limit_event",
            Message::McpMessage(_) => "mcp_message",
            Message::StreamEvent(_) => "stream_event",
            Message::ControlCancelRequest(_) => "control_cancel_request",
            Message::KeepAlive(_) => "keep_alive",
            Message::ToolProgress(_) => "tool_progress",
            Message::ToolUseSummary(_) => "tool_use_summary",
            Message::AuthStatus(_) => "auth_status",
            Message::PromptSuggestion(_) => "prompt_suggestion",
            Message::ConversationReset(_) => "conversation_reset",
            Message::ActiveGoal(_) => "active_goal",
            Message::UpdateEnvironmentVariables(_) => "update_environment_variables",
            Message::Unknown(unknown) => unknown.kind.as_deref().unwrap_or_default(),
        }
    }

    /// The blocks of a user or assistant message; empty for others.
    pub fn content_blocks(&self) -> &[ContentBlock] {
        match self {
            Message::Assistant(assistant) => &assistant.message.content,
            Message::User(user) => &user.message.content,
            _ => &[],
        }
    }

    /// The text that a frame of a streamed answer adds, of the main agent or of a sub-agent; `None` for all
    /// other messages.
    pub fn text_delta(&self) -> Option<&str> {
        let Message::StreamEvent(partial) = self else { return None };
        let Event::ContentBlockDelta(more) = &partial.event else { return None };
        match &more.delta {
            Delta::Text(delta) => Some(&delta.text),
            _ => None,
        }
    }

    /// Tool calls of an assistant message: id, name and input.
    pub fn tool_calls(&self) -> Vec<(&str, &str, &Value)> {
        let Message::Assistant(assistant) = self else {
            return Vec::new();
        };
        let calls = assistant.message.content.iter().filter_map(|block| match block {
            ContentBlock::ToolUse { id, name, input } => Some((id.as_str(), name.as_str(), input)),
            _ => None,
        });
        calls.collect()
    }

    /// The fields of a `rate_limit_event`; `None` for all other messages.
    pub fn rate_limit_details(&self) -> Option<RateLimitDetails> {
        let Message::RateLimitEvent(payload) = self else { return None };
        let text = payload.to_string();
        let mut details = RateLimitDetails::read(&mut Cursor::new(&text), &mut Reading::default()).ok()?;
        if let Some(info) = &mut details.rate_limit_info {
            info.adopt_snake_case();
        }
        Some(details)
    }

    /// The message as one line of JSON, without the line end.
    ///
    /// The line has every member and every value of the frame that the message came from, known or not. The
    /// order of members and the spelling of values may differ; [`Frame::raw`](crate::Frame::raw) has the
    /// original bytes.
    pub fn to_line(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

impl Wire for Message {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        let raw = cursor.raw();
        match FrameRef::decode(raw.as_str().as_bytes()) {
            Ok(frame) => Ok(Message::read_frame(&frame, reading)),
            Err(_) => Err(Misfit::here(&mut raw.cursor(), "an object")),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Message::Unknown(unknown) => return unknown.raw.write(out),
            Message::ControlRequest { request_id, request } => return request.write_frame(request_id, out),
            Message::ControlResponse { request_id, response } => {
                return response.write_frame(request_id, out);
            }
            _ => {}
        }
        let mut object = ObjectOut::open(out);
        object.string("type", self.type_name());
        match self {
            Message::System(body) => body.write_members(&mut object),
            Message::Assistant(body) => body.write_members(&mut object),
            Message::User(body) => body.write_members(&mut object),
            Message::Result(body) => body.write_members(&mut object),
            Message::RateLimitEvent(body) | Message::McpMessage(body) => {
                object.value_members(body, |key| key == "type");
            }
            Message::StreamEvent(body) => body.write_members(&mut object),
            Message::ControlCancelRequest(body) => body.write_members(&mut object),
            Message::KeepAlive(body) => body.write_members(&mut object),
            Message::ToolProgress(body) => body.write_members(&mut object),
            Message::ToolUseSummary(body) => body.write_members(&mut object),
            Message::AuthStatus(body) => body.write_members(&mut object),
            Message::PromptSuggestion(body) => body.write_members(&mut object),
            Message::ConversationReset(body) => body.write_members(&mut object),
            Message::ActiveGoal(body) => body.write_members(&mut object),
            Message::UpdateEnvironmentVariables(body) => body.write_members(&mut object),
            Message::ControlRequest { .. } | Message::ControlResponse { .. } | Message::Unknown(_) => {}
        }
        object.close();
    }
}

object!(@through_wire Message);

fn imply_role(message: &mut ApiMessage, role: &str) {
    if message.role_implied {
        role.clone_into(&mut message.role);
    }
}

/// All members except `type`, as a tree.
fn payload(frame: Raw<'_>) -> Result<Value, Misfit> {
    let mut map = Map::new();
    for (key, value) in frame.members().filter(|(key, _)| *key != "type") {
        let value = Value::read(&mut value.cursor(), &mut Reading::default())
            .map_err(|misfit| misfit.within(&key.get()))?;
        map.insert(key.get().into_owned(), value);
    }
    Ok(Value::Object(map))
}
