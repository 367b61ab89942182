//! Writer for the `rusty_claw` wire format: flat control frames, tools as objects, content always a list.
//!
//! Reading that format needs no special call, since every decoder of this crate accepts both. The real CLI
//! understands nothing that this module writes (a flat control request ends its process): the output is for
//! programs that speak the `rusty_claw` wire format.

use crate::control::{Call, ControlOutcome, ControlRequest, ControlResponse, ControlStyle};
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Extra, Json, Raw, Text, Wire};
use crate::messages::{
    ApiMessage, ContentBlock, Message, ResultMessage, SystemMessage, ToolInfo, write_block,
};
use crate::permissions::PermissionResult;
use crate::stream::Event;

/// The message as a line of the `rusty_claw` wire format; `None` if that format has no shape for it.
///
/// Anything else without a shape there (ids, most system frames, blocks other than its four) is left out.
pub fn to_seed(message: &Message) -> Option<String> {
    match message {
        Message::System(system) => system_line(system),
        Message::Assistant(assistant) => {
            let content = content(&assistant.message)?;
            Some(line("assistant", |out| {
                write_message(out, "assistant", &content);
                optional(out, "parent_tool_use_id", assistant.parent_tool_use_id.as_ref());
                optional(out, "duration_ms", assistant.duration_ms.as_ref());
            }))
        }
        Message::User(user) => {
            let content = content(&user.message)?;
            Some(line("user", |out| write_message(out, "user", &content)))
        }
        Message::Result(result) => Some(result_line(result)),
        Message::ControlRequest { request_id, request } => Some(request_line(request_id, request)),
        Message::ControlResponse { request_id, response } => Some(response_line(request_id, response)),
        Message::RateLimitEvent(_) | Message::McpMessage(_) => Some(message.to_line()),
        Message::StreamEvent(partial) => Some(event_line(&partial.event)),
        _ => None,
    }
}

fn line(kind: &str, members: impl FnOnce(&mut ObjectOut<'_>)) -> String {
    let mut text = String::new();
    let mut out = ObjectOut::open(&mut text);
    out.string("type", kind);
    members(&mut out);
    out.close();
    text
}

fn optional<T: Wire>(out: &mut ObjectOut<'_>, key: &str, value: Option<&T>) {
    if let Some(value) = value {
        out.field(key, value);
    }
}

fn system_line(system: &SystemMessage) -> Option<String> {
    let mut system = system.clone();
    match &mut system {
        SystemMessage::Init { tools, .. } => {
            *tools = std::mem::take(tools).into_iter().map(ToolInfo::into_object).collect();
        }
        SystemMessage::CompactBoundary => {}
        SystemMessage::Compacted(_) => system = SystemMessage::CompactBoundary,
        _ => return None,
    }
    Some(Message::System(system).to_line())
}

/// The blocks that the format has; `None` when there was content and the format has no shape for any of it.
fn content(message: &ApiMessage) -> Option<Vec<&ContentBlock>> {
    let known = |block: &&ContentBlock| {
        matches!(
            block,
            ContentBlock::Text { .. }
                | ContentBlock::Thinking { .. }
                | ContentBlock::ToolUse { .. }
                | ContentBlock::ToolResult { .. }
        )
    };
    let blocks: Vec<_> = message.content.iter().filter(known).collect();
    (!blocks.is_empty() || message.content.is_empty()).then_some(blocks)
}

fn write_message(out: &mut ObjectOut<'_>, role: &str, blocks: &[&ContentBlock]) {
    let mut message = ObjectOut::open(out.key("message"));
    message.string("role", role);
    let list = message.key("content");
    list.push('[');
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            list.push(',');
        }
        seed_block(block, list);
    }
    list.push(']');
    message.close();
}

/// Writes a block of the format: a tool's result always has its content and whether it failed.
fn seed_block(block: &ContentBlock, out: &mut String) {
    let ContentBlock::ToolResult { tool_use_id, content, is_error } = block else {
        return write_block(block, &Extra::default(), out);
    };
    let mut object = ObjectOut::open(out);
    object.string("type", "tool_result");
    object.field("tool_use_id", tool_use_id);
    object.field("content", content);
    object.field("is_error", is_error);
    object.close();
}

fn result_line(result: &ResultMessage) -> String {
    match result {
        // The format has no success that failed.
        ResultMessage::Success { result, session_id, details, .. } if details.is_error == Some(true) => {
            error_line(result, "api_error", session_id.as_ref())
        }
        ResultMessage::Success {
            result, duration_ms, num_turns, session_id, total_cost_usd, usage, ..
        } => line("result", |out| {
            out.string("subtype", "success");
            out.field("result", result);
            optional(out, "duration_ms", duration_ms.as_ref());
            optional(out, "num_turns", num_turns.as_ref());
            optional(out, "session_id", session_id.as_ref());
            optional(out, "total_cost_usd", total_cost_usd.as_ref());
            if let Some(usage) = usage {
                let mut counters = ObjectOut::open(out.key("usage"));
                counters.field("input_tokens", &usage.input_tokens);
                counters.field("output_tokens", &usage.output_tokens);
                counters.close();
            }
        }),
        ResultMessage::Failed(error) => {
            let text = error.errors.first().map_or_else(|| error.subtype.as_str(), String::as_str);
            error_line(text, error.subtype.as_str(), error.session_id.as_ref())
        }
        ResultMessage::Error { .. } | ResultMessage::InputRequired => {
            Message::Result(result.clone()).to_line()
        }
    }
}

fn error_line(text: &str, code: &str, session_id: Option<&String>) -> String {
    line("result", |out| {
        out.string("subtype", "error");
        out.string("error", text);
        out.string("error_code", code);
        optional(out, "session_id", session_id);
    })
}

fn event_line(event: &Event) -> String {
    let mut whole = String::new();
    event.write(&mut whole);
    let event = Raw::new(&whole);
    let mut text = String::new();
    let mut out = ObjectOut::open(&mut text);
    // The event's own name, so that an unknown event keeps it.
    let kind = event.get("type").and_then(Raw::text);
    out.string("event_type", &kind.map(Text::get).unwrap_or_default());
    let mut data = ObjectOut::open(out.key("data"));
    for (key, value) in event.members().filter(|(key, _)| *key != "type") {
        data.key(&key.get()).push_str(value.as_str());
    }
    data.close();
    out.close();
    text
}

fn request_line(request_id: &str, request: &ControlRequest) -> String {
    let mut request = request.clone().in_style(ControlStyle::Flat);
    match &mut request.call {
        Call::CanUseTool(ask) => ask.tool_input = ask.input.take().or(ask.tool_input.take()),
        Call::HookCallback(hook) => {
            hook.hook_event = hook.event().cloned();
            hook.hook_id = hook.callback_id.take().or(hook.hook_id.take());
            hook.hook_input = hook.input.take().or(hook.hook_input.take());
        }
        Call::McpMessage(routed) => {
            return line("mcp_message", |out| {
                out.string("request_id", request_id);
                routed.write_members(out);
            });
        }
        _ => {}
    }
    Message::ControlRequest { request_id: request_id.to_owned(), request }.to_line()
}

fn response_line(request_id: &str, response: &ControlResponse) -> String {
    let decision = match &response.outcome {
        ControlOutcome::Success(success) => success.response.as_ref().and_then(decision),
        _ => None,
    };
    if let Some((allowed, reason)) = decision {
        return line("control_response", |out| {
            out.string("request_id", request_id);
            out.string("subtype", "success");
            out.field("allowed", &allowed);
            optional(out, "reason", reason.as_ref());
        });
    }
    let response = response.clone().in_style(ControlStyle::Flat);
    Message::ControlResponse { request_id: request_id.to_owned(), response }.to_line()
}

/// The answer to a permission request: allowed or not, and the reason.
fn decision(body: &Json) -> Option<(bool, Option<String>)> {
    body.raw().get("behavior")?;
    match body.raw().read().ok()? {
        PermissionResult::Allow(_) => Some((true, None)),
        PermissionResult::Deny(deny) => Some((false, Some(deny.message))),
        _ => None,
    }
}
