//! The published types of the official TypeScript SDK: every field of tools, requests, replies, messages and
//! hooks is typed.
//!
//! `e2e/parity.py` makes the samples from the declarations of the pinned SDK.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde_json::{Value, json};
use tidings_protocol::Frame;
use tidings_protocol::control::{Call, ServerStatus};
use tidings_protocol::hooks::{HookEventInput, HookInput};
use tidings_protocol::json::{Json, Raw, Reading, same_json};
use tidings_protocol::messages::{McpServerDetails, Message, SystemMessage};
use tidings_protocol::tools::{ToolInput, ToolOutput, mcp_parts};

use crate::control::check_reply;
use crate::control::recordings::untyped;

const SAMPLES: &str = include_str!("fixtures/sdk/samples.ndjson");

fn samples(part: &str) -> Vec<Json> {
    let all = SAMPLES.lines().map(|line| Json::parse(line).unwrap());
    let found: Vec<Json> = all.filter(|sample| sample.raw().get(part).is_some()).collect();
    assert!(found.len() > 10, "{part}");
    found
}

/// The fields of a value that have no type.
fn untyped_fields(value: &impl Debug) -> Vec<String> {
    let mut fields = untyped(value);
    fields.extend(format!("{value:?}").contains("Unknown(").then(|| "the whole value".to_owned()));
    fields
}

#[test]
fn d28_every_published_field_of_every_tool_is_typed() {
    let mut tools = BTreeSet::new();
    let mut problems = Vec::new();
    for sample in samples("tool") {
        let tool = sample.raw().get("tool").unwrap().text().unwrap().get().into_owned();
        tools.insert(tool.clone());
        let mut reading = Reading::default();
        let mut check = |value: Raw<'_>, fields: Vec<String>, is_typed: bool, written: String| {
            assert!(same_json(value, Raw::parse(&written).unwrap()), "{tool}: {written}");
            if !is_typed || !fields.is_empty() {
                problems.push(format!("{tool}: {fields:?} of {value}"));
            }
        };
        if let Some(input) = sample.raw().get("input") {
            let read = ToolInput::read_with(&tool, input, &mut reading).unwrap();
            // Inputs of MCP tools are those of their servers.
            let is_typed = mcp_parts(&tool).is_some() || !matches!(read, ToolInput::Other(_));
            check(input, untyped_fields(&read), is_typed, serde_json::to_string(&read).unwrap());
        }
        if let Some(output) = sample.raw().get("output") {
            let read = ToolOutput::read_with(&tool, output, &mut reading).unwrap();
            let is_typed = mcp_parts(&tool).is_some() || !matches!(read, ToolOutput::Other(_));
            check(output, untyped_fields(&read), is_typed, serde_json::to_string(&read).unwrap());
        }
        problems.extend(reading.refused.iter().map(|misfit| format!("{tool}: {misfit:?}")));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(tools.len(), 44, "as many as the SDK publishes: {tools:?}");
}

#[test]
fn d28_every_published_field_of_every_request_and_reply_is_typed() {
    for sample in samples("request") {
        let value = sample.raw().get("request").unwrap();
        let call: Call = serde_json::from_str(value.as_str()).unwrap();
        assert!(call.is_known(), "{value}");
        assert_eq!(untyped_fields(&call), Vec::<String>::new(), "{value}");
        assert!(same_json(value, Raw::parse(&serde_json::to_string(&call).unwrap()).unwrap()), "{value}");
    }
    for sample in samples("reply") {
        let subtype = sample.raw().get("reply_to").unwrap().text().unwrap().get().into_owned();
        check_reply(&subtype, sample.raw().get("reply").unwrap().as_str());
    }
}

/// A field is typed if a value of another kind is refused. That also holds for fields that are read from a
/// tree on demand, as those of `system/init`.
#[test]
fn d28_every_published_field_of_every_message_is_typed() {
    let mut problems = BTreeSet::new();
    for sample in samples("message") {
        let line = sample.raw().get("message").unwrap().as_str();
        assert!(is_accepted(line), "{line}");
        let written = Frame::from_json(line).unwrap().message().to_line();
        assert!(same_json(Raw::parse(line).unwrap(), Raw::parse(&written).unwrap()), "{written}");

        let published: Value = serde_json::from_str(line).unwrap();
        for field in fields(&published) {
            let mut changed = published.clone();
            let value = changed.pointer_mut(&field).unwrap();
            *value = if value.is_string() { json!([7]) } else { json!("another kind") };
            if is_accepted(&changed.to_string()) {
                problems.insert(format!("{} {}: {field}", published["type"], published["subtype"]));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// True if a message is known and each of its values has the kind that its field expects.
fn is_accepted(line: &str) -> bool {
    let typed = Frame::from_json(line).unwrap().typed();
    typed.refused.is_empty() && !matches!(typed.message, Message::Unknown(_))
}

/// Pointers to all values inside of a message, except those of which the SDK's types say nothing.
fn fields(message: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = vec![(String::new(), message)];
    while let Some((place, value)) = rest.pop() {
        let inside: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect()
            }
            _ => continue,
        };
        for (key, value) in inside {
            let field = format!("{place}/{key}");
            // They determine the type of all other fields.
            if ["/type", "/subtype"].contains(&field.as_str()) || is_of_any_kind(value) {
                continue;
            }
            // The samples have only stand-ins for types of the Messages API.
            if !["/message", "/event"].contains(&field.as_str()) || !value.is_object() {
                rest.push((field.clone(), value));
            }
            found.push(field);
        }
    }
    found
}

/// True for the samples of `unknown` and of a map of that.
fn is_of_any_kind(value: &Value) -> bool {
    *value == json!({"key": "s"}) || *value == json!({"key": {"key": "s"}})
}

#[test]
fn d28_fields_that_a_message_keeps_in_a_tree_have_a_typed_view() {
    let init = r#"{"type":"system","subtype":"init","session_id":"s","tools":[],
        "mcp_servers":[{"name":"m","status":"needs-auth","source":"plugin"},{"name":"n"}],
        "plugin_errors":[{"plugin":"p@m","type":"path-not-found","message":"t","managed_lock":{"name":"p"}}]}"#;
    let Message::System(init) = Frame::from_json(init).unwrap().message() else { panic!("no init") };
    let errors = init.init_details().unwrap().plugin_errors.unwrap();
    assert_eq!((errors[0].plugin.as_str(), errors[0].kind.as_deref()), ("p@m", Some("path-not-found")));
    assert_eq!(errors[0].managed_lock.as_ref().unwrap().name, "p");
    let SystemMessage::Init { mcp_servers, .. } = init else { panic!("no init") };
    let server = mcp_servers[0].details();
    assert_eq!((server.status, server.source.as_deref()), (Some(ServerStatus::NEEDS_AUTH), Some("plugin")));
    assert_eq!(mcp_servers[1].details(), McpServerDetails::default());

    let limits =
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resets_at":7},"uuid":"u"}"#;
    let details = Frame::from_json(limits).unwrap().message().rate_limit_details().unwrap();
    assert_eq!(details.uuid.as_deref(), Some("u"));
    assert_eq!(details.rate_limit_info.unwrap().resets_at, Some(7));
}

#[test]
fn d28_every_published_field_of_every_hook_is_typed() {
    for sample in samples("hook") {
        let text = sample.raw().get("hook").unwrap().as_str();
        let input: HookInput = serde_json::from_str(text).unwrap();
        assert!(!matches!(input.event, HookEventInput::Unknown(_)), "{text}");
        assert_eq!(untyped_fields(&input), Vec::<String>::new(), "{text}");
    }
}
