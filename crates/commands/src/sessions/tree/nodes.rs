//! JSON form of the tree: one object per entry.

use std::collections::HashMap;

use serde::Serialize;
use tidings_transcript::session::{BranchState, NodeId, Session};

use super::excerpt;
use crate::output::Output;

/// Maximum length of an entry's text, in characters.
const TEXT_MAX: usize = 200;

/// JSON line of one entry; its keys are a published interface.
#[derive(Serialize)]
struct EntryLine<'a> {
    /// Number of the entry, in the order of files and lines.
    id: usize,
    uuid: Option<&'a str>,
    /// `id` of the previous entry on its lane, across compactions and missing parents.
    parent: Option<usize>,
    /// 0 is the main conversation.
    lane: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<EntryAgent<'a>>,
    /// 1 is the active branch of the lane.
    branch: usize,
    active: bool,
    actor: String,
    /// Role in the conversation.
    part: &'static str,
    /// The `type` in the file.
    kind: &'static str,
    flow: &'static str,
    step: &'static str,
    at: Option<String>,
    file: String,
    line: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'static str>,
    text: String,
}

/// The sub-agent that an entry belongs to.
#[derive(Serialize)]
struct EntryAgent<'a> {
    id: Option<&'a str>,
    name: &'a str,
    started_by: Option<usize>,
    tool_use_id: Option<&'a str>,
    depth: u32,
    complete: bool,
}

/// A tool that an entry calls.
#[derive(Serialize)]
struct Tool<'a> {
    id: &'a str,
    name: &'a str,
    result: Option<usize>,
    error: bool,
}

pub(super) fn print(session: &Session, out: &mut Output) -> anyhow::Result<()> {
    let branches = branches(session);
    for id in session.ids() {
        let node = session.node(id);
        let (branch, state) = branches.get(&id).copied().unwrap_or((0, BranchState::Abandoned));
        let tools = session.calls_of(id).map(|tool| Tool {
            id: &tool.id,
            name: &tool.name,
            result: tool.result.map(NodeId::index),
            error: tool.is_error,
        });
        let agent = session.lane(node.lane).agent.as_ref().map(|agent| EntryAgent {
            id: agent.id.as_deref(),
            name: &agent.name,
            started_by: agent.started_by.map(NodeId::index),
            tool_use_id: agent.tool_use_id.as_deref(),
            depth: agent.depth,
            complete: agent.is_complete,
        });
        let line = EntryLine {
            id: id.index(),
            uuid: node.uuid.as_deref(),
            parent: session.follows(id).map(NodeId::index),
            lane: node.lane.index(),
            agent,
            branch,
            active: state == BranchState::Active,
            actor: session.actor(id).to_string(),
            part: node.part.as_str(),
            kind: node.kind.as_str(),
            flow: session.flow(id).as_str(),
            step: session.step(id).as_str(),
            at: node.at.map(|at| at.to_string()),
            file: session.files()[node.file.index()].path.display().to_string(),
            line: node.place.line,
            tools: tools.collect(),
            problem: problem(session, id),
            text: excerpt::entry(session, id, TEXT_MAX)?,
        };
        out.json(&line)?;
    }
    Ok(())
}

/// Returns the branch of every entry, numbered within its lane.
fn branches(session: &Session) -> HashMap<NodeId, (usize, BranchState)> {
    let mut of = HashMap::new();
    for lane in session.lane_ids() {
        for (number, branch) in (1..).zip(session.branches(lane)) {
            for id in session.own_path(&branch) {
                of.insert(id, (number, branch.state));
            }
        }
    }
    of
}

fn problem(session: &Session, id: NodeId) -> Option<&'static str> {
    let node = session.node(id);
    if node.is_orphan() {
        Some("parent-missing")
    } else if node.is_cut() {
        Some("circle-cut")
    } else if node.is_salvaged() {
        Some("salvaged")
    } else if node.is_repeated() {
        Some("repeated")
    } else {
        None
    }
}
