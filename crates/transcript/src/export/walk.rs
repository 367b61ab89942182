//! The order in which a session is exported: each call with its result, sub-agents inside the call that
//! started them, abandoned branches at their fork points.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use tidings_protocol::entry::Entry;
use tidings_protocol::json::Raw;
use tidings_protocol::view::Block;

use super::entry_part::{EntryPart, Head, Outcome, Picture, ToolCall, string};
use super::pretty::pretty;
use super::source::ExportSource;
use super::{Agents, Branches, Detail, Options};
use crate::Error;
use crate::limits::AGENT_DEPTH_MAX;
use crate::session::{Agent, Branch, CommandTags, Compaction, EntryRole, LaneId, NodeId, ToolUse};

/// An output format. Everything is written to a buffer that the walk empties from time to time.
pub(super) trait Sink {
    /// Writes the note of [`Options::mark`]; only text has it.
    fn mark(&mut self, _note: &str) {}
    /// The text written since the last call.
    fn take(&mut self) -> &mut String;
    /// Writes a part of an entry.
    fn piece(&mut self, head: &Head<'_>, piece: &EntryPart<'_>);
    /// Begins a tool call; sub-agents that it started may follow.
    fn open_call(&mut self, head: &Head<'_>, call: &ToolCall<'_>);
    /// Ends a tool call.
    fn close_call(&mut self, head: &Head<'_>, call: &ToolCall<'_>);
    /// Writes a result whose call is unknown.
    fn result(&mut self, head: &Head<'_>, tool: &str, outcome: &Outcome);
    /// Begins a sub-agent's conversation.
    fn open_agent(&mut self, agent: &Agent, entries: usize);
    /// Ends a sub-agent's conversation.
    fn close_agent(&mut self);
    /// Begins an abandoned branch.
    fn open_branch(&mut self, branch: &Branch, number: usize, entries: usize);
    /// Ends an abandoned branch.
    fn close_branch(&mut self);
}

/// A branch beside the exported path.
struct SideBranch {
    /// Number in [`Session::branches`](crate::session::Session::branches), from 1 on.
    number: usize,
    branch: Branch,
    /// Its entries that are not part of an earlier path.
    own: Vec<NodeId>,
}

/// Feeds a session to a sink.
pub(super) struct ExportWalk<'w, 's, S> {
    source: &'w mut ExportSource<'s>,
    options: &'w Options,
    sink: &'w mut S,
    out: &'w mut dyn Write,
    lanes_shown: HashSet<LaneId>,
    /// By entry, id of the call and number among the results of that id in the entry.
    results_shown: HashSet<(NodeId, String, usize)>,
    compactions: HashMap<NodeId, &'s Compaction>,
}

impl<'w, 's, S: Sink> ExportWalk<'w, 's, S> {
    pub(super) fn new(
        source: &'w mut ExportSource<'s>,
        options: &'w Options,
        sink: &'w mut S,
        out: &'w mut dyn Write,
    ) -> Self {
        let compactions =
            source.session.compactions().iter().map(|compaction| (compaction.node, compaction)).collect();
        ExportWalk {
            source,
            options,
            sink,
            out,
            lanes_shown: HashSet::new(),
            results_shown: HashSet::new(),
            compactions,
        }
    }

    /// Exports the main line along `path`, with sub-agents and branches.
    pub(super) fn main(&mut self, path: &[NodeId]) -> Result<(), Error> {
        self.flush()?;
        let session = self.source.session;
        let mut branches = self.other_branches(path);
        for node in path {
            self.node(*node, 0)?;
            for aside in branches.remove(&Some(*node)).unwrap_or_default() {
                self.aside(&aside)?;
            }
        }
        for aside in branches.remove(&None).unwrap_or_default() {
            self.aside(&aside)?;
        }
        for lane in &session.lanes()[1..] {
            let is_loose = lane.agent.as_ref().is_some_and(|agent| agent.started_by.is_none());
            if let Some(first) = lane.nodes.first().filter(|_| is_loose) {
                self.agent(session.node(*first).lane, 0)?;
            }
        }
        self.flush()
    }

    /// The branches to show beside the path, by the entry of the path where they fork.
    fn other_branches(&self, path: &[NodeId]) -> HashMap<Option<NodeId>, Vec<SideBranch>> {
        let session = self.source.session;
        let mut by_fork: HashMap<Option<NodeId>, Vec<SideBranch>> = HashMap::new();
        if self.options.branches != Branches::All {
            return by_fork;
        }
        let main: HashSet<NodeId> = path.iter().copied().collect();
        let mut seen = main.clone();
        for (index, branch) in session.branches(LaneId::MAIN).into_iter().enumerate() {
            let whole = session.path(branch.leaf, self.options.view);
            let fork = whole.iter().rev().find(|node| main.contains(node)).copied();
            let own: Vec<NodeId> = whole.into_iter().filter(|node| seen.insert(*node)).collect();
            if !own.is_empty() {
                by_fork.entry(fork).or_default().push(SideBranch { number: index + 1, branch, own });
            }
        }
        by_fork
    }

    fn aside(&mut self, aside: &SideBranch) -> Result<(), Error> {
        self.sink.open_branch(&aside.branch, aside.number, aside.own.len());
        for node in &aside.own {
            self.node(*node, 0)?;
        }
        self.sink.close_branch();
        self.flush()
    }

    /// Exports a sub-agent's conversation, once.
    fn agent(&mut self, lane: LaneId, depth: usize) -> Result<(), Error> {
        let session = self.source.session;
        let Some(agent) = &session.lane(lane).agent else { return Ok(()) };
        if self.options.agents == Agents::Hidden || depth >= AGENT_DEPTH_MAX || !self.lanes_shown.insert(lane)
        {
            return Ok(());
        }
        let path = match session.active_leaf(lane) {
            Some(leaf) => session.path(leaf, self.options.view),
            None => session.lane(lane).nodes.clone(),
        };
        self.sink.open_agent(agent, path.len());
        for node in path {
            self.node(node, depth + 1)?;
        }
        self.sink.close_agent();
        Ok(())
    }

    fn node(&mut self, id: NodeId, depth: usize) -> Result<(), Error> {
        let session = self.source.session;
        let node = session.node(id);
        if let Some(mark) = self.options.mark.as_ref().filter(|mark| mark.node == id) {
            self.sink.mark(&mark.note);
        }
        if self.options.detail == Detail::Folded && is_hidden(node.part) {
            return Ok(());
        }
        let head = Head {
            node: id,
            actor: session.actor(id),
            part: node.part,
            at: node.at,
            lane: node.lane,
            is_error: node.is_error(),
            is_aborted: node.is_aborted(),
            is_deleted: node.is_deleted(),
        };
        if let Some(compaction) = self.compactions.get(&id) {
            self.sink.piece(&head, &EntryPart::Compaction(compaction));
            return self.flush();
        }
        let entry = self.source.entry(id)?;
        match node.part {
            EntryRole::Event
            | EntryRole::Progress
            | EntryRole::Other
            | EntryRole::Compaction
            | EntryRole::Attachment => {
                self.note(&head, &entry);
            }
            EntryRole::ToolResult => self.results(&head, &entry),
            EntryRole::Prompt
            | EntryRole::Command
            | EntryRole::CommandOutput
            | EntryRole::Interruption
            | EntryRole::Notification
            | EntryRole::Injected
            | EntryRole::Response
            | EntryRole::CompactSummary
            | EntryRole::Error => self.write_message(&head, &entry, depth)?,
        }
        // Lanes without a call in the entry still belong here.
        for lane in session.lanes_of(id) {
            self.agent(lane, depth)?;
        }
        self.flush()
    }

    /// Exports the message, block by block.
    fn write_message(&mut self, head: &Head<'_>, entry: &Entry, depth: usize) -> Result<(), Error> {
        let entry = entry.as_ref();
        let is_thinking = entry.subtype().as_deref() == Some("thinking");
        let mut calls = Numbers::default();
        for block in entry.content_blocks() {
            match block {
                Block::Text(text) => {
                    let text = text.get();
                    let tags = matches!(head.part, EntryRole::Command | EntryRole::CommandOutput)
                        .then(|| CommandTags::parse(&text))
                        .flatten();
                    match tags {
                        _ if text.trim().is_empty() => {}
                        Some(tags) => self.sink.piece(head, &EntryPart::Command(tags)),
                        None if is_thinking => self.sink.piece(head, &EntryPart::Thinking(text)),
                        None => self.sink.piece(head, &EntryPart::Text(text)),
                    }
                }
                Block::Thinking(text) => {
                    let text = text.get();
                    if !text.trim().is_empty() {
                        self.sink.piece(head, &EntryPart::Thinking(text));
                    }
                }
                Block::ToolUse { id, name, input } => {
                    let number = calls.next(&id.get());
                    let changed = self.source.changed_input(&id.get());
                    let call = ToolCall::new(id.get(), &name.get(), input).with_input(changed.as_ref());
                    self.call(head, call, number, depth)?;
                }
                Block::Other(raw) => self.other_block(head, raw),
                _ => {}
            }
        }
        if calls.0.is_empty() {
            for call in entry.tool_calls() {
                let number = calls.next(&call.id);
                let changed = self.source.changed_input(&call.id);
                let call = ToolCall::new(call.id, &call.name, call.input).with_input(changed.as_ref());
                self.call(head, call, number, depth)?;
            }
        }
        Ok(())
    }

    fn other_block(&mut self, head: &Head<'_>, raw: Raw<'_>) {
        if let Some(picture) = Picture::of_block(raw) {
            self.sink.piece(head, &EntryPart::Picture(picture));
            return;
        }
        let name = string(raw.get("type")).unwrap_or_default();
        // Encrypted thinking is not readable.
        if name != "redacted_thinking" {
            self.sink.piece(head, &EntryPart::Note { name, text: pretty(raw) });
        }
    }

    /// Exports a call, by its number among those with its id in the entry: some servers give one id to
    /// several.
    fn call(
        &mut self,
        head: &Head<'_>,
        mut call: ToolCall<'_>,
        number: usize,
        depth: usize,
    ) -> Result<(), Error> {
        let session = self.source.session;
        let tool = session.calls_of(head.node).filter(|tool| *tool.id == *call.id).nth(number);
        if let Some((tool, result)) = tool.and_then(|tool| Some((tool, tool.result?))) {
            let same_id = session.results_of(result).filter(|other| other.id == tool.id);
            let number = same_id.take_while(|other| !std::ptr::eq(*other, tool)).count();
            let entry = self.source.entry(result)?;
            let which = (&*call.id, number);
            call.outcome = self.source.outcome(&entry.as_ref(), which, Some(&call), self.options.detail);
            if let Some(outcome) = &mut call.outcome {
                self.results_shown.insert((result, call.id.to_string(), number));
                let (asked, answered) = (head.at, session.node(result).at);
                outcome.took = asked.zip(answered).map(|(asked, answered)| answered.duration_since(asked));
            }
        }
        let is_started_here = |lane: &LaneId| {
            let agent = session.lane(*lane).agent.as_ref();
            agent.is_some_and(|agent| agent.tool_use_id.as_deref() == Some(&*call.id))
        };
        call.agents = session.lanes_of(head.node).filter(is_started_here).collect();
        self.sink.open_call(head, &call);
        for lane in &call.agents {
            self.agent(*lane, depth)?;
        }
        self.sink.close_call(head, &call);
        Ok(())
    }

    /// Exports results that were not shown with their calls, and the user's text beside them.
    fn results(&mut self, head: &Head<'_>, entry: &Entry) {
        let session = self.source.session;
        let view = entry.as_ref();
        let tools: Vec<&ToolUse> = session.results_of(head.node).collect();
        let mut numbers = Numbers::default();
        for result in view.tool_results() {
            let number = result.tool_use_id.as_deref().map_or(0, |id| numbers.next(id));
            let is_its = |tool: &&&ToolUse| result.tool_use_id.as_deref().is_none_or(|id| *tool.id == *id);
            let tool = tools.iter().filter(is_its).nth(number);
            let id = tool.map_or_else(
                || result.tool_use_id.clone().unwrap_or_default().into_owned(),
                |tool| tool.id.to_string(),
            );
            if self.results_shown.contains(&(head.node, id.clone(), number)) {
                continue;
            }
            if let Some(outcome) = self.source.outcome(&view, (&id, number), None, self.options.detail) {
                self.sink.result(head, tool.map_or("", |tool| &tool.name), &outcome);
            }
        }
        // In the flat dialect the whole entry is the result.
        let beside = view.tool_results().iter().all(|result| result.tool_use_id.is_some());
        for block in view.content_blocks() {
            match block {
                Block::Text(text) if beside && !text.get().trim().is_empty() => {
                    self.sink.piece(head, &EntryPart::Text(text.get()));
                }
                Block::Other(raw) => self.other_block(head, raw),
                _ => {}
            }
        }
    }

    /// Exports an entry of the client: an event, an attachment, progress, or an unknown kind.
    fn note(&mut self, head: &Head<'_>, entry: &Entry) {
        let view = entry.as_ref();
        let attachment = view.attachment_type();
        if let Some("queued_command") = attachment.as_deref() {
            // The user typed this while the model was working.
            let prompt = view.get("attachment").and_then(|attachment| attachment.get("prompt"));
            let text = match string(prompt) {
                Some(text) => text.into_owned(),
                None => prompt
                    .into_iter()
                    .flat_map(Raw::items)
                    .filter_map(|block| string(block.get("text")))
                    .collect::<Vec<_>>()
                    .join("\n"),
            };
            if !text.trim().is_empty() {
                self.sink.piece(head, &EntryPart::Text(text.into()));
            }
            return;
        }
        let text = view.text();
        let full = self.options.detail == Detail::Full;
        let is_silent = text.trim().is_empty() || attachment.is_some();
        if is_silent && !full {
            return;
        }
        let name = attachment.unwrap_or_else(|| view.name());
        let text = match (text.trim().is_empty(), CommandTags::parse(&text)) {
            (true, _) => pretty(view.get("attachment").unwrap_or(view.json())),
            (false, Some(tags)) => return self.sink.piece(head, &EntryPart::Command(tags)),
            (false, None) => text,
        };
        self.sink.piece(head, &EntryPart::Note { name, text });
    }

    fn flush(&mut self) -> Result<(), Error> {
        let buffer = self.sink.take();
        if !buffer.is_empty() {
            self.out.write_all(buffer.as_bytes()).map_err(Error::export)?;
            buffer.clear();
        }
        Ok(())
    }
}

/// Counts the calls or the results of each id in an entry.
#[derive(Default)]
pub(super) struct Numbers(HashMap<String, usize>);

impl Numbers {
    /// Number of earlier ones with that id.
    pub(super) fn next(&mut self, id: &str) -> usize {
        let count = self.0.entry(id.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

/// Returns true for entries that are shown with [`Detail::Full`] only. Attachments are handled before: some
/// contain prompts.
fn is_hidden(part: EntryRole) -> bool {
    matches!(part, EntryRole::Injected | EntryRole::Progress | EntryRole::Other)
}
