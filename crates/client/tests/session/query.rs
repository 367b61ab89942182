//! One prompt as a stream.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::json;
use tidings::messages::Message;
use tidings::transport::Exit;
use tidings::{AllowAll, ErrorKind, Options, query_over};

use crate::session::cli::{Cli, pair};

async fn state(cli: &Cli, state: &str) {
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
