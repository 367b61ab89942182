//! A transport that plays a recording of the CLI's output.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use tidings_protocol::json::{Raw, Text, write_string};
use tidings_protocol::messages::OriginKind;
use tidings_protocol::{Frame, FrameRef, Kind};
use tokio::sync::{mpsc, watch};

use super::{Exit, Incoming, Lines, Link, Outgoing, Stop, Transport};
use crate::error::{Error, ErrorKind};
use crate::limits::{EVENTS_AHEAD_MAX, REPLAY_PATIENCE};
use crate::options::Launch;

/// A transport that plays a recording of the CLI's output, at the pace of the reader.
///
/// It reads the recordings of `tidings rehearse record`, and plain lines of a CLI's output. A prompt starts
/// the next turn; requests get their recorded reply, or an empty one; a recorded request of the CLI waits for
/// its answer. The ids of recorded prompts and requests are replaced by those of the live host.
///
/// The host must send the prompts of the recording: a session whose host ends its input before, or sends
/// more, ends with an error of the kind [`ErrorKind::Recording`]. Closing it is always possible.
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

/// Inserts prompts into a recording without the host's side: before the first frame, and between two results
/// unless the CLI began the turn of the second by itself.
fn with_prompts(steps: Vec<Step>) -> Vec<Step> {
    let mut prompted: VecDeque<bool> = steps.iter().filter_map(result_is_prompted).skip(1).collect();
    let mut all = vec![Step::Prompt { uuid: None }];
    for step in steps {
        let ends = result_is_prompted(&step).is_some();
        all.push(step);
        if ends && prompted.pop_front() == Some(true) {
            all.push(Step::Prompt { uuid: None });
        }
    }
    all
}

/// True for a result of a turn that a prompt began; `None` for other steps.
fn result_is_prompted(step: &Step) -> Option<bool> {
    let Step::Out(line) = step else { return None };
    let frame = FrameRef::from_json(line).ok().filter(|frame| frame.kind() == Kind::Result)?;
    let origin = frame.get("origin").and_then(|origin| origin.get("kind")?.text());
    Some(origin.is_none_or(|kind| kind.get() != OriginKind::TASK_NOTIFICATION.as_str()))
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
                incoming: incoming.into(),
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
        match FrameRef::from_json(line) {
            Ok(frame) => self.send_frame(line, frame),
            Err(_) => Box::pin(async { Ok(()) }),
        }
    }

    fn send_frame<'a>(&'a mut self, _: &'a str, frame: FrameRef<'a>) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let input = self.input.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
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
    let recorded = steps.iter().filter(|step| matches!(step, Step::Prompt { .. })).count();
    let mut turns = RecordedTurns { recorded, ..RecordedTurns::default() };
    let mut ids = PromptIds::default();
    let mut exit = None;
    for step in steps {
        let question = match step {
            Step::Prompt { uuid } => {
                match turns.prompt(&mut inputs, &events).await {
                    Ok(live) => ids.pair(uuid, live),
                    Err(end) => return drop(events.send(end).await),
                }
                continue;
            }
            Step::Exit(how) => {
                exit = Some(how);
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
                turns.running &= kind != Some(Kind::Result);
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
    drop(events.send(turns.end(exit, &mut inputs, &events).await).await);
}

/// The turns of a recording, as far as they were played.
#[derive(Debug, Default)]
struct RecordedTurns {
    /// The number of prompts in the recording.
    recorded: usize,
    /// The number of prompts that were played.
    played: usize,
    /// True if a prompt was played, and no result since.
    running: bool,
}

impl RecordedTurns {
    /// Waits for the host to send the next prompt, and returns its id; or the event that ends the session.
    async fn prompt(
        &mut self,
        inputs: &mut watch::Receiver<HostInput>,
        events: &mpsc::Sender<Incoming>,
    ) -> Result<String, Incoming> {
        let wanted = self.played + 1;
        let has_it = |input: &HostInput| input.prompts.len() >= wanted;
        let sent = inputs.borrow().prompts.len();
        let missing = || {
            let message = format!(
                "The recording goes on with prompt {wanted} of {}, which was not sent",
                self.recorded
            );
            Error::new(
                ErrorKind::Recording,
                message,
                "send all prompts of the recording, or cut it after a turn",
            )
        };
        if self.played > 0 && sent < wanted && !self.running {
            drop(events.send(Incoming::Waiting(missing())).await);
        }
        let waiting = inputs.wait_for(has_it);
        // While a turn runs, the host may wait for its end instead of sending the prompt.
        let arrived = if self.running {
            tokio::time::timeout(REPLAY_PATIENCE, waiting).await.is_ok_and(|arrived| arrived.is_ok())
        } else {
            waiting.await.is_ok()
        };
        if !arrived {
            // A host that has sent nothing wants nothing.
            let end = if sent == 0 { Incoming::Exit(Exit::code(0)) } else { Incoming::Failed(missing()) };
            return Err(end);
        }
        (self.played, self.running) = (wanted, true);
        Ok(inputs.borrow().prompts.get(wanted - 1).cloned().unwrap_or_default())
    }

    /// The event that ends the session after the last step.
    async fn end(
        &self,
        exit: Option<Exit>,
        inputs: &mut watch::Receiver<HostInput>,
        events: &mpsc::Sender<Incoming>,
    ) -> Incoming {
        let over = |message: String| Error::new(ErrorKind::Recording, message, "record a longer session");
        match exit {
            // The recorded process ended in the middle of a turn.
            Some(exit) if self.running => return Incoming::Exit(exit),
            None if self.running => {
                return Incoming::Failed(over("The recording ends in the middle of a turn".to_owned()));
            }
            _ => {}
        }
        drop(events.send(Incoming::Waiting(over("The recording has ended".to_owned()))).await);
        // A process that only waits for input ends when its input does.
        match inputs.wait_for(|input| input.prompts.len() > self.played).await {
            Ok(_) => Incoming::Failed(over(format!("The recording ends after prompt {}", self.recorded))),
            Err(_) => Incoming::Exit(exit.unwrap_or(Exit::code(0))),
        }
    }
}

/// A stop handle without effect: the end of the input ends a replay.
#[derive(Debug)]
struct NoStop;

impl Stop for NoStop {}
