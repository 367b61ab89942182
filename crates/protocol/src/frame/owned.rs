use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{FrameHead, FrameRef, Kind, Outcome, ToolCall, Typed};
use crate::error::{DecodeError, DecodeErrorKind};
use crate::json::{BodyError, Raw};
use crate::messages::{Message, RateLimitInfo, UsageInfo};
use crate::view::{Blocks, View};

/// One line of the wire, owned; cheap to clone and to share.
///
/// It has all accessors of [`FrameRef`].
#[derive(Clone)]
pub struct Frame {
    text: Arc<str>,
    /// The original bytes, if they are not UTF-8 and `text` is a lossy conversion of them.
    damaged: Option<Arc<[u8]>>,
    head: FrameHead,
}

/// Forwards calls to the borrowed frame.
macro_rules! forward {
    ($( $name:ident($($arg:ident: $Arg:ty),*) -> $Output:ty; )+) => {$(
        #[doc = concat!("See [`FrameRef::", stringify!($name), "`].")]
        pub fn $name(&self, $($arg: $Arg),*) -> $Output {
            self.as_ref().$name($($arg),*)
        }
    )+};
}

impl Frame {
    pub(super) fn new(text: Arc<str>, head: FrameHead) -> Self {
        Frame { text, damaged: None, head }
    }

    /// Decodes one line.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        FrameRef::decode(line).map(|frame| frame.to_frame())
    }

    /// Decodes one line of text.
    pub fn from_json(line: &str) -> Result<Self, DecodeError> {
        Self::decode(line.as_bytes())
    }

    /// Decodes one line; invalid UTF-8 becomes U+FFFD, and [`Frame::is_damaged`] reports it.
    pub fn decode_lossy(line: &[u8]) -> Result<Self, DecodeError> {
        match Self::decode(line) {
            Err(DecodeError { kind: DecodeErrorKind::Utf8, .. }) => {
                let mut frame = Self::decode(String::from_utf8_lossy(line).as_bytes())?;
                frame.damaged = Some(line.trim_ascii().into());
                Ok(frame)
            }
            other => other,
        }
    }

    /// The frame for `message`, as sent over the wire.
    pub fn from_message(message: &Message) -> Self {
        // A message always writes an object.
        let line = message.to_line();
        Self::decode(line.as_bytes()).unwrap_or_else(|_| Frame::new(line.into(), FrameHead::default()))
    }

    /// The borrowed frame.
    pub fn as_ref(&self) -> FrameRef<'_> {
        FrameRef::from_parts(&self.text, self.head)
    }

    /// Original bytes of the frame, without the white space around it.
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
        kind() -> Kind;
        type_name() -> Option<Cow<'_, str>>;
        subtype() -> Option<Cow<'_, str>>;
        name() -> Cow<'_, str>;
        is_known() -> bool;
        data() -> Result<Value, BodyError>;
        repaired() -> bool;
        view() -> View<'_>;
        message() -> Message;
        typed() -> Typed;
        session_id() -> Option<Cow<'_, str>>;
        uuid() -> Option<Cow<'_, str>>;
        user_uuid() -> Option<Cow<'_, str>>;
        parent_tool_use_id() -> Option<Cow<'_, str>>;
        request_id() -> Option<Cow<'_, str>>;
        content_blocks() -> Blocks<'_>;
        tool_calls() -> Vec<ToolCall<'_>>;
        is_error() -> bool;
        is_final() -> bool;
        outcome() -> Option<Outcome>;
        error_text() -> Option<String>;
        usage() -> Option<UsageInfo>;
        cost_usd() -> Option<f64>;
        rate_limit() -> Option<RateLimitInfo>;
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl Eq for Frame {}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({})", self.text)
    }
}
