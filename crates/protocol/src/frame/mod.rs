//! One line of the wire: its raw bytes and a typed view of them.

mod head;
mod kind;
mod owned;
mod plain_delta;
mod spans;
mod summary;

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::error::DecodeError;
use crate::json::{BodyError, Raw, Reading, Refused, Text};
use crate::messages::{Message, SystemView};
use crate::view::View;
pub(crate) use head::{Notes, Span, scan, scan_text};
pub use kind::Kind;
pub use owned::Frame;
pub(crate) use spans::{DeltaKey, EventSpans, MessageSpans, OtherMembers};
pub(crate) use summary::{INTERRUPTED, is_interruption};
pub use summary::{Outcome, ToolCall};

/// A frame that borrows its line. [`Frame`] owns its line.
///
/// Decoding checks the whole line and notes the positions of the usual keys; bodies are read on demand.
#[derive(Debug, Clone, Copy)]
pub struct FrameRef<'a> {
    text: &'a str,
    head: FrameHead,
}

/// Positions of the most used keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameHead {
    kind: Kind,
    repaired: bool,
    type_name: Span,
    subtype: Span,
    session_id: Span,
    uuid: Span,
    parent_tool_use_id: Span,
    request_id: Span,
    message: Span,
    event: Span,
    request: Span,
    response: Span,
    /// Members with unusual keys.
    others: OtherMembers,
    /// Positions inside `event`.
    event_spans: EventSpans,
    /// Positions inside `message`.
    message_spans: MessageSpans,
    /// Object whose members are currently noted.
    inside: Inside,
}

#[derive(Debug, Clone, Copy, Default)]
enum Inside {
    #[default]
    Event,
    Message,
}

/// A frame as an owned value, with the fields that did not fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Typed {
    /// The value.
    pub message: Message,
    /// Optional fields that did not fit; they are kept raw in the value's `extra`.
    pub refused: Vec<Refused>,
}

impl<'a> FrameRef<'a> {
    /// Decodes one line. White space around the object and a byte order mark before it are allowed.
    #[inline]
    pub fn decode(line: &'a [u8]) -> Result<Self, DecodeError> {
        let mut head = FrameHead::default();
        let scanned = scan(line, &mut head)?;
        Ok(head.finish(scanned.text, scanned.lone_surrogate))
    }

    /// Decodes a line with one or more concatenated objects, in order.
    ///
    /// Text after the last whole object is an error.
    pub fn decode_glued(line: &'a [u8]) -> Result<Vec<Self>, DecodeError> {
        let mut frames = Vec::new();
        let mut rest = std::str::from_utf8(line)
            .map_err(|error| DecodeError::new(crate::DecodeErrorKind::Utf8, line, error.valid_up_to()))?;
        loop {
            let mut head = FrameHead::default();
            let scanned = scan_text(rest, &mut head)?;
            frames.push(head.finish(scanned.text, scanned.lone_surrogate));
            rest = scanned.after.trim_start();
            if rest.is_empty() {
                return Ok(frames);
            }
        }
    }

    /// Decodes one line of text.
    pub fn from_json(line: &'a str) -> Result<Self, DecodeError> {
        Self::decode(line.as_bytes())
    }

    /// Bytes of the frame, without the white space around it.
    pub fn raw(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The frame as a JSON value.
    pub fn json(&self) -> Raw<'a> {
        Raw::new(self.text)
    }

    /// Value of a top-level key. Of duplicate keys the last counts.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        self.json().get(key)
    }

    /// Kind of the frame, from its `type`.
    pub fn kind(&self) -> Kind {
        self.head.kind
    }

    /// The `type` as written, unknown ones included; `None` when it is missing or not a string.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.head.type_name.text(self.text).map(Text::get)
    }

    /// The subtype; for control frames the one inside `request` or `response`.
    pub fn subtype(&self) -> Option<Cow<'a, str>> {
        self.subtype_text().map(Text::get)
    }

    /// Name for statistics: `assistant`, `system/init`, `control_request/initialize`, …
    pub fn name(&self) -> Cow<'a, str> {
        let name = self.type_name().unwrap_or(Cow::Borrowed("(no type)"));
        if !self.kind().has_subtype() {
            return name;
        }
        match self.subtype() {
            Some(subtype) => Cow::Owned(format!("{name}/{subtype}")),
            None => name,
        }
    }

    /// True if kind and subtype have a typed form.
    pub fn is_known(&self) -> bool {
        let kind = self.kind();
        if kind.has_subtype() { kind.knows(self.subtype().as_deref()) } else { kind != Kind::Unknown }
    }

    /// All members except `type` and `subtype`, as a tree.
    pub fn data(&self) -> Result<Value, BodyError> {
        let mut data = Map::new();
        for (key, value) in self.json().members().filter(|(key, _)| *key != "type" && *key != "subtype") {
            data.insert(key.get().into_owned(), value.value()?);
        }
        Ok(Value::Object(data))
    }

    /// True if text of the frame has a lone surrogate, which decodes to U+FFFD. The raw bytes still have it.
    pub fn repaired(&self) -> bool {
        self.head.repaired
    }

    /// A view of the frame in place: nothing is copied until it is accessed.
    pub fn view(&self) -> View<'a> {
        View::of(self)
    }

    /// A view of a `system` frame by its subtype; [`SystemView::Unknown`] for every other frame.
    pub fn system(&self) -> SystemView<'a> {
        match (self.kind(), self.subtype()) {
            (Kind::System, Some(subtype)) => SystemView::of(&subtype, self.json()),
            _ => SystemView::Unknown,
        }
    }

    /// The frame as an owned value.
    pub fn message(&self) -> Message {
        Message::read_frame(self, &mut Reading::default())
    }

    /// The frame as an owned value, with the fields that did not fit.
    pub fn typed(&self) -> Typed {
        let mut reading = Reading::default();
        let message = Message::read_frame(self, &mut reading);
        Typed { message, refused: reading.refused }
    }

    /// Optional fields that do not fit their type; they are kept raw in the value's `extra`.
    pub fn refused(&self) -> Vec<Refused> {
        self.typed().refused
    }

    /// An owned copy.
    pub fn to_frame(&self) -> Frame {
        Frame::new(self.text.into(), self.head)
    }

    /// Session id, if present.
    pub fn session_id(&self) -> Option<Cow<'a, str>> {
        self.head.session_id.text(self.text).map(Text::get)
    }

    /// Id of the frame; the same as on disk.
    pub fn uuid(&self) -> Option<Cow<'a, str>> {
        self.head.uuid.text(self.text).map(Text::get)
    }

    /// Tool call whose sub-agent this frame belongs to.
    pub fn parent_tool_use_id(&self) -> Option<Cow<'a, str>> {
        self.head.parent_tool_use_id.text(self.text).map(Text::get)
    }

    /// Id that links a control request with its response; nested responses have it inside `response`.
    pub fn request_id(&self) -> Option<Cow<'a, str>> {
        let inside = || self.body().and_then(|body| body.get("request_id")).and_then(Raw::text);
        self.head.request_id.text(self.text).or_else(inside).map(Text::get)
    }

    /// Body of the frame: its `message`, `event`, `request` or `response`, depending on its kind.
    pub(crate) fn body(&self) -> Option<Raw<'a>> {
        let span = match self.kind() {
            Kind::StreamEvent => self.head.event,
            Kind::ControlRequest => self.head.request,
            Kind::ControlResponse => self.head.response,
            _ => self.head.message,
        };
        span.raw(self.text)
    }

    /// The parts of a stream event.
    pub(crate) fn event_spans(&self) -> &EventSpans {
        &self.head.event_spans
    }

    /// Members with unusual keys; `None` if there are too many or one of them is a typed field.
    pub(crate) fn others(&self) -> Option<impl Iterator<Item = &'a str>> {
        let text = self.text;
        let members = self.head.others.all()?;
        Some(members.iter().filter_map(|member| text.get(member.range())))
    }

    /// The usual strings of a frame, as written: uuid, session and parent tool call.
    pub(crate) fn usual(&self) -> [(&'static str, Option<Raw<'a>>); 3] {
        let FrameHead { uuid, session_id, parent_tool_use_id, .. } = &self.head;
        [
            ("uuid", uuid.raw(self.text)),
            ("session_id", session_id.raw(self.text)),
            ("parent_tool_use_id", parent_tool_use_id.raw(self.text)),
        ]
    }

    /// The parts of a message.
    pub(crate) fn message_spans(&self) -> &MessageSpans {
        &self.head.message_spans
    }

    /// Text that all spans refer to.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    fn subtype_text(&self) -> Option<Text<'a>> {
        if matches!(self.kind(), Kind::ControlRequest | Kind::ControlResponse)
            && let Some(body) = self.body().filter(|body| body.is_object())
        {
            return body.get("subtype").and_then(Raw::text);
        }
        self.head.subtype.text(self.text)
    }

    pub(crate) fn from_parts(text: &'a str, head: FrameHead) -> Self {
        FrameRef { text, head }
    }
}

impl Default for FrameHead {
    fn default() -> Self {
        FrameHead {
            kind: Kind::Unknown,
            repaired: false,
            type_name: Span::default(),
            subtype: Span::default(),
            session_id: Span::default(),
            uuid: Span::default(),
            parent_tool_use_id: Span::default(),
            request_id: Span::default(),
            message: Span::default(),
            event: Span::default(),
            request: Span::default(),
            response: Span::default(),
            others: OtherMembers::default(),
            event_spans: EventSpans::default(),
            message_spans: MessageSpans::default(),
            inside: Inside::default(),
        }
    }
}

impl Notes for FrameHead {
    #[inline]
    fn enters(&mut self, level: u8, key: &[u8]) -> bool {
        match (level, key) {
            (0, b"event") => {
                self.inside = Inside::Event;
                self.event_spans = EventSpans::default();
            }
            (0, b"message") => {
                self.inside = Inside::Message;
                self.message_spans = MessageSpans::default();
            }
            (1, b"delta") if matches!(self.inside, Inside::Event) => self.event_spans.begin_delta(),
            _ => return false,
        }
        true
    }

    #[inline]
    fn note(&mut self, level: u8, key: &[u8], member: usize, span: Span) {
        match (level, self.inside) {
            (0, _) => {}
            (1, Inside::Event) => return self.event_spans.note(key, span),
            (1, Inside::Message) => return self.message_spans.note(key, span),
            _ => return self.event_spans.note_delta(key, span),
        }
        match key {
            b"type" => self.type_name = span,
            b"uuid" => self.uuid = span,
            b"subtype" => self.subtype = span,
            b"session_id" => self.session_id = span,
            b"request_id" => self.request_id = span,
            b"parent_tool_use_id" => self.parent_tool_use_id = span,
            b"event" => self.event = span,
            b"message" => self.message = span,
            b"request" => self.request = span,
            b"response" => self.response = span,
            _ => self.others.note(key, span.since(member)),
        }
    }
}

impl FrameHead {
    #[inline]
    fn finish(mut self, text: &str, repaired: bool) -> FrameRef<'_> {
        self.repaired = repaired;
        if let Some(name) = self.type_name.text(text) {
            self.kind = Kind::of(&name.get());
        }
        FrameRef { text, head: self }
    }
}
