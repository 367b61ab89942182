//! The rows of a session as entries.

use jiff::Timestamp;
use tidings_protocol::json::Raw;

use super::{DataRow, SessionRows};
use crate::agents::drafts::{Author, ContentBlocks, Drafts, RecordHead, ResponseHead, ResultState};
use crate::agents::tree::string;
use crate::agents::{Conversation, StoredSession};
use crate::cost::{Money, ResponseUsage, Tokens};
use crate::{Error, Finding, Position, Rule, Severity};

pub(super) fn conversation(rows: &SessionRows, session: &StoredSession) -> Result<Conversation, Error> {
    let mut drafts = Drafts::new(&session.files.id);
    drafts.set_version(session.version.as_str());
    drafts.set_cwd(session.cwd.as_deref());
    let mut converter =
        Converter { drafts, conversation: Conversation::default(), is_sub_agent: session.parent.is_some() };
    let mut reverted = None;
    for (number, message) in rows.messages.iter().enumerate() {
        if rows.reverted_to.as_deref() == Some(&message.id) {
            reverted = Some(converter.drafts.tail());
        }
        let parts = rows.parts.get(&message.id).map(Vec::as_slice).unwrap_or_default();
        converter.message(number as u64 + 1, message, parts);
    }
    for other in &rows.others {
        converter.unknown(RecordHead::default(), &format!("session_message/{}", other.kind), &other.data);
    }
    if let Some(tail) = reverted {
        converter.drafts.rewind(tail);
    }
    let mut conversation = converter.conversation;
    conversation.prompts = converter.drafts.prompts();
    conversation.messages += conversation.prompts;
    conversation.lines = converter.drafts.finish(session.name.as_deref())?;
    Ok(conversation)
}

struct Converter {
    drafts: Drafts,
    conversation: Conversation,
    is_sub_agent: bool,
}

impl Converter {
    fn message(&mut self, line: u64, message: &DataRow, rows: &[DataRow]) {
        self.conversation.report.records += 1 + rows.len() as u64;
        let at = Timestamp::from_millisecond(message.created).ok();
        let head = RecordHead { line, id: Some(&message.id), at };
        let Some(data) = self.json(line, &message.data) else { return };
        let mut parts = Vec::new();
        for row in rows {
            let Some(part) = self.json(line, &row.data) else { continue };
            let kind = string(part, "type").unwrap_or_default();
            if is_known(&kind) {
                parts.push((row.id.as_str(), kind, part));
            } else {
                self.unknown(RecordHead { id: Some(&row.id), ..head }, &format!("part/{kind}"), &row.data);
            }
        }
        match string(data, "role").as_deref() {
            Some("user") => self.user(head, &parts),
            Some("assistant") => self.response(head, data, &parts),
            role => {
                let kind = format!("message/{}", role.unwrap_or("(no role)"));
                self.unknown(head, &kind, &message.data);
            }
        }
    }

    /// Parses the data of a row; damage is reported.
    fn json<'d>(&mut self, line: u64, data: &'d str) -> Option<Raw<'d>> {
        match Raw::parse(data) {
            Ok(json) if json.is_object() => Some(json),
            _ => {
                let place = Position { line, offset: 0, bytes: data.len() as u64 };
                let message = "The data of a row is not a JSON object".to_owned();
                let rule = Rule::new("invalid-json");
                let finding = Finding { rule, severity: Severity::Error, place, message, uuid: None };
                self.conversation.report.damage(finding);
                None
            }
        }
    }

    fn unknown(&mut self, head: RecordHead<'_>, kind: &str, data: &str) {
        self.conversation.report.unknown_kind(kind);
        if let Ok(record) = Raw::parse(data) {
            self.drafts.unknown(head, &format!("opencode/{kind}"), record);
        }
    }

    fn user(&mut self, head: RecordHead<'_>, parts: &[(&str, String, Raw<'_>)]) {
        let (mut said, mut added) = (ContentBlocks::default(), ContentBlocks::default());
        for (_, kind, part) in parts {
            match kind.as_str() {
                "text" => {
                    let is_added = part.get("synthetic").and_then(Raw::bool) == Some(true);
                    let blocks = if is_added { &mut added } else { &mut said };
                    blocks.text(&string(*part, "text").unwrap_or_default());
                }
                "file" => add_file(&mut said, *part),
                "subtask" => said.text(&string(*part, "prompt").unwrap_or_default()),
                "agent" => said.text(&format!("@{}", string(*part, "name").unwrap_or_default())),
                "compaction" => {
                    let is_auto = part.get("auto").and_then(Raw::bool);
                    let trigger = is_auto.map(|is_auto| if is_auto { "auto" } else { "manual" });
                    self.drafts.boundary(head, trigger);
                }
                _ => {}
            }
        }
        if !said.is_empty() {
            self.drafts.user(head, &said, Author::User);
        }
        if !added.is_empty() {
            self.drafts.user(head, &added, Author::Agent);
        }
    }

    fn response(&mut self, head: RecordHead<'_>, data: Raw<'_>, parts: &[(&str, String, Raw<'_>)]) {
        let id = head.id.unwrap_or_default();
        let model = string(data, "modelID").filter(|model| !model.is_empty());
        let tokens = data.get("tokens").and_then(tokens);
        self.drafts.set_cwd(data.get("path").and_then(|path| string(path, "cwd")).as_deref());
        let mut blocks = ContentBlocks::default();
        for (part_id, kind, part) in parts {
            let text = string(*part, "text").unwrap_or_default();
            match kind.as_str() {
                "text" if !text.trim().is_empty() => blocks.text(&text),
                "reasoning" if !text.trim().is_empty() => blocks.thinking(&text),
                "file" => add_file(&mut blocks, *part),
                "tool" => {
                    let call = string(*part, "callID").unwrap_or_else(|| (*part_id).to_owned());
                    let input = part.get("state").and_then(|state| state.get("input"));
                    let input = input.filter(|input| input.is_object()).map_or("{}", Raw::as_str);
                    blocks.call(&call, &string(*part, "tool").unwrap_or_default(), input);
                }
                _ => {}
            }
        }
        let is_summary = data.get("summary").and_then(Raw::bool) == Some(true);
        if is_summary && !blocks.is_empty() {
            self.drafts.summary(head, &blocks);
        } else if !blocks.is_empty() {
            let response = ResponseHead { id, model: model.as_deref(), tokens: tokens.as_ref() };
            self.drafts.assistant(head, &response, &blocks);
            self.conversation.messages += 1;
        }
        for (part_id, _, part) in parts.iter().filter(|(_, kind, _)| kind == "tool") {
            self.result(RecordHead { id: Some(part_id), ..head }, *part);
        }
        if let Some(error) = data.get("error").filter(|error| error.is_object()) {
            let name = string(error, "name").unwrap_or_default();
            let said = error.get("data").and_then(|data| string(data, "message")).unwrap_or_default();
            let error_id = format!("{id}/error");
            let head = RecordHead { id: Some(&error_id), ..head };
            self.drafts.event(head, "error", format!("{name}: {said}").trim_end_matches(": "));
        }
        if let Some(tokens) = tokens {
            let cost = data.get("cost").and_then(Raw::f64).filter(|cost| *cost > 0.0);
            self.conversation.usage.push(ResponseUsage {
                id: id.to_owned(),
                is_global: true,
                time: head.at,
                model: model.clone().unwrap_or_default(),
                tokens,
                cost: cost.and_then(Money::from_dollars),
                writes_costs: true,
                sub_agent: self.is_sub_agent,
            });
        }
        self.conversation.model = model.or(self.conversation.model.take());
    }

    fn result(&mut self, head: RecordHead<'_>, part: Raw<'_>) {
        let Some(state) = part.get("state") else { return };
        let call = string(part, "callID").unwrap_or_else(|| head.id.unwrap_or_default().to_owned());
        let ended = state.get("time").and_then(|time| time.get("end")).and_then(Raw::i64);
        let head =
            RecordHead { at: ended.and_then(|at| Timestamp::from_millisecond(at).ok()).or(head.at), ..head };
        match string(state, "status").as_deref() {
            Some("completed") => {
                let mut blocks = ContentBlocks::of_text(&string(state, "output").unwrap_or_default());
                for file in state.get("attachments").into_iter().flat_map(Raw::items) {
                    add_file(&mut blocks, file);
                }
                self.drafts.result(head, &call, &blocks, ResultState::Done);
            }
            Some("error") => {
                let text = string(state, "error").unwrap_or_default();
                self.drafts.result(head, &call, &ContentBlocks::of_text(&text), ResultState::Failed);
            }
            // A call that is pending or running has no result.
            _ => {}
        }
    }
}

/// Parts that are shown, or that only opencode needs.
fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "text"
            | "reasoning"
            | "file"
            | "tool"
            | "subtask"
            | "agent"
            | "compaction"
            | "step-start"
            | "step-finish"
            | "snapshot"
            | "patch"
            | "retry"
    )
}

fn add_file(blocks: &mut ContentBlocks, part: Raw<'_>) {
    let media = string(part, "mime");
    let url = string(part, "url").unwrap_or_default();
    let is_embedded = url.starts_with("data:") && url.contains(";base64,");
    let name = string(part, "filename").filter(|name| !name.is_empty());
    match (name, is_embedded) {
        (Some(name), false) => blocks.text(&format!("[file: {name}]")),
        _ => blocks.file(media.as_deref(), &url),
    }
}

/// Tokens of a response; `None` if there are none. Neither cached input nor reasoning is part of the others.
fn tokens(tokens: Raw<'_>) -> Option<Tokens> {
    let number = |of: Raw<'_>, key: &str| of.get(key).and_then(Raw::u64).unwrap_or(0);
    let cache = |key: &str| tokens.get("cache").map_or(0, |cache| number(cache, key));
    let tokens = Tokens {
        input: number(tokens, "input"),
        output: number(tokens, "output").saturating_add(number(tokens, "reasoning")),
        cache_write_5m: cache("write"),
        cache_read: cache("read"),
        ..Tokens::default()
    };
    (tokens != Tokens::default()).then_some(tokens)
}
