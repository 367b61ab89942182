//! The model's answer while it is being written: events of the Messages API, and the message they make.

mod accumulator;
mod event;

pub use accumulator::Accumulator;
pub use event::{
    BlockDelta, BlockStart, BlockStop, CitationsDelta, Delta, Event, InputJsonDelta, MessageDelta,
    MessageDeltaBody, MessageStart, SignatureDelta, StreamError, TextDelta, ThinkingDelta,
};
