//! Short excerpts of entries, tool calls and results.

use tidings_protocol::entry::Entry;
use tidings_protocol::json::Raw;
use tidings_protocol::view::Block;
use tidings_transcript::Error;
use tidings_transcript::session::{CommandTags, EntryRole, NodeId, Session, ToolUse};

use crate::output::printable;

/// Text of an entry on one line of at most `width` characters, without its tool calls.
pub(super) fn entry(session: &Session, id: NodeId, width: usize) -> Result<String, Error> {
    let entry = session.entry(id)?;
    let text = match session.node(id).part {
        EntryRole::Attachment => entry.attachment_type().unwrap_or_default().into_owned(),
        EntryRole::Progress => text_at(&entry, &["data", "type"]),
        EntryRole::Command | EntryRole::CommandOutput => command(&entry.text()),
        EntryRole::Compaction => compaction(session, id, &entry),
        EntryRole::ToolResult => result_text(&entry, None),
        EntryRole::Response => response(&entry),
        EntryRole::Event | EntryRole::Error => event(&entry),
        EntryRole::Prompt
        | EntryRole::Interruption
        | EntryRole::Notification
        | EntryRole::Injected
        | EntryRole::CompactSummary
        | EntryRole::Other => entry.text(),
    };
    Ok(one_line(&text, width))
}

/// Tool call on one line: the tool's name and its main argument.
pub(super) fn call(session: &Session, tool: &ToolUse, width: usize) -> Result<String, Error> {
    const MAIN_ARGUMENTS: [&str; 12] = [
        "command",
        "file_path",
        "path",
        "pattern",
        "query",
        "url",
        "description",
        "prompt",
        "skill",
        "subject",
        "task_id",
        "notebook_path",
    ];
    let mut text = tool.name.to_string();
    if let Some(id) = tool.call {
        let entry = session.entry(id)?;
        let calls = entry.tool_calls();
        if let Some(call) = calls.iter().find(|call| *call.id == *tool.id)
            && let Some(value) = MAIN_ARGUMENTS.iter().find_map(|key| call.input.get(key)?.text())
        {
            text = format!("{text} {}", value.get());
        }
    }
    Ok(one_line(&text, width))
}

/// Result of a tool on one line.
pub(super) fn result(session: &Session, tool: &ToolUse, width: usize) -> Result<String, Error> {
    let Some(id) = tool.result else { return Ok("no result".to_owned()) };
    Ok(one_line(&result_text(&session.entry(id)?, Some(&tool.id)), width))
}

fn result_text(entry: &Entry, id: Option<&str>) -> String {
    let results = entry.tool_results();
    let fits = |result: &&tidings_protocol::entry::ToolResult<'_>| {
        id.is_none() || result.tool_use_id.is_none() || result.tool_use_id.as_deref() == id
    };
    let Some(result) = results.iter().find(fits) else { return entry.text() };
    let Some(content) = result.content else { return String::new() };
    if let Some(text) = content.text() {
        return text.get().into_owned();
    }
    let blocks = content.items().filter_map(|block| match Block::of(block) {
        Block::Text(text) => Some(text.get().into_owned()),
        Block::Other(other) => other.get("type").and_then(Raw::text).map(|kind| format!("({})", kind.get())),
        _ => None,
    });
    blocks.collect::<Vec<_>>().join(" ")
}

fn response(entry: &Entry) -> String {
    let text = entry.text();
    if !text.trim().is_empty() {
        return text;
    }
    let thinking = |block: Block<'_>| match block {
        Block::Thinking(text) => Some(format!("(thinks) {}", text.get())),
        _ => None,
    };
    entry.content_blocks().find_map(thinking).unwrap_or_default()
}

fn command(text: &str) -> String {
    let Some(tags) = CommandTags::parse(text) else { return text.to_owned() };
    let printed = tags.stdout.or(tags.stderr);
    let name = tags.name.or(tags.message).unwrap_or_default();
    match (tags.args, printed) {
        (Some(args), _) => format!("{name} {args}"),
        (None, Some(printed)) => printed,
        (None, None) => name,
    }
}

fn compaction(session: &Session, id: NodeId, entry: &Entry) -> String {
    let Some(compaction) = session.compactions().iter().find(|compaction| compaction.node == id) else {
        return entry
            .get("message")
            .and_then(Raw::text)
            .map(|text| text.get().into_owned())
            .unwrap_or_default();
    };
    let mut facts = vec!["compaction".to_owned()];
    facts.extend(compaction.trigger.map(|trigger| trigger.as_str().to_owned()));
    match (compaction.pre_tokens, compaction.post_tokens) {
        (Some(before), Some(after)) => facts.push(format!("{before} → {after} tokens")),
        (Some(before), None) => facts.push(format!("{before} tokens before")),
        _ => {}
    }
    match (compaction.preserved_messages, compaction.total_messages) {
        (Some(kept), Some(all)) => facts.push(format!("{kept} of {all} messages kept")),
        (Some(kept), None) => facts.push(format!("{kept} kept")),
        _ => {}
    }
    facts.join(", ")
}

fn event(entry: &Entry) -> String {
    let text = command(&entry.text());
    match entry.subtype() {
        Some(subtype) if text.is_empty() => subtype.into_owned(),
        Some(subtype) if entry.kind() == tidings_protocol::entry::EntryKind::System => {
            format!("{subtype}: {text}")
        }
        _ => text,
    }
}

fn text_at(entry: &Entry, keys: &[&str]) -> String {
    let found = keys.iter().try_fold(entry.json(), |value, key| value.get(key));
    found.and_then(Raw::text).map(|text| text.get().into_owned()).unwrap_or_default()
}

/// Beginning of a text, printable on one line.
fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let gap = usize::from(length > 0);
        let chars = word.chars().count();
        if length + gap + chars > width {
            let room = width.saturating_sub(length + gap + 1);
            if gap == 1 && room > 0 {
                line.push(' ');
            }
            line.extend(word.chars().take(room));
            line.push('…');
            break;
        }
        if gap == 1 {
            line.push(' ');
        }
        line.push_str(word);
        length += gap + chars;
    }
    printable(&line)
}
