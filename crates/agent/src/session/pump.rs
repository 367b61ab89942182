//! The one task of a session that makes events.

use std::sync::Arc;

use tidings::transport::Exit;
use tidings::{Client, Event, Kind};
use tidings_protocol::ui::UiMessage;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::DropGuard;

use super::asking::Asking;
use super::board::{self, Board};
use super::notes::{Inbox, Note};
use super::status;
use crate::fold::{self, Asked, Fold, Input, Settled};
use crate::limits::{CHECKPOINT_LINES, GATHER_TIME, TICK};
use crate::sink::{Checkpoint, EventSink, Step};

pub(super) struct Pump {
    pub(super) fold: Fold,
    /// Events of lines that end here or before were taken by an earlier process.
    pub(super) taken: u64,
    /// Where the last line ends that was taken in.
    pub(super) end: Option<u64>,
    /// Lines since the last checkpoint.
    pub(super) since_checkpoint: usize,
    pub(super) frames: tidings::Subscriber,
    pub(super) inbox: Inbox,
    pub(super) board: Board,
    pub(super) sink: Box<dyn EventSink>,
    pub(super) asking: Arc<Asking>,
    pub(super) status: Arc<status::Shared>,
    /// A guest: the session ends when those who use it are gone.
    pub(super) client: Client,
    /// Tells that the last event was taken.
    pub(super) over: DropGuard,
}

/// Nobody takes events any more.
struct Closed;

/// What events come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// A line of the agent.
    Line,
    /// Something that was said, asked or decided.
    Note,
    /// The time.
    Clock,
}

/// Whether more can come.
#[derive(PartialEq, Eq)]
enum Then {
    GoOn,
    Ended,
}

impl Pump {
    /// Runs until the agent has ended, or nobody takes events any more. In that case the session is closed: a session
    /// that nobody sees must not go on.
    pub(super) async fn run(mut self) {
        let mut show_at: Option<Instant> = None;
        let mut events = Vec::new();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let mut cause = Cause::Note;
            let then = tokio::select! {
                biased;
                // What was said and decided comes before what the agent makes of it, however late we are.
                Some(note) = self.inbox.recv() => match self.noted(note, &mut events).await {
                    Ok(then) => then,
                    Err(Closed) => return self.leave().await,
                },
                () = wait_until(show_at), if show_at.is_some() => {
                    while let Some(asked) = self.board.show() {
                        self.fold.step(Input::Asked(&asked), &mut events);
                    }
                    Then::GoOn
                }
                event = self.frames.next() => {
                    cause = Cause::Line;
                    self.heard(event, &mut events)
                }
                _ = ticks.tick(), if self.fold.open_turn().is_some() => {
                    cause = Cause::Clock;
                    let now = self.asking.setup.clock.now().as_millisecond();
                    self.fold.step(Input::Tick(now), &mut events);
                    Then::GoOn
                }
            };
            show_at = match show_at {
                _ if !self.board.gathers() => None,
                Some(at) => Some(at),
                None => Some(Instant::now() + GATHER_TIME),
            };
            if self.hand_over(cause, &mut events).await.is_err() {
                return self.leave().await;
            }
            if then == Then::Ended {
                return;
            }
        }
    }

    /// Nobody sees the session any more.
    async fn leave(mut self) {
        drop(self.board.end());
        let Pump { frames, client, over, .. } = self;
        // Whoever listens is waited for, and nobody does.
        drop(frames);
        // There is nobody left to tell how it ended.
        drop(client.close().await);
        drop(over);
    }

    fn heard(&mut self, event: Option<Event>, events: &mut Vec<UiMessage>) -> Then {
        match event {
            Some(Event::Frame { frame, end, .. }) => {
                let shown = events.len();
                if frame.kind() == Kind::Result {
                    for settled in self.board.end_turn() {
                        self.fold.step(Input::Settled(&settled), events);
                    }
                }
                self.fold.step(Input::Frame(&frame.as_ref()), events);
                if let Some(asked) = self.board.hear(&frame, self.asking.folder().as_deref()) {
                    self.fold.step(Input::Asked(&asked), events);
                }
                self.since_checkpoint += 1;
                self.end = end.or(self.end);
                if end.is_some_and(|end| end <= self.taken) {
                    for event in events.drain(shown..) {
                        self.status.note(&event);
                        self.asking.note(&event);
                    }
                }
            }
            Some(Event::Stalled { quiet }) => events.push(UiMessage::System {
                message: format!("Nothing has come from the agent for {} seconds", quiet.as_secs()),
                session_id: Some(self.fold.handle()),
            }),
            Some(Event::Oversized { bytes, .. }) => events.push(UiMessage::Error {
                message: format!("The agent wrote a line of {bytes} bytes, which is too long to keep"),
                session_id: Some(self.fold.handle()),
            }),
            Some(Event::Ended { exit, error }) => {
                self.ended(exit, error.as_ref(), events);
                return Then::Ended;
            }
            Some(_) => {}
            None => {
                self.ended(Exit::default(), None, events);
                return Then::Ended;
            }
        }
        Then::GoOn
    }

    fn ended(&mut self, exit: Exit, error: Option<&tidings::Error>, events: &mut Vec<UiMessage>) {
        // What was told before the end comes before the end, and so does how each open question ended.
        for note in self.inbox.close() {
            self.take(note, events);
        }
        for settled in self.board.end() {
            self.fold.step(Input::Settled(&settled), events);
        }
        let exit = fold::Exit { code: exit.code, signal: exit.signal, error: error.map(ToString::to_string) };
        self.fold.step(Input::Exited(&exit), events);
    }

    async fn noted(&mut self, note: Note, events: &mut Vec<UiMessage>) -> Result<Then, Closed> {
        // The agent has written the call before it asked about it; so the call is shown first.
        let call = match &note {
            Note::Opened(ask, _) => Some(ask.key.tool_use_id.clone()),
            Note::Plan(call, _) => Some(call.clone()),
            Note::Questioned(asked) => match &**asked {
                Asked::Questions { details, .. } => Some(details.tool_use_id.clone()),
                Asked::Permission { .. } | Asked::Batch { .. } => None,
            },
            _ => None,
        };
        let mut then = Then::GoOn;
        if let Some(call) = call {
            while then == Then::GoOn && !self.fold.has_begun(&call) {
                let Some(event) = ready(self.frames.next()).await else { break };
                then = self.heard(event, events);
                // Each line is a step of its own.
                self.hand_over(Cause::Line, events).await?;
            }
        }
        if then == Then::GoOn {
            self.take(note, events);
        }
        Ok(then)
    }

    fn take(&mut self, note: Note, events: &mut Vec<UiMessage>) {
        let settled: Option<Settled> = match note {
            Note::Prompt(prompt) => return self.fold.step(Input::Prompt(&prompt), events),
            Note::Opened(ask, deadline_ms) => {
                if let Some(asked) = self.board.opened(ask, deadline_ms) {
                    self.fold.step(Input::Asked(&asked), events);
                }
                return;
            }
            Note::Plan(call, reply) => {
                // Whoever wanted to know may be gone.
                return drop(reply.send(self.fold.plan_of(&call).map(str::to_owned)));
            }
            Note::Questioned(asked) => {
                self.board.questioned(&asked);
                return self.fold.step(Input::Asked(&asked), events);
            }
            Note::Done(command) => {
                let (command, session_id) = (command.to_string(), self.fold.handle());
                return events.push(UiMessage::CommandComplete { command, session_id });
            }
            Note::Decided(key, outcome) => Some(self.board.decided(&key, &outcome)),
            Note::Settled(key, outcome) => self.board.settled(&key, &outcome),
            Note::Declined(key, outcome) => Some(board::declined(&key, &outcome)),
            Note::Answered(key, outcome) => self.board.answered(&key, &outcome),
        };
        if let Some(settled) = settled {
            self.fold.step(Input::Settled(&settled), events);
        }
    }

    async fn hand_over(&mut self, cause: Cause, events: &mut Vec<UiMessage>) -> Result<(), Closed> {
        // All of it first: whoever gets an event and asks how the session stands finds what came with it.
        for event in &*events {
            self.status.note(event);
            self.asking.note(event);
        }
        let checkpoint = self.checkpoint(cause);
        if events.is_empty() && checkpoint.is_none() {
            return Ok(());
        }
        let mut step = Step::new(std::mem::take(events));
        step.end = self.end.filter(|_| cause == Cause::Line);
        step.checkpoint = checkpoint;
        self.sink.send_step(step).await.map_err(|_| Closed)
    }

    /// What does not come from a line cannot be made again from the lines, so it is written down; and so it is after many
    /// lines, so that few have to be read again.
    fn checkpoint(&mut self, cause: Cause) -> Option<Checkpoint> {
        let end = self.end.filter(|end| *end >= self.taken)?;
        let is_due = match cause {
            Cause::Note => true,
            Cause::Line => self.since_checkpoint >= CHECKPOINT_LINES,
            Cause::Clock => false,
        };
        if !is_due || !self.sink.wants_checkpoints() {
            return None;
        }
        self.since_checkpoint = 0;
        Some(Checkpoint { end, fold: self.fold.save() })
    }
}

/// What is there already.
async fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = std::future::ready(()) => None,
    }
}

async fn wait_until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}
