//! Streamed answers: events of the Messages API, and the message that they form.

mod accumulator;
mod compose;
mod event;

pub use accumulator::Accumulator;
pub use event::{
    BlockDelta, BlockStart, BlockStop, CitationsDelta, Delta, Event, InputJsonDelta, MessageDelta,
    MessageDeltaBody, MessageStart, SignatureDelta, StreamError, TextDelta, ThinkingDelta,
};
