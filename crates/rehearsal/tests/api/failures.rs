//! Answers that fail: cut, held, dropped, refused or with an error of the API.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_rehearsal::api::{Server, Settings, StartError};
use tidings_rehearsal::script::Script;

use super::{Stand, ask};

#[tokio::test]
async fn a_cut_answer_breaks_off_after_exactly_the_bytes_written() {
    for cut_after in [0, 10, 300] {
        let stand = Stand::new(&format!("[[turn]]\ntext = \"some text\"\ncut_after = {cut_after}")).await;
        let mut answer = stand.post(&ask("go")).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let mut got = 0;
        let end = loop {
            match answer.chunk().await {
                Ok(Some(bytes)) => got += bytes.len(),
                end => break end,
            }
        };
        assert!(end.is_err(), "the body ended as if it were whole");
        assert_eq!(got, cut_after);
    }
}

#[tokio::test]
async fn a_held_answer_stops_after_its_deltas_until_the_client_or_the_server_goes() {
    let script = "[[turn]]\nrepeat = true\nwhen = {}\npace = { chunk_chars = 4 }\nhold_after = 2\ntext = \"some text\"";
    let stand = Stand::new(script).await;
    let mut answer = stand.post(&ask("go")).await;
    let mut text = String::new();
    while !text.contains("\" tex\"") {
        text += std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap();
    }
    // Another request of the same client is answered meanwhile.
    let mut second = stand.post(&ask("go")).await;
    assert!(second.chunk().await.unwrap().is_some());
    drop(second);
    let (rest, report) = tokio::join!(answer.chunk(), stand.server.stop());
    assert!(rest.is_err() && !text.contains("message_stop"), "{text}");
    assert_eq!(report.exhausted, 0);
}

#[tokio::test]
async fn a_dropped_request_gets_no_answer_and_the_next_one_does() {
    let stand = Stand::new("[[turn]]\ndrop = true\n[[turn]]\ntext = \"back\"").await;
    assert!(stand.call(Method::POST, "/v1/messages", &ask("go")).await.is_err());
    assert_eq!(stand.post(&ask("go")).await.status(), StatusCode::OK);
    assert_eq!(stand.log()[0]["status"], Value::Null);
}

#[tokio::test]
async fn failures_carry_status_kind_and_when_to_come_back() {
    let script = r#"
[[turn]]
error = { status = 529 }
[[turn]]
error = { status = 429, retry_after = 2.5 }
[[turn]]
error = { status = 400, kind = "odd_error", message = "no" }
"#;
    let stand = Stand::new(script).await;
    let cases = [
        (529, "overloaded_error", "Overloaded", None),
        (
            429,
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
            Some("2.5"),
        ),
        (400, "odd_error", "no", None),
        (400, "invalid_request_error", "rehearsal: the script has no turn for this request", None),
    ];
    for (status, kind, message, retry_after) in cases {
        let answer = stand.post(&ask("go")).await;
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers().get("retry-after").map(|value| value.to_str().unwrap()), retry_after);
        let id = answer.headers()["request-id"].to_str().unwrap().to_owned();
        let error = json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": id});
        assert_eq!(answer.json::<Value>().await.unwrap(), error);
    }
    let turns: Vec<_> = stand.log().iter().map(|entry| entry["turn"].clone()).collect();
    assert_eq!(turns, [json!(0), json!(1), json!(2), json!("exhausted")]);
    assert_eq!(stand.server.stop().await.exhausted, 1);
}

#[tokio::test]
async fn a_failure_in_the_stream_stands_in_for_its_end() {
    let stand = Stand::new("[[turn]]\ntext = \"so far\"\nerror_event = \"overloaded_error\"").await;
    let events = stand.events(&ask("go")).await;
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let start = ["message_start", "content_block_start", "ping", "content_block_delta", "content_block_stop"];
    assert_eq!(kinds, [&start[..], &["error"]].concat());
    assert_eq!(events[5]["error"], json!({"type": "overloaded_error", "message": "Overloaded"}));
}

#[tokio::test]
async fn stopping_does_not_wait_for_a_slow_script() {
    let stand = Stand::new("[[turn]]\ntext = \"late\"\npace = { delay_ms = 600000 }").await;
    let url = stand.server.url();
    let client = stand.client.clone();
    let waiting =
        tokio::spawn(async move { client.post(format!("{url}/v1/messages")).json(&ask("go")).send().await });
    while stand.log.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let start = Instant::now();
    stand.server.stop().await;
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(waiting.await.unwrap().is_err());
}

#[tokio::test]
async fn only_this_machine_is_let_in_and_odd_headers_are_refused() {
    let start = |script: &str, listen: &str| {
        let script = Script::parse(script).unwrap();
        let settings = Settings::new(listen.parse().unwrap());
        async move { Server::start(&script, settings, |_| {}).await.map(drop).unwrap_err() }
    };
    let error = start("", "0.0.0.0:0").await;
    assert!(matches!(error, StartError::NotLoopback(_)), "{error}");
    let error = start("[[turn]]\ntext = \"x\"\nheaders = { \"no good\" = \"x\" }", "127.0.0.1:0").await;
    assert_eq!(error.to_string(), "Turn 1 has a header that HTTP does not allow: `no good`");
}
