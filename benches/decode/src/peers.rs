//! Other crates that read the same frames and have a public parser.

use std::hint::black_box;

use serde_json::Value;

use crate::rows::{Row, each};

pub(crate) const PEERS: &[Row] = &[
    Row::new("client-sdk", "claude-code-client-sdk 0.1.46", |all| each(all, client_sdk)),
    Row::new("agents-sdk", "claude-agents-sdk 0.1.7", |all| each(all, agents_sdk)),
    Row::new("agent-sdk-rs", "claude-agent-sdk-rs 0.6.4", |all| each(all, agent_sdk_rs)),
    Row::new("codes", "claude-codes 2.1.316", |all| each(all, codes)),
];

fn client_sdk(line: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    black_box(claude_code::parse_message(&value)).is_ok()
}

fn agents_sdk(line: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    black_box(claude_agents_sdk::_internal::message_parser::parse_message(value)).is_ok()
}

/// Its parser is private and consists of this one call.
fn agent_sdk_rs(line: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    black_box(serde_json::from_value::<claude_agent_sdk_rs::Message>(value)).is_ok()
}

fn codes(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    black_box(claude_codes::ClaudeOutput::parse_json(text)).is_ok()
}
