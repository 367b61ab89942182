//! Snapshots: a conversation in few events, for late subscribers.
//!
//! The events of a snapshot, followed by the live stream, show the same conversation as the whole stream,
//! wherever the snapshot ends. Deltas of one text are merged, retracted content is left out, of status events
//! only the latest is kept, and long tool results are cut with a mark that says so.

mod asks;
mod background;
mod calls;
mod lanes;
mod latest;
mod shorten;
mod tail;

use std::collections::HashMap;

use asks::Batch;
use background::SubAgent;
use calls::ToolCall;
use lanes::Lanes;
use latest::Latest;
use tidings_protocol::ui::{Lane, SnapshotRole, UiMessage};

pub use calls::belongs_to_call;

/// Limits of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotBudget {
    /// Events.
    pub events_max: usize,
    /// Bytes of their JSON.
    pub bytes_max: usize,
    /// Bytes of the input or output of one tool call.
    pub result_bytes_max: usize,
}

/// A conversation in few events.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationSnapshot {
    /// The number of the first event in it; earlier events are history. Zero if there was no event at all.
    pub from: u64,
    /// True if earlier events were left out.
    pub more: bool,
    /// Events in order. A merged event has the number of its first delta. Those before `from` describe the
    /// current state: an open request, a running task, the model.
    pub events: Vec<(u64, UiMessage)>,
}

/// Builds a snapshot from the events of one session in order, with the newest ones that the budget has room
/// for.
pub fn take_snapshot(
    events: impl Iterator<Item = (u64, UiMessage)>,
    budget: SnapshotBudget,
) -> ConversationSnapshot {
    let mut builder = SnapshotBuilder::new(budget);
    for (seq, event) in events {
        builder.take(seq, event);
    }
    builder.finish()
}

/// An event of the snapshot, which later events may change or remove.
#[derive(Debug)]
struct SnapshotEntry {
    seq: u64,
    /// The number of the last event that was merged into it.
    last_seq: u64,
    lane: usize,
    /// None once it is not needed any more.
    event: Option<UiMessage>,
    /// The event that ends this text.
    end: Option<usize>,
    /// True if it describes the current state, however old it is.
    is_current: bool,
}

/// Takes events one by one; it holds about as much as the snapshot.
#[derive(Debug)]
pub struct SnapshotBuilder {
    budget: SnapshotBudget,
    first_seq: Option<u64>,
    entries: Vec<SnapshotEntry>,
    lanes: Lanes,
    latest: HashMap<Latest, usize>,
    calls: HashMap<String, ToolCall>,
    permissions: HashMap<String, Vec<usize>>,
    questions: HashMap<String, Vec<usize>>,
    batches: HashMap<String, Batch>,
    queued: HashMap<String, usize>,
    agents: HashMap<String, SubAgent>,
    tasks: HashMap<String, usize>,
    /// Tool calls of the main conversation that have begun since the last turn ended.
    turn_calls: Vec<String>,
    /// Tool calls whose input an answer changed, and the event of that answer.
    changed_inputs: Vec<(String, usize)>,
}

impl SnapshotBuilder {
    /// A snapshot of no events yet.
    pub fn new(budget: SnapshotBudget) -> Self {
        SnapshotBuilder {
            budget,
            first_seq: None,
            entries: Vec::new(),
            lanes: Lanes::default(),
            latest: HashMap::new(),
            calls: HashMap::new(),
            permissions: HashMap::new(),
            questions: HashMap::new(),
            batches: HashMap::new(),
            queued: HashMap::new(),
            agents: HashMap::new(),
            tasks: HashMap::new(),
            turn_calls: Vec::new(),
            changed_inputs: Vec::new(),
        }
    }

    /// Adds the next event.
    pub fn take(&mut self, seq: u64, event: UiMessage) {
        self.first_seq.get_or_insert(seq);
        let (lane, mut event) = match event {
            UiMessage::Lane(lane) => (self.lanes.of_agent(lane.agent_id, lane.session_id), *lane.event),
            event => (Lanes::MAIN, event),
        };
        shorten::shorten(&mut event, self.budget.result_bytes_max);
        match event.facts().snapshot {
            // Frames without an event of their own, for example, are for clients of the whole stream.
            SnapshotRole::Omitted => {}
            // The lane of an event is known by now.
            SnapshotRole::Kept | SnapshotRole::Inner => {
                self.push(seq, lane, event);
            }
            SnapshotRole::Item => self.push_item(seq, lane, event),
            SnapshotRole::Latest => self.add_latest(seq, lane, event),
            SnapshotRole::Status => self.add_status(seq, lane, event),
            SnapshotRole::Text => {
                self.forget_latest(&Latest::Retrying(lane));
                self.add_delta(seq, lane, event);
            }
            SnapshotRole::TextEnd => self.end_text(seq, lane, event),
            SnapshotRole::Retraction => self.retract(seq, lane, event),
            SnapshotRole::Call => self.call(seq, lane, event),
            SnapshotRole::Request => self.ask(seq, lane, event),
            SnapshotRole::Prompt => self.prompt(seq, lane, event),
            SnapshotRole::SubAgent => self.sub_agent(seq, lane, event),
            SnapshotRole::Task => self.task(seq, lane, event),
            SnapshotRole::TurnEnd => self.end_turn(seq, lane, event),
        }
    }

    fn end_turn(&mut self, seq: u64, lane: usize, event: UiMessage) {
        self.forget_latest(&Latest::Retrying(lane));
        if lane == Lanes::MAIN {
            // Calls that have not returned by now never will; work in the background is a task or a
            // sub-agent.
            for id in std::mem::take(&mut self.turn_calls) {
                if let Some(call) = self.calls.get_mut(&id) {
                    call.is_over = true;
                }
            }
        }
        self.push(seq, lane, event);
    }

    /// Adds an event that is not an item of its lane, and does not end the block of text before it.
    fn push(&mut self, seq: u64, lane: usize, event: UiMessage) -> usize {
        let at = self.entries.len();
        self.entries.push(SnapshotEntry {
            seq,
            last_seq: seq,
            lane,
            event: Some(event),
            end: None,
            is_current: false,
        });
        at
    }

    /// Adds an event that is.
    fn push_item(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let at = self.push(seq, lane, event);
        self.lanes[lane].items.push(at);
    }

    fn forget(&mut self, at: usize) {
        self.entries[at].event = None;
    }

    /// Finishes the snapshot, within its budget.
    pub fn finish(mut self) -> ConversationSnapshot {
        for call in self.calls.values().filter(|call| call.is_over) {
            // Until then, a user decides about this input.
            if let Some(UiMessage::ToolExecuting { input, .. }) = &mut self.entries[call.card].event {
                shorten::cut_value(input, self.budget.result_bytes_max);
            }
        }
        for (id, at) in &self.changed_inputs {
            let is_over = self.calls.get(id).is_none_or(|call| call.is_over);
            if let Some(UiMessage::PermissionResolved(resolved)) = &mut self.entries[*at].event
                && let Some(input) = resolved.updated_input.as_mut().filter(|_| is_over)
            {
                shorten::cut_value(input, self.budget.result_bytes_max);
            }
        }
        self.mark_current();
        let mut kept = Vec::with_capacity(self.entries.len());
        for entry in self.entries {
            let SnapshotEntry { seq, last_seq, lane, is_current, .. } = entry;
            let Some(mut event) = entry.event else { continue };
            if let Some((agent, session)) = &self.lanes[lane].agent {
                event = Lane::new(*session, agent.as_str(), Box::new(event)).into();
            }
            kept.push(tail::MergedEvent { seq, last_seq, is_current, message: event });
        }
        tail::cut(tail::MergedEvents { first_seq: self.first_seq, events: kept }, self.budget)
    }

    fn mark_current(&mut self) {
        let calls = self
            .calls
            .values()
            .filter(|call| !call.is_over)
            .flat_map(|call| [Some(call.card), call.progress]);
        let agents = self.agents.values().filter(|agent| !agent.is_over).flat_map(|agent| &agent.entries);
        let latest = self.latest.iter().filter(|(what, _)| what.is_current()).map(|(_, at)| at);
        let batches = self.batches.values().filter_map(|batch| batch.asked);
        let current: Vec<usize> = calls
            .flatten()
            .chain(agents.copied())
            .chain(latest.copied())
            .chain(batches)
            .chain(self.permissions.values().flatten().copied())
            .chain(self.questions.values().flatten().copied())
            .chain(self.queued.values().copied())
            .chain(
                self.tasks
                    .values()
                    .copied()
                    .filter(|at| background::is_running(self.entries[*at].event.as_ref())),
            )
            .collect();
        for at in current {
            self.entries[at].is_current = true;
        }
    }
}
