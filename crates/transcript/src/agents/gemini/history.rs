//! The messages of a session, after all patches.

use std::collections::HashMap;

use tidings_protocol::json::Raw;

use crate::agents::ReadReport;
use crate::agents::tree::string;

/// A message in its last version.
#[derive(Debug)]
pub(super) struct MessageSlot {
    pub(super) id: String,
    /// The line of its first version.
    pub(super) line: u64,
    pub(super) json: String,
    /// The message that it follows.
    pub(super) parent: Option<usize>,
    /// True if a compaction is right before it.
    pub(super) after_compaction: bool,
}

/// A session while its lines are read.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) session_id: Option<String>,
    pub(super) start_time: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) directories: Vec<String>,
    /// All messages, in the order of their first versions.
    pub(super) slots: Vec<MessageSlot>,
    /// The conversation as Gemini CLI would continue it.
    pub(super) chain: Vec<usize>,
    /// Records of an unknown kind, with their lines.
    pub(super) unknown: Vec<(u64, String, String)>,
    by_id: HashMap<String, usize>,
}

impl History {
    pub(super) fn record(&mut self, line: u64, record: Raw<'_>, report: &mut ReadReport) {
        if let Some(id) = string(record, "$rewindTo") {
            let at = self.chain.iter().position(|slot| self.slots[*slot].id == id).unwrap_or(0);
            for slot in self.chain.drain(at..) {
                self.by_id.remove(&self.slots[slot].id);
            }
        } else if record.get("id").and_then(Raw::text).is_some() {
            self.message(line, record, false);
        } else if let Some(changes) = record.get("$set").filter(|changes| changes.is_object()) {
            self.header(line, changes, report);
        } else if record.get("sessionId").is_some() {
            self.header(line, record, report);
        } else {
            let kind = record.members().next().map_or_else(String::new, |(key, _)| key.get().into_owned());
            let kind = if kind.is_empty() { "(empty)".to_owned() } else { kind };
            report.unknown_kind(&kind);
            self.unknown.push((line, kind, record.as_str().to_owned()));
        }
    }

    /// The header, or a change to it.
    fn header(&mut self, line: u64, header: Raw<'_>, report: &mut ReadReport) {
        for (key, value) in header.members() {
            let text = || value.text().map(|text| text.get().into_owned());
            match &*key.get() {
                "sessionId" => self.session_id = text().or(self.session_id.take()),
                "startTime" => self.start_time = text().or(self.start_time.take()),
                "summary" => self.summary = text().filter(|text| !text.is_empty()).or(self.summary.take()),
                "directories" => {
                    self.directories =
                        value.items().filter_map(|item| Some(item.text()?.get().into_owned())).collect();
                }
                "messages" => self.checkpoint(line, value),
                "projectHash" | "lastUpdated" | "kind" | "memoryScratchpad" => {}
                other => {
                    report.unknown_kind(&format!("header/{other}"));
                    let record = format!("{{\"{}\":{}}}", key.escaped(), value.as_str());
                    self.unknown.push((line, format!("header/{other}"), record));
                }
            }
        }
    }

    fn message(&mut self, line: u64, message: Raw<'_>, after_compaction: bool) {
        let Some(id) = string(message, "id") else { return };
        let json = message.as_str().to_owned();
        if let Some(slot) = self.by_id.get(&id) {
            self.slots[*slot].json = json;
            return;
        }
        let slot = self.slots.len();
        let parent = self.chain.last().copied();
        self.slots.push(MessageSlot { id: id.clone(), line, json, parent, after_compaction });
        self.by_id.insert(id, slot);
        self.chain.push(slot);
    }

    /// All messages at once, as after a compaction. The earlier ones stay readable.
    fn checkpoint(&mut self, line: u64, messages: Raw<'_>) {
        let kept: std::collections::HashSet<String> =
            messages.items().filter_map(|message| string(message, "id")).collect();
        let is_shorter = self.chain.iter().any(|slot| !kept.contains(&self.slots[*slot].id));
        let mut after_compaction = is_shorter;
        for message in messages.items() {
            let is_new = string(message, "id").is_some_and(|id| !self.by_id.contains_key(&id));
            self.message(line, message, is_new && after_compaction);
            after_compaction &= !is_new;
        }
    }

    /// The beginning of the conversation, as people know it.
    pub(super) fn first_prompt(&self) -> Option<String> {
        let messages = self.chain.iter().filter_map(|slot| Raw::parse(&self.slots[*slot].json).ok());
        messages.filter(|message| string(*message, "type").as_deref() == Some("user")).find_map(|message| {
            let text = text_of(message.get("content")?);
            (!is_added(&text)).then_some(text)
        })
    }
}

/// The text of a message's content: a string, a part, or a list of both.
pub(super) fn text_of(content: Raw<'_>) -> String {
    if let Some(text) = content.text() {
        return text.get().into_owned();
    }
    let of_part = |part: Raw<'_>| match part.text() {
        Some(text) => Some(text.get().into_owned()),
        None => string(part, "text"),
    };
    if content.is_object() {
        return of_part(content).unwrap_or_default();
    }
    content.items().filter_map(of_part).collect()
}

/// Returns true for text that Gemini CLI itself added to the conversation.
pub(super) fn is_added(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with("<session_context>") || text.starts_with("<hook_context>")
}
