//! Recordings, played to a live session.

use std::time::Duration;

use futures_util::StreamExt as _;
use tidings::messages::Message;
use tidings::transport::Replay;
use tidings::{AllowAll, Client, ErrorKind, Options, query_over};

/// Plain lines of a CLI's output start with a prompt.
#[tokio::test(start_paused = true)]
async fn plain_lines_are_played_to_a_query() {
    let replay = Replay::parse(include_str!("../fixtures/tool_use.ndjson"));
    let messages: Vec<_> = query_over(replay, "go", Options::new()).collect().await;
    let kinds: Vec<String> =
        messages.into_iter().map(|message| message.unwrap().type_name().to_owned()).collect();
    assert_eq!(kinds, ["system", "assistant", "user", "assistant", "result"]);
}

/// A recording has both sides: replies follow their requests, a request of the CLI waits, and each prompt has
/// its turn.
#[tokio::test(start_paused = true)]
async fn a_recording_is_played_in_step() {
    let recording = concat!(
        r#"{"t_ms":0,"dir":"in","frame":{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}}"#,
        "\n",
        r#"{"t_ms":1,"dir":"out","frame":{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"claude_code_version":"2.1.325"}}}}"#,
        "\n",
        r#"{"t_ms":2,"dir":"in","frame":{"type":"user","message":{"role":"user","content":"one"}}}"#,
        "\n",
        r#"{"t_ms":3,"dir":"out","frame":{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}}"#,
        "\n",
        r#"{"t_ms":4,"dir":"in","frame":{"type":"control_response","response":{"subtype":"success","request_id":"q","response":{"behavior":"allow"}}}}"#,
        "\n",
        r#"{"t_ms":5,"dir":"out","frame":{"type":"result","subtype":"success","result":"first"}}"#,
        "\n",
        r#"{"t_ms":6,"dir":"in","frame":{"type":"user","message":{"role":"user","content":"two"}}}"#,
        "\n",
        r#"{"t_ms":7,"dir":"out","frame":{"type":"result","subtype":"success","result":"second"}}"#,
        "\n",
        r#"{"t_ms":8,"dir":"exit","rc":0}"#,
    );
    let options = Options::new().on_permission(AllowAll);
    let client = Client::connect_over(Replay::parse(recording), options).await.unwrap();
    assert_eq!(client.info().claude_code_version.as_deref(), Some("2.1.325"));
    for expected in ["first", "second"] {
        let end = client.send("go on").await.unwrap().finish().await.unwrap();
        assert_eq!(end.text(), expected);
        assert!(matches!(end.message(), Some(Message::Result(_))));
    }
    assert!(client.close().await.unwrap().is_success());
}

/// D3: prompts of our own client have ids, by which the recorded CLI names its turns; the live ids replace
/// them.
#[tokio::test(start_paused = true)]
async fn d3_a_recording_of_our_own_client_is_replayed() {
    let (one, two) = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222");
    let mut recording = String::new();
    let mut line = |dir: &str, frame: serde_json::Value| {
        recording.push_str(&serde_json::json!({"t_ms": 0, "dir": dir, "frame": frame}).to_string());
        recording.push('\n');
    };
    for (uuid, text) in [(one, "first"), (two, "second")] {
        let told = |state: &str| serde_json::json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state});
        line(
            "in",
            serde_json::json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": "go"}}),
        );
        line("out", told("started"));
        line("out", serde_json::json!({"type": "system", "subtype": "init", "user_message_uuids": [uuid]}));
        line(
            "out",
            serde_json::json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
            "user_message_uuids": [uuid]}),
        );
        line("out", told("completed"));
    }
    // With the host's side and without it.
    let plain: String = recording
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["dir"] == "out")
        .map(|line| line["frame"].to_string() + "\n")
        .collect();
    for recording in [&recording, &plain] {
        let client = Client::connect_over(Replay::parse(recording), Options::new()).await.unwrap();
        for text in ["first", "second"] {
            let turn = client.send("go").await.unwrap();
            let uuid = turn.uuid().to_owned();
            let end = turn.finish().await.unwrap();
            assert_eq!((end.text(), &end.prompts), (text.to_owned(), &vec![uuid]));
        }
        client.close().await.unwrap();
        let messages: Vec<_> = query_over(Replay::parse(recording), "go", Options::new()).collect().await;
        assert!(messages.iter().any(|message| matches!(message, Ok(Message::Result(_)))));
    }
}

/// A recording of this many turns. Its host sent each prompt at once after a result, so no state is idle.
fn recording(turns: usize) -> String {
    let mut recording = String::new();
    for turn in 0..turns {
        for (dir, frame) in [
            ("in", serde_json::json!({"type": "user", "message": {"role": "user", "content": "go"}})),
            (
                "out",
                serde_json::json!({"type": "system", "subtype": "session_state_changed", "state": "running"}),
            ),
            (
                "out",
                serde_json::json!({"type": "result", "subtype": "success", "result": format!("answer {turn}")}),
            ),
        ] {
            let line = serde_json::json!({"t_ms": 0, "dir": dir, "frame": frame});
            recording.push_str(&(line.to_string() + "\n"));
        }
    }
    recording
}

/// A query sends one prompt, and the recording has three.
#[tokio::test(start_paused = true)]
async fn d23_a_query_over_a_longer_recording_fails() {
    let before = tokio::time::Instant::now();
    let messages: Vec<_> = query_over(Replay::parse(&recording(3)), "go", Options::new()).collect().await;
    let error = messages.last().unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Recording);
    assert_eq!(error.to_string(), "The recording goes on with prompt 2 of 3, which was not sent");
    assert!(messages.iter().any(|message| matches!(message, Ok(Message::Result(_)))));
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn d23_a_prompt_past_the_end_of_a_recording_fails() {
    let before = tokio::time::Instant::now();
    let client = Client::connect_over(Replay::parse(&recording(1)), Options::new()).await.unwrap();
    client.send("one").await.unwrap().finish().await.unwrap();
    let error = client.send("two").await.unwrap().finish().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Recording, "The recording ends after prompt 1")
    );
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn d23_waiting_for_the_end_of_background_work_fails_in_a_recording_without_one() {
    let before = tokio::time::Instant::now();
    for turns in [1, 2] {
        let client = Client::connect_over(Replay::parse(&recording(turns)), Options::new()).await.unwrap();
        client.send("one").await.unwrap().finish().await.unwrap();
        assert_eq!(client.settled().await.unwrap_err().kind(), ErrorKind::Recording);
        client.close().await.unwrap();
    }
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
}

/// Queued prompts were recorded before the first result; a host that sends only one learns what is missing.
#[tokio::test(start_paused = true)]
async fn d23_a_recording_of_queued_prompts_wants_them_all() {
    let lines = recording(2);
    let lines: Vec<&str> = lines.lines().collect();
    let queued = [lines[0], lines[1], lines[3], lines[2], lines[5]].join("\n");
    let client = Client::connect_over(Replay::parse(&queued), Options::new()).await.unwrap();
    let turn = client.send("one").await.unwrap();
    let second = client.send("two").await.unwrap();
    assert_eq!(turn.finish().await.unwrap().text(), "answer 0");
    assert_eq!(second.finish().await.unwrap().text(), "answer 1");
    client.close().await.unwrap();
    let client = Client::connect_over(Replay::parse(&queued), Options::new()).await.unwrap();
    let error = client.send("one").await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.to_string(), "The recording goes on with prompt 2 of 2, which was not sent");
}

/// Plain lines have no prompts; a turn that the CLI began by itself needs none.
#[tokio::test(start_paused = true)]
async fn d23_a_turn_after_background_work_is_played_without_a_prompt() {
    let result = |origin: &str| format!(r#"{{"type":"result","subtype":"success","result":"x"{origin}}}"#);
    let plain = [result(""), result(r#","origin":{"kind":"task-notification"}"#)].join("\n");
    let messages: Vec<_> = query_over(Replay::parse(&plain), "go", Options::new()).collect().await;
    assert!(messages.len() == 2 && messages.iter().all(Result::is_ok), "{messages:?}");
}
