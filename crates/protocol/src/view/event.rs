//! Stream events in place.

use super::Block;
use crate::frame::{DeltaKey, FrameRef};
use crate::json::{Raw, Text};

/// A stream event in place.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum EventView<'a> {
    /// A message starts.
    MessageStart {
        /// The message, without content.
        message: Raw<'a>,
    },
    /// A block starts.
    BlockStart {
        /// Index of the block in the message.
        index: u64,
        /// The block.
        block: Block<'a>,
    },
    /// A delta of a block.
    BlockDelta {
        /// Index of the block in the message.
        index: u64,
        /// The delta.
        delta: DeltaView<'a>,
    },
    /// A block ends.
    BlockStop {
        /// Index of the block in the message.
        index: u64,
    },
    /// Stop reason and usage of the message.
    MessageDelta {
        /// `stop_reason` and `stop_sequence`.
        delta: Raw<'a>,
        /// Token counts, as written.
        usage: Option<Raw<'a>>,
    },
    /// The message ends.
    MessageStop,
    /// Any other event, as written; `None` if the frame has no event.
    Other(Option<Raw<'a>>),
}

/// Delta of a block.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum DeltaView<'a> {
    /// More text.
    Text(Text<'a>),
    /// More of a tool's input, as JSON text cut at any byte.
    InputJson(Text<'a>),
    /// More reasoning.
    Thinking(Text<'a>),
    /// Signature of the reasoning.
    Signature(Text<'a>),
    /// Any other delta, as written.
    Other(Raw<'a>),
}

impl<'a> EventView<'a> {
    #[inline]
    pub(super) fn of(frame: &FrameRef<'a>) -> Self {
        let (text, spans) = (frame.text(), frame.event_spans());
        let kind = spans.kind.text(text).map(Text::get);
        let index = || spans.index.raw(text)?.u64();
        let event = match kind.as_deref() {
            Some("content_block_delta") => match (index(), DeltaView::of(frame)) {
                (Some(index), Some(delta)) => Some(EventView::BlockDelta { index, delta }),
                _ => None,
            },
            Some("content_block_start") => match (index(), spans.block.raw(text)) {
                (Some(index), Some(block)) => Some(EventView::BlockStart { index, block: Block::of(block) }),
                _ => None,
            },
            Some("content_block_stop") => index().map(|index| EventView::BlockStop { index }),
            Some("message_start") => {
                spans.message.raw(text).map(|message| EventView::MessageStart { message })
            }
            Some("message_delta") => {
                let usage = spans.usage.raw(text);
                spans.delta.raw(text).map(|delta| EventView::MessageDelta { delta, usage })
            }
            Some("message_stop") => Some(EventView::MessageStop),
            _ => None,
        };
        event.unwrap_or_else(|| EventView::Other(frame.body()))
    }
}

impl<'a> DeltaView<'a> {
    #[inline]
    pub(crate) fn of(frame: &FrameRef<'a>) -> Option<Self> {
        let (text, spans) = (frame.text(), frame.event_spans());
        let other = DeltaView::Other(spans.delta.raw(text)?);
        let Some(piece) = spans.delta_text.text(text) else { return Some(other) };
        let kind = spans.delta_kind.text(text).map(Text::get);
        Some(match (kind.as_deref(), spans.delta_key) {
            (Some("text_delta"), DeltaKey::Text) => DeltaView::Text(piece),
            (Some("input_json_delta"), DeltaKey::PartialJson) => DeltaView::InputJson(piece),
            (Some("thinking_delta"), DeltaKey::Thinking) => DeltaView::Thinking(piece),
            (Some("signature_delta"), DeltaKey::Signature) => DeltaView::Signature(piece),
            _ => other,
        })
    }
}
