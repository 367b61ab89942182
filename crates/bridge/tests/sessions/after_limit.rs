//! Sessions that continue by themselves when a limit of the plan is reset, with a clock that the test sets.

use tidings_agent::UiMessage;
use tidings_api::{Code, CommandRequest, CreateSession, PatchSession, Scope, SessionCommand, SessionView};

use crate::sessions::test_server::*;

const HOUR_BEFORE_RESET: &str = "2026-11-16T02:33:20Z";
const AFTER_RESET: &str = "2026-11-16T03:33:51Z";

/// An agent whose plan has a limit that ends the first turn, and only that.
const LIMITED: &str = r#"
    [[turn]]
    repeat = true
    when = { lacks = "continue" }
    error = { status = 429, message = "This request would exceed your account's rate limit." }
    [[turn.before]]
    frame = { type = "rate_limit_event", rate_limit_info = { status = "rejected", resetsAt = 1794800000, rateLimitType = "five_hour", isUsingOverage = false } }
    [[turn]]
    when = { last_contains = "continue" }
    text = "Where was I?"
"#;

struct Limited {
    server: TestServer,
    clock: TestClock,
}

impl Limited {
    async fn start() -> Self {
        let clock = TestClock::at(HOUR_BEFORE_RESET);
        let server = TestServer::builder().script(LIMITED).clock(&clock).start().await;
        Limited { server, clock }
    }

    /// A session whose first turn has ended with the limit.
    async fn session(&self, set: impl FnOnce(&mut CreateSession)) -> SessionView {
        let mut new = CreateSession {
            prompt: Some("build it".to_owned()),
            continue_after_limit: true,
            ..self.server.new_session()
        };
        set(&mut new);
        let session = self.server.sessions.create(&me(), new).await.unwrap().0;
        self.server.subscribe(&session).await.complete().await;
        until_view(&self.server.sessions, &session.key, |view| view.error.is_some()).await
    }

    fn pass_reset(&self) {
        self.clock.set(AFTER_RESET);
    }
}

fn is_automatic(event: &UiMessage) -> bool {
    matches!(event, UiMessage::UserPrompt(prompt) if prompt.origin.as_deref() == Some("limit-reset"))
}

#[tokio::test]
async fn a_session_continues_by_itself_when_the_limit_is_reset() {
    let limited = Limited::start().await;
    let sessions = &limited.server.sessions;
    let session = limited.session(|_| {}).await;
    assert!(session.continue_after_limit);
    assert_eq!(session.continues_at.as_deref(), Some("2026-11-16T03:33:50Z"));
    let mut subscriber = limited.server.subscribe(&session).await;
    subscriber.complete().await;
    limited.pass_reset();
    subscriber.until(is_automatic).await;
    subscriber.complete().await;
    assert!(subscriber.text().ends_with("Where was I?"), "{}", subscriber.text());
    let view = until_view(sessions, &session.key, |view| view.totals.turns == 2 && view.queued == 0).await;
    assert_eq!((view.continues_at, view.error, view.continue_after_limit), (None, None, true));
    assert_eq!(view.first_prompt.as_deref(), Some("build it"));
}

#[tokio::test]
async fn a_session_continues_after_a_limit_although_the_server_was_killed() {
    let limited = Limited::start().await;
    let session = limited.session(|_| {}).await;
    let again = limited.server.killed_and_started().await;
    assert!(again.find(&session.key).await.unwrap().continues_at.is_some());
    limited.pass_reset();
    let view = until_view(&again, &session.key, |view| view.totals.turns == 2).await;
    assert_eq!((view.last_line.as_deref(), view.continues_at), (Some("Where was I?"), None));
}

#[tokio::test]
async fn a_person_who_says_something_takes_over_from_the_reset() {
    let limited = Limited::start().await;
    let sessions = &limited.server.sessions;
    let said = limited.session(|_| {}).await;
    sessions.input(&me(), &said.key, say("continue with the tests")).await.unwrap();
    let view = sessions.find(&said.key).await.unwrap();
    assert_eq!(view.continues_at, None);

    let stopped = limited.session(|_| {}).await;
    sessions.command(&me(), &stopped.key, SessionCommand::Stop, CommandRequest::default()).await.unwrap();
    assert_eq!(sessions.find(&stopped.key).await.unwrap().continues_at, None);

    // Turned off, and on again before the reset.
    let set = async |key: &str, is_on: bool| {
        let patch = PatchSession { continue_after_limit: Some(is_on), ..PatchSession::default() };
        sessions.patch(&me(), key, patch).await.unwrap()
    };
    let switched = limited.session(|new| new.continue_after_limit = false).await;
    assert_eq!((switched.continue_after_limit, switched.continues_at), (false, None));
    assert!(set(&switched.key, true).await.continues_at.is_some());
    assert_eq!(set(&switched.key, false).await.continues_at, None);
    assert!(set(&switched.key, true).await.continues_at.is_some());
    limited.pass_reset();
    until_view(sessions, &switched.key, |view| view.totals.turns == 2).await;
    // That session went on; the one that was stopped did not.
    assert_eq!(sessions.find(&stopped.key).await.unwrap().totals.turns, 1);
}

#[tokio::test]
async fn a_session_without_budget_does_not_continue_and_says_so() {
    let limited = Limited::start().await;
    let session = limited.session(|new| new.max_turns = Some(1)).await;
    let mut subscriber = limited.server.subscribe(&session).await;
    limited.pass_reset();
    let is_refusal = |event: &UiMessage| matches!(event, UiMessage::Error { message, .. } if message.contains("did not continue"));
    subscriber.until(is_refusal).await;
    let view = limited.server.sessions.find(&session.key).await.unwrap();
    assert_eq!((view.continues_at, view.totals.turns, view.queued), (None, 1, 0));
}

#[tokio::test]
async fn continuing_unasked_needs_the_scope_always_and_is_in_the_audit_log() {
    let limited = Limited::start().await;
    let sessions = &limited.server.sessions;
    let prompter = caller_with("tablet", &[Scope::Read, Scope::Prompt]);
    let new = CreateSession { continue_after_limit: true, ..limited.server.new_session() };
    let refused = sessions.create(&prompter, new.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    let session = sessions.create(&me(), new).await.unwrap().0;
    let patch = |is_on| PatchSession { continue_after_limit: Some(is_on), ..PatchSession::default() };
    // Everyone who may prompt may turn it off.
    assert!(!sessions.patch(&prompter, &session.key, patch(false)).await.unwrap().continue_after_limit);
    let refused = sessions.patch(&prompter, &session.key, patch(true)).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    let audit = limited.server.audit().await;
    let wanted = ("tablet".to_owned(), "set continue_after_limit".to_owned());
    assert!(audit.contains(&wanted), "{audit:?}");
}
