use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::head::EntryHead;
use super::{Dialect, EntryBody, EntryKind, EntryRef, Flags, ToolResult, TypedEntry};
use crate::ToolCall;
use crate::error::{DecodeError, DecodeErrorKind};
use crate::json::Raw;
use crate::messages::UsageInfo;
use crate::view::{Blocks, MessageView};

/// One line of a session file, owned; cheap to clone and to share.
///
/// It has all accessors of [`EntryRef`].
#[derive(Clone)]
pub struct Entry {
    text: Arc<str>,
    /// The original bytes, if they are not UTF-8 and `text` is a lossy conversion of them.
    damaged: Option<Arc<[u8]>>,
    head: EntryHead,
}

/// Forwards calls to the borrowed entry.
macro_rules! forward {
    ($( $name:ident($($arg:ident: $Arg:ty),*) -> $Output:ty; )+) => {$(
        #[doc = concat!("See [`EntryRef::", stringify!($name), "`].")]
        pub fn $name(&self, $($arg: $Arg),*) -> $Output {
            self.as_ref().$name($($arg),*)
        }
    )+};
}

impl Entry {
    pub(super) fn new(text: Arc<str>, head: EntryHead) -> Self {
        Entry { text, damaged: None, head }
    }

    /// Decodes one line.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        EntryRef::decode(line).map(|entry| entry.to_entry())
    }

    /// Decodes one line; invalid UTF-8 becomes U+FFFD, and [`Entry::is_damaged`] reports it.
    pub fn decode_lossy(line: &[u8]) -> Result<Self, DecodeError> {
        match Self::decode(line) {
            Err(DecodeError { kind: DecodeErrorKind::Utf8, .. }) => {
                let mut entry = Self::decode(String::from_utf8_lossy(line).as_bytes())?;
                entry.damaged = Some(line.trim_ascii().into());
                Ok(entry)
            }
            other => other,
        }
    }

    /// The entry for `body`, as written to a file.
    pub fn from_body(body: &EntryBody) -> Self {
        // A body always writes an object.
        let line = body.to_line();
        Self::decode(line.as_bytes()).unwrap_or_else(|_| Entry::new(line.into(), EntryHead::default()))
    }

    /// The borrowed entry.
    pub fn as_ref(&self) -> EntryRef<'_> {
        EntryRef::from_parts(&self.text, self.head)
    }

    /// Original bytes of the entry, without the white space around it.
    pub fn raw(&self) -> &[u8] {
        self.damaged.as_deref().unwrap_or(self.text.as_bytes())
    }

    /// True if the line was not valid UTF-8 and was converted lossily.
    pub fn is_damaged(&self) -> bool {
        self.damaged.is_some()
    }

    forward! {
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
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl Eq for Entry {}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.text)
    }
}
