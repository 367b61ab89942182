//! Events in the dialects of clients. Native events are passed on as stored, without decoding.

use std::borrow::Cow;
use std::str::FromStr;

use tidings_agent::dialect::to_ui;
use tidings_api::Code;
use tidings_journal::Event;
use tidings_protocol::mobile::MobileMessage;
use tidings_sessions::Error;
use tidings_sessions::running::frames::FRAME;

use super::mobile;

/// A dialect in which events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    #[default]
    Native,
    Ui,
    Mobile,
    Frames,
}

impl FromStr for Dialect {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text {
            "native" => Dialect::Native,
            "ui" => Dialect::Ui,
            "mobile" => Dialect::Mobile,
            "frames" => Dialect::Frames,
            _ => {
                let message = "Unknown dialect";
                return Err(Error::new(Code::Invalid, message, "use native, ui, mobile or frames"));
            }
        })
    }
}

/// An encoded message: its name and its JSON.
#[derive(Debug)]
pub(crate) struct EncodedMessage<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) json: Cow<'a, str>,
    /// The position after the message, if an event can become several messages.
    pub(crate) position: Option<mobile::MessagePosition>,
}

/// Translates the events of one session into one dialect.
#[derive(Debug)]
pub(crate) enum DialectTranslator {
    Native,
    Ui,
    Mobile(Box<mobile::PartTranslator>),
    Frames,
}

impl DialectTranslator {
    /// The name of the event, if this dialect sends it as it is stored.
    pub(crate) fn as_stored<'a>(&self, event: &'a Event) -> Option<&'a str> {
        let kind = event.kind.as_str();
        match self {
            DialectTranslator::Native => (kind != FRAME).then_some(kind),
            DialectTranslator::Frames => (kind == FRAME).then_some(kind),
            // The stored form is the form of the dialect.
            DialectTranslator::Ui if kind != FRAME => match to_ui(&*event.message()?)? {
                Cow::Borrowed(message) => Some(message.name()),
                Cow::Owned(_) => None,
            },
            DialectTranslator::Ui | DialectTranslator::Mobile(_) => None,
        }
    }

    /// Calls `emit` with each message of the event in this dialect: none, one, or several for a phone.
    pub(crate) fn translate<'a>(&mut self, event: &'a Event, mut emit: impl FnMut(EncodedMessage<'_>)) {
        let kind = event.kind.as_str();
        let raw = |name: &'a str| EncodedMessage {
            name: Cow::Borrowed(name),
            json: body_text(event),
            position: None,
        };
        match self {
            DialectTranslator::Frames if kind == FRAME => emit(raw(FRAME)),
            DialectTranslator::Frames => {}
            _ if kind == FRAME => {}
            DialectTranslator::Native => emit(raw(kind)),
            DialectTranslator::Ui => {
                let Some(message) = event.message() else { return };
                if let Some(message) = to_ui(&message) {
                    emit(EncodedMessage {
                        name: Cow::Borrowed(message.name()),
                        json: to_json(&message),
                        position: None,
                    });
                }
            }
            DialectTranslator::Mobile(mobile) => {
                let mut messages = Vec::new();
                mobile.translate(event, &mut messages);
                for message in &messages {
                    emit(phone(message));
                }
            }
        }
    }

    /// Calls `emit` with more messages of a long event; false if there are none.
    pub(crate) fn translate_rest(&mut self, mut emit: impl FnMut(EncodedMessage<'_>)) -> bool {
        let DialectTranslator::Mobile(mobile) = self else { return false };
        let mut messages = Vec::new();
        let is_some = mobile.translate_rest(&mut messages);
        for message in &messages {
            emit(phone(message));
        }
        is_some
    }

    /// True if the last event has messages that were not emitted yet.
    pub(crate) fn has_rest(&self) -> bool {
        matches!(self, DialectTranslator::Mobile(mobile) if mobile.has_rest())
    }
}

/// Encodes a message for a phone.
pub(crate) fn phone(
    (position, message): &(mobile::MessagePosition, MobileMessage),
) -> EncodedMessage<'static> {
    EncodedMessage { name: Cow::Borrowed("message"), json: to_json(message), position: Some(*position) }
}

/// The body of an event as text. The journal does not check bodies, so invalid UTF-8 is replaced here.
pub(crate) fn body_text(event: &Event) -> Cow<'_, str> {
    if event.body.is_empty() { Cow::Borrowed("null") } else { String::from_utf8_lossy(&event.body) }
}

fn to_json(message: &impl serde::Serialize) -> Cow<'static, str> {
    Cow::Owned(serde_json::to_string(message).unwrap_or_else(|_| "null".to_owned()))
}
