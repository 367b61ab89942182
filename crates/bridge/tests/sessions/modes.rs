//! Claude Code that reports a looser mode than the one that was chosen.

use tidings_agent::UiMessage;
use tidings_api::{
    CommandRequest, CreateSession, QuestionAnswer, QuestionReply, ServerPhase, SessionCommand,
};

use super::test_server::*;

const LOOSENS: &str = r#"
    [[turn]]
    text = "Free."
    before = [{ frame = { type = "system", subtype = "status", permissionMode = "MODE" } }]
    [[turn]]
    text = "Again."
"#;

fn mode_of(event: &UiMessage) -> Option<&str> {
    match event {
        UiMessage::SettingsChanged(changed) => changed.permission_mode.as_deref(),
        _ => None,
    }
}

fn errors(seen: &[UiMessage]) -> Vec<&str> {
    let text = |event: &'_ UiMessage| matches!(event, UiMessage::Error { .. });
    let errors = seen.iter().filter(|event| text(event));
    errors
        .map(|event| if let UiMessage::Error { message, .. } = event { message.as_str() } else { "" })
        .collect()
}

#[tokio::test]
async fn k30_claude_code_that_loosens_its_mode_is_switched_back_and_it_is_said() {
    for mode in ["acceptEdits", "auto", "dontAsk", "bypassPermissions", "of-the-future"] {
        let server = TestServer::playing(&LOOSENS.replace("MODE", mode)).await;
        let session = server.create("hi").await;
        let mut subscriber = server.subscribe(&session).await;
        subscriber.until(|event| mode_of(event) == Some(mode)).await;
        subscriber.until(|event| mode_of(event) == Some("default")).await;
        let said = errors(&subscriber.seen);
        let expected =
            format!("The agent switched itself to the mode `{mode}`; it was switched back to `default`");
        assert_eq!(said, [expected.as_str()]);
        let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
        assert_eq!(view.permission_mode.as_deref().unwrap_or("default"), "default", "{mode}");
        let audit = server.audit().await;
        assert!(audit.contains(&("server".to_owned(), "switched mode back".to_owned())), "{audit:?}");
    }
}

#[tokio::test]
async fn k30_a_mode_that_a_client_chose_stays() {
    let server = TestServer::playing(&LOOSENS.replace("MODE", "acceptEdits")).await;
    let new = CreateSession { permission_mode: Some("acceptEdits".to_owned()), ..server.new_session() };
    let new = CreateSession { prompt: Some("hi".to_owned()), ..new };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    subscriber.complete().await;
    // A stricter one, and back.
    for mode in ["plan", "acceptEdits"] {
        let request = CommandRequest { mode: Some(mode.to_owned()), ..CommandRequest::default() };
        server.sessions.command(&me(), &session.key, SessionCommand::Mode, request).await.unwrap();
        subscriber.until(|event| mode_of(event) == Some(mode)).await;
    }
    server.sessions.input(&me(), &session.key, say("again")).await.unwrap();
    subscriber.complete().await;
    assert_eq!(errors(&subscriber.seen), Vec::<&str>::new());
    let view = until_state(&server.sessions, &session.key, ServerPhase::Idle).await;
    assert_eq!(view.permission_mode.as_deref(), Some("acceptEdits"));
}

#[tokio::test]
async fn k30_the_mode_of_an_approved_plan_stays() {
    let script = r#"
        [[turn]]
        [[turn.block]]
        tool = "ExitPlanMode"
        input = { plan = "Do it." }
        ask = true
        result = "approved"
        [[turn]]
        text = "Done."
    "#;
    let server = TestServer::playing(script).await;
    let new = CreateSession { permission_mode: Some("plan".to_owned()), ..server.new_session() };
    let new = CreateSession { prompt: Some("hi".to_owned()), ..new };
    let session = server.sessions.create(&me(), new).await.unwrap().0;
    let mut subscriber = server.subscribe(&session).await;
    let asked = subscriber.until(|event| matches!(event, UiMessage::UserInteractionRequired { .. })).await;
    let UiMessage::UserInteractionRequired { tool_use_id, request, .. } = asked else { unreachable!() };
    let answer = vec!["Approve and accept edits".to_owned()];
    let answers = vec![QuestionReply { question_id: request.questions[0].id.clone(), answer }];
    let answer = QuestionAnswer { answers, ..QuestionAnswer::default() };
    server.sessions.answer_question(&me(), &session.key, &tool_use_id, answer).await.unwrap();
    subscriber.until(|event| mode_of(event) == Some("acceptEdits")).await;
    subscriber.complete().await;
    assert_eq!(errors(&subscriber.seen), Vec::<&str>::new());
}
