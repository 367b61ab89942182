//! Graphviz form of the tree.

use std::collections::HashSet;
use std::fmt::Write as _;

use tidings_transcript::session::{BranchState, EntryRole, NodeId, Session};

use super::{Detail, excerpt};
use crate::output::{Output, printable};

/// Maximum length of an entry's text, in characters.
const TEXT_MAX: usize = 48;

pub(super) fn print(session: &Session, detail: Detail, out: &mut Output) -> anyhow::Result<()> {
    out.bytes(b"digraph session {\n")?;
    out.bytes(b"  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n")?;
    for lane in session.lane_ids() {
        let mut active = HashSet::new();
        for branch in session.branches(lane).iter().filter(|branch| branch.state == BranchState::Active) {
            active.extend(session.own_path(branch));
        }
        let title = session
            .lane(lane)
            .agent
            .as_ref()
            .map_or_else(|| session.id().to_owned(), |agent| format!("sub-agent {}", agent.name));
        out.bytes(
            format!("  subgraph cluster_{} {{\n    label={};\n", lane.index(), quoted(&title)).as_bytes(),
        )?;
        for id in session.lane(lane).nodes.iter().filter(|id| is_drawn(session, **id, detail)) {
            out.bytes(node(session, *id, active.contains(id))?.as_bytes())?;
        }
        out.bytes(b"  }\n")?;
    }
    for id in session.ids().filter(|id| is_drawn(session, *id, detail)) {
        out.bytes(edges(session, id, detail).as_bytes())?;
    }
    out.bytes(b"}\n")?;
    Ok(())
}

fn node(session: &Session, id: NodeId, active: bool) -> anyhow::Result<String> {
    let part = session.node(id).part;
    let fill = match part {
        EntryRole::Prompt | EntryRole::Command => "lightblue",
        EntryRole::Compaction | EntryRole::CompactSummary => "khaki",
        EntryRole::Error => "salmon",
        EntryRole::CommandOutput
        | EntryRole::Interruption
        | EntryRole::Notification
        | EntryRole::ToolResult
        | EntryRole::Injected
        | EntryRole::Response
        | EntryRole::Event
        | EntryRole::Attachment
        | EntryRole::Progress
        | EntryRole::Other => "white",
    };
    let mut label = format!("{}\n{}", session.actor(id), excerpt::entry(session, id, TEXT_MAX)?);
    for tool in session.calls_of(id) {
        let _ = write!(
            label,
            "\n{}{}",
            excerpt::call(session, tool, TEXT_MAX)?,
            if tool.is_error { " ✗" } else { "" }
        );
    }
    let faded = if active { "" } else { ", color=grey, fontcolor=grey" };
    Ok(format!("    n{} [label={}, fillcolor={fill}{faded}];\n", id.index(), quoted(&label)))
}

fn edges(session: &Session, id: NodeId, detail: Detail) -> String {
    let mut text = String::new();
    let node = session.node(id);
    if let Some(parent) = session.ancestors(id).find(|parent| is_drawn(session, *parent, detail)) {
        let style = if node.is_orphan() || node.parent.is_none() { " [style=dashed]" } else { "" };
        let _ = writeln!(text, "  n{} -> n{}{style};", parent.index(), id.index());
    }
    for lane in session.lanes_of(id) {
        if let Some(first) = session.lane(lane).nodes.iter().find(|id| is_drawn(session, **id, detail)) {
            let _ = writeln!(text, "  n{} -> n{} [style=dotted];", id.index(), first.index());
        }
    }
    text
}

/// True if an entry is drawn. Without `--full`, entries outside of the conversation are omitted.
fn is_drawn(session: &Session, id: NodeId, detail: Detail) -> bool {
    let part = session.node(id).part;
    let is_side = matches!(
        part,
        EntryRole::Attachment
            | EntryRole::Progress
            | EntryRole::Injected
            | EntryRole::Event
            | EntryRole::CommandOutput
    );
    detail == Detail::Full || !is_side || session.lanes_of(id).next().is_some()
}

/// Quotes a string of the DOT language.
fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| printable(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", lines.join("\\n"))
}
