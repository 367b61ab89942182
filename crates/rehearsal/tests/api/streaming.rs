//! Streamed answers: order, deltas, raw text and pace.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tidings_rehearsal::script::Script;

use super::{Stand, ask};

const ALL_KINDS: &str = r#"
[pace]
chunk_chars = 5

[[turn]]
usage = { input = 12, output = 34, cache_read = 500, cache_write_5m = 6, cache_write_1h = 7, web_searches = 1 }
headers = { "anthropic-ratelimit-unified-status" = "allowed" }
message = { container = { id = "c1" }, usage = { service_tier = "priority" } }
[[turn.block]]
thinking = "Is it here?"
signature = "c2ln"
[[turn.block]]
redacted_thinking = "ZGF0YQ=="
[[turn.block]]
text = "Let me look 👀"
[[turn.block]]
tool = "Bash"
input = { command = "ls", timeout = 5 }
[[turn.block]]
raw = { type = "server_tool_use", id = "srvtoolu_1", name = "web_search", input = { query = "x" } }
[[turn.block]]
raw = { type = "web_search_tool_result", tool_use_id = "srvtoolu_1", content = [] }
"#;

#[tokio::test]
async fn an_answer_is_streamed_in_the_apis_order() {
    let stand = Stand::new(ALL_KINDS).await;
    let answer = stand.post(&ask("go")).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "text/event-stream; charset=utf-8");
    assert_eq!(answer.headers()["anthropic-ratelimit-unified-status"], "allowed");
    assert!(answer.headers()["request-id"].to_str().unwrap().starts_with("req_011C"));
    insta::assert_snapshot!(answer.text().await.unwrap());
}

#[tokio::test]
async fn deltas_add_up_to_the_message_that_is_sent_as_a_whole() {
    let stand = Stand::new(ALL_KINDS).await;
    let mut blocks: Vec<Value> = Vec::new();
    for event in stand.events(&ask("go")).await {
        match event["type"].as_str().unwrap() {
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_delta" => {
                let block = &mut blocks[usize::try_from(event["index"].as_u64().unwrap()).unwrap()];
                let delta = event["delta"].as_object().unwrap();
                for (key, value) in delta.iter().filter(|(key, _)| *key != "type") {
                    let value = value.as_str().unwrap();
                    assert!(value.chars().count() <= 5);
                    let so_far = block[key].as_str().unwrap_or_default().to_owned();
                    block[key] = json!(so_far + value);
                }
            }
            _ => {}
        }
    }
    for block in &mut blocks {
        if let Some(input) = block.as_object_mut().unwrap().remove("partial_json") {
            block["input"] = serde_json::from_str(input.as_str().unwrap()).unwrap();
        }
    }

    let mut whole = ask("go");
    whole["stream"] = json!(false);
    let stand = Stand::new(ALL_KINDS).await;
    let message: Value = stand.post(&whole).await.json().await.unwrap();
    assert_eq!(message["content"], json!(blocks));
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["container"], json!({"id": "c1"}));
    assert_eq!(message["usage"]["output_tokens"], 34);
}

#[tokio::test]
async fn raw_text_reaches_the_client_as_it_is_written() {
    let script = r"
[[turn]]
pace = { chunk_chars = 1 }
[[turn.block]]
raw_text = '\ud83d half, whole \ud83d\ude00'
";
    let stand = Stand::new(script).await;
    let body = stand.post(&ask("go")).await.text().await.unwrap();
    assert!(body.contains(r#"{"type":"text_delta","text":"\ud83d"}"#), "{body}");
    assert!(body.contains(r#"{"type":"text_delta","text":"\ud83d\ude00"}"#), "{body}");

    // The client keeps such text and sends it back.
    let client = reqwest::Client::new();
    let odd = r#"{"model":"claude-x","messages":[{"role":"user","content":"\ud83d"}]}"#;
    let url = format!("{}/v1/messages/count_tokens", stand.server.url());
    let answer = client.post(url).body(odd).send().await.unwrap();
    assert_eq!(answer.json::<Value>().await.unwrap(), json!({"input_tokens": 1}));
    assert!(stand.log.lock().unwrap()[1].ends_with(&format!("\"body\":{odd}}}")));

    let mistake = Script::parse("[[turn]]\n[[turn.block]]\nraw_text = 'say \"hi\"'").unwrap_err();
    assert_eq!((mistake.line, mistake.message.contains("raw_text")), (3, true));
}

#[tokio::test]
async fn details_of_the_end_are_told_at_the_end() {
    let script = r#"
[[turn]]
stop = "refusal"
text = "I cannot"
message = { stop_details = { type = "refusal", category = "cyber" }, context_management = { applied_edits = [] } }
"#;
    let stand = Stand::new(script).await;
    let events = stand.events(&ask("go")).await;
    assert_eq!(events[0]["message"].get("stop_details"), None);
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "refusal");
    assert_eq!(end["delta"]["stop_details"]["category"], "cyber");
    assert_eq!(end["context_management"], json!({"applied_edits": []}));
}

#[tokio::test]
async fn the_script_sets_the_pace() {
    let script = r#"
[[turn]]
text = "abcdef"
ping = true
pace = { chunk_chars = 2, chunk_delay_ms = 60, delay_ms = 80 }
"#;
    let stand = Stand::new(script).await;
    let start = Instant::now();
    let answer = stand.post(&ask("go")).await;
    assert!(start.elapsed() >= Duration::from_millis(80));
    let body = answer.text().await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(80 + 2 * 60));
    assert_eq!(body.matches("event: ping").count(), 1 + 3);
}
