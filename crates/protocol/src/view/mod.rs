//! Views of frames in place: the most used parts, without copying the rest.

mod block;
mod event;

use crate::frame::{FrameRef, Kind, MessageSpans};
use crate::json::{Raw, Text};
pub use block::{Block, Blocks};
pub use event::{DeltaView, EventView};

/// A frame by its kind, borrowed from its line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum View<'a> {
    /// A response of the model.
    Assistant(MessageView<'a>),
    /// A message of the user, or the result of a tool.
    User(MessageView<'a>),
    /// An event of a streamed answer.
    StreamEvent(EventView<'a>),
    /// Result of a turn.
    Result(ResultView<'a>),
    /// Lifecycle events; the rest of the frame is accessible by key.
    System(Body<'a>),
    /// A control request; the members of the request.
    ControlRequest(Body<'a>),
    /// A control response; the members of the response.
    ControlResponse(Body<'a>),
    /// Any other known kind.
    Other(Body<'a>),
    /// An unknown kind.
    Unknown,
}

/// A message of the model, or to it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MessageView<'a> {
    /// Content, a string or a list.
    pub content: Option<Raw<'a>>,
    /// Id of the API response.
    pub message_id: Option<Text<'a>>,
    /// The model.
    pub model: Option<Text<'a>>,
    /// Token counts, as written.
    pub usage: Option<Raw<'a>>,
    /// Reason why the model stopped; `null` until then.
    pub stop_reason: Option<Raw<'a>>,
}

impl<'a> MessageView<'a> {
    #[inline]
    fn of(frame: &FrameRef<'a>) -> Self {
        let MessageSpans { content, id, model, usage, stop_reason } = frame.message_spans();
        let text = frame.text();
        MessageView {
            content: content.raw(text),
            message_id: id.text(text),
            model: model.text(text),
            usage: usage.raw(text),
            stop_reason: stop_reason.raw(text),
        }
    }

    /// Iterates over the blocks; plain text is one text block.
    pub fn blocks(&self) -> Blocks<'a> {
        Blocks::of(self.content)
    }
}

/// Result of a turn.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ResultView<'a> {
    /// Kind of the result.
    pub subtype: Option<Text<'a>>,
    /// The final text.
    pub result: Option<Text<'a>>,
    /// True if the turn failed; possible with the subtype `success` too.
    pub is_error: bool,
    /// Token counts of the turn, as written.
    pub usage: Option<Raw<'a>>,
    /// Total cost of the session so far, as written.
    pub total_cost_usd: Option<Raw<'a>>,
}

/// Members of a frame (or of its payload), by key.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a>(Option<Raw<'a>>);

impl<'a> Body<'a> {
    /// Value of a key.
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
        // A flat control frame (rusty_claw wire format) has its members at the top level.
        let carried = || Body(frame.body().filter(|body| body.is_object()).or(Some(frame.json())));
        match frame.kind() {
            Kind::StreamEvent => View::StreamEvent(EventView::of(frame)),
            Kind::Assistant => View::Assistant(MessageView::of(frame)),
            Kind::User => View::User(MessageView::of(frame)),
            Kind::Result => View::Result(result_view(frame)),
            Kind::System => View::System(Body(Some(frame.json()))),
            Kind::ControlRequest => View::ControlRequest(carried()),
            Kind::ControlResponse => View::ControlResponse(carried()),
            Kind::Unknown => View::Unknown,
            _ => View::Other(Body(Some(frame.json()))),
        }
    }
}

fn result_view<'a>(frame: &FrameRef<'a>) -> ResultView<'a> {
    let mut view =
        ResultView { subtype: None, result: None, is_error: false, usage: None, total_cost_usd: None };
    for (key, value) in frame.json().members() {
        match &*key.get() {
            "subtype" => view.subtype = value.text(),
            "result" => view.result = value.text(),
            "is_error" => view.is_error = value.bool() == Some(true),
            "usage" => view.usage = Some(value),
            "total_cost_usd" => view.total_cost_usd = Some(value),
            _ => {}
        }
    }
    view
}
