//! Sessions in a store: the conformance of our stores, and reading and resuming from them.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

#[expect(dead_code, reason = "`main` of the example is not called here")]
#[path = "../../examples/session_store_sqlite.rs"]
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tidings::json::Json;
use tidings::session_store::{
    FolderStore, MemoryStore, SessionKey, SessionMirror, SessionStore, StoreCall, StoredSession,
    StoredSessions, conformance, import_session, project_key,
};
use tidings::sessions::{Page, SessionInfo};
use tidings::{ErrorKind, Frame, Options, Sessions};

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

#[tokio::test]
async fn d28_our_stores_pass_the_cases_of_the_python_sdk() {
    conformance::check(MemoryStore::new).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let fresh = || {
        count += 1;
        FolderStore::new(folder.path().join(count.to_string()))
    };
    conformance::check(fresh).await.unwrap();
    conformance::check(|| sqlite::SqliteStore::open(":memory:").unwrap()).await.unwrap();
}

/// A store that forgets all but the last append.
#[derive(Default)]
struct Forgetful(MemoryStore);

impl SessionStore for Forgetful {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Json]) -> StoreCall<'a, ()> {
        Box::pin(async move {
            self.0.delete(key).await?;
            self.0.append(key, entries).await
        })
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Option<Vec<Json>>> {
        self.0.load(key)
    }

    fn list<'a>(&'a self, project: &'a str) -> StoreCall<'a, Vec<StoredSession>> {
        self.0.list(project)
    }

    fn subpaths<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Vec<String>> {
        self.0.subpaths(key)
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, ()> {
        self.0.delete(key)
    }
}

#[tokio::test]
async fn d28_a_store_that_does_not_conform_is_told_which_case_fails() {
    let error = conformance::check(Forgetful::default).await.unwrap_err();
    assert!(error.to_string().contains("appends keep their order"), "{error}");
}

fn line(uuid: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    json!({
        "parentUuid": parent, "isSidechain": false, "type": role, "uuid": uuid, "sessionId": ID,
        "timestamp": "2026-11-18T10:00:00.000Z", "cwd": "/home/dev/demo", "version": "2.1.327",
        "message": {"role": role, "content": text},
    })
}

/// A session on disk with a sub-agent, in a configuration folder for the project in `folder`.
fn on_disk(config: &Path, folder: &Path) {
    let project = config.join("projects").join(project_key(folder));
    let agents = project.join(ID).join("subagents");
    std::fs::create_dir_all(&agents).unwrap();
    let (one, two) = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222");
    let lines = [
        line(one, None, "user", "Count the files"),
        line(two, Some(one), "assistant", "There are three."),
        json!({"type": "custom-title", "customTitle": "Counting", "sessionId": ID}),
        json!({"type": "tag", "tag": "demo", "sessionId": ID}),
    ];
    let text = |lines: &[Value]| lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
    std::fs::write(project.join(format!("{ID}.jsonl")), text(&lines)).unwrap();
    let mut agent = line(one, None, "user", "Look into src");
    agent["isSidechain"] = true.into();
    agent["agentId"] = "a1".into();
    std::fs::write(agents.join("agent-a1.jsonl"), text(&[agent])).unwrap();
    std::fs::write(
        agents.join("agent-a1.meta.json"),
        json!({"agentType": "x", "toolUseId": "t1"}).to_string(),
    )
    .unwrap();
}

/// The facts of a session that do not depend on its place.
fn about(info: SessionInfo) -> SessionInfo {
    SessionInfo { last_modified: 0, file_size: 0, ..info }
}

#[tokio::test]
async fn d28_a_stored_session_is_listed_and_read_as_on_disk() {
    let (config, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    on_disk(config.path(), folder.path());
    let disk = Sessions::under(config.path()).project(folder.path()).without_worktrees();
    let store = Arc::new(MemoryStore::new());
    // An import that is repeated adds nothing.
    for _ in 0..2 {
        import_session(&*store, &disk, ID).await.unwrap();
    }
    let stored = StoredSessions::new(store.clone(), folder.path());
    let listed = stored.list(Page::default()).await.unwrap();
    assert_eq!(listed.len(), 1);
    let on_disk = disk.info(ID).await.unwrap().unwrap();
    assert_eq!((on_disk.summary.as_str(), on_disk.tag.as_deref()), ("Counting", Some("demo")));
    assert_eq!(about(listed[0].clone()), about(on_disk.clone()));
    assert_eq!(about(stored.info(ID).await.unwrap().unwrap()), about(on_disk));
    let page = Page::default();
    assert_eq!(stored.messages(ID, page).await.unwrap(), disk.messages(ID, page).await.unwrap());
    assert_eq!(stored.subagents(ID).await.unwrap(), ["a1"]);
    let agent = stored.subagent_messages(ID, "a1", page).await.unwrap();
    assert_eq!(agent, disk.subagent_messages(ID, "a1", page).await.unwrap());
    assert_eq!(agent.len(), 1);
    assert_eq!(stored.latest().await.unwrap().as_deref(), Some(ID));
    // What is not there is not there, as on disk.
    let other = "550e8400-e29b-41d4-a716-44665544ffff";
    assert_eq!(stored.info(other).await.unwrap(), None);
    assert!(stored.messages(other, page).await.unwrap().is_empty());
    assert_eq!(stored.messages("../etc", page).await.unwrap_err().kind(), ErrorKind::Invalid);
    stored.delete(ID).await.unwrap();
    assert!(stored.list(page).await.unwrap().is_empty());
}

#[tokio::test]
async fn d28_a_session_of_a_store_is_resumed_in_a_folder_of_its_own() {
    let (config, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    on_disk(config.path(), folder.path());
    std::fs::write(config.path().join("settings.json"), r#"{"apiKeyHelper":"h"}"#).unwrap();
    let store = Arc::new(MemoryStore::new());
    import_session(&*store, &Sessions::under(config.path()), ID).await.unwrap();
    let key = SessionKey::new(project_key(folder.path()), ID);
    store.append(&key.with_subpath("../../outside"), &[Json::from(json!({"type": "x"}))]).await.unwrap();
    let stored = StoredSessions::new(store.clone(), folder.path()).config_folder(config.path());

    let resumed = stored.resume(ID, Options::new()).await.unwrap();
    let project = resumed.projects().join(&key.project);
    assert!(project.join(format!("{ID}.jsonl")).is_file());
    let facts = std::fs::read_to_string(project.join(ID).join("subagents/agent-a1.meta.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&facts).unwrap(), json!({"agentType": "x", "toolUseId": "t1"}));
    assert!(resumed.projects().with_file_name("settings.json").is_file());
    assert!(!resumed.projects().join("outside.jsonl").exists(), "a store names no other folder");
    let plan = resumed.options().plan().unwrap();
    let arguments = plan.launch.inline_args();
    assert!(
        arguments.contains(&format!("--resume={ID}")) && arguments.contains(&"--session-mirror".to_owned())
    );

    // What follows is appended to the same transcript; another folder's files are refused.
    let mirrored = |file: &Path| {
        let entries = [json!({"type": "user", "uuid": "u-3"})];
        let frame = json!({"type": "transcript_mirror", "filePath": file, "entries": entries});
        Frame::from_json(&frame.to_string()).unwrap()
    };
    let before = store.load(&key).await.unwrap().unwrap().len();
    resumed.mirror().append(&mirrored(&project.join(format!("{ID}.jsonl")))).await.unwrap();
    assert_eq!(store.load(&key).await.unwrap().unwrap().len(), before + 1);
    let elsewhere = SessionMirror::new(store.clone(), "/elsewhere");
    let error = elsewhere.append(&mirrored(&project.join(format!("{ID}.jsonl")))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);

    drop(resumed);
    assert!(!project.exists(), "the login does not stay behind");
    let unknown = stored.resume("550e8400-e29b-41d4-a716-44665544ffff", Options::new()).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NoSession);
}
