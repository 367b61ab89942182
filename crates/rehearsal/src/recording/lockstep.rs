//! Plays the CLI's side of a recording in step with a live host.

use std::collections::{HashMap, VecDeque};

use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, Text, write_string};

use super::{Direction, Event};

/// Plays the CLI's side of a recording to a live host.
///
/// For each recorded line of the host, it waits for a line of the live host before it continues. Ids that the
/// recorded host gave its requests and prompts are replaced by those of the live one, so that the live host
/// recognises the responses and its turns. Lines that the recorded host wrote in a row may come in another
/// order.
#[derive(Debug)]
pub struct Lockstep {
    events: VecDeque<Event>,
    ids: HashMap<String, String>,
    /// Live lines that arrived before their turn in the recording.
    early: VecDeque<String>,
    last_ms: f64,
    wait: bool,
}

/// Next step of the player.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Write a line after a delay.
    Write {
        /// Delay in milliseconds, at recorded speed.
        after_ms: f64,
        /// The line, without its line end.
        line: String,
        /// True to write to stderr instead of stdout.
        stderr: bool,
    },
    /// Wait for a line of the host and pass it to [`Lockstep::accept_line`].
    ReadLine,
    /// Exit with this code.
    Exit(i32),
}

impl Lockstep {
    /// A player at the start of a recording. Without `wait` it does not wait for lines of the host.
    pub fn new(events: Vec<Event>, wait: bool) -> Self {
        Lockstep { events: events.into(), ids: HashMap::new(), early: VecDeque::new(), last_ms: 0.0, wait }
    }

    /// The next step.
    pub fn next_action(&mut self) -> Action {
        loop {
            match self.events.front() {
                Some(Event::Line { direction: Direction::In, text, .. }) if self.wait => {
                    let kind = Kind::of(text);
                    let Some(at) = self.early.iter().position(|line| Kind::of(line) == kind) else {
                        return Action::ReadLine;
                    };
                    if let Some(line) = self.early.remove(at) {
                        self.take(0, &line);
                    }
                }
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

    /// Accepts a line of the live host in place of a recorded one.
    pub fn accept_line(&mut self, line: &str) {
        let kind = Kind::of(line);
        let is_like = |event: &Event| matches!(event, Event::Line { direction: Direction::In, text, .. } if Kind::of(text) == kind);
        let side_by_side = self
            .events
            .iter()
            .take_while(|event| matches!(event, Event::Line { direction: Direction::In, .. }))
            .position(is_like);
        match side_by_side {
            Some(at) => self.take(at, line),
            None if self.events.iter().any(is_like) && self.early.len() < EARLY_MAX => {
                self.early.push_back(line.to_owned());
            }
            // The recorded host wrote no such line: it replaces the line expected here.
            None => self.take(0, line),
        }
    }

    /// Matches a live line with the recorded one at this index.
    fn take(&mut self, at: usize, line: &str) {
        let Some(Event::Line { t_ms, direction: Direction::In, text }) = self.events.remove(at) else {
            return;
        };
        self.last_ms = self.last_ms.max(t_ms);
        if let (Some(recorded), Some(live)) = (given_id(&text), given_id(line)) {
            self.ids.insert(recorded, live);
        }
    }

    /// A recorded line with the ids of the recorded host replaced by those of the live host.
    fn with_live_ids(&self, line: &str) -> String {
        let mut line = line.to_owned();
        let answered = answered_id(&line);
        for (recorded, live) in &self.ids {
            let (mut from, mut to) = (String::new(), String::new());
            write_string(recorded, &mut from);
            write_string(live, &mut to);
            if is_uuid(recorded) {
                if line.contains(&from) {
                    line = line.replace(&from, &to);
                }
            } else if answered.as_ref() == Some(recorded) {
                // A short id may also be a word of the response.
                line = line.replacen(&from, &to, 1);
            }
        }
        line
    }
}

/// Maximum number of early live lines. A host further ahead plays another conversation.
const EARLY_MAX: usize = 256;

/// Key for comparing lines of a host: the type, and the subtype or request id of a control line.
#[derive(Debug, PartialEq, Eq)]
struct Kind {
    name: Option<String>,
    subtype: Option<String>,
    answers: Option<String>,
}

impl Kind {
    fn of(line: &str) -> Self {
        let frame = FrameRef::from_json(line).ok();
        let name = frame.and_then(|frame| frame.type_name().map(Into::into));
        let asks = name.as_deref() == Some("control_request");
        let subtype = frame.filter(|_| asks).and_then(|frame| frame.subtype().map(Into::into));
        Kind { name, subtype, answers: answered_id(line) }
    }
}

/// Id that the host gave to a request or a prompt.
fn given_id(line: &str) -> Option<String> {
    let frame = FrameRef::from_json(line).ok()?;
    match &*frame.type_name()? {
        "control_request" => frame.request_id().map(Into::into),
        "user" => frame.uuid().map(Into::into),
        _ => None,
    }
}

/// True if an id is long enough to be replaced at any position.
fn is_uuid(id: &str) -> bool {
    id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn answered_id(line: &str) -> Option<String> {
    let frame = FrameRef::from_json(line).ok()?;
    let response =
        frame.get("response").filter(|_| frame.type_name().as_deref() == Some("control_response"))?;
    response.get("request_id").and_then(Raw::text).map(Text::get).map(Into::into)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const RECORDED: &str = "11111111-1111-4111-8111-111111111111";
    const LIVE: &str = "22222222-2222-4222-8222-222222222222";

    fn recording(lines: &[(&str, String)]) -> Vec<Event> {
        let mut text = String::new();
        for (dir, frame) in lines {
            let _ = writeln!(text, "{{\"t_ms\":0,\"dir\":\"{dir}\",\"frame\":{frame}}}");
        }
        Event::parse_all(&text).expect("a recording")
    }

    fn written(player: &mut Lockstep) -> String {
        match player.next_action() {
            Action::Write { line, .. } => line,
            other => panic!("{other:?}"),
        }
    }

    fn prompt(uuid: &str) -> String {
        format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"role":"user","content":"hi"}}}}"#)
    }

    /// D3: a host that tracks its turns by prompt ids recognises them in a recording of another run.
    #[test]
    fn d3_ids_of_prompts_are_exchanged() {
        let events = recording(&[
            ("in", prompt(RECORDED)),
            (
                "out",
                format!(r#"{{"type":"command_lifecycle","command_uuid":"{RECORDED}","state":"started"}}"#),
            ),
            ("out", format!(r#"{{"type":"result","user_message_uuids":["{RECORDED}"]}}"#)),
        ]);
        let mut player = Lockstep::new(events, true);
        assert_eq!(player.next_action(), Action::ReadLine);
        player.accept_line(&prompt(LIVE));
        for _ in 0..2 {
            let line = written(&mut player);
            assert!(line.contains(LIVE) && !line.contains(RECORDED), "{line}");
        }
        assert_eq!(player.next_action(), Action::Exit(0));
    }

    /// D3: a response and a prompt that were written in a row may come in reverse order, or early.
    #[test]
    fn d3_lines_of_the_host_may_come_in_another_order() {
        let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"q"}}"#;
        let events = recording(&[
            ("in", answer.to_owned()),
            ("in", prompt(RECORDED)),
            ("out", format!(r#"{{"type":"result","user_message_uuids":["{RECORDED}"]}}"#)),
            ("in", prompt("33333333-1111-4111-8111-111111111111")),
            ("out", r#"{"type":"result"}"#.to_owned()),
        ]);
        let mut player = Lockstep::new(events, true);
        player.accept_line(&prompt(LIVE));
        assert_eq!(player.next_action(), Action::ReadLine);
        // The second prompt comes before its turn in the recording.
        player.accept_line(&prompt("44444444-1111-4111-8111-111111111111"));
        assert_eq!(player.next_action(), Action::ReadLine);
        player.accept_line(answer);
        assert!(written(&mut player).contains(LIVE));
        assert_eq!(written(&mut player), r#"{"type":"result"}"#);
        assert_eq!(player.next_action(), Action::Exit(0));
    }
}
