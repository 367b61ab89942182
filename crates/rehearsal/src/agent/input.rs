//! Input: lines from stdin and signals, in one queue.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde_json::Value;

use super::surrogates::replace_lone_surrogates;
use super::world::Signal;

/// Maximum number of queued lines. A host that writes more blocks, as with the real pipe.
const WAITING_MAX: usize = 256;

/// One input.
#[derive(Debug)]
pub(super) enum Input {
    /// A line of stdin, without its line end.
    Line(String),
    /// Stdin is closed.
    End,
    /// The process received a signal.
    Signal(Signal),
}

/// Starts reading stdin and signals.
///
/// The threads end with stdin and with the sender of the signals; they are not joined, since a host may keep
/// stdin open without end.
pub(super) fn listen(stdin: Box<dyn Read + Send>, signals: Option<Receiver<Signal>>) -> Receiver<Input> {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    if let Some(signals) = signals {
        let sender = sender.clone();
        drop(thread::spawn(move || {
            for signal in signals {
                if sender.send(Input::Signal(signal)).is_err() {
                    break;
                }
            }
        }));
    }
    drop(thread::spawn(move || read_lines(stdin, &sender)));
    receiver
}

fn read_lines(stdin: Box<dyn Read + Send>, sender: &SyncSender<Input>) {
    let mut stdin = BufReader::new(stdin);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdin.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
                if sender.send(Input::Line(text.to_owned())).is_err() {
                    return;
                }
            }
        }
    }
    // The session may be over already.
    drop(sender.send(Input::End));
}

/// Parses a line as JSON; the error is the CLI's message on stderr before it exits with 1.
pub(super) fn parse(line: &str) -> Result<Option<Value>, String> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    let error_line = |kind: &str, what: &str| {
        format!("Error parsing streaming input line (type={kind}, {} chars): {what}", line.chars().count())
    };
    match serde_json::from_str::<Value>(&replace_lone_surrogates(line)) {
        Ok(Value::Null) => Err(error_line("unknown", "TypeError")),
        // Arrays, strings and numbers are valid JSON without meaning here.
        Ok(value) => Ok(value.is_object().then_some(value)),
        Err(_) => {
            let kind = line.split_once("\"type\":\"").and_then(|(_, rest)| rest.split_once('"'));
            Err(error_line(kind.map_or("unknown", |(kind, _)| kind), "SyntaxError"))
        }
    }
}
