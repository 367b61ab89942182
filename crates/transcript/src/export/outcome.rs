//! The outcome of a tool call, read from the entry with its result.

use tidings_protocol::entry::{EntryRef, ToolResult};
use tidings_protocol::json::Raw;
use tidings_protocol::tools::ToolOutput;
use tidings_protocol::view::Block;

use super::Detail;
use super::diff::diff;
use super::entry_part::{Outcome, Picture, ToolCall, string};
use super::pretty::pretty;
use super::source::ExportSource;
use crate::limits::{OUTPUT_HEAD_BYTES, PERSISTED_BYTES_MAX};

impl ExportSource<'_> {
    /// The result of one call in an entry; `number` selects among several with one id. The block that the
    /// model received determines the text; the CLI's own copy beside it only supplies the diff and the path
    /// of the full output.
    pub(super) fn outcome(
        &mut self,
        entry: &EntryRef<'_>,
        (id, number): (&str, usize),
        call: Option<&ToolCall<'_>>,
        detail: Detail,
    ) -> Option<Outcome> {
        let results = entry.tool_results();
        let alone = results.len() == 1;
        let is_of = |result: &ToolResult<'_>| result.tool_use_id.as_deref().is_none_or(|of| of == id);
        let result = results.into_iter().filter(is_of).nth(number)?;
        let mut outcome = Outcome { is_error: result.is_error, ..Outcome::default() };
        if let Some(content) = result.content {
            read_content(content, &mut outcome);
        }
        if let Some(inner) = outcome.text.trim().strip_prefix("<tool_use_error>") {
            // The tags are for the model.
            outcome.text = inner.strip_suffix("</tool_use_error>").unwrap_or(inner).to_owned();
        }
        outcome.bytes = outcome.text.len() as u64;
        // It stands beside the blocks and does not identify the one it belongs to.
        let kept = entry.tool_use_result().filter(|_| alone);
        if let Some(path) = kept.and_then(|kept| string(kept.get("persistedOutputPath"))) {
            let bytes_max = match detail {
                Detail::Folded => OUTPUT_HEAD_BYTES as u64 * 2,
                Detail::Full => PERSISTED_BYTES_MAX,
            };
            if let Some(persisted) = self.persisted(&path, bytes_max) {
                outcome.text = persisted.text;
                outcome.bytes = persisted.bytes;
            }
        }
        if let Some(call) = call
            && !outcome.is_error
        {
            let output = kept.and_then(|kept| ToolOutput::read(&call.name, kept).ok());
            outcome.diff = diff(call.typed.as_ref(), output.as_ref()).filter(|diff| !diff.lines.is_empty());
        }
        Some(outcome)
    }
}

/// Adds the text and the images of a result.
pub(super) fn read_content(content: Raw<'_>, outcome: &mut Outcome) {
    if let Some(text) = content.text() {
        text.push_to(&mut outcome.text);
        return;
    }
    if !content.is_array() {
        if !content.is_null() {
            outcome.text = pretty(content);
        }
        return;
    }
    for block in content.items() {
        if let Some(picture) = Picture::of_block(block) {
            outcome.pictures.push(picture);
            continue;
        }
        if !outcome.text.is_empty() {
            outcome.text.push('\n');
        }
        match Block::of(block) {
            Block::Text(text) => text.push_to(&mut outcome.text),
            _ => outcome.text.push_str(&pretty(block)),
        }
    }
}
