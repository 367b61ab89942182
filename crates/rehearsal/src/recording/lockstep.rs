use std::collections::{HashMap, VecDeque};

use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, Text, write_string};

use super::{Direction, Event};

/// Plays the CLI's side of a recording to a live host.
///
/// Where the recorded host said something, the live one must too before the recording goes on. Ids that the recorded
/// host gave its requests are exchanged for those of the live one, so that it recognises the answers.
#[derive(Debug)]
pub struct Lockstep {
    events: VecDeque<Event>,
    ids: HashMap<String, String>,
    last_ms: f64,
    wait: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Write a line after a pause.
    Write {
        /// Milliseconds to wait, at recorded speed.
        after_ms: f64,
        /// The line, without its end.
        line: String,
        /// To the error output rather than to stdout.
        stderr: bool,
    },
    /// Wait for a line of the host and hand it to [`Lockstep::heard`].
    Listen,
    /// End with this exit code.
    Exit(i32),
}

impl Lockstep {
    /// A player at the beginning of a recording. Without `wait` the host need not say anything.
    pub fn new(events: Vec<Event>, wait: bool) -> Self {
        Lockstep { events: events.into(), ids: HashMap::new(), last_ms: 0.0, wait }
    }

    /// What to do next.
    pub fn next_action(&mut self) -> Action {
        loop {
            match self.events.front() {
                Some(Event::Line { direction: Direction::In, .. }) if self.wait => return Action::Listen,
                Some(Event::Line { direction: Direction::In, .. }) => {
                    self.events.pop_front();
                }
                Some(Event::Line { t_ms, direction, text }) => {
                    let after_ms = (t_ms - self.last_ms).max(0.0);
                    let action = Action::Write {
                        after_ms,
                        line: self.with_live_ids(text),
                        stderr: *direction == Direction::Stderr,
                    };
                    self.last_ms = *t_ms;
                    self.events.pop_front();
                    return action;
                }
                Some(Event::Exit { code, .. }) => return Action::Exit(code.unwrap_or(1)),
                None => return Action::Exit(0),
            }
        }
    }

    /// The live host said this in place of what the recorded one said.
    pub fn heard(&mut self, line: &str) {
        let Some(Event::Line { t_ms, direction: Direction::In, text }) = self.events.pop_front() else {
            return;
        };
        self.last_ms = t_ms;
        if let (Some(recorded), Some(live)) = (request_id(&text), request_id(line)) {
            self.ids.insert(recorded, live);
        }
    }

    /// A recorded answer under the id that the live host is waiting for.
    fn with_live_ids(&self, line: &str) -> String {
        let Some(recorded) = answered_id(line) else { return line.to_owned() };
        let Some(current) = self.ids.get(&recorded) else { return line.to_owned() };
        let (mut from, mut to) = (String::new(), String::new());
        write_string(&recorded, &mut from);
        write_string(current, &mut to);
        line.replacen(&from, &to, 1)
    }
}

fn request_id(line: &str) -> Option<String> {
    let frame = FrameRef::from_json(line).ok()?;
    let asks = frame.type_name()? == "control_request";
    asks.then(|| frame.request_id().map(Into::into)).flatten()
}

fn answered_id(line: &str) -> Option<String> {
    let frame = FrameRef::from_json(line).ok()?;
    let response =
        frame.get("response").filter(|_| frame.type_name().as_deref() == Some("control_response"))?;
    response.get("request_id").and_then(Raw::text).map(Text::get).map(Into::into)
}
