//! Sessions that the stand-in wrote: resumed, and managed as in the official SDKs.

use serde_json::Value;
use tidings::sessions::{Page, Speaker};
use tidings::{Client, ErrorKind, Options, Sessions};

use crate::stage::Stage;

const HELLO: &str = "[[turn]]\ntext = \"Hello!\"\nrepeat = true\n";

/// Runs one turn in a new process; returns the id of its session.
async fn turn(options: Options, prompt: &str) -> String {
    let client = Client::connect(options).await.unwrap();
    let end = client.send(prompt).await.unwrap().finish().await.unwrap();
    assert!(end.is_success(), "{end:?}");
    client.close().await.unwrap();
    client.session_id().unwrap()
}

fn sessions(stage: &Stage) -> Sessions {
    Sessions::under(stage.path("config"))
}

/// The user's prompts in a session.
async fn prompts(stage: &Stage, id: &str) -> Vec<String> {
    let messages = sessions(stage).messages(id, Page::default()).await.unwrap();
    let said = messages.iter().filter(|message| message.speaker == Speaker::User);
    said.map(|message| {
        let message: Value = serde_json::from_str(message.message.as_ref().unwrap().raw().as_str()).unwrap();
        let content = &message["content"];
        content.as_str().or_else(|| content[0]["text"].as_str()).unwrap().to_owned()
    })
    .collect()
}

#[tokio::test]
async fn resume_goes_on_in_the_same_session() {
    let stage = Stage::playing(HELLO);
    let first = turn(stage.options(), "one").await;
    let other = turn(stage.options(), "other").await;
    assert_ne!(first, other);
    assert_eq!(turn(stage.options().resume(&first), "two").await, first);
    assert_eq!(prompts(&stage, &first).await, ["one", "two"]);
    assert_eq!(prompts(&stage, &other).await, ["other"]);
}

#[tokio::test]
async fn continue_goes_on_in_the_latest_session() {
    let stage = Stage::playing(HELLO);
    turn(stage.options(), "one").await;
    let latest = turn(stage.options(), "two").await;
    assert_eq!(turn(stage.options().continue_latest(), "three").await, latest);
    assert_eq!(prompts(&stage, &latest).await, ["two", "three"]);
}

#[tokio::test]
async fn a_fork_goes_on_in_a_copy() {
    let stage = Stage::playing(HELLO);
    let first = turn(stage.options(), "one").await;
    let fork = turn(stage.options().resume(&first).fork_session(), "two").await;
    assert_ne!(fork, first);
    assert_eq!(prompts(&stage, &first).await, ["one"]);
    assert_eq!(prompts(&stage, &fork).await, ["one", "two"]);
}

#[tokio::test]
async fn resume_at_a_message_leaves_out_what_came_later() {
    let stage = Stage::playing(HELLO);
    let id = turn(stage.options(), "one").await;
    turn(stage.options().resume(&id), "two").await;
    let messages = sessions(&stage).messages(&id, Page::default()).await.unwrap();
    let answer = messages.iter().find(|message| message.speaker == Speaker::Assistant).unwrap();
    assert_eq!(turn(stage.options().resume(&id).resume_at(&answer.uuid), "three").await, id);
    assert_eq!(prompts(&stage, &id).await, ["one", "three"]);
}

#[tokio::test]
async fn resume_of_an_unknown_session_is_an_error_that_says_so() {
    let stage = Stage::playing(HELLO);
    let unknown = "00000000-0000-4000-8000-000000000000";
    let client = Client::connect(stage.options().resume(unknown)).await;
    let error = match client {
        Err(error) => error,
        Ok(client) => match client.send("hi").await {
            Ok(turn) => turn.finish().await.unwrap_err(),
            Err(error) => error,
        },
    };
    assert!(error.to_string().contains(unknown), "{error}");
}

/// Every session call of the SDKs, on a session that the stand-in wrote.
#[tokio::test]
async fn sessions_are_listed_named_tagged_copied_and_deleted() {
    let stage = Stage::playing(HELLO);
    let id = turn(stage.options(), "Fix the build").await;
    let sessions = sessions(&stage);
    let list = sessions.list(Page::default()).await.unwrap();
    assert_eq!(
        (list.len(), list[0].session_id.as_str(), list[0].summary.as_str()),
        (1, &*id, "Fix the build")
    );

    sessions.rename(&id, "  Builds  ").await.unwrap();
    assert_eq!(sessions.tag(&id, Some("urgent\u{200b}")).await.unwrap().as_deref(), Some("urgent"));
    sessions.archive(&id).await.unwrap();
    let info = sessions.info(&id).await.unwrap().unwrap();
    assert_eq!(
        (info.summary.as_str(), info.tag.as_deref(), info.archived),
        ("Builds", Some("urgent"), Some(true))
    );
    sessions.unarchive(&id).await.unwrap();
    assert_eq!(sessions.tag(&id, None).await.unwrap(), None);
    let info = sessions.info(&id).await.unwrap().unwrap();
    assert_eq!((info.tag, info.archived), (None, Some(false)));

    assert_eq!(sessions.subagents(&id).await.unwrap(), Vec::<String>::new());
    assert!(sessions.subagent_messages(&id, "none", Page::default()).await.unwrap().is_empty());

    let copy = sessions.fork(&id, None, Some("Another way")).await.unwrap();
    assert_eq!(prompts(&stage, &copy.id).await, ["Fix the build"]);
    assert_eq!(turn(stage.options().resume(&copy.id), "Go on").await, copy.id);
    assert_eq!(prompts(&stage, &copy.id).await, ["Fix the build", "Go on"]);

    assert!(!sessions.delete(&id).await.unwrap().is_empty());
    assert_eq!(sessions.info(&id).await.unwrap(), None);
    assert_eq!(sessions.messages(&id, Page::default()).await.unwrap_err().kind(), ErrorKind::NoSession);
    assert_eq!(sessions.delete("../../etc").await.unwrap_err().kind(), ErrorKind::Invalid);
}

/// A project is a folder and the other worktrees of its repository, as listed by git.
#[tokio::test]
async fn a_project_has_the_sessions_of_its_worktrees() {
    let stage = Stage::playing(HELLO);
    let (main, tree, other) = (stage.path("main"), stage.path("tree"), stage.path("other"));
    for folder in [&main, &other] {
        std::fs::create_dir(folder).unwrap();
    }
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        let run = std::process::Command::new("git").args(identity).args(words).current_dir(&main).output();
        assert!(run.unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "-q", tree.to_str().unwrap()]);

    let in_main = turn(stage.options().cwd(&main), "in the folder").await;
    let in_tree = turn(stage.options().cwd(&tree), "in a worktree").await;
    turn(stage.options().cwd(&other), "elsewhere").await;
    let listed = |sessions: Sessions| async move {
        let list = sessions.list(Page::default()).await.unwrap();
        let mut ids: Vec<String> = list.into_iter().map(|session| session.session_id).collect();
        ids.sort();
        ids
    };
    let mut both = vec![in_main.clone(), in_tree];
    both.sort();
    assert_eq!(listed(sessions(&stage).project(&main)).await, both);
    assert_eq!(listed(sessions(&stage).project(&main).without_worktrees()).await, [in_main]);
    assert_eq!(listed(sessions(&stage).project(&other)).await.len(), 1);
    assert_eq!(listed(sessions(&stage)).await.len(), 3);
}
