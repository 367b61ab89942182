//! The functions of the `rusty_claw` wire format page (sections 9 to 11), verbatim, over its fixtures.
//!
//! Two things differ: the name of the crate, and an arm at the end of each match, since our enums are open.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader};

use tidings::messages::{ContentBlock, Message, ResultMessage, SystemMessage};

thread_local! {
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Replaces the real macro, so that the output of the page's function can be checked.
macro_rules! println {
    ($($format:tt)*) => {
        PRINTED.with_borrow_mut(|printed| printed.push(format!($($format)*)))
    };
}

#[rustfmt::skip]
fn handle_message(msg: Message) {
    match msg {
        Message::System(system_msg) => match system_msg {
            SystemMessage::Init { session_id, tools, mcp_servers, .. } => {
                println!("Session {session_id} started with {} tools", tools.len());
                for tool in &tools {
                    println!("  Tool: {}", tool.name);
                }
                for server in &mcp_servers {
                    println!("  MCP server: {}", server.name);
                }
            }
            SystemMessage::CompactBoundary => {
                println!("Conversation history compacted");
            }
            _ => println!("(system)"),
        },

        Message::Assistant(assistant_msg) => {
            if let Some(parent_id) = &assistant_msg.parent_tool_use_id {
                println!("Nested response for tool {parent_id}");
            }
            for block in &assistant_msg.message.content {
                match block {
                    ContentBlock::Text { text } => println!("Text: {text}"),
                    ContentBlock::ToolUse { id, name, input } => {
                        println!("Tool call {id}: {name}({input})");
                    }
                    ContentBlock::ToolResult { tool_use_id, content, is_error } => {
                        let status = if *is_error { "ERROR" } else { "OK" };
                        println!("Tool result [{status}] for {tool_use_id}: {content}");
                    }
                    ContentBlock::Thinking { thinking } => {
                        println!("Thinking: {thinking}");
                    }
                    _ => println!("(block)"),
                }
            }
        }

        Message::User(user_msg) => {
            println!("User message with {} content blocks", user_msg.message.content.len());
        }

        Message::Result(result_msg) => match result_msg {
            ResultMessage::Success { result, duration_ms, num_turns, usage, .. } => {
                println!("Success: {result}");
                if let Some(ms) = duration_ms {
                    println!("  Duration: {ms}ms");
                }
                if let Some(turns) = num_turns {
                    println!("  Turns: {turns}");
                }
                if let Some(usage) = usage {
                    println!("  Tokens: {} in / {} out", usage.input_tokens, usage.output_tokens);
                }
            }
            ResultMessage::Error { error, extra } => {
                println!("Error: {error}");
                if let Some(code) = extra.get("error_code") {
                    println!("  Code: {code}");
                }
            }
            ResultMessage::InputRequired => {
                println!("Waiting for user input...");
            }
            _ => println!("(result)"),
        },

        Message::ControlRequest { request_id, request } => {
            println!("Control request {request_id}: {request:?}");
        }

        Message::ControlResponse { request_id, response } => {
            println!("Control response {request_id}: {response:?}");
        }

        Message::RateLimitEvent(data) => {
            println!("Rate limit event: {data}");
        }

        Message::McpMessage(data) => {
            println!("MCP message: {data}");
        }

        _ => println!("(message)"),
    }
}

#[rustfmt::skip]
fn extract_tool_calls(msg: &Message) -> Vec<(&str, &str, &serde_json::Value)> {
    match msg {
        Message::Assistant(assistant_msg) => {
            assistant_msg.message.content.iter()
                .filter_map(|block| match block {
                    ContentBlock::ToolUse { id, name, input } => {
                        Some((id.as_str(), name.as_str(), input))
                    }
                    _ => None,
                })
                .collect()
        }
        _ => vec![],
    }
}

#[rustfmt::skip]
fn parse_ndjson(reader: impl std::io::Read) -> Vec<Message> {
    BufReader::new(reader)
        .lines()
        .map(|line| {
            let line = line.expect("failed to read line");
            serde_json::from_str(&line).expect("failed to parse message")
        })
        .collect()
}

fn fixture(name: &str) -> Vec<Message> {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    parse_ndjson(File::open(&path).unwrap_or_else(|error| panic!("{error}: {path}")))
}

fn printed(messages: Vec<Message>) -> Vec<String> {
    PRINTED.take();
    messages.into_iter().for_each(handle_message);
    PRINTED.take()
}

fn one(line: &str) -> Vec<String> {
    printed(parse_ndjson(line.as_bytes()))
}

#[test]
fn s0_27_one_line_is_read() {
    let line =
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello!"}]}}"#;
    let msg: Message = serde_json::from_str(line).unwrap();
    assert_eq!(printed(vec![msg]), ["Text: Hello!"]);
}

#[test]
fn s0_29_the_pages_loader_reads_the_fixture() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/simple_query.ndjson");
    let file = File::open(path).unwrap();
    let messages: Vec<Message> =
        BufReader::new(file).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(messages, fixture("simple_query.ndjson"));
    assert_eq!(messages.len(), 3);
}

#[test]
fn s0_30_simple_query_is_handled() {
    let expected = [
        "Session sess_001 started with 1 tools",
        "  Tool: bash",
        "Text: Here are the files in the current directory: README.md, Cargo.toml, src/",
        "Success: Listed directory contents successfully",
        "  Duration: 156ms",
        "  Turns: 1",
        "  Tokens: 45 in / 28 out",
    ];
    assert_eq!(printed(fixture("simple_query.ndjson")), expected);
}

#[test]
fn s0_30_tool_use_is_handled() {
    let expected = [
        "Session sess_002 started with 1 tools",
        "  Tool: bash",
        "  MCP server: filesystem",
        "Text: Let me check the current directory.",
        r#"Tool call toolu_01ABC: bash({"command":"ls -la"})"#,
        "User message with 1 content blocks",
        "Text: This is a Rust project with a Cargo.toml and src directory.",
        "Success: Analyzed project structure",
        "  Duration: 450ms",
        "  Turns: 2",
        "  Tokens: 200 in / 85 out",
    ];
    assert_eq!(printed(fixture("tool_use.ndjson")), expected);
}

#[test]
fn s0_30_error_and_thinking_are_handled() {
    let expected = ["Error: Failed to execute command: permission denied", r#"  Code: "EACCES""#];
    assert_eq!(printed(fixture("error_response.ndjson")), expected);
    let expected = [
        "Thinking: Let me analyze this request. The user wants to list files, so I should use the bash tool.",
        "Text: I'll list the files for you.",
    ];
    assert_eq!(printed(fixture("thinking_content.ndjson")), expected);
}

#[test]
fn s0_30_the_other_arms_are_reached() {
    assert_eq!(one(r#"{"type":"system","subtype":"compact_boundary"}"#), ["Conversation history compacted"]);
    assert_eq!(one(r#"{"type":"result","subtype":"input_required"}"#), ["Waiting for user input..."]);
    assert_eq!(one(r#"{"type":"rate_limit_event","a":1}"#), [r#"Rate limit event: {"a":1}"#]);
    assert_eq!(one(r#"{"type":"mcp_message","a":1}"#), [r#"MCP message: {"a":1}"#]);
    let nested = r#"{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"content":[
        {"type":"tool_result","tool_use_id":"toolu_2","content":"no","is_error":true}]}}"#;
    let nested = nested.replace('\n', " ");
    assert_eq!(
        one(&nested),
        ["Nested response for tool toolu_1", r#"Tool result [ERROR] for toolu_2: "no""#]
    );
    let request = one(r#"{"type":"control_request","request_id":"req_1","subtype":"interrupt"}"#);
    assert!(request[0].starts_with("Control request req_1: ControlRequest"), "{request:?}");
    let response = one(r#"{"type":"control_response","request_id":"req_1","subtype":"success"}"#);
    assert!(response[0].starts_with("Control response req_1: ControlResponse"), "{response:?}");
    // Messages that the page does not name end in our own arms.
    assert_eq!(one(r#"{"type":"keep_alive"}"#), ["(message)"]);
    assert_eq!(one(r#"{"type":"system","subtype":"status"}"#), ["(system)"]);
    assert_eq!(one(r#"{"type":"result","subtype":"error_max_turns"}"#), ["(result)"]);
    let image = r#"{"type":"assistant","message":{"content":[{"type":"aura"}]}}"#;
    assert_eq!(one(image), ["(block)"]);
}

#[test]
fn s0_31_tool_calls_are_extracted() {
    let calls = |name: &str| -> Vec<String> {
        let describe = |(id, name, input): &(&str, &str, &serde_json::Value)| format!("{id} {name} {input}");
        let of = |msg: &Message| extract_tool_calls(msg).iter().map(describe).collect::<Vec<_>>();
        fixture(name).iter().flat_map(of).collect()
    };
    assert_eq!(calls("tool_use.ndjson"), [r#"toolu_01ABC bash {"command":"ls -la"}"#]);
    for other in ["simple_query.ndjson", "error_response.ndjson", "thinking_content.ndjson"] {
        assert!(calls(other).is_empty(), "{other}");
    }
    let messages = fixture("tool_use.ndjson");
    assert_eq!(extract_tool_calls(&messages[1]), messages[1].tool_calls());
}
