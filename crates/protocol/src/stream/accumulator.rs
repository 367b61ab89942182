//! Rebuilds a message from its stream events.

use super::{Delta, Event};
use crate::json::{Extra, Json, Raw};
use crate::messages::{ApiMessage, ContentBlock};

/// Rebuilds a message from its stream events.
///
/// Push every event in order; the message so far is accessible at any time. A new `message_start` starts
/// over, which also happens when a cut stream is retried.
#[derive(Debug, Clone, Default)]
pub struct Accumulator {
    message: Option<ApiMessage>,
    open: Vec<Open>,
    finished: bool,
}

/// A block that is not complete yet.
#[derive(Debug, Clone)]
struct Open {
    index: u64,
    block: ContentBlock,
    extra: Extra,
    /// JSON text of the input so far.
    partial_json: String,
    signature: String,
    citations: Vec<Json>,
}

impl Accumulator {
    /// An accumulator that waits for a `message_start`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next event. Returns the message if this event completed it.
    pub fn push(&mut self, event: &Event) -> Option<&ApiMessage> {
        match event {
            Event::MessageStart(start) => {
                *self = Accumulator { message: Some(start.message.clone()), ..Self::default() };
            }
            Event::ContentBlockStart(start) => self.open.push(Open {
                index: start.index,
                block: start.content_block.clone(),
                extra: start.block_extra.clone(),
                partial_json: String::new(),
                signature: String::new(),
                citations: Vec::new(),
            }),
            Event::ContentBlockDelta(delta) => {
                if let Some(open) = self.open.iter_mut().find(|open| open.index == delta.index) {
                    open.grow(&delta.delta);
                }
            }
            Event::ContentBlockStop(stop) => {
                if let Some(at) = self.open.iter().position(|open| open.index == stop.index) {
                    let open = self.open.remove(at);
                    self.close(open);
                }
            }
            Event::MessageDelta(delta) => {
                if let Some(message) = &mut self.message {
                    message.stop_reason.clone_from(&delta.delta.stop_reason);
                    message.stop_sequence.clone_from(&delta.delta.stop_sequence);
                    if let Some(usage) = &delta.usage {
                        message.usage = Some(usage.clone());
                    }
                }
            }
            Event::MessageStop(_) => {
                // A stream that ends inside a block keeps the part that arrived.
                for open in std::mem::take(&mut self.open) {
                    self.close(open);
                }
                self.finished = self.message.is_some();
                return self.message.as_ref();
            }
            Event::Ping(_) | Event::Error(_) | Event::Unknown(_) => {}
        }
        None
    }

    /// The message so far, with its completed blocks.
    pub fn message(&self) -> Option<&ApiMessage> {
        self.message.as_ref()
    }

    /// The incomplete block with the given index, if any.
    pub fn open_block(&self, index: u64) -> Option<&ContentBlock> {
        self.open.iter().find(|open| open.index == index).map(|open| &open.block)
    }

    /// True if the message is complete.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    fn close(&mut self, open: Open) {
        if let Some(message) = &mut self.message {
            let (block, extra) = open.finish();
            message.content.push(block, extra);
        }
    }
}

impl Open {
    fn grow(&mut self, delta: &Delta) {
        match (delta, &mut self.block) {
            (Delta::Text(delta), ContentBlock::Text { text }) => text.push_str(&delta.text),
            (Delta::Thinking(delta), ContentBlock::Thinking { thinking }) => {
                thinking.push_str(&delta.thinking);
            }
            (Delta::InputJson(delta), _) => self.partial_json.push_str(&delta.partial_json),
            (Delta::Signature(delta), _) => self.signature.push_str(&delta.signature),
            (Delta::Citations(delta), _) => self.citations.push(delta.citation.clone()),
            _ => {}
        }
    }

    fn finish(mut self) -> (ContentBlock, Extra) {
        // Input that was cut, or that does not fit a tree, leaves the block's initial input.
        if let Ok(raw) = Raw::parse(&self.partial_json) {
            match &mut self.block {
                ContentBlock::ToolUse { input, .. } => {
                    if let Ok(value) = raw.value() {
                        *input = value;
                    }
                }
                ContentBlock::ServerToolUse(call) => call.input = raw.to_json(),
                _ => {}
            }
        }
        if !self.signature.is_empty() {
            self.extra.insert("signature", &self.signature);
        }
        if !self.citations.is_empty() {
            self.extra.insert("citations", &self.citations);
        }
        (self.block, self.extra)
    }
}
