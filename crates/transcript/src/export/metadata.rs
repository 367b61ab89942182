//! Metadata of a session in the head of an export.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::source::ExportSource;
use super::{Branches, Options};
use crate::Error;
use crate::session::{EntryRole, LaneId, NodeId, Session};

/// Metadata of a session in the head of an export. Its JSON is part of the `json` export.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct SessionMetadata {
    /// The session's id.
    pub id: String,
    /// Best available title.
    pub title: String,
    /// Working folder.
    pub project: Option<String>,
    /// Branch of the repository, last value.
    pub git_branch: Option<String>,
    /// Version of the CLI, last value.
    pub version: Option<String>,
    /// All models that answered.
    pub models: Vec<String>,
    /// Time of the first entry.
    #[serde(serialize_with = "super::json::iso")]
    pub first: Option<Timestamp>,
    /// Time of the last entry.
    #[serde(serialize_with = "super::json::iso")]
    pub last: Option<Timestamp>,
    /// Milliseconds from the first to the last entry.
    pub duration_ms: Option<i64>,
    /// Entries in the export, those of its sub-agents included.
    pub messages: usize,
    /// Prompts in the export.
    pub prompts: usize,
    /// Answers in the export.
    pub responses: usize,
    /// Tool calls in the export, those of sub-agents included.
    pub tool_calls: usize,
    /// Number of calls of each tool.
    pub tools: BTreeMap<String, usize>,
    /// Failed calls and other errors in the export.
    pub errors: usize,
    /// Sub-agents that entries in the export started.
    pub subagents: usize,
    /// Types of the sub-agents.
    pub agents: Vec<String>,
    /// Branches of the main line.
    pub branches: usize,
    /// Entries of branches that are left out.
    pub hidden_entries: usize,
    /// Compactions in the export.
    pub compactions: usize,
    /// Entries whose parent is missing.
    pub orphans: usize,
    /// Lines that could not be read.
    pub damaged: u64,
    /// The prompts, for a table of contents.
    #[serde(skip)]
    pub(super) contents: Vec<Prompt>,
    /// Context size at each answer.
    #[serde(skip)]
    pub(super) context: Vec<ContextSize>,
}

/// A line of the table of contents.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "html"), expect(dead_code, reason = "only the page shows all of it"))]
pub(super) struct Prompt {
    pub(super) node: NodeId,
    pub(super) at: Option<Timestamp>,
    /// Beginning of the prompt.
    pub(super) text: String,
}

/// Number of tokens in the context of a response.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "html"), expect(dead_code, reason = "only the page shows all of it"))]
pub(super) struct ContextSize {
    pub(super) at: Timestamp,
    pub(super) tokens: u64,
}

/// Number of characters of a prompt in the table of contents.
const PROMPT_CHARS: usize = 120;

/// The entries that an export is about.
struct Scope {
    nodes: HashSet<NodeId>,
    /// The sub-agents among them.
    agents: Vec<LaneId>,
}

impl Scope {
    /// Entries of the main line with those of the sub-agents that they started, and of sub-agents without a
    /// known start.
    fn of(session: &Session, nodes: impl Iterator<Item = NodeId>) -> Self {
        let mut scope = Scope { nodes: nodes.collect(), agents: Vec::new() };
        let mut others: Vec<LaneId> = session.lane_ids().skip(1).collect();
        loop {
            let before = others.len();
            // A sub-agent may have started others.
            others.retain(|lane| {
                let started_by = session.lane(*lane).agent.as_ref().and_then(|agent| agent.started_by);
                let is_here = started_by.is_none_or(|node| scope.nodes.contains(&node));
                if is_here {
                    scope.nodes.extend(&session.lane(*lane).nodes);
                    scope.agents.push(*lane);
                }
                !is_here
            });
            if others.len() == before {
                return scope;
            }
        }
    }

    fn has(&self, node: Option<NodeId>) -> bool {
        node.is_some_and(|node| self.nodes.contains(&node))
    }
}

/// The entries of the branches beside a path, if they are exported.
fn other_branches(session: &Session, options: &Options, path: &[NodeId]) -> Vec<NodeId> {
    if options.branches != Branches::All {
        return Vec::new();
    }
    let mut seen: HashSet<NodeId> = path.iter().copied().collect();
    let branches = session.branches(LaneId::MAIN).into_iter();
    let nodes = branches.flat_map(|branch| session.path(branch.leaf, options.view));
    nodes.filter(|node| seen.insert(*node)).collect()
}

impl SessionMetadata {
    /// Reads the entries of a path, and of the other branches if they are exported, once before they are
    /// written. All numbers are about these entries and the sub-agents that they started.
    pub(super) fn read(
        source: &mut ExportSource<'_>,
        options: &Options,
        path: &[NodeId],
    ) -> Result<Self, Error> {
        let session = source.session;
        let others = other_branches(session, options, path);
        let scope = Scope::of(session, path.iter().chain(&others).copied());
        let mut facts = SessionMetadata {
            id: session.id().to_owned(),
            messages: scope.nodes.len(),
            subagents: scope.agents.len(),
            branches: session.branches(LaneId::MAIN).len(),
            hidden_entries: super::hidden_branches(session, options.branches).entries,
            compactions: session.compactions().iter().filter(|it| scope.nodes.contains(&it.node)).count(),
            orphans: session.nodes().iter().filter(|node| node.is_orphan()).count(),
            damaged: session.counts().damaged,
            ..SessionMetadata::default()
        };
        for tool in session.tools().iter().filter(|tool| scope.has(tool.call)) {
            facts.tool_calls += 1;
            facts.errors += usize::from(tool.is_error);
            match facts.tools.get_mut(&*tool.name) {
                Some(count) => *count += 1,
                None => drop(facts.tools.insert(tool.name.to_string(), 1)),
            }
        }
        for agent in scope.agents.iter().filter_map(|lane| session.lane(*lane).agent.as_ref()) {
            if !facts.agents.iter().any(|name| **name == *agent.name) {
                facts.agents.push(agent.name.to_string());
            }
        }
        let mut response = None;
        for id in path {
            facts.pass(source, *id, &mut response)?;
        }
        // The table of contents and the sizes are those of the path.
        let (contents, context) = (facts.contents.len(), facts.context.len());
        for id in others {
            facts.pass(source, id, &mut response)?;
        }
        facts.contents.truncate(contents);
        facts.context.truncate(context);
        facts.duration_ms =
            facts.first.zip(facts.last).map(|(first, last)| last.as_millisecond() - first.as_millisecond());
        let first_prompt = facts.contents.first().map(|prompt| prompt.text.as_str());
        let title = session.title().or_else(|| first_prompt.map(str::to_owned));
        let title = title.as_deref().unwrap_or("Session without a prompt");
        facts.title = super::sanitize::short_line(&source.text(title), PROMPT_CHARS);
        Ok(facts)
    }

    fn pass(
        &mut self,
        source: &mut ExportSource<'_>,
        id: NodeId,
        response: &mut Option<u32>,
    ) -> Result<(), Error> {
        let node = source.session.node(id);
        if let Some(at) = node.at {
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
            self.last = Some(self.last.map_or(at, |last| last.max(at)));
        }
        self.errors += usize::from(node.part == EntryRole::Error);
        match node.part {
            EntryRole::Prompt | EntryRole::Command => {
                let entry = source.entry(id)?;
                let entry = entry.as_ref();
                let text = |key: &str| {
                    super::entry_part::string(entry.get(key)).map(|text| super::sanitize::safe_line(&text))
                };
                self.project =
                    entry.cwd().map(|cwd| super::sanitize::safe_line(&cwd)).or(self.project.take());
                self.git_branch =
                    text("gitBranch").filter(|branch| !branch.is_empty()).or(self.git_branch.take());
                self.version = text("version").or(self.version.take());
                let said = entry.text();
                let shown = match crate::session::CommandTags::parse(&said) {
                    Some(tags) => {
                        format!("{} {}", tags.name.unwrap_or_default(), tags.args.unwrap_or_default())
                    }
                    None => said,
                };
                self.prompts += usize::from(node.part == EntryRole::Prompt);
                self.contents.push(Prompt {
                    node: id,
                    at: node.at,
                    text: super::sanitize::short_line(&shown, PROMPT_CHARS),
                });
            }
            // One response is several entries, and each repeats its usage.
            EntryRole::Response if node.response.is_none() || node.response != *response => {
                *response = node.response;
                self.responses += 1;
                let entry = source.entry(id)?;
                let said = entry.as_ref().message_view();
                if let Some(model) = said.model.map(|model| super::sanitize::safe_line(&model.get()))
                    && model != "<synthetic>"
                    && !self.models.contains(&model)
                {
                    self.models.push(model);
                }
                if let (Some(usage), Some(at)) = (entry.usage(), node.at) {
                    let cached = usage.cache_creation_input_tokens.unwrap_or_default()
                        + usage.cache_read_input_tokens.unwrap_or_default();
                    self.context.push(ContextSize { at, tokens: usage.input_tokens + cached });
                }
            }
            _ => {}
        }
        Ok(())
    }
}
