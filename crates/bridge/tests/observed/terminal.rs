//! A server that observes a configuration folder, and a session in it whose process and files the test plays.
//!
//! The parent of the test process stands for the CLI, and the test process for its hooks: the server checks
//! both.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_api::NewDevice;
use tidings_sessions::Observe;
use tidings_transcript::roots::Roots;
use tidings_transcript::session::Session;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::test_server::*;

pub(crate) const SESSION: &str = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a001";

pub(crate) struct Terminal {
    pub(crate) folder: Arc<TempDir>,
    builder: Builder,
    server: Option<TestServer>,
    entries: AtomicUsize,
    /// Time after which a session without a process is over.
    pub(crate) files_settle_after: Duration,
}

impl Terminal {
    /// A running server, and a session that has just started.
    pub(crate) async fn new() -> Terminal {
        let mut terminal = Terminal::without_process(&["config/sessions", "config/projects/-project"]);
        terminal.process(SESSION, "idle");
        terminal.start().await;
        terminal
    }

    /// A configuration folder with these folders. No server runs, and no process is described.
    pub(crate) fn without_process(folders: &[&str]) -> Terminal {
        let builder = TestServer::builder().journal(TestJournal::File).serve().only_unix_socket();
        let folder = Arc::clone(&builder.folder);
        for name in folders.iter().chain(&["project"]) {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let files_settle_after = Observe::default().files_settle_after;
        Terminal { folder, builder, server: None, entries: AtomicUsize::new(0), files_settle_after }
    }

    pub(crate) async fn start(&mut self) {
        let mut observe = Observe::default();
        observe.ignored_folders = Some(self.builder.data().join("ignored-folders"));
        observe.files_settle_after = self.files_settle_after;
        let builder = self.builder.clone().config(|config| {
            config.observe = Some(observe);
            config.config_dir = Some(self.folder.path().join("config"));
            config.claude = Some(self.claude("2.1.325"));
        });
        let builder = builder.rules(|config, auth| config.policies = Some(auth.policies().clone()));
        self.server = Some(builder.start().await);
    }

    fn server(&self) -> &TestServer {
        self.server.as_ref().unwrap()
    }

    /// A program that only says its version.
    pub(crate) fn claude(&self, version: &str) -> PathBuf {
        let program = self.folder.path().join("claude");
        std::fs::write(&program, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    pub(crate) async fn stop(&mut self) {
        in_time(self.server.take().unwrap().stop()).await.unwrap().unwrap();
    }

    /// Writes the file in which the process describes itself.
    pub(crate) fn process(&self, session: &str, status: &str) {
        self.process_of(std::os::unix::process::parent_id(), session, status);
    }

    /// The same with other fields, such as the dialog that it shows.
    pub(crate) fn process_with(&self, status: &str, more: &Value) {
        self.described(std::os::unix::process::parent_id(), SESSION, status, more);
    }

    pub(crate) fn process_of(&self, pid: u32, session: &str, status: &str) {
        self.described(pid, session, status, &json!({}));
    }

    /// Writes the file of a process.
    pub(crate) fn described(&self, pid: u32, session: &str, status: &str, more: &Value) {
        let fields = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = fields.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().to_owned();
        let project = self.folder.path().join("project");
        let mut process = json!({
            "pid": pid, "sessionId": session, "cwd": project, "procStart": start,
            "kind": "interactive", "entrypoint": "cli", "status": status,
        });
        for (name, value) in more.as_object().unwrap() {
            process[name] = value.clone();
        }
        let path = self.folder.path().join(format!("config/sessions/{pid}.json"));
        std::fs::write(path, process.to_string()).unwrap();
    }

    /// The process ends.
    pub(crate) fn exit(&self) {
        let pid = std::os::unix::process::parent_id();
        std::fs::remove_file(self.folder.path().join(format!("config/sessions/{pid}.json"))).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(format!("config/projects/-project/{SESSION}.jsonl"))
    }

    /// Writes entries into the session file.
    pub(crate) fn write(&mut self, entries: impl IntoIterator<Item = Value>) {
        self.write_meanwhile(entries);
    }

    /// The same while a request is under way.
    pub(crate) fn write_meanwhile(&self, entries: impl IntoIterator<Item = Value>) {
        let mut file = std::fs::File::options().create(true).append(true).open(self.file()).unwrap();
        for mut entry in entries {
            let before = self.entries.fetch_add(1, Ordering::Relaxed);
            entry["sessionId"] = json!(SESSION);
            if entry.get("cwd").is_none() {
                entry["cwd"] = json!(self.folder.path().join("project"));
            }
            entry["uuid"] = json!(format!("00000000-0000-4000-8000-{:012}", before + 1));
            if before > 0 {
                entry["parentUuid"] = json!(format!("00000000-0000-4000-8000-{before:012}"));
            }
            writeln!(file, "{entry}").unwrap();
        }
    }

    /// The token of a new device.
    pub(crate) fn device(&self, wanted: NewDevice) -> String {
        self.server().auth().add_device(wanted).unwrap().1.reveal().to_owned()
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.server().call(method, &format!("/v1/{path}"), body).await
    }

    /// The same with a credential, or without one if it is empty.
    pub(crate) async fn call_as(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        self.server().call_as(token, method, &format!("/v1/{path}"), body).await
    }

    /// The session of the server, once it is as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.until_session(SESSION, wanted).await
    }

    /// Another one, once it is as wanted.
    pub(crate) async fn until_session(&self, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let look = async || {
            let (_, list) = self.call("GET", "sessions", None).await;
            let of_ours = |session: &&Value| session["cli_session_ids"][0] == id;
            list["items"].as_array().and_then(|list| list.iter().find(of_ours).cloned())
        };
        until(look, |session| session.as_ref().is_some_and(&wanted)).await.unwrap()
    }

    /// Bodies of the stored events.
    pub(crate) async fn events(&self) -> Vec<Value> {
        let session = self.until(|_| true).await;
        let path = format!("sessions/{}/history?max=4000", session["key"].as_str().unwrap());
        let (status, page) = self.call("GET", &path, None).await;
        assert_eq!(status, 200, "{page}");
        page["items"].as_array().unwrap().iter().map(|event| event["event"].clone()).collect()
    }

    /// Waits for an event. A hook may end before its effect is stored.
    pub(crate) async fn event(&self, name: &str) -> Value {
        let has = |event: &Value| event.get(name).is_some();
        let events = until(async || self.events().await, |events| events.iter().any(has)).await;
        events.iter().find_map(|event| event.get(name)).unwrap().clone()
    }

    /// Waits until the audit log contains a text. It is written after the event.
    pub(crate) async fn until_logged(&self, text: &str) {
        let log = async || self.call("GET", "audit", None).await.1.to_string();
        until(log, |log| log.contains(text)).await;
    }

    /// Bodies of the events of the file, as the tools for past sessions see them.
    pub(crate) fn events_of_file(&self) -> Vec<Value> {
        let files = Roots::new([self.folder.path().join("config")]).find(SESSION).unwrap();
        let session = Session::open(&files).unwrap();
        let mut found = Vec::new();
        let take = |events: &[tidings_agent::UiMessage], _| {
            found.extend(events.iter().map(|event| serde_json::to_value(event).unwrap()));
            Ok::<_, tidings_transcript::Error>(())
        };
        replay_session(&session, None, 1, FoldOptions::default(), take).unwrap();
        found
    }

    /// Sends a message of a hook, and returns the connection.
    pub(crate) async fn hook(&self, event: &str, input: &Value, attended: &str) -> Hook {
        let mut input = input.clone();
        if input.get("session_id").is_none() {
            input["session_id"] = json!(SESSION);
        }
        input["hook_event_name"] = json!(event);
        let body = json!({"input": input, "env": {"attended": attended}}).to_string();
        let mut stream = UnixStream::connect(self.server().socket_path()).await.unwrap();
        let head = format!(
            "POST /v1/hooks/{event} HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(in_time(stream.read_u8()).await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Hook { stream, status }
    }

    /// Announces a call of Bash, writes it into the file, and asks for permission.
    pub(crate) async fn ask(&mut self, id: &str, command: &str) -> Hook {
        let input = json!({"command": command});
        self.write([assistant(&json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}))]);
        let call = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id});
        self.hook("PreToolUse", &call, "1").await;
        self.hook("PermissionRequest", &json!({"tool_name": "Bash", "tool_input": input}), "1").await
    }
}

/// A hook that waits for the reply of the server.
pub(crate) struct Hook {
    stream: UnixStream,
    pub(crate) status: u16,
}

impl Hook {
    /// The output that the hook prints.
    pub(crate) async fn output(mut self) -> String {
        let mut body = String::new();
        in_time(self.stream.read_to_string(&mut body)).await.unwrap();
        body
    }
}

pub(crate) fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}, "origin": {"kind": "human"}})
}

pub(crate) fn assistant(block: &Value) -> Value {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [block],
        "usage": {"input_tokens": 3, "output_tokens": 5},
    });
    json!({"type": "assistant", "message": message})
}

pub(crate) fn said(text: &str) -> Value {
    assistant(&json!({"type": "text", "text": text}))
}

pub(crate) fn result(id: &str, text: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    json!({"type": "user", "message": {"role": "user", "content": [block]}})
}

pub(crate) fn turn_end() -> Value {
    json!({"type": "system", "subtype": "turn_duration", "durationMs": 5})
}
