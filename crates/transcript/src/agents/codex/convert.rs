//! A rollout file as entries.

use std::collections::HashMap;

use tidings_protocol::json::{Raw, write_string};

use super::records::{
    Prompts, RolloutRecord, is_known_item, is_silent_event, is_silent_item, is_silent_record, texts,
};
use super::usage::UsageCollector;
use crate::Error;
use crate::agents::drafts::{Author, ContentBlocks, Drafts, RecordHead, ResponseHead, ResultState};
use crate::agents::tree::string;
use crate::agents::{Conversation, ReadReport, StoredSession};

/// Converts the records of one file in order.
#[derive(Debug)]
pub(super) struct RolloutReader {
    drafts: Drafts,
    prompts: Prompts,
    usage: UsageCollector,
    model: Option<String>,
    has_header: bool,
    /// Number of responses so far; items up to the next result belong to one.
    responses: u64,
    is_in_response: bool,
    /// Exit codes of commands, by call.
    exit_codes: HashMap<String, i64>,
}

impl RolloutReader {
    pub(super) fn new(session: &StoredSession, prompts: Prompts) -> Self {
        let mut drafts = Drafts::new(&session.files.id);
        drafts.set_version(session.version.as_str());
        drafts.set_cwd(session.cwd.as_deref());
        drafts.set_branch(session.branch.as_deref());
        RolloutReader {
            drafts,
            prompts,
            usage: UsageCollector::new(session.parent.is_some()),
            model: None,
            has_header: false,
            responses: 0,
            is_in_response: false,
            exit_codes: HashMap::new(),
        }
    }

    pub(super) fn record(&mut self, line: u64, record: &RolloutRecord<'_>, report: &mut ReadReport) {
        self.usage.record(line, record, self.model.as_deref());
        let head = RecordHead { line, id: None, at: record.at };
        match record.kind.as_str() {
            // A fork also repeats the header of its origin.
            "session_meta" => self.has_header = true,
            "turn_context" => {
                self.drafts.set_cwd(string(record.payload, "cwd").as_deref());
                self.model = string(record.payload, "model").or(self.model.take());
            }
            "response_item" => self.item(head, record, report),
            "event_msg" => self.event(head, record, report),
            "compacted" => {
                self.is_in_response = false;
                self.drafts.boundary(head, None);
                let summary = string(record.payload, "message").unwrap_or_default();
                if !summary.trim().is_empty() {
                    self.drafts.summary(head, &ContentBlocks::of_text(&summary));
                }
            }
            "inter_agent_communication" => {
                let text = string(record.payload, "content").unwrap_or_default();
                self.drafts.event(head, "agent_message", &text);
            }
            "token_usage_record" => self.is_in_response = false,
            kind if is_silent_record(kind) => {}
            _ => self.unknown(head, record, report),
        }
    }

    fn unknown(&mut self, head: RecordHead<'_>, record: &RolloutRecord<'_>, report: &mut ReadReport) {
        let name = record.name();
        report.unknown_kind(&name);
        self.drafts.unknown(head, &format!("codex/{name}"), record.whole);
    }

    fn event(&mut self, head: RecordHead<'_>, record: &RolloutRecord<'_>, report: &mut ReadReport) {
        if let Some(prompt) = self.prompts.only_in_event(record) {
            self.is_in_response = false;
            self.drafts.user(head, &ContentBlocks::of_text(&prompt), Author::User);
        }
        match record.subkind.as_str() {
            "thread_rolled_back" => {
                self.is_in_response = false;
                self.drafts.rewind_turns(record.payload.get("num_turns").and_then(Raw::u64).unwrap_or(0));
            }
            "turn_aborted" => {
                self.is_in_response = false;
                let reason = string(record.payload, "reason").unwrap_or_default();
                self.drafts.event(head, "turn_aborted", &format!("The turn was aborted: {reason}"));
            }
            kind @ ("error" | "stream_error" | "warning" | "guardian_warning" | "deprecation_notice") => {
                let text = string(record.payload, "message").or_else(|| string(record.payload, "summary"));
                let name = if kind == "stream_error" { "error" } else { kind };
                self.drafts.event(head, name, &text.unwrap_or_default());
            }
            "item_completed" => {
                let Some(item) = record.payload.get("item") else { return };
                let kind = string(item, "type").unwrap_or_default();
                match kind.as_str() {
                    "Plan" => self.drafts.event(head, "plan", &string(item, "text").unwrap_or_default()),
                    "CommandExecution" => {
                        let code = item.get("exit_code").and_then(Raw::i64);
                        if let Some((id, code)) = string(item, "id").zip(code) {
                            self.exit_codes.insert(id, code);
                        }
                    }
                    known if is_known_item(known) => {}
                    _ => {
                        report.unknown_kind(&format!("event_msg/item_completed/{kind}"));
                        self.drafts.unknown(head, &format!("codex/item_completed/{kind}"), record.whole);
                    }
                }
            }
            known if is_silent_event(known) => {}
            _ => self.unknown(head, record, report),
        }
    }

    fn item(&mut self, head: RecordHead<'_>, record: &RolloutRecord<'_>, report: &mut ReadReport) {
        let item = record.payload;
        let id = string(item, "id");
        let head = RecordHead { id: id.as_deref(), ..head };
        match record.subkind.as_str() {
            "message" => self.message(head, record),
            "agent_message" => {
                let text = item.get("content").map(texts).unwrap_or_default();
                self.drafts.event(head, "agent_message", &text);
            }
            "reasoning" => {
                let of = |key: &str| item.get(key).map(texts).unwrap_or_default();
                let text = [of("summary"), of("content")].join("\n\n");
                // Encrypted reasoning has no text.
                if !text.trim().is_empty() {
                    let mut blocks = ContentBlocks::default();
                    blocks.thinking(text.trim());
                    self.respond(head, &blocks);
                }
            }
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "tool_search_call"
            | "web_search_call"
            | "image_generation_call" => self.call(head, record),
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                self.output(head, record);
            }
            silent if is_silent_item(silent) => {}
            _ => self.unknown(head, record, report),
        }
    }

    fn message(&mut self, head: RecordHead<'_>, record: &RolloutRecord<'_>) {
        let blocks = record.payload.get("content").map(content).unwrap_or_default();
        if blocks.is_empty() {
            return;
        }
        match string(record.payload, "role").as_deref() {
            Some("assistant") => self.respond(head, &blocks),
            Some("user") => {
                self.is_in_response = false;
                let author = if self.prompts.contains(record) { Author::User } else { Author::Agent };
                self.drafts.user(head, &blocks, author);
            }
            _ => self.drafts.user(head, &blocks, Author::Agent),
        }
    }

    fn respond(&mut self, head: RecordHead<'_>, blocks: &ContentBlocks) {
        if !self.is_in_response {
            self.is_in_response = true;
            self.responses += 1;
        }
        let id = format!("response-{}", self.responses);
        let response = ResponseHead { id: &id, model: self.model.as_deref(), tokens: None };
        self.drafts.assistant(head, &response, blocks);
    }

    fn call(&mut self, head: RecordHead<'_>, record: &RolloutRecord<'_>) {
        let item = record.payload;
        let fallback = format!("line-{}", head.line);
        let id = string(item, "call_id").or_else(|| string(item, "id")).unwrap_or(fallback);
        let named = |name: &str| string(item, "name").unwrap_or_else(|| name.to_owned());
        let (name, input) = match record.subkind.as_str() {
            "function_call" => {
                let name = match string(item, "namespace").filter(|namespace| !namespace.is_empty()) {
                    Some(namespace) => format!("{namespace}.{}", named("function")),
                    None => named("function"),
                };
                (name, arguments(item.get("arguments")))
            }
            "custom_tool_call" => (named("custom"), wrapped("input", item.get("input"))),
            "local_shell_call" => ("local_shell".to_owned(), object(item.get("action"))),
            "tool_search_call" => ("tool_search".to_owned(), object(item.get("arguments"))),
            "web_search_call" => ("web_search".to_owned(), object(item.get("action"))),
            _ => ("image_generation".to_owned(), wrapped("prompt", item.get("revised_prompt"))),
        };
        let mut blocks = ContentBlocks::default();
        blocks.call(&id, &name, &input);
        self.respond(head, &blocks);
        // The image is in the call itself.
        if let Some(image) = string(item, "result").filter(|_| record.subkind == "image_generation_call") {
            let mut blocks = ContentBlocks::default();
            blocks.file(None, &format!("data:image/png;base64,{image}"));
            self.is_in_response = false;
            self.drafts.result(head, &id, &blocks, ResultState::Done);
        }
    }

    fn output(&mut self, head: RecordHead<'_>, record: &RolloutRecord<'_>) {
        self.is_in_response = false;
        let item = record.payload;
        let call = string(item, "call_id").unwrap_or_default();
        let failed_command = self.exit_codes.get(&call).is_some_and(|code| *code != 0);
        let (blocks, failed) = match item.get("output").or_else(|| item.get("tools")) {
            Some(output) => output_content(output),
            None => (ContentBlocks::default(), false),
        };
        self.drafts.result(head, &call, &blocks, ResultState::failed_if(failed || failed_command));
    }

    pub(super) fn finish(self, title: Option<&str>, mut report: ReadReport) -> Result<Conversation, Error> {
        if !self.has_header {
            report.unknown_kind("(no session_meta)");
        }
        let prompts = self.drafts.prompts();
        Ok(Conversation {
            lines: self.drafts.finish(title)?,
            usage: self.usage.finish(),
            prompts,
            messages: prompts + self.responses,
            model: self.model,
            report,
        })
    }
}

/// The content of a message as blocks.
fn content(content: Raw<'_>) -> ContentBlocks {
    let mut blocks = ContentBlocks::default();
    if let Some(text) = content.text() {
        blocks.text(&text.get());
    }
    for part in content.items() {
        match string(part, "type").as_deref() {
            Some("input_text" | "output_text" | "text") => {
                blocks.text(&string(part, "text").unwrap_or_default());
            }
            Some("input_image") => blocks.file(None, &string(part, "image_url").unwrap_or_default()),
            Some("encrypted_content") => {}
            _ => blocks.raw(part),
        }
    }
    blocks
}

/// The output of a tool, and true if it tells that the tool failed.
///
/// It is a text, a list of parts, or in older files an object, also as JSON in the text:
/// `{"output":"…","metadata":{"exit_code":0}}`.
fn output_content(output: Raw<'_>) -> (ContentBlocks, bool) {
    if let Some(text) = output.text() {
        let text = text.get();
        if let Ok(inner) = Raw::parse(&text)
            && let Some(shown) = string(inner, "output")
            && let Some(metadata) = inner.get("metadata")
        {
            let code = metadata.get("exit_code").and_then(Raw::i64);
            return (ContentBlocks::of_text(&shown), code.is_some_and(|code| code != 0));
        }
        return (ContentBlocks::of_text(&text), false);
    }
    if output.is_object() {
        let failed = output.get("success").and_then(Raw::bool) == Some(false);
        let blocks = output.get("content").map(content).unwrap_or_default();
        return (blocks, failed);
    }
    let is_content = output.items().all(|part| part.get("type").is_some());
    if is_content { (content(output), false) } else { (ContentBlocks::of_text(output.as_str()), false) }
}

/// Arguments of a function: JSON in a string.
fn arguments(arguments: Option<Raw<'_>>) -> String {
    let Some(arguments) = arguments else { return "{}".to_owned() };
    match arguments.text() {
        Some(text) => match Raw::parse(&text.get()) {
            Ok(inner) if inner.is_object() => inner.as_str().to_owned(),
            _ => wrapped("arguments", Some(arguments)),
        },
        None => object(Some(arguments)),
    }
}

fn object(value: Option<Raw<'_>>) -> String {
    match value {
        Some(value) if value.is_object() => value.as_str().to_owned(),
        Some(value) if !value.is_null() => wrapped("input", Some(value)),
        _ => "{}".to_owned(),
    }
}

/// An object with this one key.
fn wrapped(key: &str, value: Option<Raw<'_>>) -> String {
    let mut json = "{".to_owned();
    write_string(key, &mut json);
    json.push(':');
    json.push_str(value.map_or("null", Raw::as_str));
    json.push('}');
    json
}
