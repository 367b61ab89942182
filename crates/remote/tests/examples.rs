//! Every example runs, against a server.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::Value;
use tidings_remote::RemoteServer;
use tidings_remote::api::{CreateSession, NewDevice};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::requests::ASKS;
use crate::test_server::{HELLO, PATIENCE, TestServer, in_time, until};

/// A running example; it is killed when it is dropped.
struct Example {
    child: Child,
    lines: Receiver<String>,
}

impl Example {
    fn start(name: &str, arguments: &[&str], server: &TestServer) -> Example {
        let test = std::env::current_exe().unwrap();
        let program: PathBuf = test.ancestors().nth(2).unwrap().join("examples").join(name);
        let build = "cargo build -p tidings-remote --all-features --examples";
        assert!(program.exists(), "run `{build}` first: {}", program.display());
        let mut command = Command::new(program);
        command.args(arguments).env("TIDINGS_SERVER", server.url("")).env("TIDINGS_TOKEN", &server.admin);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = sync_channel(100);
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Example { child, lines }
    }

    /// Reads up to a line with this text.
    fn until(&mut self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|line: &String| !line.contains(text)) {
            // The server of the test runs in the same program.
            let next = tokio::task::block_in_place(|| self.lines.recv_timeout(PATIENCE));
            seen.push(next.unwrap_or_else(|_| panic!("`{text}` does not come after {seen:#?}")));
        }
        seen
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_list_and_watch_shows_what_is_there_and_what_happens() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    let new =
        CreateSession { cwd: server.cwd(), title: Some("The till".to_owned()), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    let mut example = Example::start("list_and_watch", &[], &server);
    example.until("The till");
    session.prompt("hello").await.unwrap();
    example.until("the turn ended: Hello to you.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_approve_from_a_script_answers_by_its_rule() {
    let server = TestServer::builder().script(ASKS).api().start().await;
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    let mut example = Example::start("approve_from_a_script", &[], &server);
    example.until("up to date");
    session.prompt("look around").await.unwrap();
    example.until("Bash: allowed");
    example.until("was allowed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_wait_for_a_result_sends_its_job_once() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let cwd = server.cwd();
    for _ in 0..2 {
        let mut example = Example::start("wait_for_a_result", &["job-17", &cwd, "hello"], &server);
        assert_eq!(example.until("cost: ")[0], "Hello to you.");
    }
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    assert_eq!(remote.sessions().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_dashboard_line_says_what_waits() {
    let server = TestServer::builder().script(ASKS).serve().admin_device().start().await;
    let remote = RemoteServer::at(&server.url(""), &server.admin).unwrap();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    session.prompt("look around").await.unwrap();
    let line = async || Example::start("dashboard_line", &[], &server).until("waiting").remove(0);
    let line = until(line, |line| line.contains("1 waiting: ")).await;
    assert!(line.ends_with(": ls"), "{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_start_with_a_budget_goes_on_with_a_greater_one() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let mut example = Example::start("start_with_a_budget", &[&server.cwd()], &server);
    let lines = example.until("And again.");
    assert_eq!(lines[0], "Hello to you.");
    assert!(lines[1].starts_with("refused: "), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_pair_a_device_gets_the_scopes_of_the_code() {
    let server = TestServer::builder().session("/").serve().admin_device().start().await;
    let address = server.url("");
    let admin = RemoteServer::at(&address, &server.admin).unwrap();
    let device = NewDevice { scopes: Some(vec!["read".to_owned()]), ..NewDevice::default() };
    let code = admin.pairing_code(&device).await.unwrap().code;
    let mut example = Example::start("pair_a_device", &[&address, &code], &server);
    assert_eq!(example.until("may"), ["an example may read"]);
}

/// A chat: the address of its webhook, and the messages that come there.
async fn chat() -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, messages) = mpsc::channel(10);
    let take = async |State(sender): State<mpsc::Sender<Value>>, message: axum::Json<Value>| {
        sender.send(message.0).await.unwrap();
    };
    let routes = Router::new().route("/", post(take)).with_state(sender);
    tokio::spawn(axum::serve(listener, routes).into_future());
    (address, messages)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_relay_to_a_webhook_takes_the_answer_of_the_chat() {
    let server = TestServer::builder().script(ASKS).api().start().await;
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    let (webhook, mut messages) = chat().await;
    let _relay = Example::start("relay_to_a_webhook", &[&webhook], &server);
    session.prompt("look around").await.unwrap();
    let asked = in_time(messages.recv()).await.unwrap();
    assert_eq!(asked["text"], r#"May Bash run? {"command":"ls"}"#);
    let answer = async |link: &Value| {
        let response = server.http.post(link.as_str().unwrap()).send().await.unwrap();
        response.text().await.unwrap()
    };
    assert_eq!(answer(&asked["allow"]).await, "The request is allowed");
    assert_eq!(in_time(messages.recv()).await.unwrap()["text"], "The request was allowed");
    assert_eq!(answer(&asked["deny"]).await, "This request does not wait any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_batch_over_folders_has_an_answer_for_each_and_goes_on() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let folders: Vec<String> = (0..6).map(|number| server.inside(&format!("project-{number}"))).collect();
    let arguments: Vec<&str> =
        ["batch-1", "hello"].into_iter().chain(folders.iter().map(String::as_str)).collect();
    let expected: BTreeSet<String> =
        folders.iter().map(|folder| format!("{folder}: Hello to you.")).collect();
    for _ in 0..2 {
        let mut example = Example::start("batch_over_folders", &arguments, &server);
        let lines: BTreeSet<String> = folders.iter().map(|_| example.until("project-").remove(0)).collect();
        assert_eq!(lines, expected);
    }
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    assert_eq!(remote.sessions().await.unwrap().len(), folders.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_stream_over_sse_continues_after_the_last_event_of_the_browser() {
    let server = TestServer::builder().script(HELLO).api().start().await;
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let key = remote.start(&new).await.unwrap().key;
    remote.session(&key).ask("hello").await.unwrap();
    let mut example = Example::start("stream_over_sse", &[], &server);
    let address = example.until("http://").remove(0);
    let read = async |cursor: &str, end: &str| {
        let request = server.http.get(format!("{address}/{key}")).header("last-event-id", cursor);
        let (mut response, mut text) = (request.send().await.unwrap(), String::new());
        while !text.contains(end) {
            let part = in_time(response.chunk()).await.unwrap().unwrap();
            text.push_str(std::str::from_utf8(&part).unwrap());
        }
        text
    };
    let whole = read("", "event: Complete").await;
    assert!(whole.contains("Hello to you."), "{whole}");
    remote.session(&key).ask("and again").await.unwrap();
    let last = remote.session(&key).history(None, None).await.unwrap();
    let complete = whole.split("\n\n").find(|event| event.contains("event: Complete")).unwrap();
    let cursor = complete.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let rest = read(cursor, &last.items.last().unwrap().cursor).await;
    assert!(rest.contains("And again.") && !rest.contains("Hello to you."), "{rest}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_follow_a_fleet_counts_what_runs_and_waits() {
    let server = TestServer::builder().script(ASKS).api().start().await;
    let remote = RemoteServer::at(&server.url(""), "admin").unwrap();
    let new = CreateSession { cwd: server.cwd(), ..CreateSession::default() };
    let session = remote.session(remote.start(&new).await.unwrap().key);
    let mut example = Example::start("follow_a_fleet", &[], &server);
    example.until("here: 0 running, 0 waiting");
    session.prompt("look around").await.unwrap();
    example.until("here: 0 running, 1 waiting");
}
