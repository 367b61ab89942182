//! Messages in the form of the official Python SDK: its fields, and no others.

use serde::Serialize;
use serde_json::{Value, json};
use tidings::json::Json;
use tidings::messages::{
    AssistantMessage, Content, ContentBlock, Message, ResultDetails, ResultMessage, UserMessage,
};

pub(crate) fn message(message: &Message) -> Value {
    match message {
        Message::Assistant(assistant) => show_assistant(assistant),
        Message::User(user) => show_user(user),
        Message::Result(result) => show_result(result),
        Message::StreamEvent(partial) => json!({
            "type": "stream_event",
            "event": to_value(&partial.event),
            "parent_tool_use_id": partial.parent_tool_use_id,
            "session_id": partial.session_id,
            "uuid": partial.uuid,
            "user_message_uuid": partial.user_message_uuid,
            "user_message_uuids": partial.user_message_uuids,
        }),
        // Whole, since the Python SDK returns system messages whole; messages without a class there are
        // compared by type.
        other => {
            let data: Value = serde_json::from_str(&other.to_line()).unwrap_or_default();
            let (kind, subtype) = (data["type"].clone(), data["subtype"].clone());
            json!({"type": kind, "subtype": subtype, "data": data})
        }
    }
}

fn show_assistant(assistant: &AssistantMessage) -> Value {
    let api = &assistant.message;
    json!({
        "type": "assistant",
        "content": blocks(&api.content),
        "model": api.model,
        "message_id": api.id,
        "stop_reason": api.stop_reason,
        "usage": api.usage.as_ref().map(to_value),
        "parent_tool_use_id": assistant.parent_tool_use_id,
        "error": assistant.error,
        "session_id": assistant.session_id,
        "uuid": assistant.uuid,
        "user_message_uuid": assistant.user_message_uuid,
        "user_message_uuids": assistant.user_message_uuids,
    })
}

fn show_user(user: &UserMessage) -> Value {
    let content = &user.message.content;
    json!({
        "type": "user",
        "content": if content.is_plain() { json!(content.joined_text()) } else { blocks(content) },
        "parent_tool_use_id": user.parent_tool_use_id,
        "tool_use_result": user.tool_use_result.as_ref().map(parsed),
        "origin": user.origin.as_ref().map(to_value),
        "uuid": user.uuid,
    })
}

fn show_result(message: &ResultMessage) -> Value {
    let mut shown = json!({"type": "result", "subtype": message.subtype()});
    let details = match message {
        ResultMessage::Success { result, num_turns, session_id, total_cost_usd, usage, details, .. } => {
            shown["result"] = json!(result);
            common(&mut shown, *num_turns, session_id.as_deref(), *total_cost_usd, usage.as_ref());
            &**details
        }
        ResultMessage::Failed(failed) => {
            shown["errors"] = json!(failed.errors);
            let session_id = failed.session_id.as_deref();
            common(&mut shown, failed.num_turns, session_id, failed.total_cost_usd, failed.usage.as_ref());
            &failed.details
        }
        _ => return shown,
    };
    add_details(&mut shown, details);
    shown
}

fn common(
    shown: &mut Value,
    turns: Option<u32>,
    session: Option<&str>,
    cost: Option<f64>,
    usage: Option<&impl Serialize>,
) {
    shown["num_turns"] = json!(turns);
    shown["session_id"] = json!(session);
    shown["total_cost_usd"] = json!(cost);
    shown["usage"] = json!(usage.map(to_value));
}

fn add_details(shown: &mut Value, details: &ResultDetails) {
    shown["is_error"] = json!(details.is_error);
    shown["stop_reason"] = json!(details.stop_reason);
    shown["model_usage"] = json!(details.model_usage);
    shown["permission_denials"] = json!(details.permission_denials);
    shown["structured_output"] = json!(details.structured_output.as_ref().map(parsed));
    shown["deferred_tool_use"] = json!(details.deferred_tool_use);
    shown["api_error_status"] = json!(details.api_error_status);
    shown["terminal_reason"] = json!(details.terminal_reason);
    shown["origin"] = json!(details.origin);
    shown["uuid"] = json!(details.uuid);
    shown["user_message_uuid"] = json!(details.user_message_uuid);
    shown["user_message_uuids"] = json!(details.user_message_uuids);
}

fn blocks(content: &Content) -> Value {
    content.iter().enumerate().map(|(index, block)| show_block(block, content, index)).collect()
}

fn show_block(block: &ContentBlock, content: &Content, index: usize) -> Value {
    match block {
        ContentBlock::Text { text } => json!({"type": "text", "text": text}),
        ContentBlock::Thinking { thinking } => {
            let signature = content.extra(index).get("signature");
            json!({"type": "thinking", "thinking": thinking, "signature": signature.and_then(|raw| raw.value().ok())})
        }
        ContentBlock::ToolUse { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        ContentBlock::ToolResult { tool_use_id, content, is_error } => {
            json!({"type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error})
        }
        other => json!({"type": other.kind()}),
    }
}

/// A protocol value as JSON.
pub(crate) fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

pub(crate) fn parsed(json: &Json) -> Value {
    json.raw().value().unwrap_or_default()
}
