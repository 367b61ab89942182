//! State of sessions whose agents or hosts are killed or stopped, during that and later.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidings_agent::UiMessage;
use tidings_api::{Budget, CreateSession, Notice, PatchSession, PendingPermission, ServerPhase, SessionView};
use tidings_journal::SessionName;
use tidings_journal::broadcast::SubscribeOptions;
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::ui::{PermissionDetails, Resolution};
use tidings_sessions::Sessions;
use tidings_sessions::hosts::Hosts;
use tokio::sync::broadcast;

use crate::outlive::child_program;
use crate::test_server::*;

/// Time for which hosts keep the agent of a server that has gone.
const LEASE: Duration = Duration::from_secs(30);

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
struct HostServer {
    builder: Builder,
    sessions: Sessions,
}

impl HostServer {
    async fn playing(script: &str) -> Self {
        let builder = TestServer::builder().auth(|_| {});
        std::fs::write(builder.folder.path().join("script.toml"), script).unwrap();
        let builder = builder.rules(|config, auth| config.trust = Some(auth.trust().clone()));
        let server = open_server(builder, LEASE, Vec::new()).await;
        HostServer { builder: server.again(), sessions: server.sessions }
    }

    /// Another server on the same data.
    async fn next_server(&self, lease: Duration) -> Sessions {
        open_server(self.builder.clone(), lease, Vec::new()).await.sessions
    }

    async fn create(&self, prompt: &str) -> SessionView {
        let cwd = self.builder.root().display().to_string();
        let new = CreateSession { cwd, prompt: Some(prompt.to_owned()), ..CreateSession::default() };
        self.sessions.create(&me(), new).await.unwrap().0
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
        self.builder.folder.path().join(name).display().to_string()
    }

    /// Waits for the first text.
    async fn tells(&self, session: &SessionView) {
        let all = SubscribeOptions::default();
        TestSubscriber::new(&self.sessions, &session.key, all).await.until(is_text).await;
    }
}

/// Ends the processes that a test has left.
impl Drop for HostServer {
    fn drop(&mut self) {
        for pid in processes(&[&self.builder.folder.path().display().to_string()]) {
            signal(pid, "KILL");
        }
    }
}

async fn open_server(builder: Builder, lease: Duration, roots: Vec<PathBuf>) -> TestServer {
    let (program, folder) = (child_program(), Arc::clone(&builder.folder));
    let path = |name: &str| folder.path().join(name).display().to_string();
    let builder = builder.config(|config| {
        let (hosts, args) = (folder.path().join("hosts"), vec!["host".into()]);
        let hosts = Hosts::open(hosts, &program, args, lease, config.clock.clone(), config.ids.clone());
        config.hosts = Some(hosts.unwrap());
        config.roots = roots;
        config.claude = Some(program);
        config.claude_args = vec!["claude".to_owned(), path("script.toml"), path("config")];
    });
    builder.start().await
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
    in_time(received).await
}

/// All stored events of a session.
async fn events(sessions: &Sessions, session: &SessionView) -> Vec<UiMessage> {
    stored_events(&**sessions.broadcast().journal(), &SessionName::Key(session.key.parse().unwrap())).await
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

async fn all_gone(server: &HostServer) {
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
        let server = HostServer::playing(TELLS).await;
        let session = server.create("tell").await;
        server.tells(&session).await;
        let (host, agent) = server.pids();
        signal(if is_host { host } else { agent }, "KILL");
        let view =
            until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Interrupted).await;
        let why = view.error.unwrap();
        let expected = if is_host { "The host of this session is gone" } else { "signal 9" };
        assert!(why.contains(expected), "{why}");
        all_gone(&server).await;
        // The conversation stays, and the next prompt resumes it.
        assert!(STORY.starts_with(&text_of(&events(&server.sessions, &session).await)));
        server.sessions.input(&me(), &session.key, say("again")).await.unwrap();
        until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Idle).await;
        assert!(text_of(&events(&server.sessions, &session).await).ends_with(STORY));
    }
}

/// F61: a request that cannot be answered any more is settled as lost.
#[tokio::test]
async fn f61_a_question_of_a_killed_agent_or_host_is_lost() {
    for is_host in [false, true] {
        let server = HostServer::playing(ASKS).await;
        let session = server.create("make").await;
        until_view(&server.sessions, &session.key, |view| view.pending_permissions == 1).await;
        let (host, agent) = server.pids();
        signal(if is_host { host } else { agent }, "KILL");
        let view =
            until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Interrupted).await;
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
        let server = HostServer::playing(SAYS).await;
        let session = server.create("hello").await;
        until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Idle).await;
        let (host, agent) = server.pids();
        signal(if is_host { host } else { agent }, "KILL");
        let view = until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Failed).await;
        assert!(view.error.is_some());
        all_gone(&server).await;
    }
}

/// A stopped process neither answers nor ends. The session reports that, and continues when the process does.
#[tokio::test]
async fn f36_a_stopped_agent_or_host_is_shown_and_goes_on() {
    for (is_host, expected) in [(false, "process is stopped"), (true, "does not answer")] {
        let server = HostServer::playing(TELLS).await;
        let session = server.create("tell").await;
        server.tells(&session).await;
        let (host, agent) = server.pids();
        let pid = if is_host { host } else { agent };
        let seen = until_view(&server.sessions, &session.key, |view| view.head > 0).await;
        let mut notices = server.sessions.notices();
        signal(pid, "STOP");
        let is_expected =
            |view: &SessionView| view.stalled.as_ref().is_some_and(|why| why.contains(expected));
        let view = until_view(&server.sessions, &session.key, is_expected).await;
        let notice = until_notice(&mut notices, is_expected).await;
        assert!(notice.head > seen.head, "a subscriber would take it for outdated: {notice:?}");
        assert_eq!(view.state, ServerPhase::Running);
        signal(pid, "CONT");
        until_view(&server.sessions, &session.key, |view| view.stalled.is_none()).await;
        until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Idle).await;
        let events = events(&server.sessions, &session).await;
        assert_eq!(text_of(&events), STORY);
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
    let mut server = HostServer::playing(TELLS).await;
    let old = server.create("tell").await;
    server.tells(&old).await;
    server.sessions.drain().await;
    server.sessions = server.next_server(Duration::ZERO).await;
    until_view(&server.sessions, &old.key, |view| view.state == ServerPhase::Idle).await;
    assert_eq!(text_of(&events(&server.sessions, &old).await), STORY);

    let new = server.create("tell").await;
    server.tells(&new).await;
    assert_eq!(processes(&[" host ", &server.path("hosts")]).len(), 1, "the host of the old one");
    assert_eq!(processes(&[" claude ", &server.path("script.toml")]).len(), 2);
    server.sessions.drain().await;
    all_gone(&server).await;
    let said = text_of(&events(&server.sessions, &new).await);
    assert!(!said.is_empty() && STORY.starts_with(&said), "{said}");
}

/// T10: the server that adopts an agent did not start it, and still knows which settings it runs without.
#[tokio::test]
async fn t10_the_next_server_knows_what_an_agent_goes_without() {
    let mut server = HostServer::playing(SAYS).await;
    let brought = server.builder.folder.path().join(".claude");
    std::fs::create_dir(&brought).unwrap();
    std::fs::write(brought.join("settings.json"), r#"{"hooks":{"Stop":[{"command":"true"}]}}"#).unwrap();
    let session = server.create("hello").await;
    let view = until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Idle).await;
    assert!(view.untrusted);
    server.sessions.drain().await;
    std::fs::remove_dir_all(&brought).unwrap();
    server.sessions = server.next_server(LEASE).await;
    let view = until_view(&server.sessions, &session.key, |view| view.untrusted).await;
    assert_eq!(view.state, ServerPhase::Idle);
}

/// K10: allowed folders hold for agents that an earlier server started, too.
#[tokio::test]
async fn k10_an_agent_in_a_folder_that_is_no_longer_allowed_is_ended_and_not_adopted() {
    let mut server = HostServer::playing(TELLS).await;
    let session = server.create("hello").await;
    server.tells(&session).await;
    server.sessions.drain().await;
    assert!(!processes(&[" claude ", &server.path("script.toml")]).is_empty(), "it outlives its server");
    let elsewhere = tempfile::tempdir().unwrap();
    let roots = vec![elsewhere.path().canonicalize().unwrap()];
    server.sessions = open_server(server.builder.clone(), LEASE, roots).await.sessions;
    until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Interrupted).await;
    all_gone(&server).await;
}

/// A budget limits new turns, and ends nothing that runs.
#[tokio::test]
async fn an_agent_whose_budget_is_used_up_is_gone_on_with() {
    let mut server = HostServer::playing(SAYS).await;
    let session = server.create("hello").await;
    let view = until_view(&server.sessions, &session.key, |view| view.state == ServerPhase::Idle).await;
    assert!(view.totals.cost_usd > 0.0);
    let budget = Budget { budget_usd: Some(view.totals.cost_usd), ..Budget::default() };
    let patch = PatchSession { budget: Some(budget), ..PatchSession::default() };
    server.sessions.patch(&me(), &session.key, patch).await.unwrap();
    let (_, agent) = server.pids();
    server.sessions.drain().await;
    server.sessions = server.next_server(LEASE).await;
    let view = until_view(&server.sessions, &session.key, |view| view.state != ServerPhase::Starting).await;
    assert_eq!((view.state, server.pids().1), (ServerPhase::Idle, agent));
}

/// F103: both the server and the host died. Output of the agent that no server had stored is stored once,
/// before the session is marked as interrupted; a turn that was over by then is over.
#[tokio::test]
async fn f103_the_last_words_of_an_agent_are_read_after_both_died() {
    for is_over in [false, true] {
        let server = HostServer::playing(TELLS).await;
        let session = server.create("tell").await;
        server.tells(&session).await;
        server.sessions.drain().await;
        let before = text_of(&events(&server.sessions, &session).await);
        let spool = server.builder.folder.path().join("hosts");
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
        until(async || output(), |output| enough(output)).await;
        signal(server.pids().0, "KILL");
        all_gone(&server).await;
        let said = streamed_text(&output());
        for _ in 0..2 {
            let sessions = server.next_server(LEASE).await;
            let view = sessions.find(&session.key).await.unwrap();
            let expected = if is_over { ServerPhase::Parked } else { ServerPhase::Interrupted };
            assert_eq!(view.state, expected, "{view:#?}");
            let events = events(&sessions, &session).await;
            assert_eq!(text_of(&events), said);
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
        let mut server = HostServer::playing(SAYS).await;
        let folder = server.builder.folder.path().canonicalize().unwrap();
        std::fs::write(folder.join("old.txt"), "x").unwrap();
        let call = call.replace("FOLDER", folder.to_str().unwrap()).replace(", input", "\ninput");
        let turn = format!("[[turn]]\n[[turn.block]]\n{call}\nask = true\nresult = \"ok\"\n");
        std::fs::write(folder.join("script.toml"), turn.repeat(3)).unwrap();
        let session = server.create("go").await;
        let first = next_request(&server.sessions, &session, None).await;
        server.sessions.drain().await;
        server.sessions = server.next_server(LEASE).await;
        let same = next_request(&server.sessions, &session, None).await;
        server.sessions.answer_permission(&me(), &session.key, &same.tool_use_id, yes()).await.unwrap();
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
    let is_new = |open: &&PendingPermission| Some(open.tool_use_id.as_str()) != answered;
    let look = async || {
        let open = sessions.permissions(Some(&session.key)).await.unwrap();
        open.iter().find(is_new).map(|open| open.details.clone())
    };
    until(look, Option::is_some).await.unwrap()
}
