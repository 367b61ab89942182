//! Requests, answers, prompts and ends in every order: each request is shown once and its outcome is reported
//! once, nothing comes after the end, and no caller waits for ever.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use tidings::Options;
use tidings::transport::Exit;
use tidings_agent::permissions::{Answer, Ask, BatchResponse, Member, Response};
use tidings_agent::policy::{Decided, DecisionSource, Interactive, PermissionPolicy, PolicyDecision};
use tidings_agent::session::Batches;
use tidings_agent::{
    Agent, AskKey, ChannelEventSink, Clock, Command, ControllerInputPayload, Setup, TurnId, UiMessage,
};
use tidings_protocol::ui::{AnsweredBy, PermissionResolved, Resolution, SessionPhase};

use crate::session::puppet::{Puppet, interactive};
use crate::session::stand_in::StandIn;

fn is_required(event: &UiMessage) -> bool {
    matches!(event, UiMessage::PermissionRequired { .. } | UiMessage::BatchPermissionRequired { .. })
}

fn resolved(event: &UiMessage) -> Option<&PermissionResolved> {
    match event {
        UiMessage::PermissionResolved(resolved) => Some(resolved),
        _ => None,
    }
}

fn is_complete(event: &UiMessage) -> bool {
    matches!(event, UiMessage::Complete { .. })
}

fn place(events: &[UiMessage], wanted: impl Fn(&UiMessage) -> bool) -> usize {
    events.iter().position(wanted).unwrap_or_else(|| panic!("it is not among {events:#?}"))
}

/// A request that ends together with its session is reported once, and the end of the session is the last
/// event.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_question_that_ends_with_its_session_is_told_once_and_before_the_end() {
    for round in 0..200 {
        let mut puppet = Puppet::start(interactive(), 64).await;
        puppet.call(&["make"]).await;
        puppet.ask("r1", "make").await;
        let mut seen = puppet.until(is_required).await;
        let permissions = puppet.session.permissions().clone();
        let answering = tokio::spawn(async move {
            let yes = Response::person("phone", Answer::allow());
            permissions.respond_to_request(&AskKey::new(1, "make"), yes, Timestamp::UNIX_EPOCH).is_ok()
        });
        if round % 3 == 0 {
            assert!(answering.await.unwrap());
        } else if round % 3 == 1 {
            puppet.say(json!({"type": "control_cancel_request", "request_id": "r1"})).await;
        }
        puppet.voice.exit(Exit::default()).await;
        seen.extend(puppet.rest().await);
        let ends: Vec<_> = seen.iter().filter_map(resolved).collect();
        assert_eq!((seen.iter().filter(|event| is_required(event)).count(), ends.len()), (1, 1), "{seen:#?}");
        let outcome = puppet.session.permissions().outcome(&AskKey::new(1, "make")).unwrap();
        assert_eq!(
            ends[0].outcome == Resolution::Allowed,
            outcome.answer().is_some(),
            "{round}: {outcome:?}"
        );
        let last = seen.last();
        let ended =
            matches!(last, Some(UiMessage::SessionStateChanged(state)) if state.state == SessionPhase::Ended);
        assert!(ended, "{last:?}");
    }
}

/// A call that the agent asks about twice is shown once; the second request is refused and settles nothing.
#[tokio::test]
async fn a_question_that_is_asked_twice_is_shown_once() {
    let mut puppet = Puppet::start(interactive(), 64).await;
    puppet.call(&["make"]).await;
    puppet.ask("r1", "make").await;
    puppet.ask("r2", "make").await;
    let refused = puppet.written().await;
    assert_eq!(refused["response"]["request_id"], "r2");
    assert_eq!(refused["response"]["response"]["behavior"], "deny");
    let mut seen = puppet.until(is_required).await;
    let yes = Response::person("phone", Answer::allow());
    let key = AskKey::new(1, "make");
    puppet.session.permissions().respond_to_request(&key, yes, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(puppet.written().await["response"]["response"]["behavior"], "allow");
    puppet.result().await;
    seen.extend(puppet.until(is_complete).await);
    let ends: Vec<Resolution> = seen.iter().filter_map(resolved).map(|resolved| resolved.outcome).collect();
    assert_eq!(ends, [Resolution::Allowed]);
}

/// An announced call that the agent never asks about ends with the turn: as answered, or withdrawn.
#[tokio::test]
async fn what_the_agent_never_asks_about_ends_with_the_turn() {
    let mut setup = interactive();
    setup.batches = Batches::PerMessage;
    let mut puppet = Puppet::start(setup, 64).await;
    puppet.call(&["one", "two"]).await;
    puppet.stream("message_stop").await;
    let seen = puppet.until(is_required).await;
    let Some(UiMessage::BatchPermissionRequired { batch_id, .. }) = seen.last() else { panic!("{seen:#?}") };
    let response = BatchResponse::new(AnsweredBy::Person("phone".to_owned())).approve(Member::Index(0));
    puppet.session.permissions().respond_to_batch(batch_id, response, Timestamp::UNIX_EPOCH).unwrap();
    puppet.result().await;
    let seen = puppet.until(is_complete).await;
    let ends: Vec<_> = seen.iter().filter_map(resolved).collect();
    let outcomes: Vec<_> = ends.iter().map(|end| (end.tool_use_id.as_str(), end.outcome)).collect();
    assert_eq!(outcomes, [("one", Resolution::Allowed), ("two", Resolution::Cancelled)]);
    assert!(ends.iter().all(|end| end.batch_id.as_ref() == Some(batch_id)), "{ends:#?}");
    assert_eq!(puppet.session.status().pending_permissions, 0);
}

/// A request that was answered while its batch was gathered is not opened again.
#[tokio::test]
async fn a_batch_opens_nothing_that_was_settled() {
    let mut puppet = Puppet::start(interactive(), 1).await;
    puppet.call(&["one", "two"]).await;
    puppet.ask("r1", "one").await;
    puppet.ask("r2", "two").await;
    let permissions = puppet.session.permissions().clone();
    while permissions.pending_count() < 2 {
        tokio::task::yield_now().await;
    }
    let no = Response::person("phone", Answer::deny("No"));
    permissions.respond_to_request(&AskKey::new(1, "one"), no, Timestamp::UNIX_EPOCH).unwrap();
    let mut seen = puppet.until(is_required).await;
    assert!(permissions.get(&AskKey::new(1, "one")).is_none());
    let no = Response::person("phone", Answer::deny("No"));
    permissions.respond_to_request(&AskKey::new(1, "two"), no, Timestamp::UNIX_EPOCH).unwrap();
    puppet.result().await;
    seen.extend(puppet.until(is_complete).await);
    assert_eq!(seen.iter().filter_map(resolved).count(), 2);
    assert_eq!(permissions.pending_count(), 0);
}

/// A prompt is shown before its effects, even if the sink was blocked for a while.
#[tokio::test]
async fn a_prompt_comes_before_its_answer_however_slow_the_front_end_is() {
    let mut puppet = Puppet::start(interactive(), 1).await;
    for number in 0..3 {
        let status = json!({"type": "system", "subtype": "status", "status": "compacting", "session_id": "s", "uuid": number.to_string()});
        puppet.say(status).await;
        puppet.say(json!({"type": "system", "subtype": "status", "status": null, "session_id": "s", "uuid": "n"})).await;
    }
    // The sink is full by now.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let hello = ControllerInputPayload::data(1, "hello", TurnId::new_user_turn(1));
    puppet.session.input(hello).await.unwrap();
    puppet.written().await;
    puppet.call(&["make"]).await;
    puppet.ask("r1", "make").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let seen = puppet.until(is_required).await;
    let prompt = place(&seen, |event| matches!(event, UiMessage::UserPrompt(_)));
    let turn =
        place(&seen, |event| matches!(event, UiMessage::TurnStarted(turn) if !turn.answers.is_empty()));
    let call = place(&seen, |event| matches!(event, UiMessage::ToolExecuting { .. }));
    assert!(prompt < turn && turn < call && call < seen.len() - 1, "{seen:#?}");
}

/// The task that takes the events may close the session, even while events are left. They are not lost.
#[tokio::test(start_paused = true)]
async fn the_task_that_takes_the_events_may_close() {
    let mut puppet = Puppet::start(interactive(), 1).await;
    puppet.call(&["one", "two", "three"]).await;
    let (session, other) = (puppet.session.clone(), puppet.session.clone());
    let closing = async { tokio::join!(session.close(), other.close()) };
    tokio::time::timeout(Duration::from_secs(600), closing).await.unwrap();
    let seen = puppet.rest().await;
    assert_eq!(seen.iter().filter(|event| matches!(event, UiMessage::ToolExecuting { .. })).count(), 3);
    assert!(
        matches!(seen.last(), Some(UiMessage::SessionStateChanged(state)) if state.state == SessionPhase::Ended)
    );
}

/// A policy with a time limit for the answer.
struct Patience(Duration);

impl PermissionPolicy for Patience {
    fn decide(&self, _ask: &Ask, _now: Timestamp) -> Decided {
        let mut decided = Decided::new(PolicyDecision::AskUser, "patience", DecisionSource::DefaultPolicy);
        decided.timeout = Some(self.0);
        decided
    }

    fn supports_interaction(&self) -> bool {
        true
    }
}

/// The deadline that is shown is the effective one, and a limit that cannot be represented is none.
#[tokio::test]
async fn the_deadline_that_is_shown_is_the_one_that_counts() {
    for (limit, shown) in [(Duration::from_secs(90), Some(90_000)), (Duration::MAX, None)] {
        let mut setup = Setup::new(1, std::sync::Arc::new(Patience(limit)));
        setup.ask_limit = Some(Duration::from_secs(7));
        setup.clock = Clock::from_fn(|| Timestamp::UNIX_EPOCH);
        let mut puppet = Puppet::start(setup, 64).await;
        puppet.call(&["make"]).await;
        puppet.ask("r1", "make").await;
        let seen = puppet.until(is_required).await;
        let details = seen.iter().find_map(|event| match event {
            UiMessage::PermissionDetails(details) => Some(details),
            _ => None,
        });
        assert_eq!(details.unwrap().deadline_ms, shown);
    }
}

/// The real CLI asks about the first call while it streams the second: a batch for the message waits until
/// the message is complete.
#[tokio::test]
async fn s3_19_a_batch_for_the_message_waits_until_it_is_whole() {
    let mut setup = interactive();
    setup.batches = Batches::PerMessage;
    let mut puppet = Puppet::start(setup, 64).await;
    for (calls, batched) in [(vec!["one", "two"], true), (vec!["three"], false)] {
        puppet.stream("message_start").await;
        puppet.call(&calls[..1]).await;
        puppet.ask(calls[0], calls[0]).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        puppet.call(&calls[1..]).await;
        puppet.stream("message_stop").await;
        let seen = puppet.until(is_required).await;
        let is_batch = |event: &UiMessage| matches!(event, UiMessage::BatchPermissionRequired { requests, .. } if requests.len() == 2);
        assert_eq!(seen.last().is_some_and(is_batch), batched, "{seen:#?}");
        puppet.result().await;
        let ends = puppet.until(is_complete).await;
        let taken_back = if batched { calls.len() } else { 0 };
        assert_eq!(ends.iter().filter_map(resolved).count(), taken_back, "{ends:#?}");
    }
}

/// The CLI omits the plan from its request; the user sees it anyway.
#[tokio::test]
async fn a_plan_is_shown_with_the_question_about_it() {
    let mut puppet = Puppet::start(interactive(), 64).await;
    let block =
        json!({"type": "tool_use", "id": "plan", "name": "ExitPlanMode", "input": {"plan": "1. Nothing"}});
    puppet.write(block).await;
    let request =
        json!({"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "input": {}, "tool_use_id": "plan"});
    puppet.say(json!({"type": "control_request", "request_id": "r1", "request": request})).await;
    let seen = puppet.until(|event| matches!(event, UiMessage::UserInteractionRequired { .. })).await;
    let Some(UiMessage::UserInteractionRequired { request, .. }) = seen.last() else { unreachable!() };
    assert!(request.questions[0].text.contains("1. Nothing"), "{request:?}");
    let open = puppet.session.questions().pending_for_session(1);
    assert!(
        open[0].request().questions[0].text.contains("1. Nothing"),
        "a client that connects later reads it too"
    );
    assert_eq!(seen.iter().filter(|event| matches!(event, UiMessage::PlanProposed(_))).count(), 1);
}

/// A command is reported by its name, as in [`Command`], even if the agent had nothing to do or uses another
/// name.
#[tokio::test]
async fn s3_34_a_command_is_complete_by_its_name() {
    let mut puppet = Puppet::start(interactive(), 64).await;
    for command in [Command::Compact, Command::Clear] {
        puppet.session.command(command).await.unwrap();
        assert_eq!(puppet.written().await["message"]["content"], format!("/{command}"));
        let message = json!({"id": "msg_1", "role": "assistant", "type": "message", "model": "<synthetic>",
            "content": [{"type": "text", "text": "Nothing to do"}], "usage": {"input_tokens": 0, "output_tokens": 0}});
        puppet.say(json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
            "local_command_run": {"command": command.as_str()}})).await;
        puppet.result().await;
        let seen = puppet.until(is_complete).await;
        let done: Vec<_> = seen
            .iter()
            .filter_map(|event| match event {
                UiMessage::CommandComplete { command, .. } => Some(command.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(done, [command.as_str()]);
    }
}

/// A handle belongs to one session at a time: the previous session has ended, with its requests, before the
/// next begins.
#[tokio::test]
async fn s3_26_a_session_that_is_replaced_ends_first() {
    let (sink, mut events) = ChannelEventSink::new(64);
    let agent = Agent::new(Options::new()).over(|| StandIn::playing(crate::session::LIST));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let policy = std::sync::Arc::new(Interactive);
        let session = agent.open(5, Options::new(), policy, Box::new(sink.clone())).await.unwrap();
        let hello = ControllerInputPayload::data(5, "hello", TurnId::new_user_turn(1));
        session.input(hello).await.unwrap();
        while !seen.last().is_some_and(is_required) {
            seen.push(events.recv().await.unwrap());
        }
        seen.push(UiMessage::System { message: "shown".to_owned(), session_id: None });
    }
    assert_eq!(agent.permissions().pending_for_session(5).len(), 1, "that of the second");
    let is_end = |event: &UiMessage| matches!(event, UiMessage::SessionStateChanged(state) if state.state == SessionPhase::Ended);
    let end = place(&seen, is_end);
    let prompts: Vec<usize> =
        (0..seen.len()).filter(|at| matches!(seen[*at], UiMessage::UserPrompt(_))).collect();
    assert!(prompts.len() == 2 && prompts[0] < end && end < prompts[1], "{seen:#?}");
}
