//! A conversation in few events, for those who were not there.
//!
//! What comes out, fed to the program that shows the whole stream, shows the same conversation, wherever the border
//! between it and the live stream lies. Pieces of one text are one piece, what was taken back is not said at all, of
//! what only ever shows how things stand the last is kept, and long results of tools are cut with a mark that says so.

mod asks;
mod beside;
mod calls;
mod lanes;
mod latest;
mod shorten;
mod tail;

use std::collections::HashMap;

use tidings_protocol::ui::{Lane, UiMessage};

use asks::Batch;
use beside::Agent;
use calls::Call;
pub(crate) use calls::tells_of;
use lanes::Lanes;
use latest::Latest;

/// How much a snapshot may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Events.
    pub events_max: usize,
    /// Bytes of their JSON.
    pub bytes_max: usize,
    /// Bytes of what one call of a tool took or gave.
    pub result_bytes_max: usize,
}

/// A conversation in few events.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// The number of the first event that is in it; what is before it is history. Zero if there was no event at all.
    pub from: u64,
    /// Whether something before it was left out.
    pub more: bool,
    /// Events in order. One that was put together has the number of its first piece. Those before `from` tell how
    /// things still stand: a question that waits, a task that runs, the model.
    pub events: Vec<(u64, UiMessage)>,
}

/// Puts the events of one session together, which come in order, and keeps the newest that the budget has room for.
pub fn compact(events: impl Iterator<Item = (u64, UiMessage)>, budget: Budget) -> Compacted {
    let mut compactor = Compactor::new(budget);
    for (seq, event) in events {
        compactor.take(seq, event);
    }
    compactor.finish()
}

/// An event that is kept, and what may still become of it.
#[derive(Debug)]
struct Entry {
    seq: u64,
    /// The last event that went into it.
    last_seq: u64,
    lane: usize,
    /// None once it is not needed any more.
    event: Option<UiMessage>,
    /// The event that says that this piece of text is whole.
    end: Option<usize>,
    /// It tells how things stand now, however long ago it was.
    stands: bool,
}

/// Takes events one by one; what it holds is about what it gives.
#[derive(Debug)]
pub(crate) struct Compactor {
    budget: Budget,
    first_seq: Option<u64>,
    entries: Vec<Entry>,
    lanes: Lanes,
    latest: HashMap<Latest, usize>,
    calls: HashMap<String, Call>,
    permissions: HashMap<String, Vec<usize>>,
    questions: HashMap<String, Vec<usize>>,
    batches: HashMap<String, Batch>,
    queued: HashMap<String, usize>,
    agents: HashMap<String, Agent>,
    tasks: HashMap<String, usize>,
    /// Calls of the main conversation that have begun since a turn last ended.
    turn_calls: Vec<String>,
    /// Calls whose input an answer changed, and the event that says so.
    changed_inputs: Vec<(String, usize)>,
}

impl Compactor {
    pub(crate) fn new(budget: Budget) -> Self {
        Compactor {
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

    /// The next event.
    pub(crate) fn take(&mut self, seq: u64, event: UiMessage) {
        self.first_seq.get_or_insert(seq);
        let (lane, mut event) = match event {
            UiMessage::Lane(lane) => (self.lanes.of_agent(lane.agent_id, lane.session_id), *lane.event),
            event => (Lanes::MAIN, event),
        };
        shorten::shorten(&mut event, self.budget.result_bytes_max);
        match event {
            UiMessage::TextChunk { .. } | UiMessage::Thinking(_) => {
                self.forget_latest(&Latest::Retrying(lane));
                self.say(seq, lane, event);
            }
            UiMessage::TextEnded(_) => self.end_text(seq, lane, event),
            UiMessage::Retracted(retracted) => self.retract(seq, lane, retracted),
            UiMessage::ToolPreparing(_)
            | UiMessage::ToolExecuting { .. }
            | UiMessage::ToolProgress(_)
            | UiMessage::ToolDetails(_)
            | UiMessage::ToolCompleted { .. } => self.call(seq, lane, event),
            UiMessage::PermissionDetails(_)
            | UiMessage::PermissionRequired { .. }
            | UiMessage::BatchPermissionRequired { .. }
            | UiMessage::PermissionResolved(_)
            | UiMessage::QuestionDetails(_)
            | UiMessage::UserInteractionRequired { .. }
            | UiMessage::InteractionResolved(_) => self.ask(seq, lane, event),
            UiMessage::PromptQueued(_) | UiMessage::UserPrompt(_) | UiMessage::PromptDropped(_) => {
                self.prompt(seq, lane, event);
            }
            UiMessage::SubAgentStarted(_)
            | UiMessage::SubAgentProgressed(_)
            | UiMessage::SubAgentEnded(_) => self.sub_agent(seq, lane, event),
            UiMessage::TaskChanged(changed) => self.task(seq, lane, changed),
            UiMessage::Complete { .. } => {
                self.forget_latest(&Latest::Retrying(lane));
                if lane == Lanes::MAIN {
                    // What has not returned by now never will; work in the background is a task or a sub-agent.
                    for id in std::mem::take(&mut self.turn_calls) {
                        if let Some(call) = self.calls.get_mut(&id) {
                            call.is_over = true;
                        }
                    }
                }
                self.push(seq, lane, event);
            }
            // Frames without an event of their own are for programs that read the whole stream.
            UiMessage::RawFrame(_) => {}
            UiMessage::Error { .. }
            | UiMessage::System { .. }
            | UiMessage::Display { .. }
            | UiMessage::CommandComplete { .. }
            | UiMessage::Compacted(_)
            | UiMessage::PlanProposed(_) => self.push_item(seq, lane, event),
            event => self.standing(seq, lane, event),
        }
    }

    /// Keeps an event that does not stand between the words of its lane.
    fn push(&mut self, seq: u64, lane: usize, event: UiMessage) -> usize {
        let at = self.entries.len();
        self.entries.push(Entry { seq, last_seq: seq, lane, event: Some(event), end: None, stands: false });
        at
    }

    /// Keeps an event that does.
    fn push_item(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let at = self.push(seq, lane, event);
        self.lanes[lane].items.push(at);
    }

    fn forget(&mut self, at: usize) {
        self.entries[at].event = None;
    }

    /// What was put together, as far as there is room for it.
    pub(crate) fn finish(mut self) -> Compacted {
        for call in self.calls.values().filter(|call| call.is_over) {
            // Before that, its input is what a person decides about.
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
        self.mark_standing();
        let mut kept = Vec::with_capacity(self.entries.len());
        for entry in self.entries {
            let Entry { seq, last_seq, lane, stands, .. } = entry;
            let Some(mut event) = entry.event else { continue };
            if let Some((agent, session)) = &self.lanes[lane].agent {
                event = Lane::new(*session, agent.as_str(), Box::new(event)).into();
            }
            kept.push(tail::Item { seq, last_seq, stands, said: event });
        }
        tail::cut(tail::Kept { first_seq: self.first_seq, events: kept }, self.budget)
    }

    fn mark_standing(&mut self) {
        let calls = self
            .calls
            .values()
            .filter(|call| !call.is_over)
            .flat_map(|call| [Some(call.card), call.progress]);
        let agents = self.agents.values().filter(|agent| !agent.is_over).flat_map(|agent| &agent.told);
        let latest = self.latest.iter().filter(|(what, _)| what.stands()).map(|(_, at)| at);
        let batches = self.batches.values().filter_map(|batch| batch.asked);
        let standing: Vec<usize> = calls
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
                    .filter(|at| beside::is_running(self.entries[*at].event.as_ref())),
            )
            .collect();
        for at in standing {
            self.entries[at].stands = true;
        }
    }
}
