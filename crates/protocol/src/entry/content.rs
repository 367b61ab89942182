//! Content accessors of entries, for all dialects.

use std::borrow::Cow;

use super::{Dialect, EntryKind, EntryRef, Flags};
use crate::ToolCall;
use crate::json::{Raw, Reading, Text, Wire};
use crate::messages::UsageInfo;
use crate::view::{Block, Blocks, MessageView};

/// Result of a tool, in place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResult<'a> {
    /// The call that it answers. The session specification has no such ids: a result follows its call.
    pub tool_use_id: Option<Cow<'a, str>>,
    /// A string, a list of blocks or other JSON.
    pub content: Option<Raw<'a>>,
    /// True if the tool failed.
    pub is_error: bool,
}

impl<'a> EntryRef<'a> {
    /// Parts of the API message of the entry, in one pass; all empty if there is none.
    pub fn message_view(&self) -> MessageView<'a> {
        let mut view =
            MessageView { content: None, message_id: None, model: None, usage: None, stop_reason: None };
        match self.message() {
            Some(text) if text.text().is_some() => view.content = Some(text),
            Some(message) if message.is_object() => {
                let (spans, text) = self.message_spans();
                view.content = spans.content.raw(text);
                view.message_id = spans.id.text(text);
                view.model = spans.model.text(text);
                view.usage = spans.usage.raw(text);
                view.stop_reason = spans.stop_reason.raw(text);
            }
            None if self.kind() == EntryKind::System => view.content = self.get("content"),
            Some(_) | None => {}
        }
        view
    }

    /// Blocks of the message; empty for entries without one. Plain text is one text block, and so is the
    /// string that the session specification has for a message.
    pub fn content_blocks(&self) -> Blocks<'a> {
        self.message_view().blocks()
    }

    /// The text blocks as one string, or the text of a summary.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.kind() == EntryKind::Summary
            && let Some(text) = self.get("summary").and_then(Raw::text)
        {
            text.push_to(&mut out);
        }
        for block in self.content_blocks() {
            if let Block::Text(text) = block {
                text.push_to(&mut out);
            }
        }
        out
    }

    /// Tool calls of an assistant entry. A call of the session specification has no id and takes the entry's.
    pub fn tool_calls(&self) -> Vec<ToolCall<'a>> {
        if self.kind() != EntryKind::Assistant {
            return Vec::new();
        }
        if let Some(name) = self.get("toolName").and_then(Raw::text) {
            return vec![ToolCall {
                id: self.uuid().unwrap_or_default(),
                name: name.get(),
                input: self.get("toolArguments").unwrap_or(Raw::new("{}")),
            }];
        }
        let calls = self.content_blocks().filter_map(|block| match block {
            Block::ToolUse { id, name, input } => Some(ToolCall { id: id.get(), name: name.get(), input }),
            _ => None,
        });
        calls.collect()
    }

    /// Tool results: blocks of a user entry, or the whole entry in the session specification.
    pub fn tool_results(&self) -> Vec<ToolResult<'a>> {
        match self.kind() {
            EntryKind::User | EntryKind::ToolResult => {}
            EntryKind::System if self.is_seed_result() => {
                return vec![ToolResult {
                    tool_use_id: None,
                    content: self.message(),
                    is_error: self.flags().is_error,
                }];
            }
            _ => return Vec::new(),
        }
        let results = self.content_blocks().filter_map(|block| match block {
            Block::ToolResult { tool_use_id, content, is_error } => {
                Some(ToolResult { tool_use_id: Some(tool_use_id.get()), content, is_error })
            }
            _ => None,
        });
        results.collect()
    }

    /// Id of the API response. Several entries share it: one entry per block.
    pub fn message_id(&self) -> Option<Cow<'a, str>> {
        self.message_view().message_id.map(Text::get)
    }

    /// Model that answered; `<synthetic>` if the client wrote the answer.
    pub fn model(&self) -> Option<Cow<'a, str>> {
        self.message_view().model.map(Text::get)
    }

    /// Token counts of the API response. Every entry of a response repeats them: count once per message id,
    /// over all files.
    pub fn usage(&self) -> Option<UsageInfo> {
        if self.kind() != EntryKind::Assistant {
            return None;
        }
        UsageInfo::read(&mut self.message_view().usage?.cursor(), &mut Reading::default()).ok()
    }

    /// The tool's whole structured output; see [`crate::tools::ToolOutput`].
    pub fn tool_use_result(&self) -> Option<Raw<'a>> {
        if self.kind() == EntryKind::User { self.get("toolUseResult") } else { None }
    }

    /// The `type` inside an attachment: `environment`, `skill_listing`, `hook_success`, …
    pub fn attachment_type(&self) -> Option<Cow<'a, str>> {
        let attachment = self.get("attachment").filter(|_| self.kind() == EntryKind::Attachment)?;
        attachment.get("type")?.text().map(Text::get)
    }

    /// Flags of the session specification.
    pub fn flags(&self) -> Flags {
        Flags::of(self)
    }

    fn is_seed_result(&self) -> bool {
        self.subtype().as_deref() == Some("tool_result") && self.dialect() == Dialect::Seed
    }
}
