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
use tidings_agent::Clock;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_api::NewDevice;
use tidings_bridge::auth::{Auth, Settings, read_admin_token};
use tidings_bridge::server::{Exposure, Listen, Server};
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{Epoch, Journal, Opening, SqliteJournal};
use tidings_sessions::secret::Random;
use tidings_sessions::{Config, Observe, Sessions};
use tidings_transcript::roots::Roots;
use tidings_transcript::session::Session;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The timeout of everything that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const SESSION: &str = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a001";

pub(crate) struct Terminal {
    pub(crate) folder: TempDir,
    server: Option<(oneshot::Sender<()>, JoinHandle<()>, reqwest::Client, String)>,
    entries: AtomicUsize,
    /// Time after which a session without a process is over.
    pub(crate) files_settle_after: Duration,
    auth: Option<Auth>,
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
        let folder = tempfile::tempdir().unwrap();
        for name in folders.iter().chain(&["project"]) {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let files_settle_after = Observe::default().files_settle_after;
        Terminal { folder, server: None, entries: AtomicUsize::new(0), files_settle_after, auth: None }
    }

    pub(crate) async fn start(&mut self) {
        tidings_bridge::server::choose_tls();
        let data = self.folder.path().join("data");
        let auth = Auth::open(Settings::new(&data, Random::system(), Clock::system())).unwrap();
        let admin = read_admin_token(&data).unwrap().unwrap().reveal().to_owned();
        let unix = data.join("server.sock");
        let listen =
            Listen { address: None, tls: None, exposure: Exposure::Guarded, unix: Some(unix.clone()) };
        let bound = listen.bind().unwrap();
        let mut observe = Observe::default();
        observe.ignored_folders = Some(data.join("ignored-folders"));
        observe.files_settle_after = self.files_settle_after;
        let mut config = Config::default();
        config.observe = Some(observe);
        config.policies = Some(auth.policies().clone());
        self.auth = Some(auth.clone());
        config.config_dir = Some(self.folder.path().join("config"));
        config.claude = Some(self.claude("2.1.325"));
        let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(1) };
        let journal: Arc<dyn Journal> =
            Arc::new(SqliteJournal::open(data.join("journal.db"), &opening).unwrap());
        let sessions = Sessions::open(Broadcast::new(journal), config).await.unwrap();
        let server = Server::new(sessions, auth);
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            server.run(bound, async { drop(stopped.await) }).await.unwrap();
        });
        let client = reqwest::Client::builder().unix_socket(unix).build().unwrap();
        self.server = Some((stop, running, client, admin));
    }

    /// A program that only says its version.
    pub(crate) fn claude(&self, version: &str) -> PathBuf {
        let program = self.folder.path().join("claude");
        std::fs::write(&program, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    pub(crate) async fn stop(&mut self) {
        let (stop, running, ..) = self.server.take().unwrap();
        stop.send(()).unwrap();
        tokio::time::timeout(PATIENCE, running).await.unwrap().unwrap();
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
        self.auth.as_ref().unwrap().add_device(wanted).unwrap().1.reveal().to_owned()
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let (.., admin) = self.server.as_ref().unwrap();
        self.call_as(Some(admin), method, path, body).await
    }

    /// The same with a credential, or without one.
    pub(crate) async fn call_as(
        &self,
        token: Option<&str>,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> (u16, Value) {
        let (.., client, _) = self.server.as_ref().unwrap();
        let url = format!("http://localhost/v1/{path}");
        let request = client.request(method.parse().unwrap(), url);
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// The session of the server, once it is as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.until_session(SESSION, wanted).await
    }

    /// Another one, once it is as wanted.
    pub(crate) async fn until_session(&self, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let seen = std::cell::RefCell::new(Value::Null);
        let found = async {
            loop {
                let (_, list) = self.call("GET", "sessions", None).await;
                seen.replace(list.clone());
                let of_ours = |session: &&Value| session["cli_session_ids"][0] == id;
                let session = list["items"].as_array().and_then(|list| list.iter().find(of_ours).cloned());
                match session {
                    Some(session) if wanted(&session) => return session,
                    _ => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await.ok();
        found.unwrap_or_else(|| panic!("the session is not as wanted: {}", seen.borrow()))
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
        let found = async {
            loop {
                if let Some(event) = self.events().await.iter().find_map(|event| event.get(name)) {
                    return event.clone();
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("there is no {name}"))
    }

    /// Waits until the audit log contains a text. It is written after the event.
    pub(crate) async fn until_logged(&self, text: &str) {
        let logged = async {
            while !self.call("GET", "audit", None).await.1.to_string().contains(text) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, logged).await.unwrap_or_else(|_| panic!("{text} is not logged"));
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
        let mut stream = UnixStream::connect(self.folder.path().join("data/server.sock")).await.unwrap();
        let head = format!(
            "POST /v1/hooks/{event} HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let read = tokio::time::timeout(PATIENCE, stream.read_u8()).await;
            head.push(read.expect("no head came").unwrap());
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
        let read = tokio::time::timeout(PATIENCE, self.stream.read_to_string(&mut body)).await;
        read.expect("no reply came").unwrap();
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
