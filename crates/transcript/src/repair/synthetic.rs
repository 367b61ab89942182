//! The entry that replaces a lost tool result.

use tidings_protocol::entry::{Dialect, EntryRef};
use tidings_protocol::json::write_string;

use crate::check::names::format_uuid;

/// The text that the model reads instead of the result.
const TEXT: &str = "The result of this tool call was lost from the session file; whether the call had any effect is not known.";

/// A line that answers the call `id` of `call` with an error, in the dialect of its file.
pub(super) fn result(call: &EntryRef<'_>, id: &str, uuid: &str) -> String {
    let mut line = Object::default();
    let parent = call.uuid().unwrap_or_default();
    match call.dialect() {
        Dialect::Seed => {
            line.text("type", "system");
            line.text("uuid", uuid);
            line.text("parentUuid", &parent);
            line.copy(call, &["timestamp", "sessionId", "isSidechain"]);
            line.text("subtype", "tool_result");
            line.text("message", TEXT);
            line.raw("isError", "true");
        }
        Dialect::Rewrite => {
            line.text("uuid", uuid);
            line.text("parentUuid", &parent);
            line.copy(call, &["sessionId"]);
            line.text("type", "tool_result");
            line.copy(call, &["timestamp", "version", "isSidechain"]);
            line.raw("message", &format!("{{\"type\":\"message\",\"content\":[{}]}}", block(id)));
        }
        _ => {
            line.text("parentUuid", &parent);
            line.copy(call, &["isSidechain", "agentId"]);
            line.text("type", "user");
            line.raw("message", &format!("{{\"role\":\"user\",\"content\":[{}]}}", block(id)));
            line.text("uuid", uuid);
            line.copy(call, &["timestamp"]);
            line.text("toolUseResult", &format!("Error: {TEXT}"));
            line.text("sourceToolAssistantUUID", &parent);
            line.copy(call, &["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"]);
        }
    }
    line.finish()
}

/// A uuid for a new entry, always the same for the same call.
pub(super) fn uuid(call_uuid: &str, id: &str, attempt: u8) -> String {
    // FNV-1a: resistance to attackers is not needed, since they could write any uuid into the file anyway.
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let bytes = call_uuid.bytes().chain([0]).chain(id.bytes()).chain([0, attempt]);
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    // Version 8: a custom scheme.
    format_uuid(hash & !(0xf << 76) & !(0x3 << 62) | 0x8 << 76 | 0x2 << 62)
}

fn block(id: &str) -> String {
    let mut block = Object::default();
    block.text("type", "tool_result");
    block.text("content", TEXT);
    block.raw("is_error", "true");
    block.text("tool_use_id", id);
    block.finish()
}

/// An object under construction, with its keys in the given order.
#[derive(Default)]
struct Object(String);

impl Object {
    fn raw(&mut self, key: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        write_string(key, &mut self.0);
        self.0.push(':');
        self.0.push_str(value);
    }

    fn text(&mut self, key: &str, value: &str) {
        let mut text = String::new();
        write_string(value, &mut text);
        self.raw(key, &text);
    }

    /// Copies values from another entry, if it has them.
    fn copy(&mut self, from: &EntryRef<'_>, keys: &[&str]) {
        for key in keys {
            if let Some(value) = from.get(key) {
                self.raw(key, value.as_str());
            }
        }
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
