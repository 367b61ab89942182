//! One prompt as a stream.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::json;
use tidings::messages::Message;
use tidings::transport::Exit;
use tidings::{AllowAll, ErrorKind, Options, Outcome, TurnOutcome, query_over};

use crate::session::cli::{ScriptedCli, pair};

async fn state(cli: &ScriptedCli, state: &str) {
    let frame =
        json!({"type": "system", "subtype": "session_state_changed", "state": state, "sdk_host_only": true});
    cli.sends(frame).await;
}

/// The stream has the messages of the turn, ends the input after the last, and ends with the process.
#[tokio::test(start_paused = true)]
async fn a_query_is_the_messages_of_its_turn() {
    let (memory, mut cli) = pair();
    let play = async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        cli.plays(&[&uuid], "4").await;
        assert_eq!(cli.peer.line().await, None);
        cli.exits(0).await;
    };
    let messages = query_over(memory, "What is 2 + 2?", Options::new()).collect::<Vec<_>>();
    let (messages, ()) = tokio::join!(messages, play);
    let kinds: Vec<String> =
        messages.into_iter().map(|message| message.unwrap().type_name().to_owned()).collect();
    assert_eq!(kinds, ["command_lifecycle", "system", "assistant", "result", "command_lifecycle"]);
}

/// F45, F46: the input stays open while background work runs, since requests still arrive.
#[tokio::test(start_paused = true)]
async fn f46_the_input_stays_open_until_all_is_said() {
    let (memory, mut cli) = pair();
    let play = async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        state(&cli, "running").await;
        cli.plays(&[&uuid], "started").await;
        tokio::time::sleep(Duration::from_secs(300)).await;
        cli.requests("q", json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})).await;
        let answer = cli.receives("control_response").await;
        assert_eq!(answer["response"]["response"]["behavior"], "allow");
        cli.plays(&[], "the task is done").await;
        state(&cli, "idle").await;
        assert_eq!(cli.peer.line().await, None);
        cli.exits(0).await;
    };
    let options = Options::new().on_permission(AllowAll);
    let (memories, ()) = tokio::join!(query_over(memory, "go", options).collect::<Vec<_>>(), play);
    let results = memories.iter().filter(|message| matches!(message, Ok(Message::Result(_)))).count();
    assert_eq!(results, 2);
    let shown = memories.iter().map(|message| message.as_ref().unwrap().to_line()).collect::<String>();
    assert!(!shown.contains("session_state_changed"), "what is for the host only is not shown");
}

/// R7: early versions report their state to every host or to none; a program sees it if it asked for that.
#[tokio::test(start_paused = true)]
async fn r7_the_state_of_an_early_version_is_shown_to_a_program_that_asked() {
    let asked = || Options::new().env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
    for (options, is_shown) in [(Options::new(), false), (asked(), true)] {
        let (memory, mut cli) = pair();
        let play = async move {
            cli.initializes().await;
            let uuid = cli.receives_prompt().await;
            let unmarked = json!({"type": "system", "subtype": "session_state_changed", "state": "running"});
            cli.sends(unmarked).await;
            cli.plays(&[&uuid], "done").await;
            state(&cli, "idle").await;
            assert_eq!(cli.peer.line().await, None);
            cli.exits(0).await;
        };
        let (messages, ()) = tokio::join!(query_over(memory, "go", options).collect::<Vec<_>>(), play);
        let shown = messages.iter().map(|message| message.as_ref().unwrap().to_line()).collect::<String>();
        assert_eq!(shown.matches("session_state_changed").count(), usize::from(is_shown), "{shown}");
    }
}

/// F46: the wait for background work is limited to ten minutes, as in the official SDKs.
#[tokio::test(start_paused = true)]
async fn f46_background_work_is_not_waited_for_for_ever() {
    let (memory, mut cli) = pair();
    let before = tokio::time::Instant::now();
    let play = async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        state(&cli, "running").await;
        cli.plays(&[&uuid], "started").await;
        assert_eq!(cli.peer.line().await, None);
        cli.exits(0).await;
    };
    let (_, ()) = tokio::join!(query_over(memory, "go", Options::new()).collect::<Vec<_>>(), play);
    assert_eq!(before.elapsed(), Duration::from_secs(600));
}

/// An error result is a message; an exit code after it repeats it; an exit without one is an error.
#[tokio::test(start_paused = true)]
async fn an_exit_is_an_error_unless_a_result_said_so() {
    for told in [true, false] {
        let (memory, mut cli) = pair();
        let play = async move {
            cli.initializes().await;
            let uuid = cli.receives_prompt().await;
            cli.begins(&[&uuid]).await;
            if told {
                cli.sends(json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error: 400",
                    "terminal_reason": "api_error", "user_message_uuids": [uuid]}))
                    .await;
                cli.receives_end().await;
            }
            cli.peer.exit(Exit::code(1)).await;
        };
        let (messages, ()) = tokio::join!(query_over(memory, "go", Options::new()).collect::<Vec<_>>(), play);
        let last = messages.last().unwrap();
        match last {
            Ok(Message::Result(_)) => assert!(told),
            Err(error) => assert!(!told && error.kind() == ErrorKind::Exit, "{error}"),
            other => panic!("{other:?}"),
        }
    }
}

/// F32: dropping the stream in the middle ends the session.
#[tokio::test(start_paused = true)]
async fn f32_dropping_a_query_ends_the_session() {
    let (memory, mut cli) = pair();
    let mut query = query_over(memory, "go", Options::new());
    let play = async {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
    };
    let (first, ()) = tokio::join!(query.next(), play);
    assert!(first.unwrap().is_ok());
    drop(query);
    cli.receives_end().await;
}

/// D2: a query whose result lacks the structured output ends with an error.
#[tokio::test(start_paused = true)]
async fn d2_a_query_without_its_output_ends_with_an_error() {
    let (memory, mut cli) = pair();
    let play = async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        cli.plays(&[&uuid], "words").await;
        cli.receives_end().await;
        cli.exits(0).await;
    };
    let options = Options::new().output_schema(json!({"type": "object"}));
    let (messages, ()) = tokio::join!(query_over(memory, "go", options).collect::<Vec<_>>(), play);
    let errors: Vec<ErrorKind> =
        messages.iter().filter_map(|message| message.as_ref().err()).map(tidings::Error::kind).collect();
    assert_eq!(errors, [ErrorKind::Decode]);
    assert!(messages.iter().any(|message| matches!(message, Ok(Message::Result(_)))));
}

/// D11: a query can be shared between threads, and returns its text in one call.
#[tokio::test(start_paused = true)]
async fn d11_a_query_is_sync_and_gives_its_text() {
    fn shared<T: Send + Sync>(value: T) -> T {
        value
    }
    for (text, is_fine) in [("4", true), ("", false)] {
        let (memory, mut cli) = pair();
        let play = async move {
            cli.initializes().await;
            let uuid = cli.receives_prompt().await;
            if is_fine {
                cli.plays(&[&uuid], text).await;
            } else {
                cli.sends(json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
                    "errors": ["it broke"], "user_message_uuids": [uuid]}))
                    .await;
            }
            cli.receives_end().await;
            cli.exits(0).await;
        };
        let (answer, ()) = tokio::join!(shared(query_over(memory, "go", Options::new())).text(), play);
        assert_eq!(
            answer.map_err(|error| error.to_string()),
            if is_fine { Ok("4".to_owned()) } else { Err("it broke".to_owned()) }
        );
    }
}

/// A turn that fails is an error of its own kind, with the outcome of the turn.
#[tokio::test(start_paused = true)]
async fn d30_a_query_says_how_its_turn_failed() {
    let (memory, mut cli) = pair();
    let play = async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        cli.sends(json!({"type": "result", "subtype": "error_max_turns", "is_error": true,
            "errors": ["Reached maximum number of turns (1)"], "user_message_uuids": [uuid]}))
            .await;
        cli.receives_end().await;
        cli.exits(0).await;
    };
    let (answer, ()) = tokio::join!(query_over(memory, "go", Options::new()).text(), play);
    let error = answer.unwrap_err();
    let outcome = TurnOutcome::Failed(Outcome::MaxTurns);
    assert_eq!((error.kind(), error.outcome()), (ErrorKind::Turn, Some(outcome)));
    assert!(error.hint().contains("max_turns"), "{error:?}");
}

/// More messages than a queue holds arrive while none is read.
#[tokio::test(start_paused = true)]
async fn d30_a_query_that_is_read_late_loses_nothing() {
    const MESSAGES: usize = 100_000;
    let (memory, mut cli) = pair();
    let mut query = query_over(memory, "go", Options::new());
    let play = tokio::spawn(async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        for _ in 0..MESSAGES {
            cli.peer.say(r#"{"type":"system","subtype":"status","status":null}"#).await;
        }
        cli.ends(&[&uuid], "done").await;
        cli.receives_end().await;
        cli.exits(0).await;
    });
    assert!(query.next().await.unwrap().is_ok());
    // The reader of the session has time to read all that it can keep.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!play.is_finished());
    let mut statuses = 0;
    while let Some(message) = query.next().await {
        statuses += usize::from(message.unwrap().to_line().contains("\"status\""));
    }
    play.await.unwrap();
    assert_eq!(statuses, MESSAGES);
}

/// The text comes in pieces, once: the whole message after its deltas adds nothing, and sub-agents are left
/// out.
#[tokio::test(start_paused = true)]
async fn the_text_of_an_answer_can_be_read_while_it_is_written() {
    let (memory, mut cli) = pair();
    let options = Options::new();
    let play = async move {
        cli.initializes().await;
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        for (text, parent) in [("Hel", None), ("inside", Some("toolu_1")), ("lo", None)] {
            let delta = json!({"type": "text_delta", "text": text});
            let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
            cli.sends(json!({"type": "stream_event", "event": event, "parent_tool_use_id": parent})).await;
        }
        cli.writes("Hello").await;
        cli.writes(" without deltas").await;
        cli.ends(&[&uuid], "Hello without deltas").await;
        cli.receives_end().await;
        cli.exits(0).await;
    };
    let texts = query_over(memory, "go", options).text_stream().collect::<Vec<_>>();
    let (texts, ()) = tokio::join!(texts, play);
    let texts: Vec<String> = texts.into_iter().map(Result::unwrap).collect();
    assert_eq!(texts, ["Hel", "lo", " without deltas"]);
}

/// Without a runtime tokio itself would panic.
#[test]
fn a_session_without_a_runtime_is_an_error() {
    use futures_util::FutureExt as _;
    let (memory, _cli) = pair();
    let error = query_over(memory, "go", Options::new()).text().now_or_never().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Invalid, "There is no tokio runtime"));
    let error = tidings::Pool::new(Options::new(), tidings::PoolLimits::default()).unwrap_err();
    assert_eq!(error.to_string(), "There is no tokio runtime");
}
