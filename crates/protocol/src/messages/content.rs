//! The content of a message: blocks, or a plain string.

use std::ops::{Deref, DerefMut};

use serde_json::Value;

use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Extra, Json, Misfit, Reading, Text, Wire, object, open_string};

/// One item of a message.
///
/// The first four kinds have exactly the fields of the `rusty_claw` wire format; further members (a
/// signature, citations, …) are kept next to the block, see [`Content::extra`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text; may be empty.
        text: String,
    },
    /// A tool call.
    ToolUse {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Input of the tool.
        input: Value,
    },
    /// The result of a tool.
    ToolResult {
        /// Id of the call that it answers.
        tool_use_id: String,
        /// A string, a list of blocks, or any other JSON; `Null` when the key is absent.
        content: Value,
        /// True if the tool failed.
        is_error: bool,
    },
    /// Reasoning of the model.
    Thinking {
        /// Text of the reasoning.
        thinking: String,
    },
    /// Encrypted reasoning, readable by the API only.
    RedactedThinking(RedactedThinking),
    /// An image.
    Image(Image),
    /// A document, such as a PDF.
    Document(Document),
    /// A search result for the model.
    SearchResult(SearchResult),
    /// A tool found by a tool search; inside tool results.
    ToolReference(ToolReference),
    /// A call of a tool that runs inside the API.
    ServerToolUse(ServerToolUse),
    /// The result of such a tool: `web_search_tool_result` and the like.
    ServerToolResult(ServerToolResult),
    /// Blocks that are internal to the API (`mcp_tool_use`, `compaction`, …).
    Opaque(Opaque),
    /// An unknown kind, or one whose body does not fit.
    Unknown(Opaque),
}

/// Content of a message: a list of blocks, or (for users) a plain string, which reads as one text block.
///
/// Dereferences to the blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    blocks: Vec<ContentBlock>,
    /// Extra members of each block; shorter than `blocks` when the rest have none.
    extras: Vec<Extra>,
    plain: bool,
}

impl Content {
    /// A plain string.
    pub fn text(text: impl Into<String>) -> Self {
        Content { blocks: vec![ContentBlock::Text { text: text.into() }], extras: Vec::new(), plain: true }
    }

    /// A list of blocks.
    pub fn blocks(blocks: Vec<ContentBlock>) -> Self {
        Content { blocks, extras: Vec::new(), plain: false }
    }

    /// True if the wire form is a plain string instead of a list.
    pub fn is_plain(&self) -> bool {
        self.plain && matches!(self.blocks[..], [ContentBlock::Text { .. }])
    }

    /// Members of a block on the wire without a field of their own; empty past the end.
    pub fn extra(&self, index: usize) -> &Extra {
        static NONE: std::sync::LazyLock<Extra> = std::sync::LazyLock::new(Extra::default);
        self.extras.get(index).unwrap_or(&NONE)
    }

    /// Adds a block with its extra members.
    pub fn push(&mut self, block: ContentBlock, extra: Extra) {
        if !extra.is_empty() {
            self.extras.resize(self.blocks.len(), Extra::default());
            self.extras.push(extra);
        }
        self.blocks.push(block);
        self.plain = false;
    }

    /// All text blocks as one string.
    pub fn joined_text(&self) -> String {
        self.blocks.iter().filter_map(ContentBlock::as_text).collect()
    }
}

impl Deref for Content {
    type Target = [ContentBlock];

    fn deref(&self) -> &[ContentBlock] {
        &self.blocks
    }
}

impl DerefMut for Content {
    fn deref_mut(&mut self) -> &mut [ContentBlock] {
        &mut self.blocks
    }
}

impl<'a> IntoIterator for &'a Content {
    type Item = &'a ContentBlock;
    type IntoIter = std::slice::Iter<'a, ContentBlock>;

    fn into_iter(self) -> Self::IntoIter {
        self.blocks.iter()
    }
}

impl IntoIterator for Content {
    type Item = ContentBlock;
    type IntoIter = std::vec::IntoIter<ContentBlock>;

    fn into_iter(self) -> Self::IntoIter {
        self.blocks.into_iter()
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Content::blocks(blocks)
    }
}

impl Wire for Content {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        if let Some(text) = cursor.text() {
            return Ok(Content::text(text.get()));
        }
        if !cursor.enter_array() {
            return Err(Misfit::here(cursor, "a string or a list of content blocks"));
        }
        let mut content = Content::default();
        while cursor.next_item() {
            let index = content.blocks.len();
            let (block, extra) =
                reading.within(|| format!("[{index}]"), |reading| read_block(cursor, reading))?;
            content.push(block, extra);
        }
        Ok(content)
    }

    fn write(&self, out: &mut String) {
        if self.is_plain()
            && self.extra(0).is_empty()
            && let [ContentBlock::Text { text }] = &self.blocks[..]
        {
            return text.write(out);
        }
        out.push('[');
        for (index, block) in self.blocks.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_block(block, self.extra(index), out);
        }
        out.push(']');
    }
}

object!(@through_wire Content);

impl ContentBlock {
    /// The `type` of the block.
    pub fn kind(&self) -> &str {
        match self {
            ContentBlock::Text { .. } => "text",
            ContentBlock::ToolUse { .. } => "tool_use",
            ContentBlock::ToolResult { .. } => "tool_result",
            ContentBlock::Thinking { .. } => "thinking",
            ContentBlock::RedactedThinking(_) => "redacted_thinking",
            ContentBlock::Image(_) => "image",
            ContentBlock::Document(_) => "document",
            ContentBlock::SearchResult(_) => "search_result",
            ContentBlock::ToolReference(_) => "tool_reference",
            ContentBlock::ServerToolUse(_) => "server_tool_use",
            ContentBlock::ServerToolResult(result) => result.kind.as_str(),
            ContentBlock::Opaque(block) | ContentBlock::Unknown(block) => &block.kind,
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentBlock::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// Reads a single block; its extra members are dropped. Inside a message they are kept, see [`Content`].
impl Wire for ContentBlock {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        read_block(cursor, reading).map(|(block, _)| block)
    }

    fn write(&self, out: &mut String) {
        write_block(self, &Extra::default(), out);
    }
}

object!(@through_wire ContentBlock);

/// Reads a block and its extra members.
///
/// Only a value that is not an object is an error: a block that does not fit is kept unchanged.
pub(crate) fn read_block(
    cursor: &mut Cursor<'_>,
    reading: &mut Reading,
) -> Result<(ContentBlock, Extra), Misfit> {
    if cursor.peek() != b'{' {
        return Err(Misfit::here(cursor, "a content block"));
    }
    let (start, taken, before) = (cursor.at(), reading.taken, reading.refused.len());
    // Reading only up to the first `type` saves a pass over a large block; the read itself notices a second
    // one.
    let kind = cursor.first_tag("type").map(Text::get).unwrap_or_default();
    if matches!(&*kind, "text" | "thinking" | "tool_use" | "tool_result") {
        let read = read_block_as(&kind, cursor, reading);
        if reading.taken == taken + 1 {
            return Ok(read);
        }
        reading.refused.truncate(before);
        cursor.rewind(start);
    }
    let kind = cursor.tag("type").map(Text::get).unwrap_or_default();
    Ok(read_block_as(&kind, cursor, reading))
}

fn read_block_as(kind: &str, cursor: &mut Cursor<'_>, reading: &mut Reading) -> (ContentBlock, Extra) {
    let (start, before) = (cursor.at(), reading.refused.len());
    let known = match kind {
        "text" => block(cursor, reading, |TextBlock { text, extra }| (ContentBlock::Text { text }, extra)),
        "thinking" => block(cursor, reading, |ThinkingBlock { thinking, extra }| {
            (ContentBlock::Thinking { thinking }, extra)
        }),
        "tool_use" => block(cursor, reading, |ToolUseBlock { id, name, input, extra }| {
            (ContentBlock::ToolUse { id, name, input }, extra)
        }),
        "tool_result" => {
            block(cursor, reading, |ToolResultBlock { tool_use_id, content, is_error, extra }| {
                (ContentBlock::ToolResult { tool_use_id, content, is_error }, extra)
            })
        }
        "redacted_thinking" => {
            block(cursor, reading, |body| (ContentBlock::RedactedThinking(body), Extra::default()))
        }
        "image" => block(cursor, reading, |body| (ContentBlock::Image(body), Extra::default())),
        "document" => block(cursor, reading, |body| (ContentBlock::Document(body), Extra::default())),
        "search_result" => {
            block(cursor, reading, |body| (ContentBlock::SearchResult(body), Extra::default()))
        }
        "tool_reference" => {
            block(cursor, reading, |body| (ContentBlock::ToolReference(body), Extra::default()))
        }
        "server_tool_use" => {
            block(cursor, reading, |body| (ContentBlock::ServerToolUse(body), Extra::default()))
        }
        kind if ServerToolResultKind::KNOWN.contains(&kind) => read_object(cursor, reading, &[])
            .map(|body| (ContentBlock::ServerToolResult(body), Extra::default())),
        kind if OPAQUE.contains(&kind) => {
            Ok((ContentBlock::Opaque(Opaque::take(cursor, kind)), Extra::default()))
        }
        kind => Ok((ContentBlock::Unknown(Opaque::take(cursor, kind)), Extra::default())),
    };
    known.unwrap_or_else(|_| {
        reading.refused.truncate(before);
        cursor.rewind(start);
        (ContentBlock::Unknown(Opaque::take(cursor, kind)), Extra::default())
    })
}

fn block<T: WireObject>(
    cursor: &mut Cursor<'_>,
    reading: &mut Reading,
    make: impl FnOnce(T) -> (ContentBlock, Extra),
) -> Result<(ContentBlock, Extra), Misfit> {
    read_object(cursor, reading, &["type"]).map(make)
}

pub(crate) fn write_block(block: &ContentBlock, extra: &Extra, out: &mut String) {
    if let ContentBlock::Opaque(block) | ContentBlock::Unknown(block) = block {
        return block.body.write(out);
    }
    let mut object = ObjectOut::open(out);
    if !matches!(block, ContentBlock::ServerToolResult(_)) {
        object.string("type", block.kind());
    }
    match block {
        ContentBlock::Text { text } => {
            object.field("text", text);
            object.extra(extra, &|key| key == "text");
        }
        ContentBlock::Thinking { thinking } => {
            object.field("thinking", thinking);
            object.extra(extra, &|key| key == "thinking");
        }
        ContentBlock::ToolUse { id, name, input } => {
            object.field("id", id);
            object.field("name", name);
            object.field("input", input);
            object.extra(extra, &|key| matches!(key, "id" | "name" | "input"));
        }
        ContentBlock::ToolResult { tool_use_id, content, is_error } => {
            object.field("tool_use_id", tool_use_id);
            if !content.is_null() {
                object.field("content", content);
            }
            if *is_error {
                object.field("is_error", is_error);
            }
            object.extra(extra, &|key| match key {
                "tool_use_id" => true,
                "content" => !content.is_null(),
                "is_error" => *is_error,
                _ => false,
            });
        }
        ContentBlock::RedactedThinking(body) => body.write_members(&mut object),
        ContentBlock::Image(body) => body.write_members(&mut object),
        ContentBlock::Document(body) => body.write_members(&mut object),
        ContentBlock::SearchResult(body) => body.write_members(&mut object),
        ContentBlock::ToolReference(body) => body.write_members(&mut object),
        ContentBlock::ServerToolUse(body) => body.write_members(&mut object),
        ContentBlock::ServerToolResult(body) => body.write_members(&mut object),
        ContentBlock::Opaque(_) | ContentBlock::Unknown(_) => {}
    }
    object.close();
}

/// A block kept unchanged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Opaque {
    /// The `type` of the block; empty when it is missing.
    pub kind: String,
    /// The whole block.
    pub body: Json,
}

impl Opaque {
    fn take(cursor: &mut Cursor<'_>, kind: &str) -> Self {
        Opaque { kind: kind.to_owned(), body: cursor.raw().to_json() }
    }
}

/// Public blocks that are useful inside the API only.
const OPAQUE: &[&str] =
    &["mcp_tool_use", "mcp_tool_result", "container_upload", "compaction", "fallback", "mid_conv_system"];

object! {
    struct TextBlock { req text: String }
    struct ThinkingBlock { req thinking: String }
    struct ToolUseBlock { req id: String, req name: String, req input: Value }
    struct ToolResultBlock { req tool_use_id: String, def content: Value, def is_error: bool }

    /// Encrypted reasoning, readable by the API only.
    pub struct RedactedThinking { req data: String }

    /// An image.
    pub struct Image {
        req source: Source,
        opt cache_control: Json,
    }

    /// A document, such as a PDF.
    pub struct Document {
        req source: Source,
        opt title: String,
        opt context: String,
        opt citations: Json,
        opt cache_control: Json,
    }

    /// Source of an image or document.
    pub struct Source {
        /// `base64`, `url`, `file`, `text` or `content`.
        def kind: String as "type",
        opt media_type: String,
        opt data: String,
        opt url: String,
        opt file_id: String,
    }

    /// A search result for the model.
    pub struct SearchResult {
        opt source: String,
        opt title: String,
        def content: Vec<Json>,
        opt citations: Json,
    }

    /// A tool found by a tool search.
    pub struct ToolReference { req tool_name: String }

    /// A call of a tool that runs inside the API.
    pub struct ServerToolUse {
        req id: String,
        req name: String,
        req input: Json,
    }

    /// The result of a tool that runs inside the API.
    pub struct ServerToolResult {
        req kind: ServerToolResultKind as "type",
        req tool_use_id: String,
        req content: Json,
    }
}

open_string! {
    /// Kind of API tool that answered.
    pub struct ServerToolResultKind {
        WEB_SEARCH = "web_search_tool_result",
        WEB_FETCH = "web_fetch_tool_result",
        ADVISOR = "advisor_tool_result",
        CODE_EXECUTION = "code_execution_tool_result",
        BASH_CODE_EXECUTION = "bash_code_execution_tool_result",
        TEXT_EDITOR_CODE_EXECUTION = "text_editor_code_execution_tool_result",
        TOOL_SEARCH = "tool_search_tool_result",
    }
}
