//! A `claude` that misbehaves.

use std::time::{Duration, Instant};

use tidings::messages::Message;
use tidings::transport::Exit;
use tidings::{Client, ErrorKind, Event, query};

use crate::stage::{PATIENCE, Stage, eventually, is_alive};

const HELLO: &str = "\n[[turn]]\ntext = \"Hello!\"\nrepeat = true\n";

/// F7: lines that are not JSON cost no frame.
#[tokio::test]
async fn f7_noise_on_stdout_is_told_and_costs_nothing() {
    let fault = "[[fault]]\nkind = \"noise\"\nat_frame = 2\ntext = \"Debugger attached.\"\n";
    let stage = Stage::playing(&format!("{fault}{HELLO}"));
    let client = Client::connect(stage.options()).await.unwrap();
    let mut events = client.subscribe();
    let end = client.send("hi").await.unwrap().finish().await.unwrap();
    assert_eq!(end.text(), "Hello!");
    client.close().await.unwrap();
    let mut noise = Vec::new();
    while let Some(event) = events.next().await {
        if let Event::Noise { text } = event {
            noise.push(text);
        }
    }
    assert_eq!(noise, ["Debugger attached."]);
}

/// F1: a line that is too long is reported, and the session goes on.
#[tokio::test]
async fn f1_a_line_that_is_too_long_is_told_and_the_session_lives() {
    let fault = "[[fault]]\nkind = \"long_line\"\nat_frame = 2\nlength = 300000\n";
    let stage = Stage::playing(&format!("{fault}{HELLO}"));
    let client = Client::connect(stage.options().line_bytes_max(200_000)).await.unwrap();
    let mut events = client.subscribe();
    assert_eq!(client.send("hi").await.unwrap().finish().await.unwrap().text(), "Hello!");
    client.close().await.unwrap();
    let mut told = 0;
    while let Some(event) = events.next().await {
        told += u64::from(matches!(event, Event::Oversized { bytes, .. } if bytes >= 300_000));
    }
    assert_eq!(told, 1);
}

/// F25, F57: an exit in the middle of a frame ends the turn with the exit code.
#[tokio::test]
async fn f57_death_in_the_middle_of_a_frame_is_told() {
    for (fault, exit) in [
        ("kind = \"partial\"\nat_frame = 5\nbytes = 20", None),
        ("kind = \"exit\"\nat_frame = 5\ncode = 7", Some(Exit::code(7))),
        ("kind = \"signal\"\nat_frame = 5\ncode = 9", Some(Exit::signal(9))),
    ] {
        let stage = Stage::playing(&format!("[[fault]]\n{fault}\n{HELLO}"));
        let client = Client::connect(stage.options()).await.unwrap();
        let error = client.send("hi").await.unwrap().finish().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exit, "{error:?}");
        if exit.is_some() {
            assert_eq!(error.exit(), exit);
        }
    }
}

/// F25: a megabyte on stderr blocks nothing, and the last line is in the error.
#[tokio::test]
async fn f25_a_flood_of_complaints_does_not_block() {
    let script = "i=0; while [ $i -lt 2000 ]; do printf '%0500d\\n' 0 >&2; i=$((i+1)); done; echo 'the reason' >&2; exit 3";
    let stage = Stage::running(script);
    let error = Client::connect(stage.options()).await.unwrap_err();
    assert_eq!((error.kind(), error.exit()), (ErrorKind::Exit, Some(Exit::code(3))));
    assert!(error.to_string().contains("the reason"), "{error}");
    assert!(error.stderr().len() <= 64 << 10);
}

/// F28, F37: a CLI that ignores the end of its input and SIGTERM is killed, reaped, and its result kept.
#[tokio::test]
async fn f28_a_stubborn_cli_is_killed_and_reaped() {
    let faults = "[[fault]]\nkind = \"ignore_eof\"\n[[fault]]\nkind = \"ignore_term\"\n";
    let stage = Stage::playing(&format!("{faults}{HELLO}"));
    let client = Client::connect(stage.options().close_grace(Duration::from_millis(200))).await.unwrap();
    let pid = client.pid().unwrap();
    let end = client.send("hi").await.unwrap().finish().await.unwrap();
    let start = Instant::now();
    assert_eq!(client.close().await.unwrap(), Exit::signal(9));
    assert!(start.elapsed() < PATIENCE);
    assert_eq!(end.text(), "Hello!");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "it was not waited for");
}

/// F32, F37: streams that are dropped in the middle leave no process and no zombie.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f32_dropped_streams_leave_nothing() {
    let stage = Stage::playing(
        "[[turn]]\ntext = \"a long story\"\npace = { chunk_chars = 1, chunk_delay_ms = 50 }\nrepeat = true\n",
    );
    let mut pids = Vec::new();
    for _ in 0..8 {
        let options = stage.options().close_grace(Duration::from_millis(50)).include_partial_messages();
        let mut answer = query("go", options);
        while let Some(message) = answer.next().await {
            if let Message::System(_) = message.unwrap() {
                break;
            }
        }
        drop(answer);
    }
    let client = Client::connect(stage.options().close_grace(Duration::from_millis(50))).await.unwrap();
    pids.extend(client.pid());
    drop(client);
    tokio::task::spawn_blocking(move || {
        eventually("no children are left", PATIENCE, || {
            pids.iter().all(|pid| !is_alive(*pid)) && children_of(std::process::id()).is_empty()
        });
    })
    .await
    .unwrap();
}

/// The children of a process, including zombies, except the watchdog shell.
fn children_of(parent: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_ascii_whitespace().collect::<Vec<_>>());
        let is_child = fields.is_some_and(|fields| fields.get(1) == Some(&parent.to_string().as_str()));
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if is_child && !command.contains("tidings-watchdog") {
            children.push(pid);
        }
    }
    children
}

/// A runtime that is dropped with open sessions still ends their processes.
#[test]
fn f38_a_runtime_that_is_dropped_takes_its_processes_along() {
    let stage = Stage::playing(HELLO);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = runtime.block_on(Client::connect(stage.options())).unwrap();
    let pid = client.pid().unwrap();
    assert!(is_alive(pid));
    drop(runtime);
    drop(client);
    eventually("the process is gone", PATIENCE, || !is_alive(pid));
}

/// D7: an answer longer than the line limit ends its turn and its query with an error, and the session goes
/// on.
#[tokio::test]
async fn d7_a_result_longer_than_a_line_may_be_is_an_error() {
    let script =
        format!("[[turn]]\ntext = \"{}\"\n[[turn]]\ntext = \"short\"\nrepeat = true\n", "x".repeat(300_000));
    let stage = Stage::playing(&script);
    let options = stage.options().line_bytes_max(200_000);
    let client = tidings::Client::connect(options.clone()).await.unwrap();
    let turn = client.send("a long one").await.unwrap();
    let error = tokio::time::timeout(PATIENCE, turn.finish()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
    let turn = client.send("a short one").await.unwrap();
    assert_eq!(tokio::time::timeout(PATIENCE, turn.finish()).await.unwrap().unwrap().text(), "short");
    client.close().await.unwrap();

    let mut answer = tidings::query("a long one", options);
    let mut errors = 0;
    while let Some(message) = tokio::time::timeout(PATIENCE, answer.next()).await.unwrap() {
        errors += usize::from(message.is_err());
    }
    assert_eq!(errors, 1);
}
