use super::Block;
use crate::json::{Raw, Text};

/// A stream event in place.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A message begins.
    MessageStart {
        /// The message, without content.
        message: Raw<'a>,
    },
    /// A block begins.
    BlockStart {
        /// Which block of the message.
        index: u64,
        /// The block.
        block: Block<'a>,
    },
    /// A block goes on.
    BlockDelta {
        /// Which block of the message.
        index: u64,
        /// What it gains.
        delta: Delta<'a>,
    },
    /// A block ends.
    BlockStop {
        /// Which block of the message.
        index: u64,
    },
    /// Why the message stopped and what it used.
    MessageDelta {
        /// `stop_reason` and `stop_sequence`.
        delta: Raw<'a>,
        /// Tokens, as written.
        usage: Option<Raw<'a>>,
    },
    /// The message ends.
    MessageStop,
    /// Any other event, as written; `None` if the frame carries none.
    Other(Option<Raw<'a>>),
}

/// What a block gains.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// More text.
    Text(Text<'a>),
    /// More of a tool's input, as JSON text cut anywhere.
    InputJson(Text<'a>),
    /// More reasoning.
    Thinking(Text<'a>),
    /// The reasoning's signature.
    Signature(Text<'a>),
    /// Any other delta, as written.
    Other(Raw<'a>),
}

impl<'a> Event<'a> {
    #[inline]
    pub(super) fn of(event: Option<Raw<'a>>) -> Self {
        let Some(raw) = event else {
            return Event::Other(None);
        };
        let (mut kind, mut index, mut delta, mut block, mut message, mut usage) =
            (None, None, None, None, None, None);
        for (key, value) in raw.members() {
            match &*key.get() {
                "type" => kind = value.text(),
                "index" => index = value.u64(),
                "delta" => delta = Some(value),
                "content_block" => block = Some(value),
                "message" => message = Some(value),
                "usage" => usage = Some(value),
                _ => {}
            }
        }
        let kind = kind.map(Text::get);
        match (kind.as_deref(), index, delta, block, message) {
            (Some("content_block_delta"), Some(index), Some(delta), ..) => {
                Event::BlockDelta { index, delta: Delta::of(delta) }
            }
            (Some("content_block_start"), Some(index), _, Some(block), _) => {
                Event::BlockStart { index, block: Block::of(block) }
            }
            (Some("content_block_stop"), Some(index), ..) => Event::BlockStop { index },
            (Some("message_start"), .., Some(message)) => Event::MessageStart { message },
            (Some("message_delta"), _, Some(delta), ..) => Event::MessageDelta { delta, usage },
            (Some("message_stop"), ..) => Event::MessageStop,
            _ => Event::Other(Some(raw)),
        }
    }
}

impl<'a> Delta<'a> {
    #[inline]
    fn of(raw: Raw<'a>) -> Self {
        let (mut kind, mut text) = (None, None);
        for (key, value) in raw.members() {
            match &*key.get() {
                "type" => kind = value.text(),
                "text" | "partial_json" | "thinking" | "signature" => text = Some((key, value)),
                _ => {}
            }
        }
        let kind = kind.map(Text::get);
        let Some((key, Some(text))) = text.map(|(key, value)| (key, value.text())) else {
            return Delta::Other(raw);
        };
        match kind.as_deref() {
            Some("text_delta") if key == "text" => Delta::Text(text),
            Some("input_json_delta") if key == "partial_json" => Delta::InputJson(text),
            Some("thinking_delta") if key == "thinking" => Delta::Thinking(text),
            Some("signature_delta") if key == "signature" => Delta::Signature(text),
            _ => Delta::Other(raw),
        }
    }
}
