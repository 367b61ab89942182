//! A stand-in for the agent, in this process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;
use serde_json::Value;
use tidings::options::{Arg, Launch};
use tidings::transport::{Exit, Link, Transport, memory};
use tidings_rehearsal::agent::{self, Ids, World};
use tidings_rehearsal::script::Script;
use tidings_sessions::Carrier;
use tokio::runtime::Handle;

/// Three turns of text.
pub(crate) const HELLO: &str = r#"
    [[turn]]
    text = "Hello to you."
    [[turn]]
    text = "And again."
    [[turn]]
    text = "A third time."
"#;

/// A question with two options, and the turn after it.
pub(crate) const QUESTION: &str = r#"
    [[turn]]
    [[turn.block]]
    tool = "AskUserQuestion"
    input = { questions = [{ question = "Which colour?", header = "Colour", multiSelect = false, options = [{ label = "Red", description = "warm" }, { label = "Blue", description = "cold" }] }] }
    ask = true
    result = "Blue"
    [[turn]]
    text = "Blue it is."
"#;

/// Plays a script in place of a process.
#[derive(Debug, Clone)]
pub(crate) struct StandIn {
    script: String,
    config_dir: PathBuf,
    received: Received,
    /// The word of a prompt at which it ends, without having read the prompt.
    dies_at: Option<&'static str>,
    /// True if its results are those of an old version.
    is_old: bool,
}

/// Messages that stand-ins received.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    /// The number of answers to their requests.
    pub(crate) answers: Arc<AtomicUsize>,
    /// The messages of users, in the order in which they came.
    pub(crate) prompts: Arc<Mutex<Vec<Value>>>,
}

impl StandIn {
    /// Plays a script, and stores its sessions in a folder.
    pub(crate) fn new(script: &str, config_dir: &Path) -> Self {
        let (script, config_dir) = (script.to_owned(), config_dir.to_owned());
        StandIn { script, config_dir, received: Received::default(), dies_at: None, is_old: false }
    }

    /// Records what it receives.
    pub(crate) fn recording(self, received: &Received) -> Self {
        StandIn { received: received.clone(), ..self }
    }

    /// Is dead when a prompt with this word comes.
    pub(crate) fn dying_at(self, word: &'static str) -> Self {
        StandIn { dies_at: Some(word), ..self }
    }

    /// Writes as old versions of the CLI do: the total cost of each process begins at zero, and no result has
    /// the cost of its turn.
    pub(crate) fn of_old_version(self) -> Self {
        StandIn { is_old: true, ..self }
    }

    /// Creates one stand-in for each start of an agent.
    pub(crate) fn carrier(self) -> Carrier {
        Carrier::new(move |_| Box::new(self.clone()))
    }
}

/// A line as an old version writes it; `before` is the total cost with which the process began.
fn as_old(line: &str, before: &mut Option<f64>) -> String {
    let mut frame: Value = serde_json::from_str(line).unwrap();
    let of_turn = frame.as_object_mut().unwrap().remove("model_usage_since_last_result");
    let Some(Value::Object(models)) = of_turn else { return line.to_owned() };
    let total = frame["total_cost_usd"].as_f64().unwrap();
    let cost: f64 = models.values().filter_map(|model| model["costUSD"].as_f64()).sum();
    frame["total_cost_usd"] = (total - *before.get_or_insert(total - cost)).into();
    frame.to_string()
}

impl Transport for StandIn {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, tidings::Error>> {
        let (memory, mut peer) = memory::pair();
        let (stdin, mut to_stdin) = std::io::pipe().unwrap();
        let (from_stdout, stdout) = std::io::pipe().unwrap();
        let text = |arg: &Arg| match arg {
            Arg::Text(text) => text.clone(),
            Arg::Path(path) => path.display().to_string(),
            Arg::File { contents, .. } => contents.clone(),
            other => panic!("not played: {other:?}"),
        };
        let arguments: Vec<String> = launch.args.iter().map(text).collect();
        let cwd = launch.cwd.clone().unwrap();
        let (voice, runtime) = (peer.voice(), Handle::current());
        let (received, dies_at, is_old) = (self.received.clone(), self.dies_at, self.is_old);
        tokio::spawn(async move {
            while let Some(line) = peer.line().await {
                let is_prompt = line.contains(r#""type":"user""#);
                if dies_at.is_some_and(|word| is_prompt && line.contains(word)) {
                    break;
                }
                if line.contains(r#""type":"control_response""#) {
                    received.answers.fetch_add(1, Ordering::Relaxed);
                }
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                if message["type"] == "user" {
                    received.prompts.lock().unwrap().push(message);
                }
                if writeln!(to_stdin, "{line}").is_err() {
                    break;
                }
            }
        });
        let playing = std::thread::spawn(move || {
            let world = World { ids: Ids::random(), ..World::new(stdin, stdout, cwd, self.config_dir) };
            agent::run(&arguments, Script::parse(&self.script).unwrap(), world)
        });
        std::thread::spawn(move || {
            let mut before = None;
            for line in BufReader::new(from_stdout).lines() {
                let line = line.unwrap();
                let line = if is_old { as_old(&line, &mut before) } else { line };
                runtime.block_on(voice.say(&line));
            }
            let mut exit = Exit::default();
            exit.code = playing.join().ok();
            runtime.block_on(voice.exit(exit));
        });
        Box::new(memory).open(launch)
    }
}
