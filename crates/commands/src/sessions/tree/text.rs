//! Text form of the tree.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use tidings_transcript::session::{BranchState, EntryRole, LaneId, NodeId, Session};
use tidings_transcript::{Error, Severity};

use super::rows::{Row, rows};
use super::{Detail, excerpt, styled};
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, RED, YELLOW, printable};

/// Maximum length of an entry's text, in characters.
const TEXT_MAX: usize = 72;
/// Minimum length of an entry's text, even if the line gets too long.
const TEXT_MIN: usize = 20;
/// Number of bytes that are buffered before they are printed.
const PRINTED_AT_ONCE: usize = 64 << 10;
/// Maximum length of a tool's result, in characters.
const RESULT_MAX: usize = 36;

pub(super) fn print(session: &Session, detail: Detail, out: &mut Output) -> anyhow::Result<()> {
    // Lines are cut on a terminal only.
    let columns = if io::stdout().is_terminal() { human::columns() } else { usize::MAX };
    let mut text = head(session, detail, columns);
    let rows = rows(session, detail);
    let depths: Vec<usize> = rows.iter().map(|(depth, _)| *depth).collect();
    for ((_, row), prefix) in rows.iter().zip(prefixes(&depths)) {
        let mut before = &prefix.first;
        for line in lines(session, row, detail)? {
            let room = columns.saturating_sub(human::width(before));
            let _ = writeln!(text, "{DIM}{before}{PLAIN}{}", line.fit(room));
            before = &prefix.rest;
        }
        if text.len() > PRINTED_AT_ONCE {
            out.text(&std::mem::take(&mut text))?;
        }
    }
    out.text(&text)?;
    Ok(())
}

fn head(session: &Session, detail: Detail, columns: usize) -> String {
    let mut name = format!("{BOLD}{}{PLAIN}", printable(session.id()));
    if let Some(title) = session.title() {
        let title = printable(&title.split_whitespace().collect::<Vec<_>>().join(" "));
        let _ = write!(name, "  {}", human::fit_words(&title, TEXT_MAX));
    }
    let abandoned: usize =
        session.lane_ids().map(|lane| session.branches(lane).len().saturating_sub(1)).sum();
    let turns = session
        .nodes()
        .iter()
        .filter(|node| node.part == EntryRole::Prompt && node.lane == LaneId::MAIN)
        .count();
    let mut counted =
        vec![count(turns, "prompt", "prompts"), count(session.nodes().len(), "entry", "entries")];
    for (number, one, many) in [
        (abandoned, "abandoned branch", "abandoned branches"),
        (session.lanes().len() - 1, "sub-agent", "sub-agents"),
        (session.compactions().len(), "compaction", "compactions"),
    ] {
        counted.extend((number > 0).then(|| count(number, one, many)));
    }
    let hint = if detail == Detail::Folded { "; --full shows all" } else { "" };
    let counted = format!("{DIM}{}{hint}{PLAIN}", counted.join(" · "));
    let mut text = format!("{}\n{}\n", styled::fit(&name, columns), styled::fit(&counted, columns));
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

/// Tree lines before the lines of a row.
struct Prefix {
    first: String,
    rest: String,
}

/// Draws the lines of a tree: a level continues while one of its rows follows before a row of a lower level.
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

/// One line after its prefix.
#[derive(Debug, Default)]
struct TreeLine {
    text: String,
    /// Suffix that is never cut: line number, uuid and problems.
    marks: String,
}

impl TreeLine {
    /// Cuts the text to fit into `columns`, but keeps the marks and `TEXT_MIN` characters.
    fn fit(&self, columns: usize) -> String {
        let room = columns.saturating_sub(styled::width(&self.marks)).max(TEXT_MIN);
        styled::fit(&self.text, room) + &self.marks
    }
}

impl From<String> for TreeLine {
    fn from(text: String) -> Self {
        TreeLine { text, marks: String::new() }
    }
}

fn lines(session: &Session, row: &Row, detail: Detail) -> Result<Vec<TreeLine>, Error> {
    Ok(match row {
        Row::Entry(id) => entry(session, *id, detail)?,
        Row::Fold(ids) => vec![format!("{DIM}⋮ {}{PLAIN}", fold(session, ids)).into()],
        Row::Branch(branch, number) => {
            let entries = count(session.own_path(branch).len(), "entry", "entries");
            let state = if branch.state == BranchState::Active { "ACTIVE" } else { "abandoned" };
            vec![format!("{YELLOW}branch {number}, {state}{PLAIN} {DIM}{entries}{PLAIN}").into()]
        }
        Row::Active => vec![format!("{BOLD}branch 1, ACTIVE{PLAIN}").into()],
        Row::Lane(lane) => vec![agent(session, *lane).into()],
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
    facts.extend(agent.started_by.is_none().then(|| "caller unknown".to_owned()));
    let _ = write!(text, " {DIM}{}{PLAIN}", facts.join(", "));
    if !agent.is_complete {
        let _ = write!(text, " {YELLOW}incomplete{PLAIN}");
    }
    text
}

fn entry(session: &Session, id: NodeId, detail: Detail) -> Result<Vec<TreeLine>, Error> {
    let node = session.node(id);
    let actor = printable(&session.actor(id).to_string());
    let calls: Vec<_> = session.calls_of(id).collect();
    let text = excerpt::entry(session, id, TEXT_MAX)?;
    let colour = match node.part {
        EntryRole::Prompt | EntryRole::Command => BOLD,
        EntryRole::Error => RED,
        EntryRole::Compaction => YELLOW,
        EntryRole::Response
        | EntryRole::ToolResult
        | EntryRole::CompactSummary
        | EntryRole::Notification
        | EntryRole::Interruption => "",
        EntryRole::CommandOutput
        | EntryRole::Injected
        | EntryRole::Event
        | EntryRole::Attachment
        | EntryRole::Progress
        | EntryRole::Other => DIM,
    };
    let mut marks = String::new();
    if node.is_orphan() {
        let _ = write!(marks, " {YELLOW}parent missing{PLAIN}");
    }
    if node.is_cut() {
        let _ = write!(marks, " {YELLOW}cycle cut{PLAIN}");
    }
    if node.is_repeated() {
        let _ = write!(marks, " {DIM}×{}{PLAIN}", session.places(id).len());
    }
    if detail == Detail::Full {
        marks += &name(session, id);
    }
    let mut lines: Vec<TreeLine> = Vec::new();
    if !text.is_empty() || calls.is_empty() {
        lines.push(text.into());
    }
    for tool in calls {
        let call = excerpt::call(session, tool, TEXT_MAX)?;
        let result = excerpt::result(session, tool, RESULT_MAX)?;
        let (arrow, colour) = match (tool.result, tool.is_error) {
            (None, _) => ("·", YELLOW),
            (Some(_), true) => ("✗", RED),
            (Some(_), false) => ("→", DIM),
        };
        let result = format!("{colour}{arrow} {result}{PLAIN}");
        match tool.result {
            // The result is a separate entry, with its own line number and uuid.
            Some(id) if detail == Detail::Full => {
                lines.push(call.into());
                lines.push(TreeLine { text: result, marks: name(session, id) });
            }
            _ => lines.push(format!("{call} {result}").into()),
        }
    }
    if let Some(first) = lines.first_mut() {
        *first = TreeLine { text: format!("{colour}{actor}{PLAIN}  {}", first.text), marks };
    }
    Ok(lines)
}

/// Formats the line number and the uuid of an entry, as `fork --up-to` and `show --branch` take it.
fn name(session: &Session, id: NodeId) -> String {
    let node = session.node(id);
    let uuid = node.uuid.as_deref().map(|uuid| format!(" {}", printable(uuid))).unwrap_or_default();
    format!(" {DIM}line {}{uuid}{PLAIN}", node.place.line)
}

/// Summarizes folded entries in numbers.
fn fold(session: &Session, ids: &[NodeId]) -> String {
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut answers, mut others) = (0, 0);
    for id in ids {
        let node = session.node(*id);
        match node.part {
            EntryRole::Response if node.calls_tools() => {
                for tool in session.calls_of(*id) {
                    *tools.entry(&tool.name).or_default() += 1;
                }
            }
            EntryRole::Response => answers += 1,
            _ => others += 1,
        }
    }
    let mut counts: Vec<String> =
        tools.iter().map(|(name, count)| format!("{} ×{count}", printable(name))).collect();
    counts.extend((answers > 0).then(|| count(answers, "answer", "answers")));
    counts.extend((others > 0).then(|| count(others, "other entry", "other entries")));
    counts.join(", ")
}
