//! The messages of a session as entries.

use std::collections::HashSet;

use tidings_protocol::json::Raw;

use super::history::{History, MessageSlot, is_added, text_of};
use crate::Error;
use crate::agents::drafts::{Author, ContentBlocks, Drafts, RecordHead, ResponseHead, ResultState};
use crate::agents::tree::{string, time};
use crate::agents::{Conversation, ReadReport, StoredSession};
use crate::cost::{ResponseUsage, Tokens};

pub(super) fn conversation(
    history: &History,
    session: &StoredSession,
    report: ReadReport,
) -> Result<Conversation, Error> {
    let mut drafts = Drafts::new(&session.files.id);
    drafts.set_cwd(session.cwd.as_deref());
    let mut converter = Converter {
        drafts,
        answered: HashSet::new(),
        conversation: Conversation { report, ..Conversation::default() },
        is_sub_agent: session.parent.is_some(),
    };
    // The last entry that was made from each message.
    let mut last: Vec<Option<usize>> = Vec::with_capacity(history.slots.len());
    for slot in &history.slots {
        let parent = slot.parent.and_then(|parent| last[parent]);
        converter.drafts.rewind(parent);
        converter.message(slot);
        last.push(converter.drafts.tail());
    }
    converter.drafts.rewind(history.chain.last().and_then(|slot| last[*slot]));
    for (line, kind, record) in &history.unknown {
        if let Ok(record) = Raw::parse(record) {
            let head = RecordHead { line: *line, id: None, at: None };
            converter.drafts.unknown(head, &format!("gemini/{kind}"), record);
        }
    }
    let mut conversation = converter.conversation;
    conversation.prompts = converter.drafts.prompts();
    conversation.messages += conversation.prompts;
    conversation.lines = converter.drafts.finish(history.summary.as_deref())?;
    Ok(conversation)
}

struct Converter {
    drafts: Drafts,
    /// Calls whose results are known.
    answered: HashSet<String>,
    conversation: Conversation,
    is_sub_agent: bool,
}

impl Converter {
    fn message(&mut self, slot: &MessageSlot) {
        let Ok(message) = Raw::parse(&slot.json) else { return };
        let written = string(message, "timestamp");
        let head = RecordHead { line: slot.line, id: Some(&slot.id), at: time(written.as_deref()) };
        if slot.after_compaction {
            self.drafts.boundary(RecordHead { id: None, ..head }, None);
        }
        let content = message.get("content");
        match string(message, "type").as_deref() {
            Some("user") => self.user(head, content, slot.after_compaction),
            Some("gemini") => self.response(head, message),
            Some(kind @ ("info" | "error" | "warning")) => {
                self.drafts.event(head, kind, &content.map(text_of).unwrap_or_default());
            }
            kind => {
                let kind = kind.unwrap_or("(no type)");
                self.conversation.report.unknown_kind(&format!("message/{kind}"));
                self.drafts.unknown(head, &format!("gemini/message/{kind}"), message);
            }
        }
    }

    fn user(&mut self, head: RecordHead<'_>, content: Option<Raw<'_>>, after_compaction: bool) {
        let mut blocks = ContentBlocks::default();
        let mut text = String::new();
        for part in parts(content) {
            if let Some(response) = part.get("functionResponse") {
                self.function_response(head, response);
            } else {
                text.push_str(&text_of(part));
                add_part(&mut blocks, part);
            }
        }
        if blocks.is_empty() {
            return;
        }
        if after_compaction {
            self.drafts.summary(head, &blocks);
        } else {
            let is_added = !text.is_empty() && is_added(&text);
            self.drafts.user(head, &blocks, if is_added { Author::Agent } else { Author::User });
        }
    }

    /// A result that the model received; the call itself mostly has it too.
    fn function_response(&mut self, head: RecordHead<'_>, response: Raw<'_>) {
        let Some(call) = string(response, "id") else { return };
        if self.answered.insert(call.clone()) {
            let (text, failed) = response_text(response);
            self.drafts.result(head, &call, &ContentBlocks::of_text(&text), ResultState::failed_if(failed));
        }
    }

    fn response(&mut self, head: RecordHead<'_>, message: Raw<'_>) {
        let id = head.id.unwrap_or_default().to_owned();
        let model = string(message, "model").filter(|model| !model.is_empty());
        let tokens = message.get("tokens").and_then(tokens);
        let mut blocks = ContentBlocks::default();
        for thought in message.get("thoughts").into_iter().flat_map(Raw::items) {
            let of = |key: &str| string(thought, key).unwrap_or_default();
            let text = [of("subject"), of("description")].join("\n");
            if !text.trim().is_empty() {
                blocks.thinking(text.trim());
            }
        }
        for part in parts(message.get("content")) {
            // Calls are in `toolCalls`, with their results.
            if part.get("functionCall").is_none() {
                add_part(&mut blocks, part);
            }
        }
        let calls: Vec<Raw<'_>> = message.get("toolCalls").into_iter().flat_map(Raw::items).collect();
        for (number, call) in calls.iter().enumerate() {
            let input = call.get("args").map_or("{}", Raw::as_str);
            let name = string(*call, "name").unwrap_or_default();
            blocks.call(&call_id(*call, &id, number), &name, input);
        }
        if !blocks.is_empty() {
            let response = ResponseHead { id: &id, model: model.as_deref(), tokens: tokens.as_ref() };
            self.drafts.assistant(head, &response, &blocks);
            self.conversation.messages += 1;
        }
        for (number, call) in calls.iter().enumerate() {
            self.call_result(head, *call, &call_id(*call, &id, number));
        }
        if let Some(tokens) = tokens {
            self.conversation.usage.push(ResponseUsage {
                id,
                is_global: false,
                time: head.at,
                model: model.clone().unwrap_or_default(),
                tokens,
                cost: None,
                writes_costs: false,
                sub_agent: self.is_sub_agent,
            });
        }
        self.conversation.model = model.or(self.conversation.model.take());
    }

    fn call_result(&mut self, head: RecordHead<'_>, call: Raw<'_>, id: &str) {
        let status = string(call, "status").unwrap_or_default();
        let failed = matches!(status.as_str(), "error" | "cancelled");
        let mut blocks = ContentBlocks::default();
        let mut said_failure = false;
        for part in parts(call.get("result")) {
            match part.get("functionResponse") {
                Some(response) => {
                    let (text, is_error) = response_text(response);
                    said_failure |= is_error;
                    blocks.text(&text);
                }
                None => add_part(&mut blocks, part),
            }
        }
        if blocks.is_empty() && !failed {
            return;
        }
        let written = string(call, "timestamp");
        let at = time(written.as_deref()).or(head.at);
        self.answered.insert(id.to_owned());
        let state = ResultState::failed_if(failed || said_failure);
        self.drafts.result(RecordHead { at, ..head }, id, &blocks, state);
    }
}

/// The parts of a content, which is a string, a part or a list.
fn parts(content: Option<Raw<'_>>) -> Vec<Raw<'_>> {
    match content {
        None => Vec::new(),
        Some(content) if content.is_null() => Vec::new(),
        Some(content) if content.is_array() => content.items().collect(),
        Some(content) => vec![content],
    }
}

fn add_part(blocks: &mut ContentBlocks, part: Raw<'_>) {
    if let Some(text) = part.text().map(|text| text.get().into_owned()).or_else(|| string(part, "text")) {
        let is_thought = part.get("thought").and_then(Raw::bool) == Some(true);
        match text.trim().is_empty() {
            true => {}
            false if is_thought => blocks.thinking(&text),
            false => blocks.text(&text),
        }
    } else if let Some(data) = part.get("inlineData") {
        let media = string(data, "mimeType").unwrap_or_default();
        blocks.file(None, &format!("data:{media};base64,{}", string(data, "data").unwrap_or_default()));
    } else if let Some(data) = part.get("fileData") {
        let media = string(data, "mimeType");
        blocks.file(media.as_deref(), &string(data, "fileUri").unwrap_or_default());
    } else {
        blocks.raw(part);
    }
}

fn call_id(call: Raw<'_>, message: &str, number: usize) -> String {
    string(call, "id").unwrap_or_else(|| format!("{message}/{number}"))
}

/// The text of a function's response, and true if it is an error.
fn response_text(response: Raw<'_>) -> (String, bool) {
    let Some(body) = response.get("response") else { return (String::new(), false) };
    if let Some(error) = string(body, "error") {
        return (error, true);
    }
    (string(body, "output").unwrap_or_else(|| body.as_str().to_owned()), false)
}

/// Tokens of a response; `None` if there are none. Cached input is part of `input`, thoughts are not part of
/// `output`.
fn tokens(tokens: Raw<'_>) -> Option<Tokens> {
    let number = |key: &str| tokens.get(key).and_then(Raw::u64).unwrap_or(0);
    let cached = number("cached");
    let tokens = Tokens {
        input: number("input").saturating_sub(cached).saturating_add(number("tool")),
        output: number("output").saturating_add(number("thoughts")),
        cache_read: cached,
        ..Tokens::default()
    };
    (tokens != Tokens::default()).then_some(tokens)
}
