//! A frame that owns its line.

use std::borrow::Cow;

use serde_json::Value;

use super::{FrameHead, FrameRef, Kind, Outcome, ToolCall, Typed};
use crate::error::DecodeError;
use crate::json::{BodyError, Raw};
use crate::messages::{Message, RateLimitInfo, SystemView, UsageInfo};
use crate::owned_line::owned_line;
use crate::view::{Blocks, View};

owned_line! {
    /// One line of the wire, owned; cheap to clone and to share.
    ///
    /// It has all accessors of [`FrameRef`].
    pub struct Frame from FrameRef with FrameHead by to_frame;

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
    system() -> SystemView<'_>;
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

impl Frame {
    /// Decodes one line of text.
    pub fn from_json(line: &str) -> Result<Self, DecodeError> {
        Self::decode(line.as_bytes())
    }

    /// The frame for `message`, as sent over the wire.
    pub fn from_message(message: &Message) -> Self {
        // A message always writes an object.
        let line = message.to_line();
        Self::decode(line.as_bytes()).unwrap_or_else(|_| Frame::new(line.into(), FrameHead::default()))
    }
}
