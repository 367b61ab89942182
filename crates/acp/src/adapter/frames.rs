//! Messages to the host, as Claude Code would send them.

use serde::Serialize;
use serde_json::Value;
use tidings_protocol::messages::{Informational, Message, PartialMessage, Status, SystemMessage};
use tidings_protocol::stream::Event;

use super::effect::Effect;
use super::state::Adapter;

/// Member of a message to the host that contains the agent's own line.
pub const SOURCE: &str = "acp";

/// Subtype of `system` messages for lines of the agent that have no translation.
pub const UPDATE: &str = "acp_update";

/// Characters of a line that is not JSON which are kept.
const NOISE_CHARS_MAX: usize = 4000;

/// A message without a type in the protocol crate: the vendor does not publish it, or it is our own.
#[derive(Debug, Serialize)]
struct Unpublished<'a, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subtype: Option<&'static str>,
    #[serde(flatten)]
    body: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
}

/// Body of a message about a line that is not a message.
#[derive(Debug, Serialize)]
struct Noise<'a> {
    error: &'a str,
    line: String,
    bytes: usize,
}

impl Adapter {
    /// Sends a message to the host, with the id of the session.
    pub(super) fn emit(&mut self, mut message: Message) {
        if let Some(ids) = message.ids_mut() {
            ids.session_id.clone_from(&self.session);
        }
        self.send(&message);
    }

    /// Sends a message with an id of its own, by which it can be retracted or found.
    pub(super) fn emit_numbered(&mut self, mut message: Message) {
        let uuid = (self.ids)();
        if let Some(ids) = message.ids_mut() {
            *ids.uuid = Some(uuid);
        }
        self.emit(message);
    }

    /// Sends a message about the state of the session.
    pub(super) fn emit_system(&mut self, message: SystemMessage) {
        self.emit(Message::System(message));
    }

    /// Sends a stream event, if the host wants them.
    pub(super) fn stream(&mut self, event: Event) {
        if self.settings.partial_messages {
            self.emit(Message::StreamEvent(Box::new(PartialMessage::new(event))));
        }
    }

    /// Sends a message without a type in the protocol crate, with the id of the session.
    pub(super) fn emit_unpublished(
        &mut self,
        kind: &'static str,
        subtype: Option<&'static str>,
        body: impl Serialize,
    ) {
        let message = Unpublished { kind, subtype, body, session_id: self.session.as_deref() };
        let line = serde_json::to_string(&message).unwrap_or_default();
        self.out.push(Effect::ToHost(line));
    }

    /// Sends a message to the host as it is.
    pub(super) fn send(&mut self, message: &Message) {
        self.out.push(Effect::ToHost(message.to_line()));
    }

    /// Shows a sentence to the user.
    pub(super) fn inform(&mut self, text: &str) {
        let mut sentence = Informational::default();
        text.clone_into(&mut sentence.content);
        sentence.level = Some("info".to_owned());
        self.emit_system(SystemMessage::Informational(sentence));
    }

    /// Shows a line of the agent that has no translation.
    pub(super) fn show_source(&mut self) {
        self.emit_unpublished("system", Some(UPDATE), None::<Noise<'_>>);
    }

    /// Shows a line of the agent that is not a message.
    pub(super) fn show_noise(&mut self, line: &str, why: &str) {
        let text = line.chars().take(NOISE_CHARS_MAX).collect();
        let noise = Noise { error: why, line: text, bytes: line.len() };
        self.emit_unpublished("system", Some(UPDATE), noise);
    }

    /// Puts the agent's line into the last message to the host. If there is none, a message without an effect
    /// carries it.
    pub(super) fn attach_source(&mut self, from: usize, line: &str) {
        let is_frame = |effect: &Effect| matches!(effect, Effect::ToHost(_));
        if !self.out[from..].iter().any(is_frame) {
            self.emit_system(SystemMessage::Status(Status::of(None)));
        }
        let last = self.out[from..].iter_mut().rev().find(|effect| is_frame(effect));
        // The line goes along as it was written, so it is added to the text.
        if let Some(Effect::ToHost(text)) = last {
            text.pop();
            for part in [",\"", SOURCE, "\":", line, "}"] {
                text.push_str(part);
            }
        }
    }
}

/// A string member of an object.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The items of a list member of an object.
pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// True if an object has a member that is not null and not false: how capabilities are advertised.
pub(super) fn has(value: &Value, key: &str) -> bool {
    !matches!(value.get(key), None | Some(Value::Null | Value::Bool(false)))
}
