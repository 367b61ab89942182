//! The tree for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tidings_transcript::session::{BranchState, LaneId, NodeId, Part, Session};
use tidings_transcript::{Error, Severity};

use super::rows::{Row, rows};
use super::{Detail, words};
use crate::output::{BOLD, DIM, Output, PLAIN, RED, YELLOW, printable};

/// Room for what an entry says.
const WORDS_MAX: usize = 72;
/// Room for what a tool gave back.
const RESULT_MAX: usize = 36;

pub(super) fn print(session: &Session, detail: Detail, out: &mut Output) -> anyhow::Result<()> {
    out.text(&head(session))?;
    let rows = rows(session, detail);
    let depths: Vec<usize> = rows.iter().map(|(depth, _)| *depth).collect();
    let prefixes = prefixes(&depths);
    for ((_, row), prefix) in rows.iter().zip(prefixes) {
        let mut lines = lines(session, row, detail)?.into_iter();
        let first = lines.next().unwrap_or_default();
        out.text(&format!("{DIM}{}{PLAIN}{first}\n", prefix.first))?;
        for line in lines {
            out.text(&format!("{DIM}{}{PLAIN}{line}\n", prefix.rest))?;
        }
    }
    Ok(())
}

fn head(session: &Session) -> String {
    let mut text = format!("{BOLD}{}{PLAIN}", printable(session.id()));
    if let Some(title) = session.side().title() {
        let title: String =
            title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WORDS_MAX).collect();
        let _ = write!(text, "  {}", printable(&title));
    }
    let abandoned: usize =
        session.lane_ids().map(|lane| session.branches(lane).len().saturating_sub(1)).sum();
    let agents = session.lanes().len() - 1;
    let counted = [
        count(session.nodes().len(), "entry", "entries"),
        count(abandoned, "abandoned branch", "abandoned branches"),
        count(agents, "sub-agent", "sub-agents"),
        count(session.compactions().len(), "compaction", "compactions"),
    ];
    let _ = writeln!(text, "\n{DIM}{}{PLAIN}", counted.join(" · "));
    let wrong = session.findings().iter().filter(|(_, finding)| finding.severity > Severity::Note).count();
    if wrong > 0 {
        let remarks = count(wrong, "remark", "remarks");
        let _ = writeln!(
            text,
            "{YELLOW}{remarks}{PLAIN} on the files: see `tidings sessions check {}`",
            printable(session.id())
        );
    }
    text.push('\n');
    text
}

fn count(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What stands before the lines of a row.
struct Prefix {
    first: String,
    rest: String,
}

/// Draws the lines of a tree: a level goes on while a row of it follows before one of a lower level.
fn prefixes(depths: &[usize]) -> Vec<Prefix> {
    let mut goes_on: Vec<bool> = Vec::new();
    let mut prefixes = Vec::with_capacity(depths.len());
    for depth in depths.iter().rev() {
        let more = goes_on.get(*depth).copied().unwrap_or(false);
        goes_on.resize(depth + 1, false);
        goes_on[*depth] = true;
        let above: String = goes_on[..*depth].iter().map(|on| if *on { "│  " } else { "   " }).collect();
        prefixes.push(Prefix {
            first: format!("{above}{}", if more { "├─ " } else { "└─ " }),
            rest: format!("{above}{}", if more { "│    " } else { "     " }),
        });
    }
    prefixes.reverse();
    prefixes
}

fn lines(session: &Session, row: &Row, detail: Detail) -> Result<Vec<String>, Error> {
    Ok(match row {
        Row::Entry(id) => entry(session, *id, detail)?,
        Row::Fold(ids) => vec![format!("{DIM}⋮ {}{PLAIN}", fold(session, ids))],
        Row::Branch(branch, number) => {
            let entries = count(session.own_path(branch).len(), "entry", "entries");
            let state = if branch.state == BranchState::Active { "ACTIVE" } else { "abandoned" };
            vec![format!("{YELLOW}branch {number}, {state}{PLAIN} {DIM}{entries}{PLAIN}")]
        }
        Row::Active => vec![format!("{BOLD}branch 1, ACTIVE{PLAIN}")],
        Row::Lane(lane) => vec![agent(session, *lane)],
    })
}

fn agent(session: &Session, lane: LaneId) -> String {
    let Some(agent) = &session.lane(lane).agent else { return String::new() };
    let mut text = format!("{BOLD}sub-agent {}{PLAIN}", printable(&agent.name));
    if let Some(description) = &agent.description {
        let _ = write!(text, ": {}", printable(description));
    }
    let mut facts: Vec<String> = agent.id.iter().map(|id| printable(id)).collect();
    facts.push(count(session.lane(lane).nodes.len(), "entry", "entries"));
    facts.extend((agent.depth > 1).then(|| format!("depth {}", agent.depth)));
    facts.extend(agent.started_by.is_none().then(|| "started by nobody knows what".to_owned()));
    let _ = write!(text, " {DIM}{}{PLAIN}", facts.join(", "));
    if !agent.is_complete {
        let _ = write!(text, " {YELLOW}incomplete{PLAIN}");
    }
    text
}

fn entry(session: &Session, id: NodeId, detail: Detail) -> Result<Vec<String>, Error> {
    let node = session.node(id);
    let actor = printable(&session.actor(id).to_string());
    let calls: Vec<_> = session.calls_of(id).collect();
    let said = words::words(session, id, WORDS_MAX)?;
    let colour = match node.part {
        Part::Prompt | Part::Command => BOLD,
        Part::Error => RED,
        Part::Compaction => YELLOW,
        Part::Response
        | Part::ToolResult
        | Part::CompactSummary
        | Part::Notification
        | Part::Interruption => "",
        _ => DIM,
    };
    let mut marks = String::new();
    if node.is_orphan() {
        let _ = write!(marks, " {YELLOW}parent missing{PLAIN}");
    }
    if node.is_cut() {
        let _ = write!(marks, " {YELLOW}circle cut{PLAIN}");
    }
    if node.is_repeated() {
        let _ = write!(marks, " {DIM}×{}{PLAIN}", session.places(id).len());
    }
    if detail == Detail::Full {
        let _ = write!(marks, " {DIM}line {}{PLAIN}", node.place.line);
    }
    let mut lines = Vec::new();
    if !said.is_empty() || calls.is_empty() {
        lines.push(format!("{colour}{actor}{PLAIN}  {said}{marks}"));
    } else {
        lines.push(format!("{colour}{actor}{PLAIN}{marks}"));
    }
    for tool in calls {
        let call = words::call(session, tool, WORDS_MAX)?;
        let result = words::result(session, tool, RESULT_MAX)?;
        let (arrow, colour) = match (tool.result, tool.is_error) {
            (None, _) => ("·", YELLOW),
            (Some(_), true) => ("✗", RED),
            (Some(_), false) => ("→", DIM),
        };
        let shown = format!("{call} {colour}{arrow} {result}{PLAIN}");
        if said.is_empty() && lines.len() == 1 && !lines[0].contains("  ") {
            lines[0] = format!("{colour_of}{actor}{PLAIN}  {shown}{marks}", colour_of = "");
        } else {
            lines.push(shown);
        }
    }
    Ok(lines)
}

/// What was left out, in numbers.
fn fold(session: &Session, ids: &[NodeId]) -> String {
    let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for id in ids {
        let node = session.node(*id);
        match node.part {
            Part::Response if node.calls_tools() => {
                for tool in session.calls_of(*id) {
                    *tools.entry(&tool.name).or_default() += 1;
                }
            }
            part => *parts.entry(part.as_str()).or_default() += 1,
        }
    }
    let mut told: Vec<String> =
        tools.iter().map(|(name, count)| format!("{} ×{count}", printable(name))).collect();
    told.extend(
        parts.iter().map(|(part, count)| format!("{count} {part}{}", if *count == 1 { "" } else { "s" })),
    );
    told.join(", ")
}
