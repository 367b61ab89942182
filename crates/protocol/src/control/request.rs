//! A control request and its frame.

use super::ControlStyle;
use super::call::Call;
use super::parts::FrameParts;
use crate::json::wire::ObjectOut;
use crate::json::{Cursor, Extra, Misfit, Raw, Reading, Wire, object};

/// A request of one side to the other.
///
/// Without the frame that carries its id, it is written and read as its payload: an object with a `subtype`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ControlRequest {
    /// Body of the request.
    pub call: Call,
    /// Position of the payload in the frame.
    pub style: ControlStyle,
    /// Other members of the frame.
    pub envelope: Extra,
}

impl ControlRequest {
    /// A request in the style of the CLI.
    pub fn new(call: impl Into<Call>) -> Self {
        ControlRequest { call: call.into(), style: ControlStyle::Nested, envelope: Extra::default() }
    }

    /// The same request in another style.
    #[must_use]
    pub fn in_style(mut self, style: ControlStyle) -> Self {
        self.style = style;
        self
    }

    /// The `subtype` on the wire.
    pub fn subtype(&self) -> &str {
        self.call.subtype()
    }

    /// True if the request has a type in this crate.
    pub fn is_known(&self) -> bool {
        self.call.is_known()
    }

    /// Reads a whole `control_request` frame: its id and the request.
    pub(crate) fn read_frame(frame: Raw<'_>, reading: &mut Reading) -> Result<(String, Self), Misfit> {
        let parts = FrameParts::of(frame, "request");
        let request_id = parts.string("request_id")?;
        if let Some(payload) = parts.payload {
            let call = reading
                .within(|| "request".to_owned(), |reading| Call::read(&mut payload.cursor(), reading))?;
            let envelope = parts.beside(&["type", "request_id", "request"]);
            return Ok((request_id, ControlRequest { call, style: ControlStyle::Nested, envelope }));
        }
        let subtype = parts.string("subtype")?;
        let mut members = frame.cursor();
        members.enter_object();
        let call = Call::read_members(&subtype, &mut members, reading, &["type", "request_id", "subtype"])?;
        Ok((request_id, ControlRequest { call, style: ControlStyle::Flat, envelope: Extra::default() }))
    }

    /// Writes the whole frame in the request's style.
    pub(crate) fn write_frame(&self, request_id: &str, out: &mut String) {
        let mut frame = ObjectOut::open(out);
        frame.string("type", "control_request");
        frame.string("request_id", request_id);
        match self.style {
            ControlStyle::Nested => self.call.write(frame.key("request")),
            ControlStyle::Flat => self.call.write_members(&mut frame),
        }
        frame.extra(&self.envelope, &|_| false);
        frame.close();
    }
}

impl From<Call> for ControlRequest {
    fn from(call: Call) -> Self {
        ControlRequest::new(call)
    }
}

impl Wire for ControlRequest {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        Call::read(cursor, reading).map(ControlRequest::new)
    }

    fn write(&self, out: &mut String) {
        self.call.write(out);
    }
}

object!(@through_wire ControlRequest);
