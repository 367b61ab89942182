//! Messages to the host, as Claude Code would send them.

use serde_json::{Value, json};

use super::effect::Effect;
use super::state::Adapter;

/// Member of a message to the host that contains the agent's own line.
pub const SOURCE: &str = "acp";

/// Subtype of `system` messages for lines of the agent that have no translation.
pub const UPDATE: &str = "acp_update";

/// Characters of a line that is not JSON which are kept.
const NOISE_CHARS_MAX: usize = 4000;

impl Adapter {
    /// Sends a message to the host, with the id of the session.
    pub(super) fn emit(&mut self, mut frame: Value) {
        if let Some(session) = &self.session {
            frame["session_id"] = json!(session);
        }
        self.out.push(Effect::ToHost(frame.to_string()));
    }

    /// Sends a message with an id of its own, by which it can be retracted or found.
    pub(super) fn emit_numbered(&mut self, mut frame: Value) {
        frame["uuid"] = json!((self.ids)());
        self.emit(frame);
    }

    /// Sends a stream event, if the host wants them.
    pub(super) fn stream(&mut self, event: &Value) {
        if self.settings.partial_messages {
            self.emit(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}));
        }
    }

    /// Shows a sentence to the user.
    pub(super) fn inform(&mut self, text: &str) {
        let frame = json!({"type": "system", "subtype": "informational", "content": text, "level": "info"});
        self.emit(frame);
    }

    /// Shows a line of the agent that has no translation.
    pub(super) fn show_source(&mut self) {
        self.emit(json!({"type": "system", "subtype": UPDATE}));
    }

    /// Shows a line of the agent that is not a message.
    pub(super) fn show_noise(&mut self, line: &str, why: &str) {
        let text: String = line.chars().take(NOISE_CHARS_MAX).collect();
        let frame = json!({
            "type": "system", "subtype": UPDATE, "error": why, "line": text, "bytes": line.len(),
        });
        self.emit(frame);
    }

    /// Puts the agent's line into the last message to the host. If there is none, a message without an effect
    /// carries it.
    pub(super) fn attach_source(&mut self, from: usize, line: &str) {
        let is_frame = |effect: &Effect| matches!(effect, Effect::ToHost(_));
        if !self.out[from..].iter().any(is_frame) {
            self.emit(json!({"type": "system", "subtype": "status", "status": null}));
        }
        let last = self.out[from..].iter_mut().rev().find(|effect| is_frame(effect));
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
