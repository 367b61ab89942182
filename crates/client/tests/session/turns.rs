//! The assignment of results to prompts.

use std::time::Duration;

use serde_json::json;
use tidings::messages::OriginKind;
use tidings::{ErrorKind, Event, Interrupted, Options, StoppedBy, TurnOutcome};

use crate::session::cli::session;

/// Several turns on one process, each with its own messages, the result last.
#[tokio::test(start_paused = true)]
async fn a_conversation_has_many_turns() {
    let (client, mut cli) = session(Options::new()).await;
    for text in ["one", "two", "three"] {
        let mut turn = client.send(text).await.unwrap();
        let uuid = cli.receives_prompt().await;
        assert_eq!(turn.uuid(), uuid);
        cli.plays(&[&uuid], text).await;
        let mut kinds = Vec::new();
        while let Some(message) = turn.next().await {
            kinds.push(message.unwrap().type_name().to_owned());
        }
        assert_eq!(kinds, ["command_lifecycle", "system", "assistant", "result"]);
        let end = turn.finish().await.unwrap();
        assert_eq!((end.text(), end.outcome), (text.to_owned(), TurnOutcome::Completed));
    }
}

/// F47: the CLI begins turns by itself, and no prompt gets such a result.
#[tokio::test(start_paused = true)]
async fn f47_a_turn_that_the_cli_began_is_nobodys_answer() {
    let (client, mut cli) = session(Options::new()).await;
    let mut events = client.subscribe();
    let turn = client.send("my question").await.unwrap();
    let uuid = cli.receives_prompt().await;
    cli.reports(&uuid, "queued").await;
    // A background task has ended before the CLI starts to process the prompt.
    cli.begins(&[]).await;
    cli.writes("the task is done").await;
    cli.sends(json!({"type": "result", "subtype": "success", "is_error": false, "result": "task",
        "origin": {"kind": "task-notification"}}))
        .await;
    cli.plays(&[&uuid], "my answer").await;
    let end = turn.finish().await.unwrap();
    assert_eq!((end.text().as_str(), &end.prompts), ("my answer", &vec![uuid.clone()]));

    let mut ends = Vec::new();
    while ends.len() < 2 {
        if let Some(Event::TurnEnded(end)) = events.next().await {
            ends.push((end.turn.unwrap().to_string(), end.origin.clone(), end.prompts.len()));
        }
    }
    assert_eq!(ends, [("1".to_owned(), Some(OriginKind::TASK_NOTIFICATION), 0), ("2".to_owned(), None, 1)]);
}

/// F47: queued prompts are merged into one turn with one result, which answers them all.
#[tokio::test(start_paused = true)]
async fn f47_merged_prompts_share_their_result() {
    let (client, mut cli) = session(Options::new()).await;
    let first = client.send("count").await.unwrap();
    let one = cli.receives_prompt().await;
    cli.begins(&[&one]).await;
    let second = client.send("also say hi").await.unwrap();
    let third = client.send("and bye").await.unwrap();
    let (two, three) = (cli.receives_prompt().await, cli.receives_prompt().await);
    cli.ends(&[&one], "counted").await;
    cli.plays(&[&two, &three], "hi and bye").await;
    assert_eq!(first.finish().await.unwrap().text(), "counted");
    let (second, third) = (second.finish().await.unwrap(), third.finish().await.unwrap());
    assert_eq!((second.text(), second.turn), (third.text(), third.turn));
    assert_eq!(second.text(), "hi and bye");
}

/// F47: a prompt that is folded into the running turn has no result of its own, and ends with that turn.
#[tokio::test(start_paused = true)]
async fn f47_a_folded_prompt_ends_with_the_turn_it_joined() {
    let (client, mut cli) = session(Options::new()).await;
    let first = client.send("work").await.unwrap();
    let one = cli.receives_prompt().await;
    cli.begins(&[&one]).await;
    let second = client.send("faster").await.unwrap();
    let two = cli.receives_prompt().await;
    cli.reports(&two, "started").await;
    cli.reports(&two, "completed").await;
    cli.ends(&[&one], "done").await;
    let (first, second) = (first.finish().await.unwrap(), second.finish().await.unwrap());
    assert_eq!((first.text(), first.turn), (second.text(), second.turn));
}

/// For a CLI that names no prompts, the order of its results and its idle state decide.
#[tokio::test(start_paused = true)]
async fn f47_a_cli_that_names_no_prompts_is_taken_at_its_order() {
    let (client, mut cli) = session(Options::new()).await;
    let result =
        |text: &str| json!({"type": "result", "subtype": "success", "is_error": false, "result": text});
    let init = || json!({"type": "system", "subtype": "init", "session_id": "s"});
    let first = client.send("one").await.unwrap();
    cli.receives_prompt().await;
    cli.sends(init()).await;
    let (second, third) = (client.send("two").await.unwrap(), client.send("three").await.unwrap());
    cli.receives_prompt().await;
    cli.receives_prompt().await;
    cli.sends(result("first")).await;
    cli.sends(init()).await;
    cli.sends(result("second and third")).await;
    cli.sends(
        json!({"type": "system", "subtype": "session_state_changed", "state": "idle", "sdk_host_only": true}),
    )
    .await;
    assert_eq!(first.finish().await.unwrap().text(), "first");
    assert_eq!(second.finish().await.unwrap().text(), "second and third");
    assert_eq!(third.finish().await.unwrap().text(), "second and third");
}

/// F56: a result can say `success` and mean failure. It is the end of the turn, and not an error of the
/// session.
#[tokio::test(start_paused = true)]
async fn f56_a_failed_turn_is_an_end_and_not_an_error() {
    let (client, mut cli) = session(Options::new()).await;
    let cases = [
        (
            json!({"subtype": "success", "is_error": true, "terminal_reason": "api_error", "api_error_status": 529,
            "result": "API Error: 529 Overloaded"}),
            "API Error: 529 Overloaded",
        ),
        (
            json!({"subtype": "error_max_turns", "is_error": true, "errors": ["Reached maximum number of turns"]}),
            "Reached maximum number of turns",
        ),
    ];
    for (mut result, words) in cases {
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        result["type"] = json!("result");
        result["user_message_uuids"] = json!([uuid]);
        cli.sends(result).await;
        let end = turn.finish().await.unwrap();
        assert!(matches!(end.outcome, TurnOutcome::Failed(_)), "{end:?}");
        assert_eq!((end.error_text().as_deref(), end.text().as_str()), (Some(words), ""));
    }
}

fn interrupted(uuid: &str) -> serde_json::Value {
    json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools",
        "errors": ["[ede_diagnostic] result_type=user"], "user_message_uuids": [uuid]})
}

/// F50, F51, F52: an interrupt is sent on the control channel; its turn ends as cancelled, without the CLI's
/// internal message; and the next prompt on the same process gets its own answer and nothing of the stopped
/// turn.
#[tokio::test(start_paused = true)]
async fn f51_an_interrupted_turn_is_cancelled_and_the_next_is_clean() {
    let (client, mut cli) = session(Options::new()).await;
    let first = client.send("talk").await.unwrap();
    let one = cli.receives_prompt().await;
    cli.begins(&[&one]).await;
    cli.writes("once upon").await;
    let play = async {
        let request = cli.receives_request("interrupt").await;
        cli.answers(&request, json!({"still_queued": []})).await;
    };
    let (receipt, ()) = tokio::join!(client.interrupt(), play);
    assert!(
        matches!(receipt.unwrap(), Interrupted::Stopping(receipt) if receipt.still_queued == Some(Vec::new()))
    );
    let mut second = client.send("something else").await.unwrap();
    let two = cli.receives_prompt().await;
    cli.writes("a time").await;
    cli.sends(interrupted(&one)).await;
    cli.reports(&one, "cancelled").await;
    cli.plays(&[&two], "else").await;
    let end = first.finish().await.unwrap();
    assert_eq!((end.outcome, end.error_text()), (TurnOutcome::Cancelled, None));
    let mut said = String::new();
    while let Some(message) = second.next().await {
        said.extend(
            message.unwrap().content_blocks().iter().filter_map(tidings::messages::ContentBlock::as_text),
        );
    }
    assert_eq!(said, "else");
}

/// F49: the CLI ignores an interrupt while no turn runs, so it is delayed until the turn has begun.
#[tokio::test(start_paused = true)]
async fn f49_an_interrupt_waits_for_its_turn() {
    let (client, mut cli) = session(Options::new()).await;
    assert_eq!(client.interrupt().await.unwrap(), Interrupted::Nothing);
    let turn = client.send("go").await.unwrap();
    let other = client.clone();
    let stopping = tokio::spawn(async move { other.interrupt().await });
    let uuid = cli.receives_prompt().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    cli.begins(&[&uuid]).await;
    let request = cli.receives_request("interrupt").await;
    cli.answers(&request, json!({"still_queued": []})).await;
    cli.sends(interrupted(&uuid)).await;
    assert!(matches!(stopping.await.unwrap().unwrap(), Interrupted::Stopping(_)));
    assert_eq!(turn.finish().await.unwrap().outcome, TurnOutcome::Cancelled);
}

/// F48: a CLI that does not react to an interrupt is killed within twelve seconds, and the result says so.
#[tokio::test(start_paused = true)]
async fn f48_an_interrupt_that_is_ignored_ends_in_force() {
    for (ignores_term, expected) in [(false, StoppedBy::Terminate), (true, StoppedBy::Kill)] {
        let (client, mut cli) = session(Options::new()).await;
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        let play = async {
            cli.receives_request("interrupt").await;
            if ignores_term {
                cli.peer.killed().await;
                cli.peer.exit(tidings::transport::Exit::signal(9)).await;
            } else {
                cli.peer.terminated().await;
                cli.peer.exit(tidings::transport::Exit::code(143)).await;
            }
        };
        let before = tokio::time::Instant::now();
        let (stopped, ()) = tokio::join!(client.stop_turn(Duration::from_secs(5)), play);
        assert_eq!(stopped.unwrap(), expected);
        assert!(before.elapsed() < Duration::from_secs(12), "{:?}", before.elapsed());
        assert_eq!(turn.finish().await.unwrap_err().kind(), ErrorKind::Closed);
    }
}

/// A prompt that is cancelled before its turn ends as dropped, and the others are not affected.
#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_taken_back_ends_as_dropped() {
    let (client, mut cli) = session(Options::new()).await;
    let first = client.send("go").await.unwrap();
    let one = cli.receives_prompt().await;
    cli.begins(&[&one]).await;
    let second = client.send("never mind").await.unwrap();
    let two = cli.receives_prompt().await;
    let play = async {
        let request = cli.receives_request("cancel_async_message").await;
        assert_eq!(request["request"]["message_uuid"], two);
        cli.reports(&two, "cancelled").await;
        cli.answers(&request, json!({"cancelled": true})).await;
    };
    let (cancelled, ()) = tokio::join!(client.cancel_prompt(second.uuid()), play);
    assert!(cancelled.unwrap());
    assert_eq!(second.finish().await.unwrap().outcome, TurnOutcome::Dropped);
    cli.ends(&[&one], "done").await;
    assert!(first.finish().await.unwrap().is_success());
}

/// F52: a background sub-agent outlives its turn; its frames belong to that turn and not to the next.
#[tokio::test(start_paused = true)]
async fn f52_late_frames_of_a_sub_agent_keep_their_turn() {
    let (client, mut cli) = session(Options::new()).await;
    let mut events = client.subscribe();
    let first = client.send("start an agent").await.unwrap();
    let one = cli.receives_prompt().await;
    cli.begins(&[&one]).await;
    let call = json!([{"type": "tool_use", "id": "toolu_agent", "name": "Agent", "input": {}}]);
    cli.sends(json!({"type": "assistant", "message": {"role": "assistant", "content": call}, "parent_tool_use_id": null}))
        .await;
    cli.ends(&[&one], "started").await;
    let mut second = client.send("meanwhile").await.unwrap();
    let two = cli.receives_prompt().await;
    cli.begins(&[&two]).await;
    let late = json!({"role": "assistant", "content": [{"type": "text", "text": "from the agent"}]});
    cli.sends(json!({"type": "assistant", "message": late, "parent_tool_use_id": "toolu_agent"})).await;
    cli.ends(&[&two], "answered").await;
    first.finish().await.unwrap();
    while let Some(frame) = second.next_frame().await {
        assert!(frame.unwrap().parent_tool_use_id().is_none());
    }
    let turn = loop {
        match events.next().await.unwrap() {
            Event::Frame { turn, frame, .. } if frame.parent_tool_use_id().is_some() => break turn.unwrap(),
            _ => {}
        }
    };
    assert_eq!(turn.to_string(), "1");
}

/// F29: silence is reported when the model should be at work, and not while a tool runs or a request is open.
#[tokio::test(start_paused = true)]
async fn f29_silence_is_told_only_when_it_is_odd() {
    let (client, mut cli) = session(Options::new().stall_after(Duration::from_secs(30))).await;
    let mut events = client.subscribe();
    let turn = client.send("go").await.unwrap();
    let uuid = cli.receives_prompt().await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    cli.begins(&[&uuid]).await;
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]);
    cli.sends(json!({"type": "assistant", "message": {"role": "assistant", "content": call}})).await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]);
    cli.sends(json!({"type": "user", "message": {"role": "user", "content": result}})).await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    cli.ends(&[&uuid], "done").await;
    turn.finish().await.unwrap();
    drop((client, cli));
    let mut frames = 0;
    let mut stalled = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Frame { .. } => frames += 1,
            Event::Stalled { quiet } => stalled.push((frames, quiet)),
            _ => {}
        }
    }
    // Once, after the tool's result: started, init, call, result.
    assert_eq!(stalled, [(4, Duration::from_secs(30))]);
}

/// D7: a result whose line is too long or unreadable ends its turn with an error, wherever its type stands in
/// it.
#[tokio::test(start_paused = true)]
async fn d7_a_result_that_cannot_be_read_ends_its_turn() {
    for line in [r#"{"type":"result","result":"bro"#, r#"{"result":"bro"#] {
        let (client, mut cli) = session(Options::new()).await;
        let mut events = client.subscribe();
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        cli.peer.say(line).await;
        cli.reports(&uuid, "completed").await;
        let error = turn.finish().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        assert!(error.hint().contains("line_bytes_max"), "{error:?}");
        let end = loop {
            match events.next().await {
                Some(Event::TurnEnded(end)) => break end,
                Some(_) => {}
                None => panic!("no end event"),
            }
        };
        assert_eq!((end.outcome, &end.prompts), (TurnOutcome::ResultLost, &vec![uuid]));
        assert!(!client.is_busy());
        // The next turn is not disturbed.
        let turn = client.send("again").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.plays(&[&uuid], "fine").await;
        assert_eq!(turn.finish().await.unwrap().text(), "fine");
    }
}

/// D7: a broken line of another kind ends no turn.
#[tokio::test(start_paused = true)]
async fn d7_another_line_that_cannot_be_read_ends_no_turn() {
    for line in [r#"{"type":"assistant","message":"bro"#, r#"{"message":"bro"#] {
        let (client, mut cli) = session(Options::new()).await;
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        cli.peer.say(line).await;
        cli.ends(&[&uuid], "fine").await;
        assert_eq!(turn.finish().await.unwrap().text(), "fine");
    }
}

/// D2: a turn that should end with a structured output and has none fails.
#[tokio::test(start_paused = true)]
async fn d2_a_missing_structured_output_is_an_error() {
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"});
    let options = Options::new().output_schema(schema);
    let cases = [
        (None, None, TurnOutcome::Failed(tidings::Outcome::StructuredOutput)),
        (Some(json!({"a": 1})), None, TurnOutcome::Completed),
        // A command that the CLI answers itself.
        (None, Some(0), TurnOutcome::Completed),
    ];
    for (output, rounds, expected) in cases {
        let (client, mut cli) = session(options.clone()).await;
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        let mut result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "words",
            "user_message_uuids": [uuid]});
        if let Some(output) = &output {
            result["structured_output"] = output.clone();
        }
        if let Some(rounds) = rounds {
            result["num_turns"] = json!(rounds);
        }
        cli.sends(result).await;
        let end = turn.finish().await.unwrap();
        assert_eq!(end.outcome, expected);
        assert_eq!(end.is_success(), end.error_text().is_none());
        #[cfg(feature = "schema")]
        assert_eq!(end.output::<serde_json::Value>().ok(), output);
    }
}
