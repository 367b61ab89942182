//! The one task of a session that makes events.

use std::sync::Arc;

use tidings::transport::Exit;
use tidings::{Client, Event, Frame, Kind, TurnOutcome};
use tidings_protocol::ui::UiMessage;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::DropGuard;

use super::Setup;
use super::asking::Asking;
use super::board::{self, Board};
use super::left::Shown;
use super::notes::{Inbox, Note};
use super::status;
use crate::fold::{self, Asked, Fold, Input, Settled};
use crate::limits::{GATHER_TIME, KEEP_EVERY_BYTES, TICK};
use crate::pending::Outcome;
use crate::sink::EventSink;

pub(super) struct Pump {
    pub(super) fold: Fold,
    pub(super) place: Place,
    pub(super) frames: tidings::Subscriber,
    pub(super) inbox: Inbox,
    pub(super) board: Board,
    pub(super) sink: Box<dyn EventSink>,
    pub(super) asking: Arc<Asking>,
    pub(super) status: Arc<status::Shared>,
    /// A guest: the session ends when those who use it are gone.
    pub(super) client: Client,
    /// Whether the agent has ended.
    pub(super) is_over: bool,
    /// Tells that the last event was taken.
    pub(super) over: DropGuard,
}

/// How far the agent's output was read, for a carrier that counts.
#[derive(Debug)]
pub(super) struct Place {
    /// Up to where it was.
    end: Option<u64>,
    /// Up to where the sink has had the events before.
    stored: u64,
    /// Whether something of it is in the events that were made last.
    has_moved: bool,
    /// Up to where it was when what has to be known was last kept.
    kept: u64,
    /// Whether something else than frames has come since.
    must_keep: bool,
    /// Questions that were shown before the session was joined, and need not be again.
    shown: Shown,
}

impl Place {
    pub(super) fn new(setup: &Setup, fold: &Fold) -> Self {
        let left = setup.left.as_ref();
        let end = left.map(|left| left.end);
        Place {
            end,
            stored: left.map_or(0, |left| left.stored),
            has_moved: false,
            kept: end.unwrap_or_default(),
            must_keep: false,
            shown: Shown::of(fold),
        }
    }
}

/// Stands for a result whose line was too long to keep or could not be read.
const LOST_RESULT: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["The result of the turn was too long to keep, or could not be read"]}"#;

/// Nobody takes events any more.
struct Closed;

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
            let then = tokio::select! {
                biased;
                // What was said and decided comes before what the agent makes of it, however late we are.
                Some(note) = self.inbox.recv() => self.noted(note, &mut events).await,
                () = wait_until(show_at), if show_at.is_some() => {
                    while let Some(asked) = self.board.show() {
                        self.place.must_keep = true;
                        self.fold.step(Input::Asked(&asked), &mut events);
                    }
                    Then::GoOn
                }
                event = self.frames.next() => self.heard(event, &mut events),
                _ = ticks.tick(), if self.fold.open_turn().is_some() => {
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
            if self.hand_over(&mut events).await.is_err() {
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
                self.place.end = end.or(self.place.end);
                if end.is_some_and(|end| end <= self.place.stored) {
                    // Whoever left the session has sent what comes of it; here it has to be known.
                    let mut sent = Vec::new();
                    self.read(&frame, &mut sent);
                    self.note(&sent);
                } else {
                    self.place.has_moved |= end.is_some();
                    self.read(&frame, events);
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
            Some(Event::TurnEnded(end)) if end.outcome == TurnOutcome::ResultLost => {
                // The turn is over although its result cannot be shown.
                if let Ok(frame) = Frame::from_json(LOST_RESULT) {
                    self.read(&frame, events);
                }
            }
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

    fn read(&mut self, frame: &Frame, events: &mut Vec<UiMessage>) {
        self.place.shown.forget_answered(&mut self.fold, frame, events);
        if frame.kind() == Kind::Result {
            for settled in self.board.end_turn() {
                self.fold.step(Input::Settled(&settled), events);
            }
        }
        self.fold.step(Input::Frame(&frame.as_ref()), events);
        if let Some(asked) = self.board.hear(frame, self.asking.folder().as_deref()) {
            self.fold.step(Input::Asked(&asked), events);
        }
    }

    fn ended(&mut self, exit: Exit, error: Option<&tidings::Error>, events: &mut Vec<UiMessage>) {
        self.is_over = true;
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

    async fn noted(&mut self, note: Note, events: &mut Vec<UiMessage>) -> Then {
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
            }
        }
        if then == Then::GoOn {
            self.take(note, events);
        }
        then
    }

    fn take(&mut self, note: Note, events: &mut Vec<UiMessage>) {
        self.place.must_keep = true;
        let settled: Option<Settled> = match note {
            Note::Prompt(prompt) => {
                // One that is sent again, since nobody knew whether it had arrived, was told before.
                let is_known = prompt.uuid.as_ref().is_some_and(|uuid| self.fold.knows_prompt(uuid));
                if !is_known {
                    self.fold.step(Input::Prompt(&prompt), events);
                }
                return;
            }
            Note::Opened(ask, deadline_ms) if self.place.shown.remove(&ask.key.tool_use_id) => {
                return self.board.reopened(&ask.key, deadline_ms);
            }
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
                let is_shown = match &*asked {
                    Asked::Questions { details, .. } => self.place.shown.remove(&details.tool_use_id),
                    Asked::Permission { .. } | Asked::Batch { .. } => false,
                };
                if !is_shown {
                    self.fold.step(Input::Asked(&asked), events);
                }
                return;
            }
            Note::Done(command) => {
                let (command, session_id) = (command.to_string(), self.fold.handle());
                return events.push(UiMessage::CommandComplete { command, session_id });
            }
            Note::Decided(key, outcome) => Some(self.board.decided(&key, &outcome)),
            Note::Settled(key, outcome) => self.board.settled(&key, &self.taken_back(outcome)),
            Note::Declined(key, outcome) => Some(board::declined(&key, &outcome)),
            Note::Answered(key, outcome) => self.board.answered(&key, &self.taken_back(outcome)),
        };
        if let Some(settled) = settled {
            self.fold.step(Input::Settled(&settled), events);
        }
    }

    /// A question that the agent has taken back, unless the agent is gone.
    fn taken_back<A>(&self, outcome: Outcome<A>) -> Outcome<A> {
        if self.is_over || self.client.is_closed() { board::with_the_agent(Some(outcome)) } else { outcome }
    }

    async fn hand_over(&mut self, events: &mut Vec<UiMessage>) -> Result<(), Closed> {
        // All of it first: whoever gets an event and asks how the session stands finds what came with it.
        self.note(events);
        if !events.is_empty() {
            let moved = std::mem::take(&mut self.place.has_moved);
            let end = self.place.end.filter(|_| moved);
            self.sink.send_all(std::mem::take(events), end).await.map_err(|_| Closed)?;
        }
        self.keep();
        Ok(())
    }

    fn note(&self, events: &[UiMessage]) {
        for event in events {
            self.status.note(event);
            self.asking.note(event);
        }
    }

    /// Keeps what has to be known to go on, when something else than frames has come, or a good many of them.
    fn keep(&mut self) {
        let Some(keep) = &self.asking.setup.keep else { return };
        let end = self.place.end.unwrap_or_default();
        if self.place.must_keep || end.saturating_sub(self.place.kept) >= KEEP_EVERY_BYTES {
            keep.keep(self.fold.save(), end);
            self.place.kept = end;
            self.place.must_keep = false;
        }
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
