//! A session whose agent runs in a terminal, an editor or the background, and not under this program.
//!
//! Its conversation comes from its file, entry by entry, and its requests come from hooks. Events, policy,
//! registries and answers are those of an [`AgentSession`](super::AgentSession).

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use parking_lot::MutexGuard;
use tidings::Decision;
use tidings_protocol::control::CanUseTool;
use tidings_protocol::entry::EntryRef;
use tidings_protocol::ui::{Resolution, SessionStateChanged, UiMessage};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Setup;
use super::event_task::wait_until;
use super::identical_calls::IdenticalCalls;
use super::notes::{self, NoteReceiver};
use super::pending_requests::PendingRequests;
use super::request_handler::RequestHandler;
use crate::fold::{Exit, Input};
use crate::history::Replay;
use crate::limits::{GATHER_TIME, INPUTS_WAITING_MAX, LAST_EVENTS_WAIT, NOTES_MAX};
use crate::permissions::{Answer, Response, SessionFolder};
use crate::request_table::AskKey;
use crate::sink::EventSink;

/// Something that was seen of the session.
#[derive(Debug)]
#[non_exhaustive]
pub enum Observation {
    /// An entry of its file, as JSON.
    Entry {
        /// The line.
        line: Vec<u8>,
        /// The call that started the sub-agent whose file it is.
        agent: Option<String>,
        /// The position of the entry, which the sink gets with its events.
        position: u64,
        /// True if the sink has its events from an earlier run; the entry then only restores the state.
        is_stored: bool,
    },
    /// The turn of the last entries has ended, and the sink has its end from an earlier run.
    StoredTurnEnded,
    /// Every entry that was in the file at the start has come.
    CaughtUp,
    /// The agent works on a turn, although its file does not show it yet.
    Busy,
    /// The agent waits for a prompt, so no turn is open. The position is that of the last entry.
    Idle {
        /// The position that the sink gets with the events.
        position: u64,
    },
    /// The dialog that the agent waits in, as it names it, if no request is about it; none if it waits in no
    /// such dialog.
    Dialog(Option<String>),
    /// The agent has ended.
    Ended,
}

/// An answer that was given in the agent's own dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalAnswer {
    /// The tool ran.
    Allowed,
    /// The dialog is gone, and its answer is not known.
    Unknown,
}

/// The name of the agent's own dialog, as the author of an answer.
pub const LOCAL_DIALOG: &str = "terminal";

/// A session that is observed. Handles are cheap to clone; the observation stops when the last one is
/// dropped.
#[derive(Clone)]
pub struct ObservedSession {
    handler: Arc<RequestHandler>,
    observations: mpsc::Sender<Observation>,
    over: CancellationToken,
}

impl ObservedSession {
    /// Starts to observe a session. Its events go to `sink`.
    pub fn start(setup: Setup, sink: Box<dyn EventSink>) -> Self {
        let replay = Replay::new(setup.handle, setup.fold.clone());
        let setup = Arc::new(setup);
        let (notes, note_receiver) = notes::channel(NOTES_MAX);
        let handler = Arc::new(RequestHandler::new(Arc::clone(&setup), notes));
        let (observations, received) = mpsc::channel(INPUTS_WAITING_MAX);
        let over = CancellationToken::new();
        let task = ObservedTask {
            replay,
            observations: received,
            note_receiver,
            pending: PendingRequests::new(setup),
            sink,
            handler: Arc::clone(&handler),
            _over: over.clone().drop_guard(),
        };
        drop(tokio::spawn(task.run()));
        ObservedSession { handler, observations, over }
    }

    /// Passes on an observation, as soon as there is room. Returns false if the sink takes no more events.
    pub async fn observe(&self, observation: Observation) -> bool {
        self.observations.send(observation).await.is_ok()
    }

    /// Asks the policy, the grants and the user about a tool call.
    ///
    /// `place` is the folder in which the agent works now. If it is not the session's folder and not inside
    /// it, no policy allows the call.
    ///
    /// Dropping the future withdraws the request. Without an answer the result is `None`, and the agent's own
    /// dialog decides.
    pub async fn decide(
        &self,
        request_id: &str,
        call: &CanUseTool,
        place: SessionFolder,
    ) -> Option<Decision> {
        let id = call.tool_use_id.as_deref().unwrap_or(request_id);
        self.handler.identical_calls().asked(id, call);
        let facts = self.handler.facts().at(&place);
        let decided = self.handler.decide(request_id, call, &facts).await;
        let mut calls = self.handler.identical_calls();
        if !decided.is_answered {
            calls.withdrawn(id);
            return None;
        }
        // What was answered in the dialog needs no output, and its hook may belong to an identical call.
        calls.answered(id, matches!(decided.decision, Decision::Allow(_))).then_some(decided.decision)
    }

    /// Notes the end of a call. If its request is open, it was answered in the agent's own dialog. Returns
    /// the request that the end settles, which is that of another call if identical ones were answered.
    pub fn answered_locally(&self, tool_use_id: &str, answer: LocalAnswer) -> String {
        self.handler.answered_locally(tool_use_id, answer)
    }

    /// Waits until the sink took the last event, after [`Observation::Ended`]. The wait is limited.
    pub async fn finished(&self) {
        drop(tokio::time::timeout(LAST_EVENTS_WAIT, self.over.cancelled()).await);
    }
}

impl fmt::Debug for ObservedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObservedSession").field("handle", &self.handler.setup.handle).finish_non_exhaustive()
    }
}

struct ObservedTask {
    replay: Replay,
    observations: mpsc::Receiver<Observation>,
    note_receiver: NoteReceiver,
    pending: PendingRequests,
    sink: Box<dyn EventSink>,
    handler: Arc<RequestHandler>,
    /// Signals, when dropped, that the sink took the last event.
    _over: DropGuard,
}

impl ObservedTask {
    /// Runs until the agent has ended, every handle is dropped, or the sink is closed.
    async fn run(mut self) {
        let mut show_at: Option<Instant> = None;
        let mut events = Vec::new();
        loop {
            let mut position = None;
            tokio::select! {
                biased;
                Some(note) = self.note_receiver.recv() => {
                    self.pending.apply(note, self.replay.fold_mut(), &mut events);
                }
                () = wait_until(show_at), if show_at.is_some() => {
                    while let Some(asked) = self.pending.next_to_show() {
                        self.replay.fold_mut().step(Input::RequestOpened(&asked), &mut events);
                    }
                }
                observation = self.observations.recv() => match observation {
                    Some(Observation::Ended) => return self.ended(events).await,
                    Some(observation) => position = self.apply(observation, &mut events),
                    None => return drop(self.pending.disconnect_all()),
                },
            }
            show_at = match show_at {
                _ if !self.pending.is_gathering() => None,
                Some(at) => Some(at),
                None => Some(Instant::now() + GATHER_TIME),
            };
            self.handler.name_closed_dialogs(&mut events);
            self.record(&events);
            if !events.is_empty() && self.sink.send_all(std::mem::take(&mut events), position).await.is_err()
            {
                return drop(self.pending.disconnect_all());
            }
        }
    }

    /// Returns the position for the sink.
    fn apply(&mut self, observation: Observation, events: &mut Vec<UiMessage>) -> Option<u64> {
        match observation {
            Observation::Entry { line, agent, position, is_stored } => {
                let entry = EntryRef::decode(&line).ok()?;
                let mut stored = Vec::new();
                let out = if is_stored { &mut stored } else { &mut *events };
                let before = out.len();
                self.replay.entry(&entry, agent.as_deref(), out);
                // A call that has a result was answered, whatever the hooks said.
                for call in out[before..].iter().filter_map(finished_call) {
                    self.handler.answered_locally(call, LocalAnswer::Unknown);
                }
                self.record(&stored);
                Some(position)
            }
            Observation::StoredTurnEnded => {
                self.replay.finish(&mut Vec::new());
                self.replay.fold_mut().note_rest(&mut Vec::new());
                None
            }
            Observation::CaughtUp => {
                let fold = self.replay.fold_mut();
                events.push(SessionStateChanged::new(fold.handle(), fold.phase()).into());
                None
            }
            Observation::Busy => {
                self.replay.fold_mut().note_busy(events);
                None
            }
            Observation::Idle { position } => {
                self.replay.finish(events);
                self.replay.fold_mut().note_rest(events);
                Some(position)
            }
            Observation::Dialog(dialog) => {
                self.replay.fold_mut().note_dialog(dialog.as_deref(), events);
                None
            }
            Observation::Ended => None,
        }
    }

    async fn ended(mut self, mut events: Vec<UiMessage>) {
        for note in self.note_receiver.close() {
            self.pending.apply(note, self.replay.fold_mut(), &mut events);
        }
        for settled in self.pending.disconnect_all() {
            self.replay.fold_mut().step(Input::RequestSettled(&settled), &mut events);
        }
        self.replay.finish_answered(&mut events);
        self.replay.fold_mut().step(Input::Exited(&Exit::default()), &mut events);
        // A session file has no results, so nothing in it is reported. Its cost is counted from its entries.
        for event in &mut events {
            if let UiMessage::SessionStateChanged(changed) = event {
                changed.unreported_cost_usd = None;
            }
        }
        // A closed sink wants no more events.
        drop(self.sink.send_all(events, None).await);
    }

    fn record(&self, events: &[UiMessage]) {
        for event in events {
            self.handler.record(event);
        }
    }
}

impl RequestHandler {
    /// Settles a request that was answered in the agent's own dialog, and returns it. Nothing happens if it
    /// is not open.
    fn answered_locally(&self, tool_use_id: &str, answer: LocalAnswer) -> String {
        let Setup { handle, permissions, questions, clock, .. } = &*self.setup;
        let request = self.identical_calls().ended(tool_use_id, answer == LocalAnswer::Allowed);
        let key = AskKey::new(*handle, &request);
        // The waiting future reports the outcome, perhaps at once.
        self.closed_dialogs().insert(request.clone());
        let is_open = match answer {
            LocalAnswer::Allowed => {
                let response = Response::person(LOCAL_DIALOG, Answer::allow());
                permissions.respond_to_request(&key, response, clock.now()).is_ok()
            }
            LocalAnswer::Unknown => permissions.cancel(&key).is_ok(),
        };
        if !is_open && questions.cancel(&key).is_err() {
            self.closed_dialogs().remove(&request);
        }
        request
    }

    fn identical_calls(&self) -> MutexGuard<'_, IdenticalCalls> {
        self.identical_calls.lock()
    }

    /// Names the agent's own dialog in the events of requests that were answered there.
    fn name_closed_dialogs(&self, events: &mut [UiMessage]) {
        for event in events {
            let (id, outcome, by) = match event {
                UiMessage::PermissionResolved(resolved) => {
                    (&resolved.tool_use_id, &resolved.outcome, &mut resolved.by)
                }
                UiMessage::InteractionResolved(resolved) => {
                    (&resolved.tool_use_id, &resolved.outcome, &mut resolved.by)
                }
                _ => continue,
            };
            if self.closed_dialogs().remove(id) && *outcome == Resolution::Cancelled {
                by.get_or_insert_with(|| LOCAL_DIALOG.to_owned());
            }
        }
    }

    fn closed_dialogs(&self) -> MutexGuard<'_, HashSet<String>> {
        self.closed_dialogs.lock()
    }
}

/// The call that an event reports as finished.
fn finished_call(event: &UiMessage) -> Option<&str> {
    match event {
        UiMessage::ToolCompleted { tool_use_id, .. } => Some(tool_use_id),
        UiMessage::Lane(lane) => finished_call(&lane.event),
        _ => None,
    }
}
