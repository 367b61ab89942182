//! Server mode: the requirements for sessions of a server.

use tidings_api::{Code, CreateSession, Policy, ServerPhase};
use tidings_sessions::Transcript;

use crate::test_server::*;

const ASKS: &str = r#"
    [[turn]]
    text = "Hello."
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "make test" }
    ask = true
    result = "all well"
    [[turn]]
    text = "Done."
"#;

/// Each session has its own configuration, state and usage. Deleting it removes everything: pending requests,
/// events and files.
#[tokio::test(flavor = "multi_thread")]
async fn s3_35_a_session_is_made_asked_how_it_is_and_removed_with_all_that_is_of_it() {
    let server = TestServer::playing(ASKS).await;
    let sessions = &server.sessions;
    let new = |prompt: &str, title: &str, policy| CreateSession {
        cwd: server.cwd(),
        prompt: Some(prompt.to_owned()),
        title: Some(title.to_owned()),
        policy: Some(policy),
        labels: [("team".to_owned(), title.to_owned())].into(),
        max_turns: Some(10),
        ..CreateSession::default()
    };
    let (one, _) = sessions.create(&me(), new("Hi", "one", Policy::Ask)).await.unwrap();
    let (other, _) = sessions.create(&me(), new("Hi", "other", Policy::Deny)).await.unwrap();
    let view = until_state(sessions, &one.key, ServerPhase::Idle).await;
    until_state(sessions, &other.key, ServerPhase::Idle).await;
    assert_eq!(
        (view.policy, view.title.as_deref(), &*view.labels["team"]),
        (Policy::Ask, Some("one"), "one")
    );
    assert_eq!((view.budget.max_turns, view.totals.turns), (Some(10), 1));
    assert!(
        view.model.is_some() && view.totals.input_tokens > 0,
        "what the context holds: {:?}",
        view.totals
    );
    assert_eq!(sessions.find(&other.key).await.unwrap().policy, Policy::Deny, "each has its own");

    sessions.input(&me(), &one.key, say("Test it")).await.unwrap();
    until_state(sessions, &one.key, ServerPhase::NeedsYou).await;
    assert_eq!(sessions.permissions(None).await.unwrap().len(), 1);
    let cli_session = sessions.find(&one.key).await.unwrap().cli_session_ids.remove(0);
    sessions.delete(&me(), &one.key, Transcript::Delete).await.unwrap();
    assert_eq!(sessions.permissions(None).await.unwrap(), [], "nothing waits for it any more");
    assert_eq!(sessions.find(&one.key).await.unwrap_err().code(), Code::NotFound);
    let files = tidings_transcript::roots::Roots::new([server.folder.path()]).scan().unwrap().sessions;
    assert!(files.iter().all(|session| session.id != cli_session), "its file is gone too");
    let left = sessions.list(None, 10).await.unwrap();
    assert_eq!(left.iter().map(|view| &view.key).collect::<Vec<_>>(), [&other.key]);
}
