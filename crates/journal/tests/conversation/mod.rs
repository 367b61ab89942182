//! A small program that shows a conversation, as the page would: two streams of events are compared by its
//! result.

use std::collections::{BTreeMap, BTreeSet};

use tidings_protocol::ui::{Retracted, SubAgentProgressed, TaskChanged, TurnId, UiMessage};

/// The contents of the screen.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) lanes: BTreeMap<Option<String>, Vec<Item>>,
    calls: BTreeMap<String, FoldedCall>,
    since_turn: Vec<String>,
    agents: BTreeMap<String, Vec<UiMessage>>,
    tasks: BTreeMap<String, UiMessage>,
    /// The open permission requests and questions.
    pub(crate) pending: BTreeMap<String, Vec<UiMessage>>,
    questions: BTreeMap<String, Vec<UiMessage>>,
    batches: BTreeMap<String, FoldedBatch>,
    settled: Vec<UiMessage>,
    pub(crate) queue: BTreeMap<String, (String, Option<String>)>,
    /// The latest status event of each kind.
    latest: BTreeMap<String, UiMessage>,
    turns: Vec<UiMessage>,
    model_usage: Option<serde_json::Value>,
    cli_sessions: Vec<String>,
    started: Option<UiMessage>,
    settings: Vec<(Option<String>, Option<String>)>,
    commands: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Text { turn: TurnId, text: String, ended: bool },
    Thinking { turn: TurnId, text: String },
    Tool(String),
    Agent(String),
    Task(String),
    Prompt { text: String, by: Option<String> },
    Dropped { uuid: String, text: Option<String> },
    Note(Box<UiMessage>),
}

#[derive(Debug, Default, PartialEq)]
struct FoldedCall {
    name: Option<String>,
    input: Option<serde_json::Value>,
    progress: Option<f64>,
    ended: Vec<UiMessage>,
    is_over: bool,
}

#[derive(Debug, Default)]
struct FoldedBatch {
    asked: Option<UiMessage>,
    waiting: BTreeSet<String>,
}

// The author of an answer is in another event.
impl PartialEq for FoldedBatch {
    fn eq(&self, other: &Self) -> bool {
        self.asked == other.asked
    }
}

/// The item that a delta may belong to: prompts and notes can come in the middle of a block without ending
/// it.
fn writing(items: &mut [Item]) -> Option<&mut Item> {
    items.iter_mut().rev().find(|item| match item {
        Item::Prompt { .. } | Item::Dropped { .. } => false,
        Item::Note(note) => !matches!(**note, UiMessage::System { .. }),
        _ => true,
    })
}

impl Conversation {
    pub(crate) fn of<'a>(events: impl IntoIterator<Item = &'a UiMessage>) -> Self {
        let mut shown = Self::default();
        for event in events {
            match event {
                UiMessage::Lane(lane) => shown.take(Some(&lane.agent_id), &lane.event),
                event => shown.take(None, event),
            }
        }
        shown.settle_down();
        shown
    }

    /// Adjacent texts, the first of which was not ended, look like one; so do empty and missing lists.
    fn settle_down(&mut self) {
        for items in self.lanes.values_mut() {
            let mut shown: Vec<Item> = Vec::new();
            for item in items.drain(..) {
                let last = writing(&mut shown);
                match (last, item) {
                    (
                        Some(Item::Text { turn, text, ended: ended @ false }),
                        Item::Text { turn: next, text: more, ended: end },
                    ) if *turn == next => {
                        text.push_str(&more);
                        *ended = end;
                    }
                    (Some(Item::Thinking { turn, text }), Item::Thinking { turn: next, text: more })
                        if *turn == next =>
                    {
                        text.push_str(&more);
                    }
                    (_, item) => shown.push(item),
                }
            }
            *items = shown;
        }
        self.lanes.retain(|_, items| !items.is_empty());
        self.batches.retain(|_, batch| batch.asked.is_some());
        self.since_turn.clear();
    }

    fn items(&mut self, lane: Option<&String>) -> &mut Vec<Item> {
        self.lanes.entry(lane.cloned()).or_default()
    }

    fn note(&mut self, lane: Option<&String>, event: &UiMessage) {
        self.items(lane).push(Item::Note(Box::new(event.clone())));
    }

    fn newest(&mut self, name: String, event: &UiMessage) {
        self.latest.insert(name, event.clone());
    }

    fn take(&mut self, lane: Option<&String>, event: &UiMessage) {
        let retrying = format!("retrying {lane:?}");
        match event {
            UiMessage::TextChunk { text: more, turn_id, .. } => {
                self.latest.remove(&retrying);
                match writing(self.items(lane)) {
                    Some(Item::Text { turn, text, ended: false }) if turn == turn_id => text.push_str(more),
                    _ => {
                        self.items(lane).push(Item::Text {
                            turn: *turn_id,
                            text: more.clone(),
                            ended: false,
                        });
                    }
                }
            }
            UiMessage::Thinking(event) => {
                self.latest.remove(&retrying);
                match writing(self.items(lane)) {
                    Some(Item::Thinking { turn, text }) if *turn == event.turn_id => {
                        text.push_str(&event.text);
                    }
                    _ => self
                        .items(lane)
                        .push(Item::Thinking { turn: event.turn_id, text: event.text.clone() }),
                }
            }
            UiMessage::TextEnded(event) => {
                let texts = self.items(lane).iter_mut().rev();
                let mut texts = texts.filter_map(|item| match item {
                    Item::Text { turn, ended, .. } => Some((*turn, ended)),
                    _ => None,
                });
                if let Some((turn, ended)) = texts.next()
                    && turn == event.turn_id
                {
                    *ended = true;
                }
            }
            UiMessage::Retracted(event) => self.retract(lane, event),
            UiMessage::ToolPreparing(event) => {
                self.latest.remove(&retrying);
                if !self.calls.contains_key(&event.tool_use_id) {
                    self.call(lane, &event.tool_use_id).name = Some(event.tool_name.clone());
                }
            }
            UiMessage::ToolExecuting { tool_use_id, tool_name, input, .. } => {
                self.latest.remove(&retrying);
                let call = self.call(lane, tool_use_id);
                call.name = Some(tool_name.clone());
                call.input = Some(input.clone());
            }
            UiMessage::ToolProgress(event) => {
                self.latest.remove(&retrying);
                let call = self.call(lane, &event.tool_use_id);
                if !call.is_over {
                    call.progress = Some(event.elapsed_seconds);
                }
            }
            UiMessage::ToolDetails(details) => {
                self.latest.remove(&retrying);
                self.call(lane, &details.tool_use_id).ended.push(event.clone());
            }
            UiMessage::ToolCompleted { tool_use_id, .. } => {
                self.latest.remove(&retrying);
                let call = self.call(lane, tool_use_id);
                call.progress = None;
                call.is_over = true;
                call.ended.push(event.clone());
            }
            UiMessage::Complete { .. } => {
                self.latest.remove(&retrying);
                if lane.is_none() {
                    for id in std::mem::take(&mut self.since_turn) {
                        if let Some(call) = self.calls.get_mut(&id) {
                            call.is_over = true;
                        }
                    }
                }
                self.turns.push(event.clone());
            }
            UiMessage::TurnStarted(_) => self.turns.push(event.clone()),
            UiMessage::TurnResult(result) => {
                let mut result = result.clone();
                self.model_usage = result.model_usage.take().or(self.model_usage.take());
                for denied in &mut result.permission_denials {
                    denied.input = None;
                }
                self.turns.push(result.into());
            }
            UiMessage::PermissionDetails(details) => {
                let id = &details.tool_use_id;
                if let Some(batch) = &details.batch_id {
                    self.batches.entry(batch.clone()).or_default().waiting.insert(id.clone());
                }
                self.pending.entry(id.clone()).or_default().push(event.clone());
            }
            UiMessage::PermissionRequired { tool_use_id, .. } => {
                self.pending.entry(tool_use_id.clone()).or_default().push(event.clone());
            }
            UiMessage::BatchPermissionRequired { batch_id, .. } => {
                self.batches.entry(batch_id.clone()).or_default().asked = Some(event.clone());
            }
            UiMessage::PermissionResolved(resolved) => {
                self.pending.remove(&resolved.tool_use_id);
                let batch = resolved.batch_id.as_ref().and_then(|id| self.batches.get_mut(id));
                if let Some(batch) = batch
                    && batch.waiting.remove(&resolved.tool_use_id)
                    && batch.waiting.is_empty()
                {
                    batch.asked = None;
                }
                self.settled.push(event.clone());
            }
            UiMessage::QuestionDetails(details) => {
                self.questions.entry(details.tool_use_id.clone()).or_default().push(event.clone());
            }
            UiMessage::UserInteractionRequired { tool_use_id, .. } => {
                self.questions.entry(tool_use_id.clone()).or_default().push(event.clone());
                self.note(lane, event);
            }
            UiMessage::InteractionResolved(resolved) => {
                self.questions.remove(&resolved.tool_use_id);
                self.settled.push(event.clone());
            }
            UiMessage::PromptQueued(queued) => {
                self.queue.insert(queued.uuid.clone(), (queued.text.clone(), queued.by.clone()));
            }
            UiMessage::UserPrompt(prompt) => {
                self.latest.remove("suggestion");
                let queued = prompt.uuid.as_ref().and_then(|uuid| self.queue.remove(uuid));
                let by = queued.and_then(|(_, by)| by);
                self.items(lane).push(Item::Prompt { text: prompt.text.clone(), by });
            }
            UiMessage::PromptDropped(dropped) => {
                let text = self.queue.remove(&dropped.uuid).map(|(text, _)| text);
                self.items(lane).push(Item::Dropped { uuid: dropped.uuid.clone(), text });
            }
            UiMessage::SubAgentStarted(started) => self.agent(lane, &started.agent_id).push(event.clone()),
            UiMessage::SubAgentEnded(ended) => self.agent(lane, &ended.agent_id).push(event.clone()),
            UiMessage::SubAgentProgressed(new) => {
                let events = self.agent(lane, &new.agent_id);
                let known = events.iter_mut().find_map(|event| match event {
                    UiMessage::SubAgentProgressed(known) => Some(known),
                    _ => None,
                });
                match known {
                    Some(known) => progress(known, new),
                    None => events.push(event.clone()),
                }
            }
            UiMessage::TaskChanged(changed) => {
                let new = self.tasks.get(&changed.task_id).map_or_else(
                    || {
                        self.lanes
                            .entry(lane.cloned())
                            .or_default()
                            .push(Item::Task(changed.task_id.clone()));
                        changed.clone()
                    },
                    |known| task(known, changed),
                );
                self.tasks.insert(changed.task_id.clone(), new.into());
            }
            UiMessage::TokenUpdate { .. } => self.newest(format!("tokens {lane:?}"), event),
            UiMessage::Progress(p) => self.newest(format!("progress {lane:?} {:?}", p.agent_id), event),
            UiMessage::TodoList(list) => self.newest(format!("todos {lane:?} {:?}", list.agent_id), event),
            UiMessage::Retrying(_) => self.newest(retrying, event),
            UiMessage::RateLimit(limit) => self.newest(format!("limit {:?}", limit.kind), event),
            UiMessage::SessionTitle(_) => self.newest("title".to_owned(), event),
            UiMessage::Suggestion(_) => self.newest("suggestion".to_owned(), event),
            UiMessage::SessionStateChanged(changed) => {
                if changed.error.is_some() || changed.exit_code.is_some() || changed.signal.is_some() {
                    self.note(lane, event);
                }
                self.newest("state".to_owned(), event);
            }
            UiMessage::SessionStarted(started) => {
                if self.cli_sessions.last() != Some(&started.cli_session_id) {
                    self.cli_sessions.push(started.cli_session_id.clone());
                }
                self.commands.clone_from(&started.slash_commands);
                let mut rest = started.clone();
                rest.slash_commands.clear();
                self.started = Some(rest.into());
            }
            UiMessage::SettingsChanged(changed) => {
                self.settings.push((changed.model.clone(), changed.permission_mode.clone()));
                if let Some(commands) = &changed.slash_commands {
                    self.commands.clone_from(commands);
                }
            }
            UiMessage::RawFrame(_) | UiMessage::Lane(_) => {}
            event => self.note(lane, event),
        }
    }

    fn call(&mut self, lane: Option<&String>, id: &str) -> &mut FoldedCall {
        if !self.calls.contains_key(id) {
            self.items(lane).push(Item::Tool(id.to_owned()));
            if lane.is_none() {
                self.since_turn.push(id.to_owned());
            }
        }
        self.calls.entry(id.to_owned()).or_default()
    }

    fn agent(&mut self, lane: Option<&String>, id: &str) -> &mut Vec<UiMessage> {
        if !self.agents.contains_key(id) {
            self.items(lane).push(Item::Agent(id.to_owned()));
        }
        self.agents.entry(id.to_owned()).or_default()
    }

    fn retract(&mut self, lane: Option<&String>, event: &Retracted) {
        let items = self.items(lane);
        let is_text = |item: &Item| matches!(item, Item::Text { .. });
        let is_thinking = |item: &Item| matches!(item, Item::Thinking { .. });
        cut(items, event.turn_id, &event.text, is_text);
        cut(items, event.turn_id, &event.thinking, is_thinking);
        for id in &event.tool_use_ids {
            self.calls.remove(id);
            self.since_turn.retain(|begun| begun != id);
            for items in self.lanes.values_mut() {
                items.retain(|item| *item != Item::Tool(id.clone()));
            }
        }
    }
}

/// Removes the end of a turn's text; all of it, if it is shorter; nothing, if it does not match.
fn cut(items: &mut Vec<Item>, turn_id: TurnId, void: &str, kind: impl Fn(&Item) -> bool) {
    let mut said = String::new();
    for item in items.iter().rev().filter(|item| kind(item)) {
        let (Item::Text { turn, text, .. } | Item::Thinking { turn, text }) = item else { continue };
        if *turn != turn_id {
            break;
        }
        said.insert_str(0, text);
    }
    let mut left = match (said.ends_with(void), void.ends_with(&said)) {
        (true, _) => void.len(),
        (_, true) => said.len(),
        _ => return,
    };
    for item in items.iter_mut().rev() {
        if left == 0 {
            break;
        }
        if !kind(item) {
            continue;
        }
        let (text, ended) = match item {
            Item::Text { text, ended, .. } => (text, Some(ended)),
            Item::Thinking { text, .. } => (text, None),
            _ => continue,
        };
        let cut = left.min(text.len());
        text.truncate(text.len() - cut);
        left -= cut;
        if let Some(ended) = ended {
            *ended = false;
        }
    }
    items.retain(
        |item| !matches!(item, Item::Text { text, .. } | Item::Thinking { text, .. } if text.is_empty()),
    );
}

fn progress(known: &mut SubAgentProgressed, new: &SubAgentProgressed) {
    let mut next = new.clone();
    next.last_tool = next.last_tool.or(known.last_tool.take());
    next.tokens = next.tokens.or(known.tokens);
    *known = next;
}

fn task(known: &UiMessage, new: &TaskChanged) -> TaskChanged {
    let mut next = new.clone();
    if let UiMessage::TaskChanged(known) = known {
        next.description = next.description.or(known.description.clone());
        next.summary = next.summary.or(known.summary.clone());
    }
    next
}
