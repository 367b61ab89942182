//! The task of a session that produces its events.

use std::sync::Arc;

use tidings::transport::Exit;
use tidings::{Client, Event, Frame, Kind, TurnOutcome};
use tidings_protocol::ui::{RequestOutcome, UiMessage};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::DropGuard;

use super::adoption::ShownRequests;
use super::notes::{Note, NoteReceiver};
use super::pending_requests::{self, PendingRequests};
use super::request_handler::RequestHandler;
use super::{Setup, status};
use crate::fold::{self, Fold, Input, OpenedRequest};
use crate::limits::{GATHER_TIME, SNAPSHOT_EVERY_BYTES, TICK};
use crate::sink::EventSink;

pub(super) struct EventTask {
    pub(super) fold: Fold,
    pub(super) progress: OutputProgress,
    pub(super) frames: tidings::Subscriber,
    pub(super) note_receiver: NoteReceiver,
    pub(super) pending: PendingRequests,
    pub(super) sink: Box<dyn EventSink>,
    pub(super) handler: Arc<RequestHandler>,
    pub(super) status: Arc<status::StatusCell>,
    /// A weak handle: the session ends when its other handles are dropped.
    pub(super) client: Client,
    /// True once the agent has ended.
    pub(super) is_over: bool,
    /// Signals, when dropped, that the sink took the last event.
    pub(super) over: DropGuard,
}

/// Progress in the agent's output, for a transport that counts bytes.
#[derive(Debug)]
pub(super) struct OutputProgress {
    /// Offset that was read.
    end: Option<u64>,
    /// Offset up to which the sink had stored the events before the adoption.
    stored: u64,
    /// True if the pending events come from output.
    has_output: bool,
    /// Offset of the last saved snapshot.
    saved: u64,
    /// True if something other than frames has come since.
    must_save: bool,
    /// Requests that were shown before the session was adopted, and are not shown again.
    shown: ShownRequests,
}

impl OutputProgress {
    pub(super) fn new(setup: &Setup, fold: &Fold) -> Self {
        let checkpoint = setup.checkpoint.as_ref();
        let end = checkpoint.map(|checkpoint| checkpoint.end);
        OutputProgress {
            end,
            stored: checkpoint.map_or(0, |checkpoint| checkpoint.stored),
            has_output: false,
            saved: end.unwrap_or_default(),
            must_save: false,
            shown: ShownRequests::of(fold),
        }
    }
}

/// Stands for a result whose line was too long to keep or could not be read.
const LOST_RESULT: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["The result of the turn was too long to keep, or could not be read"]}"#;

/// The sink takes no more events.
struct SinkClosed;

/// Tells if more events can come.
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    Ended,
}

impl EventTask {
    /// Runs until the agent has ended or the sink is closed. A closed sink also ends the session: a session
    /// without subscribers must not go on.
    pub(super) async fn run(mut self) {
        let mut show_at: Option<Instant> = None;
        let mut events = Vec::new();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let flow = tokio::select! {
                biased;
                // Notes about prompts and decisions come before the agent's reaction to them, even when this
                // task is late.
                Some(note) = self.note_receiver.recv() => self.handle_note(note, &mut events).await,
                () = wait_until(show_at), if show_at.is_some() => {
                    while let Some(asked) = self.pending.next_to_show() {
                        self.progress.must_save = true;
                        self.fold.step(Input::RequestOpened(&asked), &mut events);
                    }
                    Flow::Continue
                }
                event = self.frames.next() => self.handle_client_event(event, &mut events),
                _ = ticks.tick(), if self.fold.open_turn().is_some() => {
                    let now = self.handler.setup.clock.now().as_millisecond();
                    self.fold.step(Input::Tick(now), &mut events);
                    Flow::Continue
                }
            };
            show_at = match show_at {
                _ if !self.pending.is_gathering() => None,
                Some(at) => Some(at),
                None => Some(Instant::now() + GATHER_TIME),
            };
            if self.deliver(&mut events).await.is_err() {
                return self.close_session().await;
            }
            if flow == Flow::Ended {
                return;
            }
        }
    }

    /// Ends the session after its sink was closed.
    async fn close_session(mut self) {
        drop(self.pending.disconnect_all());
        let EventTask { frames, client, over, .. } = self;
        // The client waits for its subscribers, and this one no longer reads.
        drop(frames);
        // The outcome cannot be reported: the sink is closed.
        drop(client.close().await);
        drop(over);
    }

    fn handle_client_event(&mut self, event: Option<Event>, events: &mut Vec<UiMessage>) -> Flow {
        match event {
            Some(Event::Frame { frame, end, .. }) => {
                self.progress.end = end.or(self.progress.end);
                if end.is_some_and(|end| end <= self.progress.stored) {
                    // The previous process has sent these events; they only restore state here.
                    let mut sent = Vec::new();
                    self.read_frame(&frame, &mut sent);
                    self.record(&sent);
                } else {
                    self.progress.has_output |= end.is_some();
                    self.read_frame(&frame, events);
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
                    self.read_frame(&frame, events);
                }
            }
            Some(Event::Ended { exit, error }) => {
                self.ended(exit, error.as_ref(), events);
                return Flow::Ended;
            }
            Some(_) => {}
            None => {
                self.ended(Exit::default(), None, events);
                return Flow::Ended;
            }
        }
        Flow::Continue
    }

    fn read_frame(&mut self, frame: &Frame, events: &mut Vec<UiMessage>) {
        self.progress.shown.forget_answered(&mut self.fold, frame, events);
        if frame.kind() == Kind::Result {
            for settled in self.pending.end_turn() {
                self.fold.step(Input::RequestSettled(&settled), events);
            }
        }
        self.fold.step(Input::Frame(&frame.as_ref()), events);
        if let Some(asked) = self.pending.collect_calls(frame, &self.handler.facts()) {
            self.fold.step(Input::RequestOpened(&asked), events);
        }
    }

    fn ended(&mut self, exit: Exit, error: Option<&tidings::Error>, events: &mut Vec<UiMessage>) {
        self.is_over = true;
        // Notes and the outcomes of open requests come before the end of the session.
        for note in self.note_receiver.close() {
            self.apply_note(note, events);
        }
        for settled in self.pending.disconnect_all() {
            self.fold.step(Input::RequestSettled(&settled), events);
        }
        let exit = fold::Exit { code: exit.code, signal: exit.signal, error: error.map(ToString::to_string) };
        self.fold.step(Input::Exited(&exit), events);
    }

    async fn handle_note(&mut self, note: Note, events: &mut Vec<UiMessage>) -> Flow {
        // The agent writes a call before it asks about it, so the call is shown first.
        let call = match &note {
            Note::Opened(ask, _) => Some(ask.key.tool_use_id.clone()),
            Note::Plan(call, _) => Some(call.clone()),
            Note::Questioned(asked) => match &**asked {
                OpenedRequest::Questions { details, .. } => Some(details.tool_use_id.clone()),
                OpenedRequest::Permission { .. } | OpenedRequest::Batch { .. } => None,
            },
            _ => None,
        };
        let mut flow = Flow::Continue;
        if let Some(call) = call {
            while flow == Flow::Continue && !self.fold.has_begun(&call) {
                let Some(event) = if_ready(self.frames.next()).await else { break };
                flow = self.handle_client_event(event, events);
            }
        }
        if flow == Flow::Continue {
            self.apply_note(note, events);
        }
        flow
    }

    fn apply_note(&mut self, note: Note, events: &mut Vec<UiMessage>) {
        self.progress.must_save = true;
        match note {
            Note::Prompt(prompt) => {
                // A prompt that is sent again, because its delivery was in doubt, was recorded before.
                let is_known = prompt.uuid.as_ref().is_some_and(|uuid| self.fold.knows_prompt(uuid));
                if !is_known {
                    self.fold.step(Input::Prompt(&prompt), events);
                }
            }
            Note::Done(command) => {
                let (command, session_id) = (command.to_string(), self.fold.handle());
                events.push(UiMessage::CommandComplete { command, session_id });
            }
            // Shown before the session was adopted.
            Note::Opened(ask, deadline_ms) if self.progress.shown.remove(&ask.key.tool_use_id) => {
                self.pending.reopened(&ask.key, deadline_ms);
            }
            Note::Questioned(asked) if self.was_shown(&asked) => self.pending.questioned(&asked),
            Note::Settled(key, outcome) => {
                let outcome = self.outcome_after_exit(outcome);
                self.pending.apply(Note::Settled(key, outcome), &mut self.fold, events);
            }
            Note::Answered(key, outcome) => {
                let outcome = self.outcome_after_exit(outcome);
                self.pending.apply(Note::Answered(key, outcome), &mut self.fold, events);
            }
            note => self.pending.apply(note, &mut self.fold, events),
        }
    }

    /// True for questions that were shown before the session was adopted.
    fn was_shown(&mut self, asked: &OpenedRequest) -> bool {
        match asked {
            OpenedRequest::Questions { details, .. } => self.progress.shown.remove(&details.tool_use_id),
            OpenedRequest::Permission { .. } | OpenedRequest::Batch { .. } => false,
        }
    }

    /// Reports a cancelled request as disconnected if the agent has ended.
    fn outcome_after_exit<A>(&self, outcome: RequestOutcome<A>) -> RequestOutcome<A> {
        if self.is_over || self.client.is_closed() {
            pending_requests::disconnected_if_cancelled(Some(outcome))
        } else {
            outcome
        }
    }

    async fn deliver(&mut self, events: &mut Vec<UiMessage>) -> Result<(), SinkClosed> {
        // State first: a subscriber that gets an event and reads the session's status finds all events of
        // this step in it.
        self.record(events);
        if !events.is_empty() {
            let moved = std::mem::take(&mut self.progress.has_output);
            let end = self.progress.end.filter(|_| moved);
            self.sink.send_all(std::mem::take(events), end).await.map_err(|_| SinkClosed)?;
        }
        self.save_snapshot();
        Ok(())
    }

    fn record(&self, events: &[UiMessage]) {
        for event in events {
            self.status.update_from(event);
            self.handler.record(event);
        }
    }

    /// Saves a snapshot if something other than frames has come, or enough output.
    fn save_snapshot(&mut self) {
        let Some(store) = &self.handler.setup.snapshot_store else { return };
        let end = self.progress.end.unwrap_or_default();
        if self.progress.must_save || end.saturating_sub(self.progress.saved) >= SNAPSHOT_EVERY_BYTES {
            store.store(self.fold.save(), end);
            self.progress.saved = end;
            self.progress.must_save = false;
        }
    }
}

/// The value of a future that is ready immediately.
async fn if_ready<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        value = future => Some(value),
        () = std::future::ready(()) => None,
    }
}

pub(super) async fn wait_until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}
