//! A server without an API, whose agents play a script.

use std::time::Duration;

use tempfile::TempDir;
use tidings_agent::UiMessage;
use tidings_api::{
    Choice, CreateSession, Input, PermissionAnswer, PermissionScope, Scope, ServerPhase, SessionView,
};
use tidings_journal::broadcast::{Delivery, SubscribeOptions, Subscription};
use tidings_journal::{AUDIT_START, MemoryStore, verify_audit};
use tidings_sessions::{Caller, Config, Sessions};

pub(crate) use crate::stand_in::{HELLO, QUESTION};

use crate::stand_in;

pub(crate) const ASKS: &str = r#"
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
    [[turn]]
    text = "That was all."
"#;

pub(crate) const TWO: &str = r#"
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

/// A server without an API, and the folder that its sessions work in.
pub(crate) struct TestServer {
    pub(crate) sessions: Sessions,
    pub(crate) store: MemoryStore,
    pub(crate) script: String,
    pub(crate) folder: TempDir,
    pub(crate) config: Config,
}

impl TestServer {
    pub(crate) async fn playing(script: &str) -> Self {
        Self::with(script, |_| {}).await
    }

    pub(crate) async fn with(script: &str, set: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = stand_in::config(script, folder.path());
        set(&mut config);
        let store = MemoryStore::default();
        let sessions = stand_in::open_sessions(&store, config.clone()).await;
        TestServer { sessions, store, script: script.to_owned(), folder, config }
    }

    pub(crate) fn cwd(&self) -> String {
        self.folder.path().canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    /// A folder inside of the one that sessions usually work in.
    pub(crate) fn inside(&self, name: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.to_str().unwrap().to_owned()
    }

    pub(crate) fn new_session(&self) -> CreateSession {
        CreateSession { cwd: self.cwd(), ..CreateSession::default() }
    }

    pub(crate) async fn create(&self, prompt: &str) -> SessionView {
        let new = CreateSession { prompt: Some(prompt.to_owned()), ..self.new_session() };
        self.sessions.create(&me(), new).await.unwrap().0
    }

    pub(crate) async fn subscribe(&self, session: &SessionView) -> TestSubscriber {
        let (_, events) = self.sessions.subscribe(&session.key, SubscribeOptions::default()).await.unwrap();
        TestSubscriber { events, seen: Vec::new() }
    }

    /// Another server on the same journal, as if this one had been killed.
    pub(crate) async fn killed_and_started(&self) -> Sessions {
        stand_in::open_sessions(&self.store, self.config.clone()).await
    }

    /// The decisions in the audit log, without changes of settings.
    pub(crate) async fn decided(&self) -> Vec<(String, String)> {
        let lines = self.audit().await.into_iter();
        lines.filter(|(_, decision)| !decision.starts_with("set ")).collect()
    }

    pub(crate) async fn audit(&self) -> Vec<(String, String)> {
        let log = self.sessions.broadcast().journal().audit_log(0).await.unwrap();
        verify_audit((0, AUDIT_START), &log).unwrap();
        log.into_iter().map(|line| (line.who, line.decision)).collect()
    }
}

pub(crate) struct TestSubscriber {
    pub(crate) events: Subscription,
    pub(crate) seen: Vec<UiMessage>,
}

impl TestSubscriber {
    pub(crate) async fn until(&mut self, wanted: impl Fn(&UiMessage) -> bool) -> UiMessage {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let next = tokio::time::timeout_at(deadline, self.events.next()).await;
            let Ok(Ok(Delivery::Event(event))) = next else {
                panic!("it never came ({next:?}); these did: {:#?}", self.seen);
            };
            let event: UiMessage = serde_json::from_slice(&event.body).unwrap();
            self.seen.push(event.clone());
            if wanted(&event) {
                return event;
            }
        }
    }

    pub(crate) async fn complete(&mut self) {
        self.until(|event| matches!(event, UiMessage::Complete { .. })).await;
    }

    pub(crate) async fn asked(&mut self) -> String {
        match self.until(|event| matches!(event, UiMessage::PermissionDetails(_))).await {
            UiMessage::PermissionDetails(details) => details.tool_use_id,
            _ => unreachable!(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let chunks = self.seen.iter().filter_map(|event| match event {
            UiMessage::TextChunk { text, .. } => Some(text.as_str()),
            _ => None,
        });
        chunks.collect()
    }
}

/// A user who may do everything.
pub(crate) fn me() -> Caller {
    Caller::admin("ada")
}

pub(crate) fn caller_with(name: &str, scopes: &[Scope]) -> Caller {
    Caller { scopes: scopes.iter().copied().collect(), ..Caller::admin(name) }
}

/// A device of a user who may do everything.
pub(crate) fn device(id: &str) -> Caller {
    Caller { device: Some(id.to_owned()), ..Caller::admin(id) }
}

pub(crate) fn say(text: &str) -> Input {
    Input { content: text.to_owned(), ..Input::default() }
}

pub(crate) fn yes() -> PermissionAnswer {
    PermissionAnswer {
        decision: Choice::Allow,
        scope: PermissionScope::Once,
        updated_input: None,
        message: None,
        interrupt: false,
        digest: None,
        client_id: None,
    }
}

/// Waits until the view of a session meets a condition.
pub(crate) async fn until_state(sessions: &Sessions, key: &str, wanted: ServerPhase) -> SessionView {
    for _ in 0..400 {
        let view = sessions.find(key).await.unwrap();
        if view.state == wanted {
            return view;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it never was {wanted:?}: {:?}", sessions.find(key).await.unwrap());
}
