//! A server that tests kill, with the hosts and the agents that outlive it.
//!
//! `mortal_server server FOLDER` runs a session, sends one prompt after the other and allows every request,
//! until FOLDER has a file `stop`; then it writes the number of prompts to `done`. `mortal_server alone
//! FOLDER` runs a session without a host, sends one prompt and waits for its end. `mortal_server served
//! FOLDER` serves the api, with notifications to push services of this machine, and writes its address to
//! `address`. `mortal_server host …` is a
//! host, and `mortal_server claude …` a stand-in for the agent, which gives no sign while there is a file
//! `mute` beside its script. The tests kill it and check what it left.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tidings_agent::UiMessage;
use tidings_api::{Choice, CreateSession, Input, PermissionAnswer, PermissionScope, ServerPhase};
use tidings_journal::broadcast::{Broadcast, Delivery, SubscribeOptions};
use tidings_journal::{Epoch, Opening, SqliteJournal};
use tidings_sessions::hosts::Hosts;
use tidings_sessions::{Caller, Config, Sessions};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // A failed test shows the warnings.
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    match words.as_slice() {
        ["server", folder] => {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(server(Path::new(folder)))
        }
        ["alone", folder] => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(alone(Path::new(folder)))
        }
        ["served", folder] => {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(served(Path::new(folder)))
        }
        ["host", folder] => {
            use std::os::fd::AsFd as _;
            let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            Ok(runtime
                .block_on(tidings::host::run(tidings::host::HostFolder::new(*folder), socket.into()))?)
        }
        ["claude", script, config_dir, ..] => claude(script, config_dir, &arguments[3..]),
        _ => Err("mortal_server server FOLDER".into()),
    }
}

/// Sends a prompt to an agent that ends with this process.
async fn alone(folder: &Path) -> Result<(), Failure> {
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(7) };
    let broadcast = Broadcast::new(Arc::new(SqliteJournal::open(folder.join("journal.db"), &opening)?));
    let mut config = Config::default();
    config.claude = Some(std::env::current_exe()?);
    let path = |name: &str| folder.join(name).display().to_string();
    config.claude_args = vec!["claude".to_owned(), path("script.toml"), path("config")];
    let sessions = Sessions::open(broadcast, config).await?;
    let cwd = folder.display().to_string();
    let new = CreateSession { cwd, prompt: Some("first".to_owned()), ..CreateSession::default() };
    sessions.create(&Caller::admin("ada"), new).await?;
    std::future::pending().await
}

/// Serves the api until it is killed.
async fn served(folder: &Path) -> Result<(), Failure> {
    use tidings_bridge::auth::{Auth, Settings};
    use tidings_bridge::notify::{Notifier, PushKeys};
    use tidings_bridge::server::{Exposure, Listen, Server, choose_tls};
    use tidings_sessions::secret::Random;
    choose_tls();
    let sessions = sessions(folder).await?;
    let data = folder.join("data");
    let auth = Auth::open(Settings::new(&data, Random::system(), sessions.config().clock.clone()))?;
    let address = Some(([127, 0, 0, 1], 0).into());
    let bound = Listen { address, tls: None, exposure: Exposure::Guarded, unix: None }.bind()?;
    let address = bound.address().ok_or("no address")?;
    let notifier = Notifier::new(Vec::new(), Some(format!("http://{address}")))?;
    let notifier = notifier.web_push_on_loopback(PushKeys::open(&data)?)?;
    // Readers never see half of it.
    std::fs::write(folder.join("address.new"), address.to_string())?;
    std::fs::rename(folder.join("address.new"), folder.join("address"))?;
    Server::new(sessions, auth).notifier(notifier).run(bound, std::future::pending()).await?;
    Ok(())
}

/// Sessions whose agents run under hosts.
async fn sessions(folder: &Path) -> Result<Sessions, Failure> {
    let me = std::env::current_exe()?;
    let opening = Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(7) };
    let broadcast = Broadcast::new(Arc::new(SqliteJournal::open(folder.join("journal.db"), &opening)?));
    let mut config = Config::default();
    let lease = Duration::from_secs(20);
    let args = vec!["host".into()];
    let hosts = folder.join("hosts");
    config.hosts = Some(Hosts::open(hosts, &me, args, lease, config.clock.clone(), config.ids.clone())?);
    config.claude = Some(me);
    let path = |name: &str| folder.join(name).display().to_string();
    config.claude_args = vec!["claude".to_owned(), path("script.toml"), path("config")];
    Ok(Sessions::open(broadcast, config).await?)
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
