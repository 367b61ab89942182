//! A session as JSON for scripts.

use std::io::Write;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use tidings_protocol::entry::EntryRef;
use tidings_protocol::json::Raw;
use tidings_protocol::view::Block;

use super::entry_part::{Picture, ToolCall};
use super::metadata::SessionMetadata;
use super::source::ExportSource;
use super::walk::Numbers;
use super::{Agents, Branches, Options};
use crate::Error;
use crate::session::{EntryRole, LaneId, NodeId, Session};

/// An entry with its position in the session.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct EntryJson<'a> {
    /// Uuid.
    pub uuid: Option<&'a str>,
    /// Uuid of the entry that it follows.
    pub parent: Option<&'a str>,
    /// Line number in its file, from 1.
    pub line: u64,
    /// Timestamp of the entry.
    #[serde(serialize_with = "iso")]
    pub at: Option<Timestamp>,
    /// Its `type`.
    pub kind: &'a str,
    /// Role in the conversation: `prompt`, `response`, `tool-result`, …
    pub part: &'static str,
    /// The speaker: `User`, `Assistant`, `Agent [Explore]`, …
    pub actor: String,
    /// The flow that it is a step of: `linear`, `tool-use`, `sidechain`, `error-recovery`, `compaction`.
    pub flow: &'static str,
    /// `main`, or the id of the sub-agent.
    pub lane: &'a str,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Text of the message.
    pub text: String,
    /// Text of the thinking.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// Tool calls.
    pub tools: Vec<ToolJson>,
    /// Tool results.
    pub results: Vec<ResultJson>,
    /// Images and documents, as `[image: png, 12 KB]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
    /// True for an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// A record of another agent whose kind is unknown, as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Box<RawValue>>,
}

/// A tool call.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ToolJson {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Summary of the input in one line.
    pub summary: String,
    /// The input as it stands in the file.
    pub input: Option<Box<RawValue>>,
    /// The input that ran, if a person changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Box<RawValue>>,
}

/// A tool result.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ResultJson {
    /// Id of the call.
    pub id: Option<String>,
    /// Name of the tool, if its call is known.
    pub name: Option<String>,
    /// True if the tool failed.
    pub is_error: bool,
    /// Text passed to the model.
    pub text: String,
}

/// A branch of the main line.
#[derive(Debug, Serialize)]
struct BranchJson<'a> {
    number: usize,
    state: &'static str,
    leaf: Option<&'a str>,
    fork: Option<&'a str>,
}

/// A sub-agent.
#[derive(Debug, Serialize)]
struct AgentJson<'a> {
    id: Option<&'a str>,
    name: &'a str,
    description: Option<String>,
    started_by: Option<&'a str>,
    tool_use_id: Option<&'a str>,
    entries: usize,
    complete: bool,
}

/// A compaction.
#[derive(Debug, Serialize)]
struct CompactionJson<'a> {
    uuid: Option<&'a str>,
    trigger: Option<&'static str>,
    pre_tokens: Option<u64>,
    post_tokens: Option<u64>,
}

/// Writes one entry per line.
pub(super) fn lines(
    source: &mut ExportSource<'_>,
    options: &Options,
    path: &[NodeId],
    out: &mut dyn Write,
) -> Result<(), Error> {
    for node in order(source.session, options, path) {
        write(source, node, out)?;
        out.write_all(b"\n").map_err(Error::export)?;
    }
    Ok(())
}

/// Writes one document.
pub(super) fn document(
    source: &mut ExportSource<'_>,
    options: &Options,
    path: &[NodeId],
    out: &mut dyn Write,
) -> Result<(), Error> {
    let session = source.session;
    let facts = SessionMetadata::read(source, options, path)?;
    let uuid = |node: Option<NodeId>| node.and_then(|node| session.node(node).uuid.as_deref());
    let branches: Vec<BranchJson<'_>> = session
        .branches(LaneId::MAIN)
        .iter()
        .enumerate()
        .map(|(index, branch)| BranchJson {
            number: index + 1,
            state: branch.state.as_str(),
            leaf: uuid(Some(branch.leaf)),
            fork: uuid(branch.fork),
        })
        .collect();
    let mut agents = Vec::new();
    for lane in session.lanes() {
        let Some(agent) = &lane.agent else { continue };
        agents.push(AgentJson {
            id: agent.id.as_deref(),
            name: &agent.name,
            description: agent.description.as_deref().map(|text| source.text(text)),
            started_by: uuid(agent.started_by),
            tool_use_id: agent.tool_use_id.as_deref(),
            entries: lane.nodes.len(),
            complete: agent.is_complete,
        });
    }
    let compactions: Vec<CompactionJson<'_>> = session
        .compactions()
        .iter()
        .map(|compaction| CompactionJson {
            uuid: uuid(Some(compaction.node)),
            trigger: compaction.trigger.map(crate::session::Trigger::as_str),
            pre_tokens: compaction.pre_tokens,
            post_tokens: compaction.post_tokens,
        })
        .collect();
    let part = |out: &mut dyn Write, before: &str, value: &str| {
        write!(out, "{before}{value}").map_err(Error::export)
    };
    part(out, "{\"session\":", &to_json(&facts)?)?;
    part(out, ",\n\"branches\":", &to_json(&branches)?)?;
    part(out, ",\n\"agents\":", &to_json(&agents)?)?;
    part(out, ",\n\"compactions\":", &to_json(&compactions)?)?;
    part(out, ",\n\"entries\":[", "")?;
    for (index, node) in order(session, options, path).into_iter().enumerate() {
        part(out, if index == 0 { "\n" } else { ",\n" }, "")?;
        write(source, node, out)?;
    }
    part(out, "\n]}\n", "")
}

/// The entries to write: the path, and after each call the sub-agents that it started; or all entries in the
/// order of files if all branches are requested.
fn order(session: &Session, options: &Options, path: &[NodeId]) -> Vec<NodeId> {
    let with_agents = options.agents == Agents::Shown;
    if options.branches == Branches::All {
        let wanted = |id: &NodeId| with_agents || session.node(*id).lane == LaneId::MAIN;
        return session.ids().filter(wanted).collect();
    }
    // Sub-agents are put after their calls without recursion, however deep they are nested.
    let mut order = Vec::new();
    let mut waiting: Vec<std::vec::IntoIter<NodeId>> = vec![Vec::from(path).into_iter()];
    let mut seen = std::collections::HashSet::new();
    while let Some(lane) = waiting.last_mut() {
        let Some(node) = lane.next() else {
            waiting.pop();
            continue;
        };
        order.push(node);
        if with_agents {
            let lanes: Vec<LaneId> = session.lanes_of(node).filter(|lane| seen.insert(*lane)).collect();
            for lane in lanes.into_iter().rev() {
                let path = session.active_leaf(lane).map(|leaf| session.path(leaf, options.view));
                waiting.push(path.unwrap_or_default().into_iter());
            }
        }
    }
    order
}

fn write(source: &mut ExportSource<'_>, node: NodeId, out: &mut dyn Write) -> Result<(), Error> {
    let entry = source.entry(node)?;
    let json = to_json(&entry_json(source, node, &entry.as_ref()))?;
    out.write_all(json.as_bytes()).map_err(Error::export)
}

fn entry_json<'s>(source: &mut ExportSource<'s>, id: NodeId, entry: &EntryRef<'_>) -> EntryJson<'s> {
    let session = source.session;
    let node = session.node(id);
    let agent = session.lane(node.lane).agent.as_ref();
    let mut json = EntryJson {
        uuid: node.uuid.as_deref(),
        parent: node.parent.and_then(|parent| session.node(parent).uuid.as_deref()),
        line: node.place.line,
        at: node.at,
        kind: node.kind.as_str(),
        part: node.part.as_str(),
        actor: session.actor(id).to_string(),
        flow: session.flow(id).as_str(),
        lane: match agent {
            None => "main",
            Some(agent) => agent.id.as_deref().unwrap_or("agent"),
        },
        model: entry.message_view().model.map(|model| model.get().into_owned()),
        text: if node.part == EntryRole::ToolResult { String::new() } else { entry.text() },
        thinking: String::new(),
        tools: Vec::new(),
        results: Vec::new(),
        pictures: Vec::new(),
        is_error: node.is_error(),
        record: entry.get("record").filter(|_| session.is_converted()).and_then(raw_value),
    };
    for block in entry.content_blocks() {
        match block {
            Block::Thinking(text) => text.push_to(&mut json.thinking),
            Block::Text(text) if node.part == EntryRole::ToolResult && !entry.tool_results().is_empty() => {
                text.push_to(&mut json.text);
            }
            Block::Other(raw) => json.pictures.extend(Picture::of_block(raw).map(|picture| picture.label())),
            _ => {}
        }
    }
    for call in entry.tool_calls() {
        let changed = source.changed_input(&call.id);
        let shown = ToolCall::new(call.id.clone(), &call.name, call.input).with_input(changed.as_ref());
        json.tools.push(ToolJson {
            summary: shown.summary,
            id: call.id.to_string(),
            name: call.name.to_string(),
            input: raw_value(call.input),
            changed_input: changed.as_ref().and_then(|input| raw_value(input.raw())),
        });
    }
    let mut numbers = Numbers::default();
    for result in entry.tool_results() {
        let number = result.tool_use_id.as_deref().map_or(0, |id| numbers.next(id));
        let tool = session
            .results_of(id)
            .filter(|tool| result.tool_use_id.as_deref().is_none_or(|id| *tool.id == *id))
            .nth(number);
        let mut outcome = super::entry_part::Outcome::default();
        if let Some(content) = result.content {
            super::outcome::read_content(content, &mut outcome);
        }
        json.pictures.extend(outcome.pictures.iter().map(Picture::label));
        json.results.push(ResultJson {
            id: tool.map(|tool| tool.id.to_string()).or(result.tool_use_id.map(std::borrow::Cow::into_owned)),
            name: tool.map(|tool| tool.name.to_string()),
            is_error: result.is_error,
            text: outcome.text,
        });
    }
    json
}

/// The value as it stands; a lone surrogate in it is not an error, since the bytes were checked when the file
/// was read.
fn raw_value(raw: Raw<'_>) -> Option<Box<RawValue>> {
    RawValue::from_string(raw.as_str().to_owned()).ok()
}

/// A time as ISO 8601.
#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
pub(super) fn iso<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(at),
        None => serializer.serialize_none(),
    }
}

fn to_json<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| {
        Error::new(crate::ErrorKind::Invalid, format!("An entry cannot be written as JSON: {error}"), "")
    })
}
