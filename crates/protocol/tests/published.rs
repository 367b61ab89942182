//! The published types of the official TypeScript SDK: every field of tools, requests, replies and hooks is
//! typed.
//!
//! `e2e/parity.py` makes the samples from the declarations of the pinned SDK.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fmt::Debug;

use tidings_protocol::control::Call;
use tidings_protocol::hooks::{HookEventInput, HookInput};
use tidings_protocol::json::{Json, Raw, Reading, same_json};
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

#[test]
fn d28_every_published_field_of_every_hook_is_typed() {
    for sample in samples("hook") {
        let text = sample.raw().get("hook").unwrap().as_str();
        let input: HookInput = serde_json::from_str(text).unwrap();
        assert!(!matches!(input.event, HookEventInput::Unknown(_)), "{text}");
        assert_eq!(untyped_fields(&input), Vec::<String>::new(), "{text}");
    }
}
