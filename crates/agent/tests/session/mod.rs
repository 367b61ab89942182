//! Complete sessions against the stand-in: prompts, requests, answers and events.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod example;
mod puppet;
mod races;
mod stand_in;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use stand_in::{Scene, StandIn};
use tidings::Options;
use tidings::transport::Transport;
use tidings_agent::permissions::{Answer, BatchResponse, Member, Response};
use tidings_agent::policy::{AutoApprove, DenyAll, Interactive};
use tidings_agent::questions::Reply;
use tidings_agent::session::Batches;
use tidings_agent::{
    Agent, AskKey, ChannelEventSink, ChannelInputSource, Clock, Command, ControllerInputPayload,
    FrontendInput, Setup, TurnId, UiMessage, run_with_frontend,
};
use tidings_protocol::ui::{AnsweredBy, PermissionScope, Resolution, SessionPhase, StopReason};

const LIST: &str = r#"
    [[turn]]
    [[turn.block]]
    text = "Let me look."
    [[turn.block]]
    tool = "Bash"
    input = { command = "ls" }
    ask = true
    result = "README.md"

    [[turn]]
    text = "There is a README."
"#;

const TWO: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "make one" }
    ask = true
    result = "one"
    [[turn.block]]
    tool = "Bash"
    input = { command = "make two" }
    ask = true
    result = "two"

    [[turn]]
    text = "Done."
"#;

fn hello(session: i64) -> ControllerInputPayload {
    ControllerInputPayload::data(session, "hello", TurnId::new_user_turn(1))
}

fn is_permission(event: &UiMessage) -> bool {
    matches!(event, UiMessage::PermissionRequired { .. })
}

/// S3.18: a tool that the policy does not decide about waits until it is answered through the registry.
#[tokio::test]
async fn s3_18_a_permission_waits_for_the_registry() {
    let mut scene = Scene::start(LIST, Interactive).await;
    assert_eq!(scene.session.input(hello(1)).await.unwrap(), TurnId::new_user_turn(1));
    let UiMessage::PermissionRequired { tool_use_id, request, session_id } = scene.until(is_permission).await
    else {
        unreachable!()
    };
    assert_eq!((request.target.as_str(), session_id), ("ls", 1));
    assert_eq!(scene.session.status().pending_permissions, 1);
    let began = scene.seen.iter().position(|event| matches!(event, UiMessage::ToolExecuting { .. }));
    assert!(began.is_some(), "the call is shown before the question about it");

    let key = AskKey::new(1, tool_use_id.as_str());
    let yes = Response::person("terminal", Answer::allow());
    scene.session.permissions().respond_to_request(&key, yes, Timestamp::UNIX_EPOCH).unwrap();
    let resolved = scene.until(|event| matches!(event, UiMessage::PermissionResolved(_))).await;
    let UiMessage::PermissionResolved(resolved) = resolved else { unreachable!() };
    assert_eq!((resolved.outcome, resolved.by.as_deref()), (Resolution::Allowed, Some("terminal")));
    let UiMessage::Complete { stop_reason, .. } = scene.complete().await else { unreachable!() };
    assert_eq!(stop_reason, StopReason::EndTurn);
    assert_eq!(scene.text(), "Let me look.There is a README.");
    assert_eq!(scene.results(), [(tool_use_id.as_str(), "README.md")]);
}

/// The command looks harmless; the path that made the CLI ask shows what it is about.
#[tokio::test]
async fn a_permission_names_the_path_that_made_the_agent_ask() {
    let script = LIST.replace("ask = true", r#"ask = { blocked_path = "/home/dev/other" }"#);
    let mut scene = Scene::start(&script, Interactive).await;
    scene.session.input(hello(1)).await.unwrap();
    scene.until(is_permission).await;
    let path = scene.seen.iter().find_map(|event| match event {
        UiMessage::PermissionDetails(details) => Some(details.blocked_path.as_deref()),
        _ => None,
    });
    assert_eq!(path, Some(Some("/home/dev/other")));
}

/// S3.29: a policy that decides does not ask the user, and its decision names the rule.
#[tokio::test]
async fn s3_29_a_policy_that_decides_asks_nobody() {
    for (allowed, mut scene) in [
        (true, Scene::start(LIST, AutoApprove).await),
        (false, Scene::start(LIST, DenyAll("Not on a Sunday".to_owned())).await),
    ] {
        scene.session.input(hello(1)).await.unwrap();
        scene.complete().await;
        assert!(!scene.seen.iter().any(is_permission));
        let resolved = scene.seen.iter().find_map(|event| match event {
            UiMessage::PermissionResolved(resolved) => Some(resolved),
            _ => None,
        });
        let resolved = resolved.unwrap();
        assert_eq!(resolved.outcome == Resolution::Allowed, allowed);
        assert!(resolved.rule.is_some(), "{resolved:?}");
        let (_, result) = scene.results()[0];
        assert_eq!(result.contains("Not on a Sunday"), !allowed, "{result}");
    }
}

/// S3.19: calls that are asked about together are one batch, whose members can be approved and denied
/// separately.
#[tokio::test]
async fn s3_19_a_batch_is_answered_in_parts() {
    for batches in [Batches::AsAsked, Batches::PerMessage] {
        let mut setup = Setup::new(1, Arc::new(Interactive));
        setup.batches = batches;
        let mut scene = Scene::set(TWO, setup).await;
        scene.session.input(hello(1)).await.unwrap();
        // The stand-in asks about one call after the other, as the real CLI does for calls that may not run
        // in parallel. Without a batch for the message they are two requests.
        if batches == Batches::AsAsked {
            for answer in [Answer::allow(), Answer::deny("Not this one")] {
                let UiMessage::PermissionRequired { tool_use_id, .. } = scene.until(is_permission).await
                else {
                    unreachable!()
                };
                let response = Response::person("phone", answer);
                let key = AskKey::new(1, tool_use_id);
                scene
                    .session
                    .permissions()
                    .respond_to_request(&key, response, Timestamp::UNIX_EPOCH)
                    .unwrap();
            }
        } else {
            let batch = scene.until(|event| matches!(event, UiMessage::BatchPermissionRequired { .. })).await;
            let UiMessage::BatchPermissionRequired { batch_id, requests, .. } = batch else { unreachable!() };
            assert_eq!(
                requests.iter().map(|request| &request.target).collect::<Vec<_>>(),
                ["make one", "make two"]
            );
            let response = BatchResponse::new(AnsweredBy::Person("phone".to_owned()))
                .approve(Member::Index(0))
                .deny(Member::Index(1), "Not this one");
            let permissions = scene.session.permissions();
            let done = permissions.respond_to_batch(&batch_id, response, Timestamp::UNIX_EPOCH).unwrap();
            assert_eq!((done.recorded.len(), done.refused.len(), done.open.len()), (2, 0, 0));
        }
        scene.complete().await;
        let results: Vec<&str> = scene.results().iter().map(|(_, result)| *result).collect();
        assert_eq!(results[0], "one", "{batches:?}");
        assert!(results[1].contains("Not this one"), "{batches:?}: {results:?}");
    }
}

/// S3.30: a call that was allowed for the session is not asked about again.
#[tokio::test]
async fn s3_30_a_grant_for_the_session_answers_the_next_question() {
    let script = LIST.to_owned() + LIST;
    let mut scene = Scene::start(&script, Interactive).await;
    scene.session.input(hello(1)).await.unwrap();
    let UiMessage::PermissionRequired { tool_use_id, .. } = scene.until(is_permission).await else {
        unreachable!()
    };
    let response = Response::person("phone", Answer::allow_for(PermissionScope::Session));
    let key = AskKey::new(1, tool_use_id);
    scene.session.permissions().respond_to_request(&key, response, Timestamp::UNIX_EPOCH).unwrap();
    scene.complete().await;
    let asked = scene.seen.len();
    assert_eq!(scene.session.input(hello(1)).await.unwrap(), TurnId::new_user_turn(2), "the next number");
    scene.complete().await;
    assert!(!scene.seen[asked..].iter().any(is_permission));
    assert_eq!(scene.results().len(), 2);
}

/// S3.20: a question of the model waits in its own registry, and the answer reaches the model.
#[tokio::test]
async fn s3_20_a_question_is_answered_through_its_registry() {
    let script = r#"
        [[turn]]
        [[turn.block]]
        tool = "AskUserQuestion"
        input = { questions = [{ question = "Which?", header = "Base", multiSelect = false, options = [{ label = "A", description = "a" }, { label = "B", description = "b" }] }] }
        ask = true

        [[turn]]
        text = "Thank you."
    "#;
    let mut scene = Scene::start(script, Interactive).await;
    scene.session.input(hello(1)).await.unwrap();
    let asked = scene.until(|event| matches!(event, UiMessage::UserInteractionRequired { .. })).await;
    let UiMessage::UserInteractionRequired { tool_use_id, request, .. } = asked else { unreachable!() };
    assert_eq!(request.questions[0].options.as_deref(), Some(&["A".to_owned(), "B".to_owned()][..]));
    let key = AskKey::new(1, tool_use_id);
    let answers = vec![Reply::new("Which?", ["B"])];
    scene.session.questions().respond(&key, answers, AnsweredBy::Person("phone".to_owned())).unwrap();
    scene.complete().await;
    assert!(scene.results()[0].1.contains('B'), "{:?}", scene.results());
    // If no user can be asked, the tool is denied immediately.
    let mut scene = Scene::start(script, AutoApprove).await;
    scene.session.input(hello(1)).await.unwrap();
    scene.complete().await;
    assert!(!scene.seen.iter().any(|event| matches!(event, UiMessage::UserInteractionRequired { .. })));
    assert!(scene.results()[0].1.contains("declined"), "{:?}", scene.results());
}

/// A request that is not answered in time is reported as timed out, and not as refused.
#[tokio::test]
async fn s3_18_silence_is_no_refusal() {
    let mut setup = Setup::new(1, Arc::new(Interactive));
    setup.ask_limit = Some(Duration::from_millis(30));
    let mut scene = Scene::set(LIST, setup).await;
    scene.session.input(hello(1)).await.unwrap();
    scene.complete().await;
    let timed_out = |event: &UiMessage| matches!(event, UiMessage::PermissionResolved(resolved) if resolved.outcome == Resolution::TimedOut);
    assert!(scene.seen.iter().any(timed_out));
    assert!(scene.results()[0].1.contains("not a refusal"), "{:?}", scene.results());
}

/// The progress of a long call is reported.
#[tokio::test]
async fn the_running_time_of_a_call_is_reported() {
    let mut setup = Setup::new(1, Arc::new(Interactive));
    // The clock advances one hour with every reading.
    let hours = std::sync::atomic::AtomicI64::new(0);
    setup.clock = Clock::from_fn(move || {
        let hour = hours.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Timestamp::from_second(hour * 3600).unwrap()
    });
    let mut scene = Scene::set(LIST, setup).await;
    scene.session.input(hello(1)).await.unwrap();
    let progress = scene.until(|event| matches!(event, UiMessage::ToolProgress(_))).await;
    let UiMessage::ToolProgress(progress) = progress else { unreachable!() };
    assert!(progress.elapsed_seconds >= 3600.0, "{progress:?}");
}

/// S3.34: an interrupt withdraws open requests, ends the turn, and is reported as complete.
#[tokio::test]
async fn s3_34_an_interrupt_takes_the_question_back_and_ends_the_turn() {
    let mut scene = Scene::start(LIST, Interactive).await;
    scene.session.input(hello(1)).await.unwrap();
    scene.until(is_permission).await;
    let session = scene.session.clone();
    let interrupt = tokio::spawn(async move { session.command(Command::Interrupt).await });
    let (mut complete, mut done, mut taken_back) = (false, false, false);
    while !(complete && done && taken_back) {
        match scene.until(|_| true).await {
            UiMessage::Complete { .. } => complete = true,
            UiMessage::CommandComplete { command, .. } => done = command == "interrupt",
            UiMessage::PermissionResolved(resolved) => taken_back = resolved.outcome == Resolution::Cancelled,
            _ => {}
        }
    }
    interrupt.await.unwrap().unwrap();
    assert_eq!(scene.session.status().pending_permissions, 0);
}

/// S3.28: the front end gets all events through its sink, sends all input through its source, and the end of
/// the source ends the sessions. S3.26: events carry the number of their session.
#[tokio::test]
async fn s3_28_a_front_end_runs_many_sessions() {
    let (sink, mut events) = ChannelEventSink::new(4);
    let (input, source) = ChannelInputSource::new(4);
    let agent = Agent::new(Options::new()).over(|| StandIn::playing("[[turn]]\ntext = \"Hello!\""));
    let running = tokio::spawn(run_with_frontend(agent.clone(), sink, source, AutoApprove));
    for session in [3, 8] {
        input.send(FrontendInput::Message(hello(session))).await.unwrap();
    }
    let mut texts = std::collections::BTreeMap::<i64, String>::new();
    let mut complete = 0;
    while complete < 2 {
        match events.recv().await.unwrap() {
            UiMessage::TextChunk { text, session_id, .. } => {
                texts.entry(session_id).or_default().push_str(&text);
            }
            UiMessage::Complete { .. } => complete += 1,
            _ => {}
        }
    }
    assert_eq!(texts.into_iter().collect::<Vec<_>>(), [(3, "Hello!".to_owned()), (8, "Hello!".to_owned())]);
    input.send(FrontendInput::Command { session_id: 99, command: Command::Interrupt }).await.unwrap();
    loop {
        if let UiMessage::Error { message, session_id } = events.recv().await.unwrap() {
            assert_eq!((message.starts_with("There is no session 99"), session_id), (true, Some(99)));
            break;
        }
    }
    drop(input);
    while events.recv().await.is_some() {}
    running.await.unwrap();
    assert!(agent.handles().is_empty());
}

/// D5: a session that does not start delays no other.
#[tokio::test]
async fn d5_a_session_that_starts_slowly_holds_up_no_other() {
    let (sink, mut events) = ChannelEventSink::new(4);
    let (input, source) = ChannelInputSource::new(4);
    // The first session has a peer that never answers the handshake.
    let (silent, mut peer) = tidings::transport::memory::pair();
    let silent = std::sync::Mutex::new(Some(silent));
    let agent = Agent::new(Options::new()).over(move || -> Box<dyn Transport> {
        match silent.lock().unwrap().take() {
            Some(silent) => Box::new(silent),
            None => Box::new(StandIn::playing("[[turn]]\ntext = \"Hello!\"")),
        }
    });
    let running = tokio::spawn(run_with_frontend(agent.clone(), sink, source, AutoApprove));
    for _ in 0..3 {
        input.send(FrontendInput::Message(hello(1))).await.unwrap();
    }
    assert!(peer.line().await.unwrap().contains("initialize"));
    input.send(FrontendInput::Message(hello(2))).await.unwrap();
    loop {
        match events.recv().await.unwrap() {
            UiMessage::Complete { session_id, .. } => {
                assert_eq!(session_id, 2);
                break;
            }
            UiMessage::Error { message, .. } => panic!("{message}"),
            _ => {}
        }
    }
    assert_eq!(agent.handles(), [2], "the first session is still starting");
    running.abort();
}

/// S3.35: a session reports its status, and a removed one leaves nothing: no process, no request, no grant.
#[tokio::test]
async fn s3_35_sessions_tell_how_they_stand_and_leave_nothing() {
    let (sink, mut events) = ChannelEventSink::new(4);
    let agent = Agent::new(Options::new()).over(|| StandIn::playing(&(LIST.to_owned() + LIST)));
    let session = agent.open(5, Options::new(), Arc::new(Interactive), Box::new(sink)).await.unwrap();
    session.input(hello(5)).await.unwrap();
    let mut answered = false;
    loop {
        match events.recv().await.unwrap() {
            UiMessage::PermissionRequired { tool_use_id, .. } => {
                let status = session.status();
                assert_eq!((status.phase, status.pending_permissions), (SessionPhase::WaitingForPerson, 1));
                let response = Response::person("phone", Answer::allow_for(PermissionScope::Session));
                let key = AskKey::new(5, tool_use_id);
                agent.permissions().respond_to_request(&key, response, Timestamp::UNIX_EPOCH).unwrap();
                answered = true;
            }
            UiMessage::Complete { .. } => break,
            _ => {}
        }
    }
    assert!(answered);
    let status = session.status();
    assert_eq!((status.handle, status.turns, status.open_turn), (5, 1, None));
    assert_eq!(status.cwd.as_deref(), Some("/home/dev/demo"));
    assert!(
        status.cli_session_id.is_some() && status.model.is_some() && status.input_tokens > 0,
        "{status:?}"
    );
    assert_eq!(agent.permissions().grants(5, Timestamp::UNIX_EPOCH).len(), 1);

    let reading = tokio::spawn(async move { while events.recv().await.is_some() {} });
    agent.remove(5).await;
    assert!(session.client().is_closed());
    assert!(agent.session(5).is_none() && agent.permissions().grants(5, Timestamp::UNIX_EPOCH).is_empty());
    drop(session);
    reading.await.unwrap();
}

/// F98, C3.8: a slow front end makes the agent wait, and loses nothing.
#[tokio::test]
async fn s3_15_a_slow_front_end_loses_no_text() {
    let words: Vec<String> = (0..2_000).map(|number| format!("word{number} ")).collect();
    let script = format!("[pace]\nchunk_chars = 4\n\n[[turn]]\ntext = {:?}\n", words.concat());
    let mut scene = Scene::start(&script, AutoApprove).await;
    scene.session.input(hello(1)).await.unwrap();
    let mut read = 0;
    loop {
        let event = scene.until(|_| true).await;
        read += 1;
        if read % 64 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if matches!(event, UiMessage::Complete { .. }) {
            break;
        }
    }
    assert_eq!(scene.text(), words.concat());
}

/// A session whose sink is closed ends.
#[tokio::test]
async fn a_session_whose_sink_is_closed_ends() {
    let scene = Scene::start(LIST, Interactive).await;
    let session = scene.session.clone();
    drop(scene);
    drop(session.input(hello(1)).await);
    tokio::time::timeout(Duration::from_secs(20), session.client().ended()).await.unwrap().unwrap();
}
