//! The events of a streamed answer, and their deltas.

use crate::frame::FrameRef;
use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Cursor, Extra, Json, Misfit, Reading, Text, Wire, object};
use crate::messages::{ApiMessage, ApiStopReason, ContentBlock, UsageInfo, read_block, write_block};
use crate::view;

/// One event of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A message starts, without content.
    MessageStart(Box<MessageStart>),
    /// A block starts.
    ContentBlockStart(Box<BlockStart>),
    /// A delta of a block.
    ContentBlockDelta(BlockDelta),
    /// A block ends. The complete `assistant` frame of the block comes before this.
    ContentBlockStop(BlockStop),
    /// Stop reason and usage of the message.
    MessageDelta(Box<MessageDelta>),
    /// The message ends.
    MessageStop(Extra),
    /// Keeps the connection open.
    Ping(Extra),
    /// The API failed during the stream.
    Error(StreamError),
    /// An unknown event.
    Unknown(Json),
}

/// Delta of a block.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(TextDelta),
    /// More of a tool's input, as JSON text cut at any byte.
    InputJson(InputJsonDelta),
    /// More reasoning.
    Thinking(ThinkingDelta),
    /// Signature of the reasoning.
    Signature(SignatureDelta),
    /// A citation.
    Citations(CitationsDelta),
    /// An unknown kind, or one that is not public (`compaction_delta`).
    Unknown(Json),
}

/// `content_block_start`: a block, empty or nearly so.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BlockStart {
    /// Index of the block in the message.
    pub index: u64,
    /// The block.
    pub content_block: ContentBlock,
    /// Members of the block on the wire without a field of their own.
    pub block_extra: Extra,
    /// Members that the typed fields would not write back identically.
    pub extra: Extra,
}

object! {
    /// `message_start`
    pub struct MessageStart { req message: ApiMessage }

    /// `content_block_delta`
    pub struct BlockDelta {
        req index: u64,
        req delta: Delta,
    }

    /// `content_block_stop`
    pub struct BlockStop { req index: u64 }

    /// `message_delta`
    pub struct MessageDelta {
        req delta: MessageDeltaBody,
        opt usage: UsageInfo,
    }

    /// Reason why the message stopped.
    pub struct MessageDeltaBody {
        opt stop_reason: ApiStopReason,
        opt stop_sequence: String,
    }

    /// `error`
    pub struct StreamError { opt error: Json }

    /// `text_delta`
    pub struct TextDelta { req text: String }
    /// `input_json_delta`
    pub struct InputJsonDelta { req partial_json: String }
    /// `thinking_delta`
    pub struct ThinkingDelta { req thinking: String }
    /// `signature_delta`
    pub struct SignatureDelta { req signature: String }
    /// `citations_delta`
    pub struct CitationsDelta { req citation: Json }

    struct Started { req index: u64, req content_block: WholeBlock }
    struct Nothing {}
}

/// A block with its extra members.
#[derive(Debug, Clone, PartialEq)]
struct WholeBlock(ContentBlock, Extra);

impl Default for WholeBlock {
    fn default() -> Self {
        WholeBlock(ContentBlock::Text { text: String::new() }, Extra::default())
    }
}

impl Wire for WholeBlock {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        read_block(cursor, reading).map(|(block, extra)| WholeBlock(block, extra))
    }

    fn write(&self, out: &mut String) {
        write_block(&self.0, &self.1, out);
    }
}

impl Default for Delta {
    fn default() -> Self {
        Delta::Unknown(Json::default())
    }
}

impl Event {
    /// The event's `type`.
    pub fn kind(&self) -> &str {
        match self {
            Event::MessageStart(_) => "message_start",
            Event::ContentBlockStart(_) => "content_block_start",
            Event::ContentBlockDelta(_) => "content_block_delta",
            Event::ContentBlockStop(_) => "content_block_stop",
            Event::MessageDelta(_) => "message_delta",
            Event::MessageStop(_) => "message_stop",
            Event::Ping(_) => "ping",
            Event::Error(_) => "error",
            Event::Unknown(_) => "",
        }
    }
}

impl Event {
    /// Event of a frame that is a plain delta, from the positions noted by decoding.
    pub(crate) fn plain_delta(frame: &FrameRef<'_>) -> Option<Event> {
        let (text, spans) = (frame.text(), frame.event_spans());
        if !spans.is_plain_delta() || spans.kind.text(text)? != "content_block_delta" {
            return None;
        }
        let own = |text: Text<'_>| text.get().into_owned();
        let extra = Extra::default();
        let delta = match view::DeltaView::of(frame)? {
            view::DeltaView::Text(text) => Delta::Text(TextDelta { text: own(text), extra }),
            view::DeltaView::InputJson(text) => {
                Delta::InputJson(InputJsonDelta { partial_json: own(text), extra })
            }
            view::DeltaView::Thinking(text) => Delta::Thinking(ThinkingDelta { thinking: own(text), extra }),
            view::DeltaView::Signature(text) => {
                Delta::Signature(SignatureDelta { signature: own(text), extra })
            }
            view::DeltaView::Other(_) => return None,
        };
        let index = spans.index.raw(text)?.u64()?;
        Some(Event::ContentBlockDelta(BlockDelta { index, delta, extra: Extra::default() }))
    }
}

impl Wire for Event {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        const TAKEN: &[&str] = &["type"];
        if cursor.peek() != b'{' {
            return Err(Misfit::here(cursor, "a stream event"));
        }
        let kind = cursor.tag("type");
        Ok(match kind.map(Text::get).as_deref() {
            Some("content_block_delta") => Event::ContentBlockDelta(read_object(cursor, reading, TAKEN)?),
            Some("content_block_start") => {
                let Started { index, content_block, extra } = read_object(cursor, reading, TAKEN)?;
                let WholeBlock(content_block, block_extra) = content_block;
                Event::ContentBlockStart(Box::new(BlockStart { index, content_block, block_extra, extra }))
            }
            Some("content_block_stop") => Event::ContentBlockStop(read_object(cursor, reading, TAKEN)?),
            Some("message_start") => Event::MessageStart(Box::new(read_object(cursor, reading, TAKEN)?)),
            Some("message_delta") => Event::MessageDelta(Box::new(read_object(cursor, reading, TAKEN)?)),
            Some("message_stop") => Event::MessageStop(read_object::<Nothing>(cursor, reading, TAKEN)?.extra),
            Some("ping") => Event::Ping(read_object::<Nothing>(cursor, reading, TAKEN)?.extra),
            Some("error") => Event::Error(read_object(cursor, reading, TAKEN)?),
            _ => Event::Unknown(cursor.raw().to_json()),
        })
    }

    fn write(&self, out: &mut String) {
        if let Event::Unknown(body) = self {
            return body.write(out);
        }
        let mut object = ObjectOut::open(out);
        object.string("type", self.kind());
        match self {
            Event::MessageStart(body) => body.write_members(&mut object),
            Event::ContentBlockStart(body) => {
                object.field("index", &body.index);
                write_block(&body.content_block, &body.block_extra, object.key("content_block"));
                object.extra(&body.extra, &|key| matches!(key, "index" | "content_block"));
            }
            Event::ContentBlockDelta(body) => body.write_members(&mut object),
            Event::ContentBlockStop(body) => body.write_members(&mut object),
            Event::MessageDelta(body) => body.write_members(&mut object),
            Event::MessageStop(extra) | Event::Ping(extra) => object.extra(extra, &|_| false),
            Event::Error(body) => body.write_members(&mut object),
            Event::Unknown(_) => {}
        }
        object.close();
    }
}

object!(@through_wire Event);

impl Default for Event {
    fn default() -> Self {
        Event::Ping(Extra::default())
    }
}

impl Delta {
    /// The delta's `type`.
    pub fn kind(&self) -> &str {
        match self {
            Delta::Text(_) => "text_delta",
            Delta::InputJson(_) => "input_json_delta",
            Delta::Thinking(_) => "thinking_delta",
            Delta::Signature(_) => "signature_delta",
            Delta::Citations(_) => "citations_delta",
            Delta::Unknown(_) => "",
        }
    }
}

impl Wire for Delta {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        const TAKEN: &[&str] = &["type"];
        let kind = cursor.tag("type");
        Ok(match kind.map(Text::get).as_deref() {
            Some("text_delta") => Delta::Text(read_object(cursor, reading, TAKEN)?),
            Some("input_json_delta") => Delta::InputJson(read_object(cursor, reading, TAKEN)?),
            Some("thinking_delta") => Delta::Thinking(read_object(cursor, reading, TAKEN)?),
            Some("signature_delta") => Delta::Signature(read_object(cursor, reading, TAKEN)?),
            Some("citations_delta") => Delta::Citations(read_object(cursor, reading, TAKEN)?),
            _ => Delta::Unknown(cursor.raw().to_json()),
        })
    }

    fn write(&self, out: &mut String) {
        if let Delta::Unknown(body) = self {
            return body.write(out);
        }
        let mut object = ObjectOut::open(out);
        object.string("type", self.kind());
        match self {
            Delta::Text(body) => body.write_members(&mut object),
            Delta::InputJson(body) => body.write_members(&mut object),
            Delta::Thinking(body) => body.write_members(&mut object),
            Delta::Signature(body) => body.write_members(&mut object),
            Delta::Citations(body) => body.write_members(&mut object),
            Delta::Unknown(_) => {}
        }
        object.close();
    }
}

object!(@through_wire Delta);
