//! State of sessions whose agents or hosts are killed or stopped, during that and later.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tidings_agent::UiMessage;
use tidings_api::{
    Budget, Choice, CreateSession, Input, Notice, PatchSession, PermissionAnswer, PermissionScope,
    ServerPhase, SessionView,
};
use tidings_bridge::auth::{self, Auth};
use tidings_journal::broadcast::{Delivery, SubscribeOptions};
use tidings_journal::{Max, MemoryStore, SessionName};
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::{PermissionDetails, Resolution};
use tidings_sessions::hosts::Hosts;
use tidings_sessions::secret::Random;
use tidings_sessions::{Caller, Config, Sessions};
use tokio::sync::broadcast;

/// Limit for every wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// P6: nothing outlives its owner by more than this.
const PROMISED: Duration = Duration::from_secs(10);

const STORY: &str =
    "A story that is told in many small pieces, so that there is always one on its way to a client.";

const TELLS: &str = r#"
    [[turn]]
    text = "A story that is told in many small pieces, so that there is always one on its way to a client."
    pace = { chunk_chars = 4, chunk_delay_ms = 150 }
    repeat = true
"#;

const ASKS: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "Bash"
    input = { command = "make it" }
    ask = true
    result = "made"
"#;

const SAYS: &str = r#"
    [[turn]]
    text = "Hello."
    repeat = true
"#;

/// A server without an API, whose agents run under hosts.
struct TestServer {
    folder: TempDir,
    store: MemoryStore,
    sessions: Sessions,
}

impl TestServer {
    async fn playing(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.toml"), script).unwrap();
        let store = MemoryStore::default();
        let sessions = open_server(folder.path(), &store, PATIENCE, Vec::new()).await;
        TestServer { folder, store, sessions }
    }

    /// Another server on the same data.
    async fn next_server(&self, lease: Duration) -> Sessions {
        open_server(self.folder.path(), &self.store, lease, Vec::new()).await
    }

    async fn create(&self, prompt: &str) -> SessionView {
        let cwd = self.folder.path().canonicalize().unwrap().display().to_string();
        let new = CreateSession { cwd, prompt: Some(prompt.to_owned()), ..CreateSession::default() };
        self.sessions.create(&Caller::admin("ada"), new).await.unwrap().0
    }

    /// The process ids of the host and of the agent.
    fn pids(&self) -> (u32, u32) {
        let one = |words: &[&str]| {
            let found = processes(words);
            assert_eq!(found.len(), 1, "{words:?}");
            found[0]
        };
        (one(&[" host ", &self.path("hosts")]), one(&[" claude ", &self.path("script.toml")]))
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Waits for an event.
    async fn until(&self, session: &SessionView, wanted: impl Fn(&UiMessage) -> bool) {
        let (_, mut events) =
            self.sessions.subscribe(&session.key, SubscribeOptions::default()).await.unwrap();
        let found = async {
            loop {
                let Delivery::Event(event) = events.next().await.unwrap() else { panic!("cut off") };
                if wanted(&serde_json::from_slice(&event.body).unwrap()) {
                    return;
                }
            }
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap();
    }
}

/// Ends the processes that a test has left.
impl Drop for TestServer {
    fn drop(&mut self) {
        for pid in processes(&[&self.folder.path().display().to_string()]) {
            signal(pid, "KILL");
        }
    }
}

async fn open_server(folder: &Path, store: &MemoryStore, lease: Duration, roots: Vec<PathBuf>) -> Sessions {
    let test = std::env::current_exe().unwrap();
    let program: PathBuf = test.ancestors().nth(2).unwrap().join("examples/mortal_server");
    assert!(program.exists(), "run `cargo build -p tidings-bridge --all-features --examples` first");
    let path = |name: &str| folder.join(name).display().to_string();
    let mut config = Config::default();
    let (hosts, args) = (folder.join("hosts"), vec!["host".into()]);
    let hosts = Hosts::open(hosts, &program, args, lease, config.clock.clone(), config.ids.clone());
    config.hosts = Some(hosts.unwrap());
    config.roots = roots;
    config.claude = Some(program);
    config.claude_args = vec!["claude".to_owned(), path("script.toml"), path("config")];
    let auth = auth::Settings::new(folder.join("guard"), Random::system(), config.clock.clone());
    config.trust = Some(Auth::open(auth).unwrap().trust().clone());
    crate::stand_in::open_sessions(store, config).await
}

/// Processes whose command line contains all of these words.
fn processes(words: &[&str]) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        !line.is_empty() && words.iter().all(|word| line.contains(word))
    })
    .collect()
}

fn signal(pid: u32, name: &str) {
    drop(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status());
}

/// Waits until the view of a session meets a condition.
async fn until_shown(
    sessions: &Sessions,
    session: &SessionView,
    wanted: impl Fn(&SessionView) -> bool,
) -> SessionView {
    let since = Instant::now();
    loop {
        let view = sessions.find(&session.key).await.unwrap();
        if wanted(&view) {
            return view;
        }
        assert!(since.elapsed() < PATIENCE, "it is never shown: {view:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for a notice whose session meets a condition.
async fn until_notice(
    notices: &mut broadcast::Receiver<Arc<Notice>>,
    wanted: impl Fn(&SessionView) -> bool,
) -> SessionView {
    let received = async {
        loop {
            if let Notice::Session { session } = &*notices.recv().await.unwrap()
                && wanted(session)
            {
                return (**session).clone();
            }
        }
    };
    tokio::time::timeout(PATIENCE, received).await.unwrap()
}

/// All stored events of a session.
async fn events(sessions: &Sessions, session: &SessionView) -> Vec<UiMessage> {
    let name = SessionName::Key(session.key.parse().unwrap());
    let row = sessions.broadcast().journal().session(&name).await.unwrap();
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let page = sessions.broadcast().journal().read(&row.key, after, Max::default()).await.unwrap();
        let Some(last) = page.events.last() else { return all };
        after = Some(last.cursor);
        all.extend(page.events.iter().map(|event| serde_json::from_slice::<UiMessage>(&event.body).unwrap()));
    }
}

fn text(events: &[UiMessage]) -> String {
    let chunks = events.iter().filter_map(|event| match event {
        UiMessage::TextChunk { text, .. } => Some(text.as_str()),
        _ => None,
    });
    chunks.collect()
}

fn is_text(event: &UiMessage) -> bool {
    matches!(event, UiMessage::TextChunk { .. })
}

/// A process that looks like an agent, and belongs to something else.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Bystander(Command::new("sleep").arg("86400").arg0("claude").spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let is_there = self.0.try_wait().unwrap().is_none();
        drop(self.0.kill());
        drop(self.0.wait());
        assert!(std::thread::panicking() || is_there, "a process that is none of ours was ended");
    }
}

async fn all_gone(server: &TestServer) {
    let since = Instant::now();
    while !processes(&[&server.path("")]).is_empty() {
        assert!(since.elapsed() < PROMISED, "something was left behind");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// F34, F35: whichever of the two is killed in the middle of a turn, the session reports the end and its
/// reason, and no process stays.
#[tokio::test]
async fn f34_a_killed_agent_or_host_is_an_interrupted_turn() {
    let _bystander = Bystander::new();
    for is_host in [false, true] {
        let server = TestServer::playing(TELLS).await;
        let session = server.create("tell").await;
        server.until(&session, is_text).await;
        let (host, agent) = server.pids();
        signal(if is_host { host } else { agent }, "KILL");
        let view =
            until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Interrupted).await;
        let why = view.error.unwrap();
        let expected = if is_host { "The host of this session is gone" } else { "signal 9" };
        assert!(why.contains(expected), "{why}");
        all_gone(&server).await;
        // The conversation stays, and the next prompt resumes it.
        assert!(STORY.starts_with(&text(&events(&server.sessions, &session).await)));
        let again = Input { content: "again".to_owned(), ..Input::default() };
        server.sessions.input(&Caller::admin("ada"), &session.key, again).await.unwrap();
        until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Idle).await;
        assert!(text(&events(&server.sessions, &session).await).ends_with(STORY));
    }
}

/// F61: a request that cannot be answered any more is settled as lost.
#[tokio::test]
async fn f61_a_question_of_a_killed_agent_or_host_is_lost() {
    for is_host in [false, true] {
        let server = TestServer::playing(ASKS).await;
        let session = server.create("make").await;
        until_shown(&server.sessions, &session, |view| view.pending_permissions == 1).await;
        let (host, agent) = server.pids();
        signal(if is_host { host } else { agent }, "KILL");
        let view =
            until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Interrupted).await;
        assert_eq!(view.pending_permissions, 0);
        assert!(server.sessions.permissions(None).await.unwrap().is_empty());
        let ends: Vec<Resolution> = events(&server.sessions, &session)
            .await
            .iter()
            .filter_map(|event| match event {
                UiMessage::PermissionResolved(resolved) => Some(resolved.outcome),
                _ => None,
            })
            .collect();
        assert_eq!(ends, [Resolution::Lost]);
        all_gone(&server).await;
    }
}

/// An idle session reports that its agent is gone, too.
#[tokio::test]
async fn a_killed_agent_that_had_nothing_to_do_has_failed() {
    for is_host in [false, true] {
        let server = TestServer::playing(SAYS).await;
        let session = server.create("hello").await;
        until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Idle).await;
        let (host, agent) = server.pids();
        signal(if is_host { host } else { agent }, "KILL");
        let view = until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Failed).await;
        assert!(view.error.is_some());
        all_gone(&server).await;
    }
}

/// A stopped process neither answers nor ends. The session reports that, and continues when the process does.
#[tokio::test]
async fn f36_a_stopped_agent_or_host_is_shown_and_goes_on() {
    for (is_host, expected) in [(false, "process is stopped"), (true, "does not answer")] {
        let server = TestServer::playing(TELLS).await;
        let session = server.create("tell").await;
        server.until(&session, is_text).await;
        let (host, agent) = server.pids();
        let pid = if is_host { host } else { agent };
        let seen = until_shown(&server.sessions, &session, |view| view.head > 0).await;
        let mut notices = server.sessions.notices();
        signal(pid, "STOP");
        let is_expected =
            |view: &SessionView| view.stalled.as_ref().is_some_and(|why| why.contains(expected));
        let view = until_shown(&server.sessions, &session, is_expected).await;
        let notice = until_notice(&mut notices, is_expected).await;
        assert!(notice.head > seen.head, "a subscriber would take it for outdated: {notice:?}");
        assert_eq!(view.state, ServerPhase::Running);
        signal(pid, "CONT");
        until_shown(&server.sessions, &session, |view| view.stalled.is_none()).await;
        until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Idle).await;
        let events = events(&server.sessions, &session).await;
        assert_eq!(text(&events), STORY);
        // On a busy machine a host can be late as well, and is reported; no report is repeated.
        let notes = events.iter().filter_map(|event| match event {
            UiMessage::System { message, .. } => Some(message.as_str()),
            _ => None,
        });
        let notes: Vec<&str> = notes.collect();
        assert!(notes.iter().any(|note| note.contains(expected)), "{notes:?}");
        assert_eq!(notes.last(), Some(&"The agent answers again"));
        assert!(notes.windows(2).all(|pair| pair[0] != pair[1]), "{notes:?}");
        server.sessions.drain().await;
    }
}

/// If agents do not outlive the server there are no hosts: the agent is a child of the server and ends with
/// it. An agent that an earlier server left with its host is adopted.
#[tokio::test]
async fn agents_without_a_lease_run_below_the_server() {
    let mut server = TestServer::playing(TELLS).await;
    let old = server.create("tell").await;
    server.until(&old, is_text).await;
    server.sessions.drain().await;
    server.sessions = server.next_server(Duration::ZERO).await;
    until_shown(&server.sessions, &old, |view| view.state == ServerPhase::Idle).await;
    assert_eq!(text(&events(&server.sessions, &old).await), STORY);

    let new = server.create("tell").await;
    server.until(&new, is_text).await;
    assert_eq!(processes(&[" host ", &server.path("hosts")]).len(), 1, "the host of the old one");
    assert_eq!(processes(&[" claude ", &server.path("script.toml")]).len(), 2);
    server.sessions.drain().await;
    all_gone(&server).await;
    let said = text(&events(&server.sessions, &new).await);
    assert!(!said.is_empty() && STORY.starts_with(&said), "{said}");
}

/// T10: the server that adopts an agent did not start it, and still knows which settings it runs without.
#[tokio::test]
async fn t10_the_next_server_knows_what_an_agent_goes_without() {
    let mut server = TestServer::playing(SAYS).await;
    let brought = server.folder.path().join(".claude");
    std::fs::create_dir(&brought).unwrap();
    std::fs::write(brought.join("settings.json"), r#"{"hooks":{"Stop":[{"command":"true"}]}}"#).unwrap();
    let session = server.create("hello").await;
    let view = until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Idle).await;
    assert!(view.untrusted);
    server.sessions.drain().await;
    std::fs::remove_dir_all(&brought).unwrap();
    server.sessions = server.next_server(PATIENCE).await;
    let view = until_shown(&server.sessions, &session, |view| view.untrusted).await;
    assert_eq!(view.state, ServerPhase::Idle);
}

/// K10: allowed folders hold for agents that an earlier server started, too.
#[tokio::test]
async fn k10_an_agent_in_a_folder_that_is_no_longer_allowed_is_ended_and_not_adopted() {
    let mut server = TestServer::playing(TELLS).await;
    let session = server.create("hello").await;
    server.until(&session, is_text).await;
    server.sessions.drain().await;
    assert!(!processes(&[" claude ", &server.path("script.toml")]).is_empty(), "it outlives its server");
    let elsewhere = tempfile::tempdir().unwrap();
    let roots = vec![elsewhere.path().canonicalize().unwrap()];
    server.sessions = open_server(server.folder.path(), &server.store, PATIENCE, roots).await;
    until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Interrupted).await;
    all_gone(&server).await;
}

/// A budget limits new turns, and ends nothing that runs.
#[tokio::test]
async fn an_agent_whose_budget_is_used_up_is_gone_on_with() {
    let mut server = TestServer::playing(SAYS).await;
    let session = server.create("hello").await;
    let view = until_shown(&server.sessions, &session, |view| view.state == ServerPhase::Idle).await;
    assert!(view.totals.cost_usd > 0.0);
    let budget = Budget { budget_usd: Some(view.totals.cost_usd), ..Budget::default() };
    let patch = PatchSession { budget: Some(budget), ..PatchSession::default() };
    server.sessions.patch(&Caller::admin("ada"), &session.key, patch).await.unwrap();
    let (_, agent) = server.pids();
    server.sessions.drain().await;
    server.sessions = server.next_server(PATIENCE).await;
    let view = until_shown(&server.sessions, &session, |view| view.state != ServerPhase::Starting).await;
    assert_eq!((view.state, server.pids().1), (ServerPhase::Idle, agent));
}

/// F103: both the server and the host died. Output of the agent that no server had stored is stored once,
/// before the session is marked as interrupted; a turn that was over by then is over.
#[tokio::test]
async fn f103_the_last_words_of_an_agent_are_read_after_both_died() {
    for is_over in [false, true] {
        let server = TestServer::playing(TELLS).await;
        let session = server.create("tell").await;
        server.until(&session, is_text).await;
        server.sessions.drain().await;
        let before = text(&events(&server.sessions, &session).await);
        let spool = server.folder.path().join("hosts");
        let output = || -> Vec<u8> {
            let host = std::fs::read_dir(&spool).unwrap().next().unwrap().unwrap().path();
            let mut files: Vec<_> = std::fs::read_dir(host.join("spool")).unwrap().flatten().collect();
            files.sort_by_key(std::fs::DirEntry::file_name);
            files.iter().flat_map(|file| std::fs::read(file.path()).unwrap()).collect()
        };
        let enough = |output: &[u8]| {
            if is_over {
                contains(output, b"\"type\":\"result\"")
            } else {
                streamed_text(output).len() > before.len() + 10
            }
        };
        let since = Instant::now();
        while !enough(&output()) {
            assert!(since.elapsed() < PATIENCE, "the agent says nothing");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        signal(server.pids().0, "KILL");
        all_gone(&server).await;
        let said = streamed_text(&output());
        for _ in 0..2 {
            let sessions = server.next_server(PATIENCE).await;
            let view = sessions.find(&session.key).await.unwrap();
            let expected = if is_over { ServerPhase::Parked } else { ServerPhase::Interrupted };
            assert_eq!(view.state, expected, "{view:#?}");
            let events = events(&sessions, &session).await;
            assert_eq!(text(&events), said);
            let completes = events.iter().filter(|event| matches!(event, UiMessage::Complete { .. })).count();
            assert_eq!((completes == 1, said == STORY), (is_over, is_over));
            assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 0, "what is left of the host is removed");
        }
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}

/// The streamed text in an agent's output.
fn streamed_text(bytes: &[u8]) -> String {
    let lines = bytes.split(|byte| *byte == b'\n');
    let values = lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    values.filter_map(|value| value["event"]["delta"]["text"].as_str().map(str::to_owned)).collect()
}

/// P32: the server that adopts an agent knows the folder of its session, so a request has the same risk as
/// before.
#[tokio::test]
async fn p32_the_risk_of_a_request_is_the_same_after_a_restart() {
    for (call, expected) in [
        (r#"tool = "Bash", input = { command = "touch FOLDER/p0.txt" }"#, RiskLevel::Low),
        (r#"tool = "Bash", input = { command = "touch p0.txt" }"#, RiskLevel::Low),
        (r#"tool = "Write", input = { file_path = "FOLDER/old.txt", content = "y" }"#, RiskLevel::Medium),
        (r#"tool = "Write", input = { file_path = "FOLDER/Makefile", content = "y" }"#, RiskLevel::High),
    ] {
        let mut server = TestServer::playing(SAYS).await;
        let folder = server.folder.path().canonicalize().unwrap();
        std::fs::write(folder.join("old.txt"), "x").unwrap();
        let call = call.replace("FOLDER", folder.to_str().unwrap()).replace(", input", "\ninput");
        let turn = format!("[[turn]]\n[[turn.block]]\n{call}\nask = true\nresult = \"ok\"\n");
        std::fs::write(folder.join("script.toml"), turn.repeat(3)).unwrap();
        let session = server.create("go").await;
        let first = next_request(&server.sessions, &session, None).await;
        server.sessions.drain().await;
        server.sessions = server.next_server(PATIENCE).await;
        let same = next_request(&server.sessions, &session, None).await;
        let ada = Caller::admin("ada");
        let yes = PermissionAnswer {
            decision: Choice::Allow,
            scope: PermissionScope::Once,
            updated_input: None,
            message: None,
            interrupt: false,
            digest: None,
            client_id: None,
        };
        server.sessions.answer_permission(&ada, &session.key, &same.tool_use_id, yes).await.unwrap();
        let second = next_request(&server.sessions, &session, Some(&same.tool_use_id)).await;
        let risks = [first.risk, same.risk, second.risk];
        assert_eq!(risks, [expected; 3], "{call}");
    }
}

/// Waits for an open permission request, other than the one that was answered.
async fn next_request(
    sessions: &Sessions,
    session: &SessionView,
    answered: Option<&str>,
) -> PermissionDetails {
    let since = Instant::now();
    loop {
        let open = sessions.permissions(Some(&session.key)).await.unwrap();
        let new = open.into_iter().find(|open| Some(open.tool_use_id.as_str()) != answered);
        if let Some(new) = new {
            return new.details;
        }
        assert!(since.elapsed() < PATIENCE, "no request comes");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
