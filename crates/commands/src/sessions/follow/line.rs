//! Text form of one entry, in one or a few lines.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tidings_protocol::ToolCall;
use tidings_protocol::entry::{EntryKind, EntryRef, ToolResult};
use tidings_protocol::json::Raw;
use tidings_protocol::view::Block;
use tidings_transcript::session::CommandTags;

use crate::human;
use crate::output::{BOLD, DIM, PLAIN, RED, printable};

const TEXT_LINES_MAX: usize = 6;
const LINE_CHARS_MAX: usize = 160;

/// True if an entry is shown; the rest is bookkeeping.
pub(super) fn is_shown(entry: &EntryRef<'_>) -> bool {
    !entry.is_meta() && !parts(entry).is_empty()
}

/// Formats an entry in lines of at most `columns`; empty if it is bookkeeping. `who` names the session or the
/// sub-agent, if needed.
pub(super) fn shown(entry: &EntryRef<'_>, who: &str, columns: usize) -> String {
    if entry.is_meta() {
        return String::new();
    }
    let time = entry.timestamp().and_then(|time| clock_time(&time)).unwrap_or_else(|| " ".repeat(8));
    let mut out = String::new();
    for Part { actor, style, lines } in parts(entry) {
        let actor = if who.is_empty() { actor.to_owned() } else { format!("{who} {actor}") };
        for (index, line) in lines.iter().enumerate() {
            let (time, actor) = if index == 0 { (time.as_str(), actor.as_str()) } else { ("", "") };
            let head = 8 + 1 + human::width(actor).max(9) + 1;
            let line = human::fit(line, columns.saturating_sub(head));
            // Writing into a String cannot fail.
            let _ = writeln!(out, "{DIM}{time:8}{PLAIN} {BOLD}{actor:9}{PLAIN} {style}{line}{PLAIN}");
        }
    }
    out
}

struct Part {
    actor: &'static str,
    style: &'static str,
    lines: Vec<String>,
}

fn parts(entry: &EntryRef<'_>) -> Vec<Part> {
    let actor = match entry.kind() {
        EntryKind::Assistant if entry.is_sidechain() => "agent",
        EntryKind::Assistant => "assistant",
        EntryKind::User if is_compact_summary(entry) => "summary",
        // The prompt of a sub-agent comes from Claude.
        EntryKind::User if entry.is_sidechain() => "claude",
        EntryKind::User | EntryKind::Human => "user",
        EntryKind::System | EntryKind::CompactSystem | EntryKind::CompactPrelude => "system",
        EntryKind::Summary | EntryKind::CompactRecap => "summary",
        EntryKind::ToolResult => "tool",
        EntryKind::AiTitle => return title(entry, "aiTitle"),
        EntryKind::CustomTitle => return title(entry, "customTitle"),
        _ => return Vec::new(),
    };
    let mut parts = Vec::new();
    let results = entry.tool_results();
    if results.is_empty() {
        let thoughts = entry.content_blocks().filter(|block| matches!(block, Block::Thinking(_))).count();
        if thoughts > 0 {
            parts.push(Part { actor, style: DIM, lines: vec!["(thinks)".to_owned()] });
        }
        let text = entry.text();
        let lines = text_lines(&text);
        match CommandTags::parse(&text) {
            Some(command) => parts.extend(command_part(&command)),
            None if lines.is_empty() => {}
            None => parts.push(Part { actor, style: "", lines }),
        }
    }
    parts.extend(entry.tool_calls().iter().map(|call| Part {
        actor,
        style: "",
        lines: vec![call_line(call)],
    }));
    parts.extend(results.iter().map(result));
    if parts.is_empty()
        && entry.kind() == EntryKind::System
        && let Some(subtype) = entry.subtype()
    {
        parts.push(Part { actor, style: DIM, lines: vec![printable(&subtype)] });
    }
    parts
}

fn is_compact_summary(entry: &EntryRef<'_>) -> bool {
    entry.get("isCompactSummary").and_then(Raw::bool) == Some(true)
}

/// Formats a slash command, or its output.
fn command_part(command: &CommandTags) -> Option<Part> {
    let lines = match &command.name {
        Some(name) => vec![cut(format!("{name} {}", command.args.as_deref().unwrap_or_default()).trim_end())],
        None => text_lines(command.stdout.as_deref().or(command.stderr.as_deref())?),
    };
    let style = if command.name.is_some() { "" } else { DIM };
    (!lines.is_empty()).then_some(Part { actor: "command", style, lines })
}

fn title(entry: &EntryRef<'_>, key: &str) -> Vec<Part> {
    let title = entry.get(key).and_then(Raw::text);
    title
        .map(|title| Part { actor: "title", style: "", lines: vec![cut(&title.get())] })
        .into_iter()
        .collect()
}

/// Formats the tool's name and its main argument.
fn call_line(call: &ToolCall<'_>) -> String {
    const MAIN_ARGUMENTS: &[&str] = &[
        "command",
        "file_path",
        "notebook_path",
        "pattern",
        "query",
        "url",
        "description",
        "prompt",
        "skill",
    ];
    let text = |key: &&str| call.input.get(key).and_then(Raw::text).map(|text| text.get().into_owned());
    let about = MAIN_ARGUMENTS.iter().find_map(text).unwrap_or_default();
    let about = about.lines().next().unwrap_or_default();
    cut(format!("> {} {about}", call.name).trim_end())
}

fn result(result: &ToolResult<'_>) -> Part {
    let text = result.content.map(result_text).unwrap_or_default();
    let count = text.lines().count();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("(empty)");
    let mut line = cut(&format!("< {first}"));
    if count > 1 {
        let _ = write!(line, " (+{} lines)", count - 1);
    }
    Part { actor: "tool", style: if result.is_error { RED } else { DIM }, lines: vec![line] }
}

fn result_text(content: Raw<'_>) -> String {
    if let Some(text) = content.text() {
        return text.get().into_owned();
    }
    let texts = content.items().filter_map(|block| match block.get("text").and_then(Raw::text) {
        Some(text) => Some(text.get().into_owned()),
        None => block.get("type").and_then(Raw::text).map(|kind| format!("({})", kind.get())),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn text_lines(text: &str) -> Vec<String> {
    let mut lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    let mut shown: Vec<String> = lines.by_ref().take(TEXT_LINES_MAX).map(cut).collect();
    let more = lines.count();
    if more > 0 {
        shown.push(format!("… {more} more {}", if more == 1 { "line" } else { "lines" }));
    }
    shown
}

/// Makes a line printable, and cuts it if it is too long.
fn cut(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => printable(&line[..end]) + "…",
        None => printable(line),
    }
}

/// Formats the local time of day.
fn clock_time(written: &str) -> Option<String> {
    let time: Timestamp = match written.parse::<i64>() {
        Ok(millis) => Timestamp::from_millisecond(millis).ok()?,
        Err(_) => written.parse().ok()?,
    };
    Some(time.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string())
}
