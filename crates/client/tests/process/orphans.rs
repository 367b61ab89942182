//! P6: whatever happens to a host, none of its processes survives for longer than ten seconds, and no other
//! process is touched.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tidings::options::Orphans;
use tidings::{Client, Options};

use crate::stage::{PATIENCE, Stage, eventually, example, is_alive};

/// The guaranteed time.
const PROMISED: Duration = Duration::from_secs(10);

/// A turn that runs for a minute, and a grandchild in its own session.
const BUSY: &str = r#"
[[fault]]
kind = "grandchild"
at_frame = 1
ms = 87654

[[turn]]
text = "a long story"
pace = { chunk_chars = 1, chunk_delay_ms = 5000 }
"#;

/// Processes with this text in their environment or on their command line.
fn with(word: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let mut text = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        text.extend(std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default());
        if String::from_utf8_lossy(&text).contains(word) && is_alive(pid) && pid != std::process::id() {
            found.push(pid);
        }
    }
    found
}

/// Starts a host whose children have this text in their environment.
fn host(stage: &Stage, word: &str) -> (Child, u32) {
    let mut command = Command::new(example("host"));
    command
        .arg(stage.program())
        .arg("go")
        .env("ORPHAN_TEST", word)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

/// F34, F35: a host is killed in the middle of a turn; its CLI and the grandchild in its own session are gone
/// within ten seconds, even when the CLI ignores SIGTERM, and an unrelated process of the same name survives.
#[test]
fn f34_nothing_outlives_a_host_that_is_killed() {
    let mut bystander = Command::new("setsid").args(["sleep", "87.654"]).spawn().unwrap();
    let stubborn = format!("[[fault]]\nkind = \"ignore_term\"\n{BUSY}");
    for (script, word) in [(BUSY, "f34-plain"), (&stubborn, "f34-stubborn")] {
        let word = format!("{word}-{}", std::process::id());
        let stage = Stage::playing(script);
        let (mut host, cli) = host(&stage, &word);
        eventually("the CLI and its grandchild run", PATIENCE, || with(&word).len() >= 3);
        assert!(is_alive(cli));
        host.kill().unwrap();
        host.wait().unwrap();
        eventually("all that the host started is gone", PROMISED, || with(&word).is_empty());
    }
    assert!(is_alive(bystander.id()), "a process that is none of ours was ended");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

/// F35: closing a session stops processes that its tools left in their own sessions; or keeps them, if the
/// options say so.
#[tokio::test]
async fn f35_closing_sweeps_what_tools_left_behind() {
    for orphans in [Orphans::Sweep, Orphans::Keep] {
        let word = format!("f35-{orphans:?}-{}", std::process::id());
        let stage = Stage::playing(
            "[[fault]]\nkind = \"grandchild\"\nat_frame = 1\nms = 76543\n[[turn]]\ntext = \"hi\"\n",
        );
        let client =
            Client::connect(stage.options().env("ORPHAN_TEST", &word).orphans(orphans)).await.unwrap();
        client.send("go").await.unwrap().finish().await.unwrap();
        eventually("the CLI and its grandchild run", PATIENCE, || with(&word).len() >= 2);
        client.close().await.unwrap();
        match orphans {
            Orphans::Keep => {
                let left = with(&word);
                assert_eq!(left.len(), 1, "the grandchild stays");
                Command::new("kill").arg(left[0].to_string()).status().unwrap();
            }
            _ => eventually("the grandchild is gone", Duration::from_secs(5), || with(&word).is_empty()),
        }
    }
}

/// F36: the CLI survives the end of the thread that requested the session.
#[test]
fn f36_a_cli_outlives_the_thread_that_started_it() {
    let stage = Stage::playing("[[turn]]\ntext = \"hi\"\n");
    let runtime = std::sync::Arc::new(tokio::runtime::Runtime::new().unwrap());
    let options: Options = stage.options();
    let starting = std::sync::Arc::clone(&runtime);
    let client =
        std::thread::spawn(move || starting.block_on(Client::connect(options)).unwrap()).join().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_alive(client.pid().unwrap()));
    let end = runtime.block_on(async { client.send("go").await.unwrap().finish().await.unwrap() });
    assert_eq!(end.text(), "hi");
}

/// A panic in the host's main task unwinds through the client, which closes.
#[test]
fn a_panic_in_the_host_ends_the_session() {
    let stage = Stage::playing(BUSY);
    let word = format!("panic-{}", std::process::id());
    let options = stage.options().env("ORPHAN_TEST", &word);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let panicked = runtime.block_on(async {
        tokio::spawn(async move {
            let client = Client::connect(options).await.unwrap();
            drop(client.send("go").await.unwrap());
            assert!(client.is_closed(), "a bug in the host");
        })
        .await
    });
    assert!(panicked.unwrap_err().is_panic());
    drop(runtime);
    eventually("all that the host started is gone", PROMISED, || with(&word).is_empty());
}
