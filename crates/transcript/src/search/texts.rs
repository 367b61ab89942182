//! The searched text: everything that the user could have read or written.
//!
//! Included are prompts, answers, thinking, names, inputs and outputs of tools, summaries, titles and
//! attachments; excluded are ids, times, token counts, signatures and images. The log of API requests only
//! repeats other lines.

use std::ops::ControlFlow;

use serde::Serialize;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

/// The speaker of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user: prompts, including queued ones.
    User,
    /// The model: answers, thinking, tool calls.
    Assistant,
    /// The client: system lines, attachments, titles, summaries, and text that it adds in the user's name.
    System,
    /// A tool: its results and progress.
    Tool,
}

/// The speaker and the tool of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextOrigin<'a> {
    pub(crate) role: Role,
    pub(crate) tool: ToolOf<'a>,
}

/// The tool that a text belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ToolOf<'a> {
    /// No tool.
    No,
    /// The tool with this name.
    Named(Text<'a>),
    /// The tool of the call with this id, further up in the file.
    Called(Text<'a>),
}

/// Calls `each` for every text of an entry until it breaks.
pub(crate) fn texts<'a>(
    entry: &EntryRef<'a>,
    mut each: impl FnMut(TextOrigin<'a>, Text<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let kind = entry.kind();
    if is_silent(kind) {
        return ControlFlow::Continue(());
    }
    let plain = TextOrigin { role: role_of(entry), tool: ToolOf::No };
    let mut answered = ToolOf::No;
    for (key, value) in entry.json().members() {
        if is_envelope(key.escaped()) {
            continue;
        }
        if key == "message" && value.is_object() && kind != EntryKind::Progress {
            let content = entry.message_view().content.unwrap_or(value);
            if let Some(text) = content.text() {
                each(plain, text)?;
            }
            for block in content.items() {
                block_texts(block, plain, &mut answered, &mut each)?;
            }
        } else if key == "data" && kind == EntryKind::Progress {
            progress_texts(value, plain, &mut each)?;
        } else if key == "toolUseResult" {
            strings(value, TextOrigin { role: Role::Tool, tool: answered }, &mut each)?;
        } else {
            strings(value, plain, &mut each)?;
        }
    }
    ControlFlow::Continue(())
}

/// Returns true for an image or other binary data: a long string without word separators.
pub(crate) fn is_blob(text: &str) -> bool {
    const LONG: usize = 512;
    let belongs =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'\\');
    // The beginning already excludes text, so most of it need not be examined.
    text.len() >= LONG
        && text.as_bytes()[..LONG].iter().all(belongs)
        && text.bytes().all(|byte| belongs(&byte))
}

/// Top-level keys without text: ids, times and the like.
fn is_envelope(key: &str) -> bool {
    matches!(
        key,
        "type"
            | "subtype"
            | "uuid"
            | "parentUuid"
            | "logicalParentUuid"
            | "leafUuid"
            | "sessionId"
            | "session_id"
            | "agentId"
            | "messageId"
            | "requestId"
            | "requestRef"
            | "promptId"
            | "timestamp"
            | "cwd"
            | "version"
            | "gitBranch"
            | "userType"
            | "entrypoint"
            | "slug"
            | "level"
            | "forkedFrom"
            | "isSidechain"
            | "permissionMode"
            | "promptSource"
            | "origin"
            | "turnOrigin"
            | "operation"
            | "compactMetadata"
            | "sourceToolUseID"
            | "sourceToolAssistantUUID"
            | "toolUseID"
            | "parentToolUseID"
            | "commandUuid"
            | "deliveryId"
            | "effort"
            | "sessionKind"
            | "renderedRole"
            | "quotaLimits"
            | "usage"
            | "model"
    )
}

/// Nested keys without text.
fn is_mark(key: &str) -> bool {
    matches!(key, "type" | "media_type" | "signature" | "tool_use_id" | "toolUseId")
}

/// Lines that only the client reads, or that repeat others.
fn is_silent(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::ApiRequest
            | EntryKind::ApiRequestShape
            | EntryKind::ApiRequestBlob
            | EntryKind::FileHistorySnapshot
            | EntryKind::FileHistoryDelta
            | EntryKind::AtisLatch
            | EntryKind::IsolationLatch
            | EntryKind::ToolsUsed
            | EntryKind::CostState
            | EntryKind::Mode
            | EntryKind::PermissionMode
            | EntryKind::AgentColor
            | EntryKind::ForkContextRef
            | EntryKind::BridgeSession
            | EntryKind::AttributionSnapshot
    )
}

fn role_of(entry: &EntryRef<'_>) -> Role {
    match entry.kind() {
        EntryKind::Assistant => Role::Assistant,
        EntryKind::User if entry.is_meta() => Role::System,
        EntryKind::User | EntryKind::Human | EntryKind::QueueOperation | EntryKind::LastPrompt => Role::User,
        EntryKind::ToolResult | EntryKind::Progress => Role::Tool,
        EntryKind::System if entry.subtype().as_deref() == Some("tool_result") => Role::Tool,
        _ => Role::System,
    }
}

/// Progress of a tool. That of a sub-agent has the prompt in every line, which the call has too, and a
/// message of the sub-agent, whose speaker is not the tool.
fn progress_texts<'a>(
    data: Raw<'a>,
    plain: TextOrigin<'a>,
    each: &mut impl FnMut(TextOrigin<'a>, Text<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let is =
        |value: Option<Raw<'_>>, text: &str| value.and_then(Raw::text).is_some_and(|of| of.get() == text);
    if !is(data.get("type"), "agent_progress") {
        return strings(data, plain, each);
    }
    let Some(entry) = data.get("message") else { return ControlFlow::Continue(()) };
    let role = if is(entry.get("type"), "assistant") { Role::Assistant } else { Role::User };
    let origin = TextOrigin { role, tool: ToolOf::No };
    let Some(content) = entry.get("message").and_then(|message| message.get("content")) else {
        return ControlFlow::Continue(());
    };
    if let Some(text) = content.text() {
        each(origin, text)?;
    }
    let mut answered = ToolOf::No;
    content.items().try_for_each(|block| block_texts(block, origin, &mut answered, each))
}

/// One block of a message.
fn block_texts<'a>(
    block: Raw<'a>,
    plain: TextOrigin<'a>,
    answered: &mut ToolOf<'a>,
    each: &mut impl FnMut(TextOrigin<'a>, Text<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if let Some(text) = block.text() {
        return each(plain, text);
    }
    let block = Parts::of(block);
    match block.kind {
        Some("tool_use" | "server_tool_use") => {
            let origin = TextOrigin { tool: block.name.map_or(ToolOf::No, ToolOf::Named), ..plain };
            block.name.map_or(ControlFlow::Continue(()), |name| each(origin, name))?;
            // An input consists of the model's words, whatever its keys are called.
            for (_, text) in block.input.into_iter().flat_map(Raw::strings) {
                each(origin, text)?;
            }
            ControlFlow::Continue(())
        }
        Some("tool_result") => {
            *answered = block.tool_use_id.map_or(ToolOf::No, ToolOf::Called);
            let origin = TextOrigin { role: Role::Tool, tool: *answered };
            block.content.map_or(ControlFlow::Continue(()), |content| strings(content, origin, each))
        }
        _ => strings(block.whole, plain, each),
    }
}

/// The relevant parts of a block, from one pass over it.
struct Parts<'a> {
    whole: Raw<'a>,
    kind: Option<&'a str>,
    name: Option<Text<'a>>,
    tool_use_id: Option<Text<'a>>,
    input: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
}

impl<'a> Parts<'a> {
    fn of(whole: Raw<'a>) -> Self {
        let mut parts =
            Parts { whole, kind: None, name: None, tool_use_id: None, input: None, content: None };
        for (key, value) in whole.members() {
            match key.escaped() {
                "type" => parts.kind = value.text().map(Text::escaped),
                "name" => parts.name = value.text(),
                "tool_use_id" => parts.tool_use_id = value.text(),
                "input" => parts.input = Some(value),
                "content" => parts.content = Some(value),
                _ => {}
            }
        }
        parts
    }
}

fn strings<'a>(
    value: Raw<'a>,
    origin: TextOrigin<'a>,
    each: &mut impl FnMut(TextOrigin<'a>, Text<'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for (key, text) in value.strings() {
        if !key.is_some_and(|key| is_mark(key.escaped())) {
            each(origin, text)?;
        }
    }
    ControlFlow::Continue(())
}
