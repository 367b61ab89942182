//! Content blocks in place.

use crate::json::{Cursor, Items, Raw, Text};

/// A content block in place.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Plain text.
    Text(Text<'a>),
    /// Reasoning.
    Thinking(Text<'a>),
    /// A tool call.
    ToolUse {
        /// Id of the call.
        id: Text<'a>,
        /// Name of the tool.
        name: Text<'a>,
        /// Input, as written.
        input: Raw<'a>,
    },
    /// The result of a tool.
    ToolResult {
        /// Id of the call that it answers.
        tool_use_id: Text<'a>,
        /// A string, a list of blocks or other JSON.
        content: Option<Raw<'a>>,
        /// True if the tool failed.
        is_error: bool,
    },
    /// Any other block, as written.
    Other(Raw<'a>),
}

/// Iterator over the blocks of a message's content.
#[derive(Debug, Clone)]
pub struct Blocks<'a>(Source<'a>);

#[derive(Debug, Clone)]
enum Source<'a> {
    Plain(Option<Text<'a>>),
    List(Items<'a>),
}

impl<'a> Blocks<'a> {
    #[inline]
    pub(crate) fn of(content: Option<Raw<'a>>) -> Self {
        Blocks(match content {
            Some(list) if list.is_array() => Source::List(list.items()),
            other => Source::Plain(other.and_then(Raw::text)),
        })
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    #[inline]
    fn next(&mut self) -> Option<Block<'a>> {
        match &mut self.0 {
            Source::Plain(text) => text.take().map(Block::Text),
            Source::List(items) => items.next_with(Block::read),
        }
    }
}

impl<'a> Block<'a> {
    /// A block; one that lacks a required member is `Other`.
    pub fn of(raw: Raw<'a>) -> Self {
        Block::read(&mut raw.cursor())
    }

    /// Scans the block once and collects its parts.
    fn read(cursor: &mut Cursor<'a>) -> Self {
        if cursor.peek() != b'{' {
            return Block::Other(cursor.raw());
        }
        let start = cursor.at();
        cursor.enter_object();
        let (mut kind, mut text, mut thinking, mut id, mut name) = (None, None, None, None, None);
        let (mut input, mut tool_use_id, mut content, mut is_error) = (None, None, None, false);
        while let Some(key) = cursor.next_key() {
            let value = cursor.raw();
            match &*key.get() {
                "type" => kind = value.text(),
                "text" => text = value.text(),
                "thinking" => thinking = value.text(),
                "id" => id = value.text(),
                "name" => name = value.text(),
                "input" => input = Some(value),
                "tool_use_id" => tool_use_id = value.text(),
                "content" => content = Some(value),
                "is_error" => is_error = value.bool() == Some(true),
                _ => {}
            }
        }
        let kind = kind.map(Text::get);
        let known = match kind.as_deref() {
            Some("text") => text.map(Block::Text),
            Some("thinking") => thinking.map(Block::Thinking),
            Some("tool_use") => match (id, name, input) {
                (Some(id), Some(name), Some(input)) => Some(Block::ToolUse { id, name, input }),
                _ => None,
            },
            Some("tool_result") => {
                tool_use_id.map(|tool_use_id| Block::ToolResult { tool_use_id, content, is_error })
            }
            _ => None,
        };
        known.unwrap_or_else(|| Block::Other(Raw::new(cursor.since(start))))
    }
}
