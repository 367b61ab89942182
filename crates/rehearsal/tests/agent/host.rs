//! A host that starts the stand-in, writes to it and reads its output.

use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidings_rehearsal::agent::{self, Ids, Signal, States, World};
use tidings_rehearsal::script::Script;

/// Timeout of the tests; no rehearsal takes this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Flags that the SDKs pass.
pub(crate) const STREAMING: &[&str] = &[
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
];

/// A running stand-in.
pub(crate) struct Host {
    stdin: Option<PipeWriter>,
    lines: Receiver<String>,
    errors: JoinHandle<String>,
    agent: JoinHandle<i32>,
    signals: SyncSender<Signal>,
    raised: Receiver<i32>,
    /// Removes the directory when the host is dropped, unless the caller owns it.
    owned: Option<TempDir>,
}

/// Result of waiting for a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    Line(String),
    /// The output has ended.
    End,
    Nothing,
}

/// End of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stderr: String,
    /// Lines that were not read yet.
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
        // The stand-in may have ended, which shows in what the test reads.
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

    /// The next line; `None` at the end of the output.
    pub(crate) fn line(&self) -> Option<String> {
        match self.line_within(PATIENCE) {
            ReadOutcome::Line(line) => Some(line),
            ReadOutcome::End => None,
            ReadOutcome::Nothing => panic!("the stand-in is silent"),
        }
    }

    /// The next line within this time.
    pub(crate) fn line_within(&self, patience: Duration) -> ReadOutcome {
        match self.lines.recv_timeout(patience) {
            Ok(line) => ReadOutcome::Line(line),
            Err(RecvTimeoutError::Disconnected) => ReadOutcome::End,
            Err(RecvTimeoutError::Timeout) => ReadOutcome::Nothing,
        }
    }

    pub(crate) fn frame(&self) -> Value {
        let line = self.line().expect("the stand-in has ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Frames up to and including the next one of this type.
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
