//! Scripts and helpers of tests that call the sessions of a server without an API.

use tidings_api::{CreateSession, Scope, SessionView};
use tidings_journal::{AUDIT_START, verify_audit};
use tidings_sessions::{Caller, Config, Sessions};

pub(crate) use crate::test_server::*;

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

impl TestServer {
    pub(crate) async fn with(script: &str, set: impl FnOnce(&mut Config)) -> Self {
        TestServer::builder().script(script).config(set).start().await
    }

    pub(crate) fn new_session(&self) -> CreateSession {
        CreateSession { cwd: self.cwd(), ..CreateSession::default() }
    }

    pub(crate) async fn create(&self, prompt: &str) -> SessionView {
        let new = CreateSession { prompt: Some(prompt.to_owned()), ..self.new_session() };
        self.sessions.create(&me(), new).await.unwrap().0
    }

    /// The sessions of another server on the same journal, as if this one had been killed.
    pub(crate) async fn killed_and_started(&self) -> Sessions {
        self.again().start().await.sessions
    }

    /// The decisions in the audit log, without changes of settings.
    pub(crate) async fn decided(&self) -> Vec<(String, String)> {
        let lines = self.audit().await.into_iter();
        lines.filter(|(_, decision)| !decision.starts_with("set ")).collect()
    }

    pub(crate) async fn audit(&self) -> Vec<(String, String)> {
        let log = self.journal().audit_log(0).await.unwrap();
        verify_audit((0, AUDIT_START), &log).unwrap();
        log.into_iter().map(|line| (line.who, line.decision)).collect()
    }
}

pub(crate) fn caller_with(name: &str, scopes: &[Scope]) -> Caller {
    Caller { scopes: scopes.iter().copied().collect(), ..Caller::admin(name) }
}

/// A device of a user who may do everything.
pub(crate) fn device(id: &str) -> Caller {
    Caller { device: Some(id.to_owned()), ..Caller::admin(id) }
}
