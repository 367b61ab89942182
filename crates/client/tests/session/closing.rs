//! Ways to end a session.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tidings::transport::Exit;
use tidings::{AllowAll, ErrorKind, Options, StoppedBy};
use tokio_util::sync::CancellationToken;

use crate::session::cli::session;

/// F38: closing may be called any number of times, from any handle, and ends once.
#[tokio::test(start_paused = true)]
async fn f38_closing_twice_is_closing_once() {
    let (client, mut cli) = session(Options::new()).await;
    let other = client.clone();
    let play = async {
        cli.receives_end().await;
        cli.exits(0).await;
    };
    let (first, second, ()) = tokio::join!(client.close(), other.close(), play);
    assert_eq!((first.unwrap(), second.unwrap()), (Exit::code(0), Exit::code(0)));
    assert_eq!(client.close().await.unwrap(), Exit::code(0));
    assert_eq!(client.send("too late").await.unwrap_err().kind(), ErrorKind::Closed);
}

/// F28: a CLI that ignores the end of its input, and then SIGTERM, is gone within eleven seconds; the result
/// is kept.
#[tokio::test(start_paused = true)]
async fn f28_a_cli_that_does_not_leave_is_made_to() {
    let (client, mut cli) = session(Options::new()).await;
    let turn = client.send("go").await.unwrap();
    let uuid = cli.receives_prompt().await;
    cli.plays(&[&uuid], "done").await;
    let before = tokio::time::Instant::now();
    let play = async {
        cli.receives_end().await;
        cli.peer.terminated().await;
        assert_eq!(before.elapsed(), Duration::from_secs(5));
        cli.peer.killed().await;
        cli.peer.exit(Exit::signal(9)).await;
    };
    let (closed, ()) = tokio::join!(client.close(), play);
    assert!(before.elapsed() <= Duration::from_secs(11), "{:?}", before.elapsed());
    assert_eq!(closed.unwrap(), Exit::signal(9));
    assert_eq!(turn.finish().await.unwrap().text(), "done");
}

/// F30: a process that cannot even be killed does not block its caller.
#[tokio::test(start_paused = true)]
async fn f30_what_cannot_be_killed_is_given_up() {
    let (client, cli) = session(Options::new()).await;
    let before = tokio::time::Instant::now();
    client.close().await.unwrap();
    assert!(before.elapsed() <= Duration::from_secs(11), "{:?}", before.elapsed());
    drop(cli);
}

/// Dropping the last handle closes; dropping another does not.
#[tokio::test(start_paused = true)]
async fn f32_dropping_the_last_handle_closes() {
    let (client, mut cli) = session(Options::new()).await;
    let other = client.clone();
    drop(client);
    other.keep_alive().await.unwrap();
    cli.receives("keep_alive").await;
    drop(other);
    cli.receives_end().await;
}

/// A token closes the session from another task.
#[tokio::test(start_paused = true)]
async fn a_token_closes_the_session() {
    let token = CancellationToken::new();
    let (client, mut cli) = session(Options::new().cancel_with(token.clone())).await;
    let turn = client.send("go").await.unwrap();
    cli.receives_prompt().await;
    token.cancel();
    cli.receives_end().await;
    cli.exits(0).await;
    assert_eq!(turn.finish().await.unwrap_err().kind(), ErrorKind::Closed);
    assert_eq!(client.ended().await.unwrap(), Exit::code(0));
    assert!(client.is_closed());
}

/// D6: every way to end a session interrupts the turn first, and all callers that wait for the turn fail at
/// once.
#[tokio::test(start_paused = true)]
async fn d6_ending_in_any_way_interrupts_first_and_releases_waiters() {
    for way in ["close", "drop", "token", "stop"] {
        let token = CancellationToken::new();
        let (client, mut cli) = session(Options::new().cancel_with(token.clone())).await;
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        let guest = client.guest();
        let asked = tokio::spawn({
            let guest = guest.clone();
            async move { guest.mcp_status().await }
        });
        cli.receives_request("mcp_status").await;
        let before = tokio::time::Instant::now();
        let ending = match way {
            "drop" => {
                drop(client);
                None
            }
            "token" => {
                token.cancel();
                Some(tokio::spawn(async move { client.ended().await.map(drop) }))
            }
            "stop" => Some(tokio::spawn(async move {
                client.stop(Duration::from_secs(30)).await;
                Ok(())
            })),
            _ => Some(tokio::spawn(async move { client.close().await.map(drop) })),
        };
        assert_eq!(turn.finish().await.unwrap_err().kind(), ErrorKind::Closed, "{way}");
        assert_eq!(asked.await.unwrap().unwrap_err().kind(), ErrorKind::Closed, "{way}");
        if way != "stop" {
            assert_eq!(guest.settled().await.unwrap_err().kind(), ErrorKind::Closed, "{way}");
        }
        assert!(before.elapsed() < Duration::from_millis(100), "{way}: {:?}", before.elapsed());
        let request = cli.receives_request("interrupt").await;
        assert_eq!(request["request"]["cancel_queued"], true, "{way}");
        cli.answers(&request, json!({})).await;
        cli.sends(json!({"type": "result", "subtype": "error_during_execution", "is_error": true})).await;
        if way == "stop" {
            cli.peer.terminated().await;
        } else {
            assert_eq!(cli.peer.line().await, None, "{way}: the end of the input follows");
        }
        assert!(before.elapsed() < Duration::from_secs(1), "{way}: {:?}", before.elapsed());
        cli.exits(0).await;
        if let Some(ending) = ending {
            ending.await.unwrap().unwrap();
        }
    }
}

/// D6: the CLI ignores an interrupt that comes before the turn, so a turn that begins while the session ends
/// is interrupted.
#[tokio::test(start_paused = true)]
async fn d6_a_turn_that_begins_while_closing_is_interrupted() {
    let (client, mut cli) = session(Options::new()).await;
    drop(client.send("go").await.unwrap());
    let uuid = cli.receives_prompt().await;
    let play = async {
        cli.receives_request("interrupt").await;
        cli.begins(&[&uuid]).await;
        cli.receives_request("interrupt").await;
        cli.ends(&[&uuid], "").await;
        cli.receives_end().await;
        cli.exits(0).await;
    };
    let (closed, ()) = tokio::join!(client.close(), play);
    assert_eq!(closed.unwrap(), Exit::code(0));
    assert_eq!(client.send("more").await.unwrap_err().kind(), ErrorKind::Closed);
}

/// D6: a CLI that ignores the interrupt, or still has background agents, gets SIGTERM within two seconds.
#[tokio::test(start_paused = true)]
async fn d6_what_goes_on_after_the_interrupt_is_made_to_leave() {
    for background in [false, true] {
        let (client, mut cli) = session(Options::new()).await;
        drop(client.send("go").await.unwrap());
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        if background {
            cli.sends(json!({"type": "system", "subtype": "task_started", "task_id": "b", "task_type": "local_agent"}))
                .await;
            cli.ends(&[&uuid], "started").await;
            while !client.works_in_background() || client.is_busy() {
                tokio::task::yield_now().await;
            }
        }
        let before = tokio::time::Instant::now();
        let play = async {
            cli.peer.terminated().await;
            assert!(before.elapsed() <= Duration::from_secs(2), "{:?}", before.elapsed());
            cli.receives_end().await;
            cli.peer.exit(Exit::signal(15)).await;
        };
        let (closed, ()) = tokio::join!(client.close(), play);
        assert_eq!(closed.unwrap(), Exit::signal(15));
    }
}

/// F26: an exit is explained by the last result, or else by stderr.
#[tokio::test(start_paused = true)]
async fn f26_an_exit_is_explained_by_the_last_words() {
    use serde_json::json;
    let result = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "errors": ["No conversation found with session ID: x"]});
    for (result, stderr, words) in [
        (Some(result.clone()), "noise", "No conversation found"),
        (None, "Error: Session ID is already in use", "already in use"),
        (None, "", "with exit code 1"),
    ] {
        let (client, cli) = session(Options::new()).await;
        if let Some(result) = result {
            cli.sends(result).await;
        }
        cli.voice().complain(stderr).await;
        cli.exits(1).await;
        let error = client.ended().await.unwrap_err();
        assert_eq!((error.kind(), error.exit()), (ErrorKind::Exit, Some(Exit::code(1))));
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// F25: a megabyte of stderr costs a bounded tail, and the last line is in the error.
#[tokio::test(start_paused = true)]
async fn f25_the_end_of_the_error_output_is_kept() {
    let heard = Arc::new(std::sync::Mutex::new(0));
    let count = Arc::clone(&heard);
    let options = Options::new().on_stderr(move |line| {
        assert!(!line.starts_with("5000 "), "a bug in the handler");
        *count.lock().unwrap() += 1;
    });
    let (client, cli) = session(options).await;
    let voice = cli.voice();
    for index in 0..10_000 {
        voice.complain(&format!("{index} {}", "x".repeat(100))).await;
    }
    voice.complain("the last line").await;
    cli.exits(3).await;
    let error = client.ended().await.unwrap_err();
    assert_eq!(error.exit(), Some(Exit::code(3)));
    assert!(error.stderr().ends_with("the last line") && error.stderr().len() <= 64 << 10);
    assert!(error.to_string().ends_with("the last line") && error.to_string().len() < 3000);
    assert_eq!(*heard.lock().unwrap(), 10_000, "a panic in the handler costs one line");
}

/// Background work may finish, however long it takes; requests of the turn that follows are still answered.
#[tokio::test(start_paused = true)]
async fn finishing_waits_for_a_command_in_the_background_and_its_turn() {
    let (client, mut cli) = session(Options::new().on_permission(AllowAll)).await;
    let turn = client.send("go").await.unwrap();
    let play = async {
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        let task =
            json!({"type": "system", "subtype": "task_started", "task_id": "b", "task_type": "local_bash"});
        cli.sends(task).await;
        let tasks = json!([{"task_id": "b", "task_type": "local_bash"}]);
        cli.sends(json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})).await;
        cli.ends(&[&uuid], "started").await;
        cli.sends(json!({"type": "system", "subtype": "session_state_changed", "state": "idle"})).await;
        tokio::time::sleep(Duration::from_secs(300)).await;
        cli.sends(json!({"type": "system", "subtype": "task_notification", "task_id": "b"})).await;
        cli.sends(json!({"type": "system", "subtype": "background_tasks_changed", "tasks": []})).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        cli.begins(&[]).await;
        cli.requests("q", json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}})).await;
        assert_eq!(cli.receives("control_response").await["response"]["response"]["behavior"], "allow");
        cli.ends(&[], "it ended").await;
        cli.receives_end().await;
        cli.exits(0).await;
    };
    let (finished, ()) = tokio::join!(client.finish(), play);
    assert_eq!(finished.unwrap(), Exit::code(0));
    assert_eq!(turn.finish().await.unwrap().text(), "started");
    assert!(!client.works_in_background());
}

/// A CLI with background work gets as much time as it needs, and one with nothing left to do does not.
#[tokio::test(start_paused = true)]
async fn finishing_stops_only_a_cli_without_background_work() {
    for (tasks, leaves) in [(json!([]), true), (json!([{"task_id": "b"}]), false)] {
        let (client, mut cli) = session(Options::new()).await;
        let turn = client.send("go").await.unwrap();
        let uuid = cli.receives_prompt().await;
        cli.begins(&[&uuid]).await;
        cli.sends(json!({"type": "system", "subtype": "background_tasks_changed", "tasks": tasks})).await;
        cli.ends(&[&uuid], "done").await;
        let stubborn = async {
            cli.receives_end().await;
            cli.peer.terminated().await;
            cli.peer.exit(Exit::signal(15)).await;
            std::future::pending::<()>().await;
        };
        let finished = tokio::select! {
            finished = tokio::time::timeout(Duration::from_secs(3600), client.finish()) => finished.is_ok(),
            () = stubborn => unreachable!("it waits for ever"),
        };
        assert_eq!(finished, leaves);
        drop(turn);
    }
}

/// A caller with less patience need not wait for one with more.
#[tokio::test(start_paused = true)]
async fn stopping_again_with_less_patience_kills_at_once() {
    let (client, cli) = session(Options::new()).await;
    let before = tokio::time::Instant::now();
    let play = async {
        cli.peer.terminated().await;
        cli.peer.killed().await;
        cli.peer.exit(Exit::signal(9)).await;
    };
    let hurry = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.stop(Duration::ZERO).await
    };
    let (_, hurried, ()) = tokio::join!(client.stop(Duration::from_secs(60)), hurry, play);
    assert_eq!((hurried, before.elapsed()), (StoppedBy::Kill, Duration::from_secs(1)));
    assert_eq!(client.stop(Duration::ZERO).await, StoppedBy::Nothing);
}
