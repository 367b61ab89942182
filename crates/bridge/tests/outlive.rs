//! Servers that are killed at any moment, and agents that survive them (F61, F103, P3, P5).
//!
//! `TIDINGS_SOAK_KILLS` sets the number of kills; `make soak` sets it. `TIDINGS_SOAK_SEED` repeats a run.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tidings_agent::UiMessage;
use tidings_api::{CommandRequest, QueueState, ServerPhase, SessionCommand};
use tidings_journal::broadcast::SubscribeOptions;
use tidings_journal::{Handle, SessionName, SqliteJournal};
use tidings_rehearsal::Chance;
use tidings_sessions::Sessions;
use tokio::task::JoinHandle;

use crate::test_server::*;

/// Turns of a script: more than one run plays.
const TURNS: usize = 400;

/// A turn that requests a tool, and tells a story when it is allowed.
fn script() -> String {
    let mut script = String::new();
    for turn in 1..=TURNS {
        writeln!(
            script,
            "[[turn]]\n[[turn.block]]\ntool = \"Bash\"\nid = \"toolu_{turn}\"\ninput = {{ command = \"true\" }}\nask = true\n\
             result = \"ok {turn}\"\n[[turn]]\ntext = \"{}\"\npace = {{ chunk_chars = 3, chunk_delay_ms = 4 }}",
            story(turn)
        )
        .unwrap();
    }
    script
}

fn story(turn: usize) -> String {
    format!(
        "Story {turn}: there was once a server that was killed in the middle of every sentence, and no client noticed."
    )
}

/// A server; it is killed when it is dropped.
pub(crate) struct ServerProcess(pub(crate) Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A program of this crate's `examples/`, which cargo builds beside the tests.
pub(crate) fn child_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/child_server");
    assert!(program.exists(), "run `cargo build -p tidings-bridge --all-features --examples` first");
    program
}

pub(crate) fn server(kind: &str, folder: &Path) -> ServerProcess {
    let log = std::fs::OpenOptions::new().append(true).create(true).open(folder.join("log")).unwrap();
    let mut command = Command::new(child_program());
    command.arg(kind).arg(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    ServerProcess(command.spawn().unwrap())
}

pub(crate) fn agents(folder: &Path) -> Vec<u32> {
    let word = folder.join("script.toml").display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&word)
    })
    .collect()
}

/// The agent keeps running while its server is killed again and again: it does not die, no event is lost,
/// doubled or out of order, every prompt is answered once, every permission is requested once and answered
/// once, and the text of each turn is the script's.
#[tokio::test]
async fn f103_an_agent_outlives_servers_that_are_killed() {
    let kills = number("TIDINGS_SOAK_KILLS", 50);
    let seed = number("TIDINGS_SOAK_SEED", 1);
    let mut chance = Chance::new(seed);
    let mut left = kills;
    let mut turns = 0;
    while left > 0 {
        let now = left.min(100);
        turns += kill_again_and_again(now, &mut chance, &format!("seed {seed}, {left} kills before the end"))
            .await;
        left -= now;
    }
    assert!(turns > 0, "no turn in {kills} kills tells nothing");
}

async fn kill_again_and_again(kills: u64, chance: &mut Chance, what: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("script.toml"), script()).unwrap();
    let mut agent = None;
    for kill in 0..kills {
        let mut child = server("server", folder);
        // Every second server may finish its start first, however long that takes.
        if kill % 2 == 1 {
            let mut ready = [0; 6];
            child.0.stdout.take().unwrap().read_exact(&mut ready).unwrap();
        }
        std::thread::sleep(Duration::from_millis(chance.below(400)));
        drop(child);
        let now = agents(folder);
        assert!(now.len() <= 1, "{what}, kill {kill}: {now:?}\n{}", complaints(folder));
        let before = *agent.get_or_insert(now.first().copied());
        assert!(
            before.is_none() || now.first().copied() == before,
            "{what}, kill {kill}: the agent {before:?} has died: {now:?}\n{}",
            complaints(folder)
        );
        agent = Some(now.first().copied());
    }
    std::fs::write(folder.join("stop"), "").unwrap();
    let mut child = server("server", folder);
    let began = Instant::now();
    while !folder.join("done").exists() {
        assert!(child.0.try_wait().unwrap().is_none(), "{what}: {}", complaints(folder));
        assert!(
            began.elapsed() < PATIENCE,
            "{what}: {}\n{}",
            events(folder).await.join("\n"),
            complaints(folder)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(child);
    let turns: usize = std::fs::read_to_string(folder.join("done")).unwrap().parse().unwrap();
    check(folder, turns, what).await;
    // The host ends its agent when it is released; the test waits for it before it removes the folder.
    for pid in agents(folder) {
        drop(Command::new("kill").arg(pid.to_string()).status());
    }
    turns
}

/// F103: after a server is killed between handing a prompt over and the agent's first sign, it is unknown if
/// the agent took the prompt. The next server reports that, and resends the prompt only on a user's request.
#[tokio::test]
async fn f103_a_prompt_of_which_nobody_knows_is_in_doubt_and_not_said_again() {
    let builder = TestServer::builder().journal(TestJournal::File);
    let folder = builder.root();
    std::fs::write(folder.join("script.toml"), "[[turn]]\ntext = \"Hello.\"\nrepeat = true\n").unwrap();
    std::fs::write(folder.join("mute"), "").unwrap();
    let mut child = server("alone", &folder);
    let heard = || std::fs::read_to_string(folder.join("heard")).unwrap_or_default();
    let began = Instant::now();
    while !heard().ends_with('\n') {
        assert!(child.0.try_wait().unwrap().is_none(), "{}", complaints(&folder));
        assert!(began.elapsed() < PATIENCE, "{}", complaints(&folder));
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(child);
    std::fs::remove_file(folder.join("mute")).unwrap();
    assert_eq!(heard().lines().count(), 1, "{}", heard());
    // The agent can have received it before the server recorded that, and it was accepted before either.
    let before = read(&folder).await;
    let accepted = before.iter().filter_map(|event| match event {
        UiMessage::PromptQueued(queued) => Some(queued.text.as_str()),
        _ => None,
    });
    assert_eq!(accepted.collect::<Vec<_>>(), ["first"]);
    let shown = prompts_in(&before);
    assert!(shown.is_empty() || shown == ["first"], "{shown:?}");

    let ada = me();
    let queue = async |sessions: &Sessions| {
        let queue = sessions.queue("1").await.unwrap().into_iter();
        queue.map(|queued| (queued.id, queued.content, queued.state)).collect::<Vec<_>>()
    };
    let sessions = next_server(&builder).await;
    assert_eq!(sessions.find("1").await.unwrap().state, ServerPhase::Interrupted);
    let doubtful = queue(&sessions).await;
    let [(id, content, QueueState::Uncertain)] = &doubtful[..] else { panic!("{doubtful:?}") };
    assert_eq!(content, "first");
    // Commands in the meantime have their own turns.
    let done = answered(&sessions, "/clear").await;
    sessions.command(&ada, "1", SessionCommand::Clear, CommandRequest::default()).await.unwrap();
    done.await.unwrap();
    let ask = async |sessions: &Sessions, text: &str| {
        let done = answered(sessions, text).await;
        sessions.input(&ada, "1", say(text)).await.unwrap();
        done.await.unwrap();
    };
    ask(&sessions, "second").await;
    assert_eq!(queue(&sessions).await, doubtful);
    sessions.drain().await;
    sessions.broadcast().journal().close().await.unwrap();
    drop(sessions);
    let sessions = next_server(&builder).await;
    assert_eq!(queue(&sessions).await, doubtful, "it is still in doubt");

    sessions.cancel(&ada, "1", id).await.unwrap();
    assert_eq!(queue(&sessions).await, []);
    ask(&sessions, content).await;
    sessions.drain().await;
    sessions.broadcast().journal().close().await.unwrap();
    drop(sessions);
    let all = read(&folder).await;
    assert_eq!(prompts_in(&all), [&shown[..], &["/clear", "second", "first"]].concat());
    let dropped = all.iter().filter_map(|event| match event {
        UiMessage::PromptDropped(dropped) => Some(&dropped.uuid),
        _ => None,
    });
    assert_eq!(dropped.collect::<Vec<_>>(), [id]);
}

fn prompts_in(events: &[UiMessage]) -> Vec<&str> {
    let prompts = events.iter().filter_map(|event| match event {
        UiMessage::UserPrompt(prompt) => Some(prompt.text.as_str()),
        _ => None,
    });
    prompts.collect()
}

/// Sessions in this process, without hosts.
async fn next_server(builder: &Builder) -> Sessions {
    let path = |name: &str| builder.folder.path().join(name).display().to_string();
    let builder = builder.clone().config(|config| {
        config.claude = Some(child_program());
        config.claude_args = vec!["claude".to_owned(), path("script.toml"), path("config")];
    });
    builder.start().await.sessions
}

/// Waits until a later prompt of the session is answered.
async fn answered(sessions: &Sessions, text: &str) -> JoinHandle<()> {
    let (head, text) = (sessions.find("1").await.unwrap().cursor.parse().unwrap(), text.to_owned());
    let mut events = TestSubscriber::new(sessions, "1", SubscribeOptions::after(Some(head))).await;
    tokio::spawn(async move {
        events.until(|event| matches!(event, UiMessage::UserPrompt(said) if said.text == text)).await;
        events.complete().await;
    })
}

/// Warnings of the servers and the hosts.
fn complaints(folder: &Path) -> String {
    let hosts = std::fs::read_dir(folder.join("hosts")).into_iter().flatten().flatten();
    let files = hosts.flat_map(|host| ["host.json", "log"].map(|name| host.path().join(name)));
    let mut all = String::new();
    for file in [folder.join("log")].into_iter().chain(files) {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| error.to_string());
        writeln!(all, "{}:\n{text}", file.display()).unwrap();
    }
    all
}

async fn read(folder: &Path) -> Vec<UiMessage> {
    let journal = SqliteJournal::open(folder.join("journal.db"), &opening()).unwrap();
    stored_events(&journal, &SessionName::Handle(Handle::new(1))).await
}

async fn events(folder: &Path) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        drop(std::fs::copy(folder.join(name), copy.path().join(name)));
    }
    read(copy.path()).await.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}

async fn check(folder: &Path, turns: usize, what: &str) {
    let all = read(folder).await;
    let mut texts = vec![String::new()];
    let mut prompts = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in &all {
        match event {
            UiMessage::TextChunk { text, .. } => texts.last_mut().unwrap().push_str(text),
            UiMessage::Complete { .. } => texts.push(String::new()),
            UiMessage::UserPrompt(prompt) => prompts.push(prompt.text.clone()),
            UiMessage::PermissionDetails(details) => {
                *counts.entry(format!("asked {}", details.tool_use_id)).or_default() += 1;
            }
            UiMessage::PermissionRequired { tool_use_id, .. } => {
                *counts.entry(format!("shown {tool_use_id}")).or_default() += 1;
            }
            UiMessage::PermissionResolved(resolved) => {
                *counts.entry(format!("{:?} {}", resolved.outcome, resolved.tool_use_id)).or_default() += 1;
            }
            _ => {}
        }
    }
    let expected: Vec<String> = (1..=turns).map(|turn| format!("prompt {turn}")).collect();
    assert_eq!(prompts, expected, "{what}");
    let expected: Vec<String> = (1..=turns).map(story).chain([String::new()]).collect();
    assert_eq!(texts, expected, "{what}");
    let expected: BTreeMap<String, usize> = (1..=turns)
        .flat_map(|turn| ["asked", "shown", "Allowed"].map(|word| (format!("{word} toolu_{turn}"), 1)))
        .collect();
    // A request that was answered before a crash could show it completely is not shown again.
    let odd: Vec<_> = expected
        .iter()
        .filter(|(name, _)| {
            let is_missing = !counts.contains_key(*name);
            !(is_missing && name.starts_with("shown")) && counts.get(*name) != Some(&1)
        })
        .collect();
    assert!(odd.is_empty(), "{what}: {odd:?}");
    assert!(counts.keys().all(|name| expected.contains_key(name)), "{what}: {counts:?}");
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
