//! State of one run, and its main loop.

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use serde_json::Value;
use tidings_protocol::TESTED_CLAUDE_CODE;

use super::args::{Args, Format};
use super::conversation::Conversation;
use super::expect::Expectations;
use super::faults::Faults;
use super::frames::Frame;
use super::hooks::Hooks;
use super::ids::Ids;
use super::input::{Input, listen};
use super::mcp::McpServer;
use super::output::Output;
use super::prompt::Prompt;
use super::result::AgentStats;
use super::stop::{Flow, Stop};
use super::tasks::Task;
use super::turn::TurnState;
use super::usage::{Ledger, Tokens};
use super::world::{States, World, timestamp};
use crate::player::Player;
use crate::script::{FaultKind, Script};

/// Default model.
pub(super) const MODEL: &str = "claude-opus-5-5";

/// One run of the stand-in.
pub(super) struct Session {
    pub(super) args: Args,
    pub(super) script: Script,
    pub(super) player: Player,
    pub(super) expect: Expectations,
    pub(super) out: Output,
    pub(super) err: Box<dyn Write + Send>,
    pub(super) inbox: Receiver<Input>,
    pub(super) clock: Box<dyn FnMut() -> u64 + Send>,
    pub(super) ids: Ids,
    pub(super) cwd: String,
    pub(super) config_dir: PathBuf,
    pub(super) pid: u32,
    pub(super) retries_max: u32,
    states: States,
    pub(super) id: String,
    pub(super) model: String,
    pub(super) mode: String,
    pub(super) title: Option<String>,
    pub(super) hooks: Hooks,
    pub(super) servers: Vec<McpServer>,
    /// Allow rules: from the command line, and from the host's answers.
    pub(super) rules: Vec<String>,
    pub(super) schema: Option<Value>,
    /// System prompts given by the host, in reading order.
    pub(super) system: Vec<String>,
    /// Agents defined by the host.
    pub(super) agents: serde_json::Map<String, Value>,
    pub(super) initialized: bool,
    pub(super) queue: VecDeque<Prompt>,
    /// Ids of accepted messages: a repeated one is not run twice.
    pub(super) taken: Vec<String>,
    pub(super) stdin_ended: bool,
    /// True if the run ends after this turn.
    pub(super) leaving: bool,
    pub(super) turn: Option<TurnState>,
    pub(super) turns: usize,
    /// Responses of the host that were not fetched yet.
    pub(super) replies: Vec<Value>,
    /// Ids of pending requests to the host.
    pub(super) open: Vec<String>,
    pub(super) conversation: Conversation,
    pub(super) ledger: Ledger,
    pub(super) context: Tokens,
    pub(super) stats: AgentStats,
    pub(super) tasks: Vec<Task>,
    pub(super) results: usize,
    pub(super) exit_code: i32,
    pub(super) started_ms: u64,
    pub(super) api_ms: u64,
}

impl Session {
    pub(super) fn new(args: Args, script: Script, mut world: World) -> Self {
        let format = args.output();
        let id = args.get("session-id").map_or_else(|| world.ids.uuid(), str::to_owned);
        let started_ms = (world.clock)();
        // A prompt on the command line replaces stdin.
        let stdin = if args.prompt.is_some() && !args.reads_frames() {
            Box::new(std::io::empty())
        } else {
            world.stdin
        };
        Session {
            player: Player::new(&script),
            expect: Expectations::new(&script.expects),
            out: Output::new(world.stdout, format, Faults::new(&script.faults)),
            err: world.stderr,
            inbox: listen(stdin, world.signals),
            clock: world.clock,
            ids: world.ids,
            cwd: world.cwd.to_string_lossy().into_owned(),
            config_dir: world.config_dir,
            pid: world.pid,
            retries_max: world.retries_max,
            states: world.states,
            id,
            model: args.get("model").filter(|name| *name != "default").map_or(MODEL, full_name).to_owned(),
            mode: args.mode(),
            title: args.get("title").or(args.get("name")).map(str::to_owned),
            hooks: Hooks::default(),
            servers: McpServer::from_config(args.values("mcp-config")),
            rules: args.list("allowed-tools"),
            schema: args.get("json-schema").and_then(|schema| serde_json::from_str(schema).ok()),
            system: system_prompts(&args),
            agents: args
                .get("agents")
                .and_then(|agents| serde_json::from_str(agents).ok())
                .unwrap_or_default(),
            initialized: false,
            queue: VecDeque::new(),
            taken: Vec::new(),
            stdin_ended: false,
            leaving: false,
            turn: None,
            turns: 0,
            replies: Vec::new(),
            open: Vec::new(),
            conversation: Conversation::default(),
            ledger: Ledger::default(),
            context: Tokens::default(),
            stats: AgentStats::default(),
            tasks: Vec::new(),
            results: 0,
            exit_code: 0,
            started_ms,
            api_ms: 0,
            args,
            script,
        }
    }

    /// Plays to the end; the error is the reason of an early end.
    pub(super) fn play(&mut self) -> Flow {
        self.out.begin()?;
        if self.args.has("verbose") {
            self.out.kept = Some(Vec::new());
        }
        self.open_session()?;
        if !self.args.reads_frames() {
            self.take_plain_prompt()?;
        }
        loop {
            if let Some(prompts) = self.next_prompts() {
                self.run_turn(&prompts)?;
            } else if !self.tasks.is_empty() {
                self.finish_task()?;
            } else if self.leaving || (self.stdin_ended && !self.out.faults.lasts(FaultKind::IgnoreEof)) {
                return Ok(());
            } else {
                self.pump(None)?;
            }
            if self.leaving && self.turn.is_none() {
                return Ok(());
            }
        }
    }

    /// Writes the end of the run and returns the exit code.
    pub(super) fn close(&mut self, ended: Flow) -> i32 {
        self.close_transcript();
        let code = match ended {
            Ok(()) | Err(Stop::Interrupted) => self.exit_code,
            Err(Stop::Exit(code)) => code,
            Err(Stop::Killed(signal)) => 128 + signal,
        };
        match self.expect.report() {
            Some(report) => {
                self.print_error(report.trim_end());
                if code == 0 { 1 } else { code }
            }
            None => code,
        }
    }

    /// Sends a frame to the host; `session_id` and `uuid` are added if absent.
    pub(super) fn emit(&mut self, frame: Frame) -> Flow<String> {
        let frame = if frame.has("session_id") { frame } else { frame.with("session_id", self.id.as_str()) };
        let frame = if frame.has("uuid") { frame } else { frame.with("uuid", self.ids.uuid()) };
        let uuid = frame.get("uuid").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.out.frame(frame)?;
        Ok(uuid)
    }

    /// Notifies the host of the session state: running, idle or waiting for the user.
    pub(super) fn emit_state(&mut self, state: &str) -> Flow {
        if self.states == States::Hidden {
            return Ok(());
        }
        let for_sdk = (self.states == States::ForSdk).then_some(true);
        let frame =
            Frame::system("session_state_changed").with("state", state).maybe("sdk_host_only", for_sdk);
        self.emit(frame).map(drop)
    }

    /// Writes a message to stderr.
    pub(super) fn print_error(&mut self, text: &str) {
        // A closed stderr is ignored.
        drop(writeln!(self.err, "{text}"));
    }

    pub(super) fn now(&mut self) -> u64 {
        (self.clock)()
    }

    pub(super) fn stamp(&mut self) -> String {
        timestamp(self.now())
    }

    pub(super) fn version(&self) -> String {
        self.script.agent.version.clone().unwrap_or_else(|| TESTED_CLAUDE_CODE.to_owned())
    }

    pub(super) fn streams(&self) -> bool {
        self.args.has("include-partial-messages")
    }

    /// Reads stdin as a plain prompt.
    fn take_plain_prompt(&mut self) -> Flow {
        let mut text = self.args.prompt.clone().unwrap_or_default();
        while self.args.prompt.is_none() {
            match self.inbox.recv() {
                Ok(Input::Line(line)) => {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&line);
                }
                Ok(Input::End) | Err(_) => break,
                Ok(Input::Signal(_)) => return Err(Stop::Exit(143)),
            }
        }
        self.stdin_ended = true;
        if text.is_empty() {
            self.print_error(
                "Error: Input must be provided either through stdin or as a prompt argument when using --print",
            );
            return Err(Stop::Exit(1));
        }
        self.queue.push_back(Prompt::plain(&text));
        Ok(())
    }

    pub(super) fn format(&self) -> Format {
        self.args.output()
    }
}

/// System prompts of the command line; an unreadable file is empty.
fn system_prompts(args: &Args) -> Vec<String> {
    let texts =
        ["system-prompt", "append-system-prompt"].iter().filter_map(|key| args.get(key)).map(str::to_owned);
    let files = ["system-prompt-file", "append-system-prompt-file"].iter().filter_map(|key| args.get(key));
    texts.chain(files.map(|path| std::fs::read_to_string(path).unwrap_or_default())).collect()
}

/// Full name of a model given by short name.
pub(super) fn full_name(name: &str) -> &str {
    match name {
        "opus" | "default" | "best" => MODEL,
        "sonnet" => "claude-sonnet-5-5",
        "haiku" => "claude-haiku-5-5",
        "fable" => "claude-fable-5-2",
        other => other,
    }
}
