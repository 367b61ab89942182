//! Events as a dialect has them. What is native is passed on as it was stored, without being read.

use std::borrow::Cow;
use std::str::FromStr;

use tidings_agent::dialect::to_ui;
use tidings_protocol::mobile::MobileMessage;
use tidings_protocol::ui::UiMessage;

use super::mobile;
use crate::error::{Code, Error};
use crate::journal::Event;

/// The kind of those events that are lines of the CLI.
pub(crate) const FRAME: &str = "frame";

/// Which way events are written.
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
                let message = "There is no such dialect";
                return Err(Error::new(Code::Invalid, message, "use native, ui, mobile or frames"));
            }
        })
    }
}

/// One thing to send: what it is, and its JSON.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) json: Cow<'a, str>,
    /// The position after it, where an event becomes several things.
    pub(crate) place: Option<mobile::Place>,
}

/// Writes the events of one session in one dialect.
#[derive(Debug)]
pub(crate) enum Translator {
    Native,
    Ui,
    Mobile(Box<mobile::Translator>),
    Frames,
}

impl Translator {
    /// The name of the event, if this dialect has it as it is stored.
    pub(crate) fn as_stored<'a>(&self, event: &'a Event) -> Option<&'a str> {
        let kind = event.kind.as_str();
        match self {
            Translator::Native => (kind != FRAME).then_some(kind),
            Translator::Frames => (kind == FRAME).then_some(kind),
            Translator::Ui if kind != FRAME => match to_ui(&read(event)?)? {
                // It was stored as it would be written.
                Cow::Borrowed(message) => Some(variant(message)),
                Cow::Owned(_) => None,
            },
            Translator::Ui | Translator::Mobile(_) => None,
        }
    }

    /// What the event is in this dialect: nothing, one thing, or several for a phone.
    pub(crate) fn translate<'a>(&mut self, event: &'a Event, mut say: impl FnMut(Said<'_>)) {
        let kind = event.kind.as_str();
        let raw = |name: &'a str| Said { name: Cow::Borrowed(name), json: body_text(event), place: None };
        match self {
            Translator::Frames if kind == FRAME => say(raw(FRAME)),
            Translator::Frames => {}
            _ if kind == FRAME => {}
            Translator::Native => say(raw(kind)),
            Translator::Ui => {
                let Some(message) = read(event) else { return };
                if let Some(message) = to_ui(&message) {
                    say(Said {
                        name: Cow::Borrowed(variant(&message)),
                        json: written(&message),
                        place: None,
                    });
                }
            }
            Translator::Mobile(mobile) => {
                let mut messages = Vec::new();
                mobile.translate(event, &mut messages);
                for message in &messages {
                    say(phone(message));
                }
            }
        }
    }
}

/// A message for a phone.
pub(crate) fn phone((place, message): &(mobile::Place, MobileMessage)) -> Said<'static> {
    Said { name: Cow::Borrowed("message"), json: written(message), place: Some(*place) }
}

/// The event as it was stored. The journal does not look into bodies, so what is no text becomes one here.
pub(crate) fn body_text(event: &Event) -> Cow<'_, str> {
    if event.body.is_empty() { Cow::Borrowed("null") } else { String::from_utf8_lossy(&event.body) }
}

/// The event, unless it is from a newer version that has more of them.
fn read(event: &Event) -> Option<UiMessage> {
    serde_json::from_slice(&event.body).ok()
}

fn written(message: &impl serde::Serialize) -> Cow<'static, str> {
    Cow::Owned(serde_json::to_string(message).unwrap_or_else(|_| "null".to_owned()))
}

/// The name of one of the twelve events that the dialect `ui` has.
fn variant(message: &UiMessage) -> &'static str {
    match message {
        UiMessage::TextChunk { .. } => "TextChunk",
        UiMessage::ToolExecuting { .. } => "ToolExecuting",
        UiMessage::ToolCompleted { .. } => "ToolCompleted",
        UiMessage::Complete { .. } => "Complete",
        UiMessage::PermissionRequired { .. } => "PermissionRequired",
        UiMessage::BatchPermissionRequired { .. } => "BatchPermissionRequired",
        UiMessage::UserInteractionRequired { .. } => "UserInteractionRequired",
        UiMessage::TokenUpdate { .. } => "TokenUpdate",
        UiMessage::Error { .. } => "Error",
        UiMessage::Display { .. } => "Display",
        UiMessage::CommandComplete { .. } => "CommandComplete",
        _ => "System",
    }
}
