//! Servers that tests start as processes of their own, with the hosts and the agents that outlive them.
//!
//! - `child_server server FOLDER` runs a session, sends one prompt after the other and allows every request,
//!   until FOLDER has a file `stop`; then it writes the number of prompts to `done`.
//! - `child_server alone FOLDER` runs a session without a host, sends one prompt and waits for its end.
//! - `child_server served FOLDER` serves the API, with notifications to push services of this machine, and
//!   writes its address to `address`.
//! - `child_server publishing FOLDER` serves one session that publishes as much as requested, and prints its
//!   address. Each line of its input is a number of KiB to publish, or `event` and the length of one event in
//!   bytes; when they are stored it prints `done`. It ends with its input.
//! - `child_server host …` is a host, and `child_server claude …` a stand-in for the agent, which gives no
//!   sign while there is a file `mute` beside its script.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tidings_agent::{Clock, UiMessage};
use tidings_api::{Choice, CreateSession, Input, PermissionAnswer, PermissionScope, ServerPhase};
use tidings_bridge::auth::{Auth, Settings};
use tidings_bridge::notify::{Notifier, PushKeys};
use tidings_bridge::server::{Bound, Exposure, Listen, Server, choose_tls};
use tidings_journal::broadcast::{Broadcast, Delivery, SubscribeOptions};
use tidings_journal::{Class, Epoch, EventDraft, Journal, Key, Kind, NewSession, Opening, SqliteJournal};
use tidings_sessions::hosts::Hosts;
use tidings_sessions::secret::Random;
use tidings_sessions::{Caller, Config, Sessions};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The length of one published event.
const EVENT_KIB: usize = 16;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // A failed test shows the warnings.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    match words.as_slice() {
        ["server", folder] => two_threads()?.block_on(server(Path::new(folder))),
        ["alone", folder] => one_thread()?.block_on(alone(Path::new(folder))),
        ["served", folder] => two_threads()?.block_on(served(Path::new(folder))),
        ["publishing", folder] => two_threads()?.block_on(publishing(Path::new(folder))),
        ["host", folder] => {
            use std::os::fd::AsFd as _;
            let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
            let host = tidings::host::run(tidings::host::HostFolder::new(*folder), socket.into());
            Ok(one_thread()?.block_on(host)?)
        }
        ["claude", script, config_dir, ..] => claude(script, config_dir, &arguments[3..]),
        _ => Err("child_server server FOLDER".into()),
    }
}

fn one_thread() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn two_threads() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Sends a prompt to an agent that ends with this process.
async fn alone(folder: &Path) -> Result<(), Failure> {
    let sessions = Sessions::open(Broadcast::new(journal(folder)?), config(folder)?).await?;
    let cwd = folder.display().to_string();
    let new = CreateSession { cwd, prompt: Some("first".to_owned()), ..CreateSession::default() };
    sessions.create(&Caller::admin("ada"), new).await?;
    std::future::pending().await
}

/// Serves the api until it is killed.
async fn served(folder: &Path) -> Result<(), Failure> {
    choose_tls();
    let sessions = sessions(folder).await?;
    let (auth, bound, address) = listen(folder, sessions.config().clock.clone())?;
    let notifier = Notifier::new(Vec::new(), Some(format!("http://{address}")))?;
    let notifier = notifier.web_push_on_loopback(PushKeys::open(&folder.join("data"))?)?;
    // Readers never see half of it.
    std::fs::write(folder.join("address.new"), address.to_string())?;
    std::fs::rename(folder.join("address.new"), folder.join("address"))?;
    Server::new(sessions, auth).notifier(notifier).run(bound, std::future::pending()).await?;
    Ok(())
}

/// Credentials in the data folder, and a port of this machine.
fn listen(folder: &Path, clock: Clock) -> Result<(Auth, Bound, SocketAddr), Failure> {
    let auth = Auth::open(Settings::new(folder.join("data"), Random::system(), clock))?;
    let address = Some(([127, 0, 0, 1], 0).into());
    let bound = Listen { address, tls: None, exposure: Exposure::Guarded, unix: None }.bind()?;
    let address = bound.address().ok_or("there is no port")?;
    auth.reached_at(format!("http://{address}"));
    Ok((auth, bound, address))
}

fn journal(folder: &Path) -> Result<Arc<dyn Journal>, Failure> {
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(7) };
    Ok(Arc::new(SqliteJournal::open(folder.join("journal.db"), &opening)?))
}

/// Agents are this program, too.
fn config(folder: &Path) -> Result<Config, Failure> {
    let mut config = Config::default();
    let path = |name: &str| folder.join(name).display().to_string();
    config.claude = Some(std::env::current_exe()?);
    config.claude_args = vec!["claude".to_owned(), path("script.toml"), path("config")];
    Ok(config)
}

/// Sessions whose agents run under hosts.
async fn sessions(folder: &Path) -> Result<Sessions, Failure> {
    let (me, lease, args) = (std::env::current_exe()?, Duration::from_secs(20), vec!["host".into()]);
    let mut config = config(folder)?;
    let (hosts, clock, ids) = (folder.join("hosts"), config.clock.clone(), config.ids.clone());
    config.hosts = Some(Hosts::open(hosts, &me, args, lease, clock, ids)?);
    Ok(Sessions::open(Broadcast::new(journal(folder)?), config).await?)
}

/// Serves a session whose events the input asks for.
async fn publishing(folder: &Path) -> Result<(), Failure> {
    let (auth, bound, address) = listen(folder, Clock::system())?;
    let journal = journal(folder)?;
    let sessions = Sessions::open(Broadcast::new(Arc::clone(&journal)), Config::default()).await?;
    let key = Key::new("session")?;
    journal.create(NewSession::new(key.clone(), "/", Timestamp::UNIX_EPOCH)).await?;
    let fence = journal.claim(&key).await?;
    writeln!(std::io::stdout(), "{address}")?;
    let publish = async {
        let event: Arc<[u8]> = serde_json::to_vec(&"x".repeat(EVENT_KIB << 10))?.into();
        let mut lines = lines();
        while let Some(line) = lines.recv().await {
            let (body, times) = if let Some(bytes) = line.strip_prefix("event ") {
                // As the agent's own events are, so that the phone dialect translates it.
                let (content, session_id) = ("x".repeat(bytes.parse()?), 1);
                (serde_json::to_vec(&UiMessage::Display { content, session_id })?.into(), 1)
            } else {
                (Arc::clone(&event), line.parse::<usize>()?.div_ceil(EVENT_KIB))
            };
            for _ in 0..times {
                let kind = Kind::new("Display")?;
                let draft = EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, kind, Arc::clone(&body));
                journal.append(&key, fence, vec![draft]).await?;
            }
            writeln!(std::io::stdout(), "done")?;
        }
        Ok::<_, Failure>(())
    };
    tokio::select! {
        ended = Server::new(sessions, auth).run(bound, std::future::pending()) => Ok(ended?),
        published = publish => published,
    }
}

/// The lines of the input, until it ends.
fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

async fn server(folder: &Path) -> Result<(), Failure> {
    let sessions = sessions(folder).await?;
    let new = CreateSession {
        cwd: folder.display().to_string(),
        client_id: Some("new".to_owned()),
        ..CreateSession::default()
    };
    let caller = Caller::admin("ada");
    std::io::stdout().write_all(b"ready\n")?;
    let key = sessions.create(&caller, new).await?.0.key;
    drop(tokio::spawn(allow_everything(sessions.clone(), caller.clone(), key.clone())));
    talk(&sessions, &caller, &key, folder.to_owned()).await
}

/// Sends one prompt after the other. Prompts that were sent before are repeated without effect.
async fn talk(sessions: &Sessions, caller: &Caller, key: &str, folder: PathBuf) -> Result<(), Failure> {
    let (_, mut events) = sessions.subscribe(key, SubscribeOptions::default()).await?;
    let mut prompts = 0_u64;
    loop {
        if folder.join("stop").exists() {
            let view = sessions.find(key).await?;
            // Prompts of an earlier server are answered first.
            if view.state == ServerPhase::Idle && view.queued == 0 && view.totals.turns <= prompts {
                std::fs::write(folder.join("done"), prompts.to_string())?;
                std::future::pending::<()>().await;
            }
        }
        prompts += 1;
        let input = Input {
            content: format!("prompt {prompts}"),
            client_id: Some(format!("p{prompts}")),
            ..Input::default()
        };
        sessions.input(caller, key, input).await?;
        loop {
            let Delivery::Event(event) = events.next().await? else { return Err("cut off".into()) };
            if let Ok(UiMessage::Complete { .. }) = serde_json::from_slice(&event.body) {
                break;
            }
        }
    }
}

async fn allow_everything(sessions: Sessions, caller: Caller, key: String) -> Result<(), Failure> {
    loop {
        tokio::time::sleep(Duration::from_millis(5)).await;
        for waiting in sessions.permissions(None).await? {
            let id = waiting.details.tool_use_id;
            let answer = PermissionAnswer {
                decision: Choice::Allow,
                scope: PermissionScope::Once,
                updated_input: None,
                message: None,
                interrupt: false,
                digest: None,
                client_id: Some(format!("yes:{id}")),
            };
            drop(sessions.answer_permission(&caller, &key, &id, answer).await);
        }
    }
}

/// Plays a script. Its ids are random, as those of the real agent are.
fn claude(script: &str, config_dir: &str, arguments: &[String]) -> Result<(), Failure> {
    use tidings_rehearsal::agent::{self, Ids, World};
    let folder = Path::new(script).parent().ok_or("a script lies in a folder")?;
    if folder.join("mute").exists() {
        return mute(folder);
    }
    let cwd = std::env::current_dir()?;
    let world = World {
        stderr: Box::new(std::io::stderr()),
        ids: Ids::random(),
        pid: std::process::id(),
        ..World::new(std::io::stdin(), std::io::stdout(), cwd, config_dir)
    };
    let script = tidings_rehearsal::script::Script::parse(&std::fs::read_to_string(script)?)?;
    match agent::run(arguments, script, world) {
        0 => Ok(()),
        code => Err(format!("the agent ended with {code}").into()),
    }
}

/// Starts, and then gives no sign. Its input is appended to a file `heard`.
fn mute(folder: &Path) -> Result<(), Failure> {
    for line in std::io::stdin().lines() {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        if line["type"] == "control_request" {
            let response =
                serde_json::json!({"subtype": "success", "request_id": line["request_id"], "response": {}});
            let reply = serde_json::json!({"type": "control_response", "response": response});
            writeln!(std::io::stdout(), "{reply}")?;
        } else if line["type"] == "user" {
            let mut heard =
                std::fs::OpenOptions::new().append(true).create(true).open(folder.join("heard"))?;
            writeln!(heard, "{}", line["message"]["content"])?;
        }
    }
    Ok(())
}
