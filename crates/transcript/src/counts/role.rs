//! The role of an entry in the conversation, for counting.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::view::Block;

/// The role of an entry in the conversation, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountedRole {
    /// A prompt or a slash command of the user.
    Prompt,
    /// A part of the response with this id.
    Response(Option<u64>),
    /// A tool result.
    ToolResult,
    /// The end of a response: a compaction, its summary, a report of a background task.
    Break,
    /// Everything else: attachments, progress, events, text of the client.
    Beside,
}

impl CountedRole {
    pub(super) fn of(entry: &EntryRef<'_>) -> Self {
        match entry.kind() {
            EntryKind::Assistant => answer(entry),
            EntryKind::User | EntryKind::Human | EntryKind::ToolResult => asked(entry),
            EntryKind::System if entry.subtype().as_deref() == Some("compact_boundary") => CountedRole::Break,
            EntryKind::System if !entry.tool_results().is_empty() => CountedRole::ToolResult,
            EntryKind::CompactSystem | EntryKind::CompactPrelude | EntryKind::CompactRecap => {
                CountedRole::Break
            }
            _ => CountedRole::Beside,
        }
    }

    /// Returns true if a second path that begins with this part is another branch.
    pub(super) fn makes_branches(self) -> bool {
        matches!(self, CountedRole::Prompt | CountedRole::Response(_))
    }
}

fn answer(entry: &EntryRef<'_>) -> CountedRole {
    let said = entry.message_view();
    // The client writes an assistant entry when the API fails.
    if said.model.is_some_and(|model| model.get() == "<synthetic>") && entry.flags().is_error {
        return CountedRole::Beside;
    }
    CountedRole::Response(said.message_id.map(Text::get).filter(|id| !id.is_empty()).map(|id| hash(&id)))
}

/// Prefixes of texts that the user did not type.
const PRINTED: [&str; 4] =
    ["<local-command-std", "<bash-stdout>", "<bash-stderr>", "[Request interrupted by user"];

fn asked(entry: &EntryRef<'_>) -> CountedRole {
    let mut text = None;
    for block in entry.content_blocks() {
        match block {
            Block::ToolResult { .. } => return CountedRole::ToolResult,
            Block::Text(said) if text.is_none() => text = Some(said.get()),
            _ => {}
        }
    }
    if entry.kind() == EntryKind::ToolResult {
        return CountedRole::ToolResult;
    }
    if entry.get("isCompactSummary").and_then(Raw::bool) == Some(true) {
        return CountedRole::Break;
    }
    if entry.is_meta() {
        return CountedRole::Beside;
    }
    let text = text.unwrap_or_default();
    let text = text.trim_start();
    if PRINTED.iter().any(|tag| text.starts_with(tag)) {
        return CountedRole::Beside;
    }
    let is = |key: &str, value: Option<Raw<'_>>| value.and_then(Raw::text).is_some_and(|text| text == key);
    let origin = entry.get("origin").and_then(|origin| origin.get("kind"));
    let by_person = origin.is_none() || is("human", origin) || is("user", origin);
    if !by_person || is("system", entry.get("promptSource")) {
        CountedRole::Break
    } else {
        CountedRole::Prompt
    }
}

/// Hashes a name: names are compared, never shown, and a file has too many to store.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
