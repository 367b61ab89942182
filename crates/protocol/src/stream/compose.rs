//! Events of an answer that another program streams in the form of the API.

use super::{
    BlockDelta, BlockStart, BlockStop, Delta, Event, MessageDelta, MessageDeltaBody, MessageStart, TextDelta,
    ThinkingDelta,
};
use crate::json::Extra;
use crate::messages::{ApiMessage, ApiStopReason, ContentBlock};

impl Event {
    /// A message starts, without content.
    pub fn message_start(message: ApiMessage) -> Self {
        Event::MessageStart(Box::new(MessageStart { message, ..MessageStart::default() }))
    }

    /// A block starts; `block_extra` has its members without a field of their own.
    pub fn block_start(index: u64, content_block: ContentBlock, block_extra: Extra) -> Self {
        let extra = Extra::default();
        Event::ContentBlockStart(Box::new(BlockStart { index, content_block, block_extra, extra }))
    }

    /// A delta of a block.
    pub fn block_delta(index: u64, delta: Delta) -> Self {
        Event::ContentBlockDelta(BlockDelta { index, delta, ..BlockDelta::default() })
    }

    /// A block ends.
    pub fn block_stop(index: u64) -> Self {
        Event::ContentBlockStop(BlockStop { index, ..BlockStop::default() })
    }

    /// Stop reason of the message, which no sequence stopped.
    pub fn message_delta(stop_reason: ApiStopReason) -> Self {
        let mut delta = MessageDeltaBody { stop_reason: Some(stop_reason), ..MessageDeltaBody::default() };
        delta.extra.keep_null("stop_sequence");
        Event::MessageDelta(Box::new(MessageDelta { delta, ..MessageDelta::default() }))
    }

    /// The message ends.
    pub fn message_stop() -> Self {
        Event::MessageStop(Extra::default())
    }
}

impl Delta {
    /// More text.
    pub fn text(text: impl Into<String>) -> Self {
        Delta::Text(TextDelta { text: text.into(), ..TextDelta::default() })
    }

    /// More reasoning.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Delta::Thinking(ThinkingDelta { thinking: thinking.into(), ..ThinkingDelta::default() })
    }
}
