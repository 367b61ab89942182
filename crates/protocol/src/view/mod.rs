//! Frames in place: the parts that a reader in a hurry wants, without copying the rest.

mod block;
mod event;

use crate::frame::{FrameRef, Kind, SaidSpans};
use crate::json::{Raw, Text};
pub use block::{Block, Blocks};
pub use event::{Delta, Event};

/// A frame by its kind, borrowed from its line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum View<'a> {
    /// A response of the model.
    Assistant(Said<'a>),
    /// Input, or what a tool gave back.
    User(Said<'a>),
    /// A piece of a streamed answer.
    StreamEvent(Event<'a>),
    /// How a turn ended.
    Result(Ended<'a>),
    /// Lifecycle events; the rest of the frame is reached by key.
    System(Body<'a>),
    /// One side asks the other; the members of the request.
    ControlRequest(Body<'a>),
    /// The answer; the members of the response.
    ControlResponse(Body<'a>),
    /// Any other kind that is known.
    Other(Body<'a>),
    /// A kind that is not.
    Unknown,
}

/// Something said, by the model or to it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Said<'a> {
    /// The content, string or list.
    pub content: Option<Raw<'a>>,
    /// Names the API response.
    pub message_id: Option<Text<'a>>,
    /// The model.
    pub model: Option<Text<'a>>,
    /// Tokens, as written.
    pub usage: Option<Raw<'a>>,
    /// Why the model stopped; `null` while it had not.
    pub stop_reason: Option<Raw<'a>>,
}

impl<'a> Said<'a> {
    #[inline]
    fn of(frame: &FrameRef<'a>) -> Self {
        let SaidSpans { content, id, model, usage, stop_reason } = frame.said_spans();
        let text = frame.text();
        Said {
            content: content.raw(text),
            message_id: id.text(text),
            model: model.text(text),
            usage: usage.raw(text),
            stop_reason: stop_reason.raw(text),
        }
    }

    /// The blocks one by one; plain text is one text block.
    pub fn blocks(&self) -> Blocks<'a> {
        Blocks::of(self.content)
    }
}

/// The end of a turn.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ended<'a> {
    /// Which way it ended.
    pub subtype: Option<Text<'a>>,
    /// The final text.
    pub result: Option<Text<'a>>,
    /// Whether it failed; may be so with subtype `success`.
    pub is_error: bool,
    /// Tokens of the turn, as written.
    pub usage: Option<Raw<'a>>,
    /// Running total of the session, as written.
    pub total_cost_usd: Option<Raw<'a>>,
}

/// Members of a frame (or of what it carries), by key.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a>(Option<Raw<'a>>);

impl<'a> Body<'a> {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.0?.get(key)
    }

    /// The whole object.
    pub fn json(&self) -> Option<Raw<'a>> {
        self.0
    }
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn of(frame: &FrameRef<'a>) -> Self {
        // A flat control frame (seed 000) carries its members itself.
        let carried = || Body(frame.body().filter(|body| body.is_object()).or(Some(frame.json())));
        match frame.kind() {
            Kind::StreamEvent => View::StreamEvent(Event::of(frame)),
            Kind::Assistant => View::Assistant(Said::of(frame)),
            Kind::User => View::User(Said::of(frame)),
            Kind::Result => View::Result(ended(frame)),
            Kind::System => View::System(Body(Some(frame.json()))),
            Kind::ControlRequest => View::ControlRequest(carried()),
            Kind::ControlResponse => View::ControlResponse(carried()),
            Kind::Unknown => View::Unknown,
            _ => View::Other(Body(Some(frame.json()))),
        }
    }
}

fn ended<'a>(frame: &FrameRef<'a>) -> Ended<'a> {
    let mut ended = Ended { subtype: None, result: None, is_error: false, usage: None, total_cost_usd: None };
    for (key, value) in frame.json().members() {
        match &*key.get() {
            "subtype" => ended.subtype = value.text(),
            "result" => ended.result = value.text(),
            "is_error" => ended.is_error = value.bool() == Some(true),
            "usage" => ended.usage = Some(value),
            "total_cost_usd" => ended.total_cost_usd = Some(value),
            _ => {}
        }
    }
    ended
}
