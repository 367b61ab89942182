//! The response to a control request and its frame.

use super::ControlStyle;
use super::outcome::{ControlOutcome, ErrorCode, Failure, Success};
use super::parts::{FrameParts, object_of, string};
use crate::json::wire::ObjectOut;
use crate::json::{Cursor, Extra, Misfit, Raw, Reading, Wire, object};

/// The response to a [`ControlRequest`](super::ControlRequest).
///
/// Without the frame that carries the request's id, it is written and read as its payload: an object with a
/// `subtype`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ControlResponse {
    /// Outcome of the request.
    pub outcome: ControlOutcome,
    /// Position of the payload in the frame.
    pub style: ControlStyle,
    /// Other members of the frame.
    pub envelope: Extra,
    /// True if the frame has no request id: the CLI answers a request without an id like this.
    anonymous: bool,
}

impl ControlResponse {
    /// An outcome in the style of the CLI.
    pub fn new(outcome: ControlOutcome) -> Self {
        ControlResponse { outcome, style: ControlStyle::Nested, envelope: Extra::default(), anonymous: false }
    }

    /// A success with a body.
    pub fn success<T: Wire>(reply: &T) -> Self {
        ControlResponse::new(ControlOutcome::Success(Success::new(reply)))
    }

    /// A success without a body.
    pub fn ack() -> Self {
        ControlResponse::new(ControlOutcome::Success(Success::default()))
    }

    /// A failure with its reason.
    pub fn error(error: impl Into<String>) -> Self {
        ControlResponse::new(ControlOutcome::Error(Failure::new(error)))
    }

    /// A failure with the message that the CLI uses for unknown requests.
    pub fn unsupported(subtype: &str) -> Self {
        ControlResponse::new(ControlOutcome::Error(Failure {
            error_code: Some(ErrorCode::UNSUPPORTED_REQUEST),
            ..Failure::new(format!("Unsupported control request subtype: {subtype}"))
        }))
    }

    /// The same response in another style.
    ///
    /// The body of a success moves with it: nested it is a separate object, flat it is next to the subtype.
    #[must_use]
    pub fn in_style(mut self, style: ControlStyle) -> Self {
        if let ControlOutcome::Success(success) = &mut self.outcome {
            match (self.style, style) {
                (ControlStyle::Nested, ControlStyle::Flat) => success.spread_body(),
                (ControlStyle::Flat, ControlStyle::Nested) if success.response.is_none() => {
                    success.response = Some(object_of(&std::mem::take(&mut success.extra)));
                }
                _ => {}
            }
        }
        self.style = style;
        self
    }

    /// Reads a whole `control_response` frame: the id of the request (empty if absent) and the response.
    pub(crate) fn read_frame(frame: Raw<'_>, reading: &mut Reading) -> Result<(String, Self), Misfit> {
        let parts = FrameParts::of(frame, "response");
        if let Some(payload) = parts.payload {
            let (request_id, outcome) = reading.within(
                || "response".to_owned(),
                |reading| {
                    let request_id =
                        payload.get("request_id").map(|_| string(payload, "request_id")).transpose()?;
                    Ok((
                        request_id,
                        ControlOutcome::read_members(payload, reading, &["subtype", "request_id"])?,
                    ))
                },
            )?;
            let envelope = parts.beside(&["type", "response"]);
            let anonymous = request_id.is_none();
            let style = ControlStyle::Nested;
            let response = ControlResponse { outcome, style, envelope, anonymous };
            return Ok((request_id.unwrap_or_default(), response));
        }
        let request_id = parts.string("request_id")?;
        let outcome = ControlOutcome::read_members(frame, reading, &["type", "request_id", "subtype"])?;
        let response = ControlResponse { style: ControlStyle::Flat, ..ControlResponse::new(outcome) };
        Ok((request_id, response))
    }

    /// Writes the whole frame in the response's style.
    pub(crate) fn write_frame(&self, request_id: &str, out: &mut String) {
        let mut frame = ObjectOut::open(out);
        frame.string("type", "control_response");
        match self.style {
            ControlStyle::Nested => {
                let mut payload = ObjectOut::open(frame.key("response"));
                let anonymous = self.anonymous && request_id.is_empty();
                self.outcome.write_members(&mut payload, (!anonymous).then_some(request_id));
                payload.close();
            }
            ControlStyle::Flat => {
                frame.string("request_id", request_id);
                self.outcome.write_members(&mut frame, None);
            }
        }
        frame.extra(&self.envelope, &|_| false);
        frame.close();
    }
}

impl Wire for ControlResponse {
    fn read(cursor: &mut Cursor<'_>, reading: &mut Reading) -> Result<Self, Misfit> {
        ControlOutcome::read(cursor, reading).map(ControlResponse::new)
    }

    fn write(&self, out: &mut String) {
        self.outcome.write(out);
    }
}

object!(@through_wire ControlResponse);
