use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tidings_protocol::json::{Raw, Text, write_string};
use tidings_protocol::{Frame, FrameRef, Kind};
use tokio::sync::{mpsc, watch};

use super::{Exit, Incoming, Lines, Link, Outgoing, Stop, Transport};
use crate::error::{Error, ErrorKind};
use crate::limits::EVENTS_AHEAD_MAX;
use crate::options::Launch;

/// A transport that plays a recording of the CLI's output, at the pace of the reader.
///
/// It reads the recordings of `tidings rehearse record`, and plain lines of a CLI's output. A prompt starts
/// the next turn; requests get their recorded reply, or an empty one; a recorded request of the CLI waits for
/// its answer. The ids of recorded prompts and requests are replaced by those of the live host.
#[derive(Debug, Clone)]
pub struct Replay {
    steps: Vec<Step>,
}

/// A step of a recording.
#[derive(Debug, Clone)]
enum Step {
    /// The CLI wrote this line.
    Out(String),
    /// The host sent a prompt, with this id if it had one.
    Prompt { uuid: Option<String> },
    /// The host sent a control request, with this id.
    Request { id: String, subtype: String },
    /// The process ended.
    Exit(Exit),
}

impl Replay {
    /// Reads a recording from a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| {
            let message = format!("Failed to read `{}`", path.display());
            Error::new(ErrorKind::NotFound, message, "check the path").caused_by(source)
        })?;
        Ok(Replay::parse(&text))
    }

    /// Parses a recording. Lines that are not records are played unchanged.
    pub fn parse(text: &str) -> Self {
        let mut steps: Vec<Step> =
            text.lines().filter(|line| !line.trim().is_empty()).filter_map(step).collect();
        if !steps.iter().any(|step| matches!(step, Step::Prompt { .. })) {
            steps = with_prompts(steps);
        }
        Replay { steps }
    }
}

/// Parses a line of a recording, or takes it as a line of the CLI.
fn step(line: &str) -> Option<Step> {
    let plain = || Some(Step::Out(line.to_owned()));
    let Ok(raw) = Raw::parse(line) else { return plain() };
    let Some(direction) = raw.get("dir").and_then(Raw::text).map(Text::get) else { return plain() };
    let text = raw.get("frame").map(|frame| frame.as_str().to_owned());
    let text = text.or_else(|| Some(raw.get("raw")?.text()?.get().into_owned()));
    match &*direction {
        "out" => text.map(Step::Out),
        "in" => {
            let frame = Frame::from_json(&text?).ok()?;
            match frame.kind() {
                Kind::User => Some(Step::Prompt { uuid: frame.uuid().map(Into::into) }),
                Kind::ControlRequest => Some(Step::Request {
                    id: frame.request_id()?.into_owned(),
                    subtype: frame.subtype()?.into_owned(),
                }),
                _ => None,
            }
        }
        "exit" => {
            let code = raw.get("rc").and_then(Raw::i64).and_then(|code| i32::try_from(code).ok());
            Some(Step::Exit(Exit { code, signal: None }))
        }
        _ => None,
    }
}

/// Inserts prompts into a recording without the host's side: before the first frame and after each result but
/// the last.
fn with_prompts(steps: Vec<Step>) -> Vec<Step> {
    let results = steps.iter().filter(|step| is_result(step)).count();
    let mut left = results;
    let mut all = vec![Step::Prompt { uuid: None }];
    for step in steps {
        let ends = is_result(&step);
        all.push(step);
        if ends {
            left -= 1;
            if left > 0 {
                all.push(Step::Prompt { uuid: None });
            }
        }
    }
    all
}

fn is_result(step: &Step) -> bool {
    matches!(step, Step::Out(line) if FrameRef::from_json(line).is_ok_and(|frame| frame.kind() == Kind::Result))
}

impl Transport for Replay {
    fn open(self: Box<Self>, launch: Launch) -> BoxFuture<'static, Result<Link, Error>> {
        Box::pin(async move {
            let (events, incoming) = mpsc::channel(EVENTS_AHEAD_MAX);
            let (input, inputs) = watch::channel(HostInput::default());
            let answers = Arc::new(Mutex::new(Answers::of(&self.steps)));
            let outgoing = ReplayInput { input: Some(input), answers, events: events.clone() };
            drop(tokio::spawn(play(self.steps, inputs, events, Lines::new(launch.line_bytes_max))));
            Ok(Link {
                incoming,
                outgoing: Box::new(outgoing),
                stop: Arc::new(NoStop),
                program: None,
                resumed: None,
            })
        })
    }
}

/// The messages of the host so far.
#[derive(Debug, Clone, Default)]
struct HostInput {
    /// The ids of the prompts, in order; empty for a prompt without an id.
    prompts: Vec<String>,
    answers: Vec<String>,
}

/// Pairs of recorded prompt ids and the live prompt ids that replace them.
#[derive(Debug, Default)]
struct PromptIds {
    pairs: Vec<(String, String)>,
    /// Live prompts whose recorded id is not known yet, since the recording lacks the host's side or the
    /// prompt's id.
    unpaired: VecDeque<String>,
}

impl PromptIds {
    fn pair(&mut self, recorded: Option<String>, live: String) {
        match recorded {
            _ if live.is_empty() => {}
            Some(recorded) => self.pairs.push((recorded, live)),
            None => self.unpaired.push_back(live),
        }
    }

    /// Replaces recorded prompt ids in a line by the live ones.
    fn replace_ids(&mut self, line: &str) -> String {
        for recorded in named_prompts(line) {
            if !self.pairs.iter().any(|(known, _)| *known == recorded)
                && let Some(live) = self.unpaired.pop_front()
            {
                self.pairs.push((recorded, live));
            }
        }
        let mut line = line.to_owned();
        for (recorded, live) in &self.pairs {
            let (mut from, mut to) = (String::new(), String::new());
            write_string(recorded, &mut from);
            write_string(live, &mut to);
            if line.contains(&from) {
                line = line.replace(&from, &to);
            }
        }
        line
    }
}

/// The ids of prompts that a line of the CLI names.
fn named_prompts(line: &str) -> Vec<String> {
    let Ok(frame) = FrameRef::from_json(line) else { return Vec::new() };
    let many = frame.get("user_message_uuids").into_iter().flat_map(Raw::items);
    let one = ["user_message_uuid", "command_uuid"].into_iter().filter_map(|key| frame.get(key));
    many.chain(one).filter_map(Raw::text).map(|id| id.get().into_owned()).collect()
}

/// The recorded replies, by the subtype of their request.
#[derive(Debug, Default)]
struct Answers(VecDeque<(String, String)>);

impl Answers {
    fn of(steps: &[Step]) -> Self {
        let asked: Vec<(&String, &String)> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Request { id, subtype } => Some((id, subtype)),
                _ => None,
            })
            .collect();
        let answers = steps.iter().filter_map(|step| {
            let Step::Out(line) = step else { return None };
            let frame =
                FrameRef::from_json(line).ok().filter(|frame| frame.kind() == Kind::ControlResponse)?;
            let id = frame.request_id()?;
            let (_, subtype) = asked.iter().find(|(other, _)| **other == id)?;
            Some(((*subtype).clone(), line.clone()))
        });
        Answers(answers.collect())
    }

    /// The next recorded reply to this subtype, with the live request's id.
    fn take(&mut self, id: &str, subtype: &str) -> String {
        use tidings_protocol::control::ControlResponse;
        use tidings_protocol::messages::Message;
        let found =
            self.0.iter().position(|(other, _)| other == subtype).and_then(|index| self.0.remove(index));
        let recorded = found.and_then(|(_, line)| Frame::from_json(&line).ok()).map(|frame| frame.message());
        let response = match recorded {
            Some(Message::ControlResponse { response, .. }) => response,
            _ => ControlResponse::ack(),
        };
        Message::ControlResponse { request_id: id.to_owned(), response }.to_line()
    }
}

/// Receives the lines of the host.
#[derive(Debug)]
struct ReplayInput {
    input: Option<watch::Sender<HostInput>>,
    answers: Arc<Mutex<Answers>>,
    events: mpsc::Sender<Incoming>,
}

impl Outgoing for ReplayInput {
    fn send<'a>(&'a mut self, line: &'a str) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let input = self.input.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
            let Ok(frame) = FrameRef::from_json(line) else { return Ok(()) };
            let id = frame.request_id().unwrap_or_default().into_owned();
            match frame.kind() {
                Kind::User => {
                    let uuid = frame.uuid().unwrap_or_default().into_owned();
                    input.send_modify(|input| input.prompts.push(uuid));
                }
                Kind::ControlResponse => input.send_modify(|input| input.answers.push(id)),
                Kind::ControlRequest => {
                    let subtype = frame.subtype().unwrap_or_default();
                    let answer = self.answers.lock().take(&id, &subtype);
                    if let Ok(frame) = Frame::from_json(&answer) {
                        drop(self.events.send(Incoming::from(frame)).await);
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn end(&mut self) -> BoxFuture<'_, io::Result<()>> {
        self.input = None;
        Box::pin(async { Ok(()) })
    }
}

async fn play(
    steps: Vec<Step>,
    mut inputs: watch::Receiver<HostInput>,
    events: mpsc::Sender<Incoming>,
    mut lines: Lines,
) {
    let mut prompts = 0;
    let mut ids = PromptIds::default();
    let mut exit = Exit::code(0);
    for step in steps {
        let question = match step {
            Step::Prompt { uuid } => {
                prompts += 1;
                // After a host has ended its input no more prompts come, and the rest is played.
                drop(inputs.wait_for(|input| input.prompts.len() >= prompts).await);
                let live = inputs.borrow().prompts.get(prompts - 1).cloned().unwrap_or_default();
                ids.pair(uuid, live);
                continue;
            }
            Step::Exit(how) => {
                exit = how;
                break;
            }
            Step::Request { .. } => continue,
            Step::Out(line) => {
                let line = ids.replace_ids(&line);
                let frame = FrameRef::from_json(&line).ok();
                let kind = frame.map(|frame| frame.kind());
                if kind == Some(Kind::ControlResponse) {
                    continue;
                }
                let question =
                    frame.filter(|_| kind == Some(Kind::ControlRequest)).and_then(|frame| frame.request_id());
                let question = question.map(std::borrow::Cow::into_owned);
                lines.push(line.as_bytes());
                lines.push(b"\n");
                while let Some(event) = lines.next() {
                    if events.send(event).await.is_err() {
                        return;
                    }
                }
                question
            }
        };
        if let Some(question) = question {
            drop(inputs.wait_for(|input| input.answers.contains(&question)).await);
        }
    }
    // A process that only waits for input ends when its input does.
    drop(inputs.wait_for(|_| false).await);
    drop(events.send(Incoming::Exit(exit)).await);
}

/// A stop handle without effect: the end of the input ends a replay.
#[derive(Debug)]
struct NoStop;

impl Stop for NoStop {}
