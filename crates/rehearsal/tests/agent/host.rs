//! A host: starts the stand-in, writes to it and reads what it says.

use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_rehearsal::agent::{self, Ids, Signal, States, World};
use tidings_rehearsal::script::Script;

/// No rehearsal keeps a host waiting this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the SDKs pass.
pub(crate) const STREAMING: &[&str] = &[
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
];

/// The stand-in at work.
pub(crate) struct Host {
    stdin: Option<PipeWriter>,
    lines: Receiver<String>,
    errors: JoinHandle<String>,
    agent: JoinHandle<i32>,
    signals: SyncSender<Signal>,
    raised: Receiver<i32>,
    /// Removes the directory when the host is dropped, unless it belongs to somebody else.
    owned: Option<TempDir>,
}

/// What a host hears while it waits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Line(String),
    /// There will be no more.
    End,
    Nothing,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stderr: String,
    /// What was still to be read.
    pub(crate) rest: Vec<String>,
    pub(crate) raised: Option<i32>,
}

impl Host {
    pub(crate) fn start(args: &[&str], script: &str) -> Host {
        let owned = TempDir::new().unwrap();
        let mut host = Host::start_in(owned.path(), args, script, 10, 1);
        host.owned = Some(owned);
        host
    }

    pub(crate) fn start_in(dir: &Path, args: &[&str], script: &str, retries_max: u32, seed: u64) -> Host {
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let (stdin_reader, stdin) = std::io::pipe().unwrap();
        let (stdout, stdout_writer) = std::io::pipe().unwrap();
        let (mut stderr, stderr_writer) = std::io::pipe().unwrap();
        let (signals, signal_receiver) = sync_channel(4);
        let (raise, raised) = sync_channel(1);
        let world = World {
            stderr: Box::new(stderr_writer),
            ids: Ids::seeded(seed),
            pid: 1,
            retries_max,
            states: States::Hidden,
            signals: Some(signal_receiver),
            raise: Box::new(move |signal| raise.send(signal).unwrap()),
            ..World::new(stdin_reader, stdout_writer, "/home/dev/demo", dir)
        };
        let (sender, lines) = sync_channel(1 << 16);
        drop(thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                sender.send(line.unwrap()).unwrap();
            }
        }));
        let errors = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let agent = thread::spawn(move || agent::run(&args, script, world));
        Host { stdin: Some(stdin), lines, errors, agent, signals, raised, owned: None }
    }

    pub(crate) fn raw(&mut self, line: &str) {
        // The stand-in may be gone, which the test will notice by what it reads.
        drop(self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()));
    }

    pub(crate) fn send(&mut self, frame: &Value) {
        self.raw(&frame.to_string());
    }

    pub(crate) fn user(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null}));
    }

    pub(crate) fn control(&mut self, id: &str, request: &Value) {
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    pub(crate) fn answer(&mut self, request: &Value, response: &Value) {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.send(&json!({"type": "control_response", "response": response}));
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.signals.send(signal).unwrap();
    }

    /// The next line; nothing when there will be none.
    pub(crate) fn line(&self) -> Option<String> {
        match self.line_within(PATIENCE) {
            Heard::Line(line) => Some(line),
            Heard::End => None,
            Heard::Nothing => panic!("the stand-in says nothing"),
        }
    }

    /// What comes within this time.
    pub(crate) fn line_within(&self, patience: Duration) -> Heard {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Heard::Line(line),
            Err(RecvTimeoutError::Disconnected) => Heard::End,
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
        }
    }

    pub(crate) fn frame(&self) -> Value {
        let line = self.line().expect("the stand-in has ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Frames up to and with the next one of this type.
    pub(crate) fn until(&self, kind: &str) -> Vec<Value> {
        let mut frames = vec![self.frame()];
        while frames.last().unwrap()["type"] != kind {
            frames.push(self.frame());
        }
        frames
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        self.close();
        self.wait()
    }

    pub(crate) fn wait(mut self) -> Ended {
        let place = self.owned.take();
        let mut rest = Vec::new();
        while let Some(line) = self.line() {
            rest.push(line);
        }
        let code = self.agent.join().unwrap();
        drop(place);
        Ended { code, stderr: self.errors.join().unwrap(), rest, raised: self.raised.try_recv().ok() }
    }
}
