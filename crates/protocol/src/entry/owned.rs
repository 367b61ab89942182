//! An entry that owns its line.

use std::borrow::Cow;

use super::head::EntryHead;
use super::{Dialect, EntryBody, EntryKind, EntryRef, Flags, ToolResult, TypedEntry};
use crate::ToolCall;
use crate::json::Raw;
use crate::messages::UsageInfo;
use crate::owned_line::owned_line;
use crate::view::{Blocks, MessageView};

owned_line! {
    /// One line of a session file, owned; cheap to clone and to share.
    ///
    /// It has all accessors of [`EntryRef`].
    pub struct Entry from EntryRef with EntryHead by to_entry;

    json() -> Raw<'_>;
    get(key: &str) -> Option<Raw<'_>>;
    kind() -> EntryKind;
    type_name() -> Option<Cow<'_, str>>;
    subtype() -> Option<Cow<'_, str>>;
    name() -> Cow<'_, str>;
    uuid() -> Option<Cow<'_, str>>;
    parent_uuid() -> Option<Cow<'_, str>>;
    logical_parent_uuid() -> Option<Cow<'_, str>>;
    session_id() -> Option<Cow<'_, str>>;
    timestamp() -> Option<Cow<'_, str>>;
    agent_id() -> Option<Cow<'_, str>>;
    request_id() -> Option<Cow<'_, str>>;
    cwd() -> Option<Cow<'_, str>>;
    leaf_uuid() -> Option<Cow<'_, str>>;
    is_chained() -> bool;
    is_sidechain() -> bool;
    is_meta() -> bool;
    repaired() -> bool;
    dialect() -> Dialect;
    flags() -> Flags;
    message_view() -> MessageView<'_>;
    content_blocks() -> Blocks<'_>;
    text() -> String;
    tool_calls() -> Vec<ToolCall<'_>>;
    tool_results() -> Vec<ToolResult<'_>>;
    tool_use_result() -> Option<Raw<'_>>;
    attachment_type() -> Option<Cow<'_, str>>;
    message_id() -> Option<Cow<'_, str>>;
    model() -> Option<Cow<'_, str>>;
    usage() -> Option<UsageInfo>;
    body() -> EntryBody;
    typed() -> TypedEntry;
}

impl Entry {
    /// The entry for `body`, as written to a file.
    pub fn from_body(body: &EntryBody) -> Self {
        // A body always writes an object.
        let line = body.to_line();
        Self::decode(line.as_bytes()).unwrap_or_else(|_| Entry::new(line.into(), EntryHead::default()))
    }
}
