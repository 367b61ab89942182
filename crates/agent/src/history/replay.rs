//! Entries of a session file as events.

use std::fmt::Write as _;

use tidings_protocol::FrameRef;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text, write_string};
use tidings_protocol::ui::{SessionTitle, StopReason, TurnResult, UiMessage};
use tidings_protocol::view::Block;
use tidings_transcript::session::CommandTags;

use crate::fold::{Fold, FoldOptions, Input, Prompt};

/// Converts the entries of a session file into events, one by one.
///
/// Entries come in the order of the conversation, those of a sub-agent with the call that started it.
/// Files of interactive sessions mark the end of a turn. Otherwise it ends where the next one begins, or with
/// [`Replay::finish`].
#[derive(Debug)]
pub struct Replay {
    fold: Fold,
    /// The stop reason of the last response.
    stop_reason: Option<StopReason>,
    /// Buffer for the frame that is being built; reused to save allocations.
    line: String,
}

impl Replay {
    /// Creates a converter for a new session.
    pub fn new(handle: i64, options: FoldOptions) -> Self {
        Self { fold: Fold::new(handle, options), stop_reason: None, line: String::new() }
    }

    /// Converts one entry; `agent` is the call that started the sub-agent that the entry belongs to.
    pub fn entry(&mut self, entry: &EntryRef<'_>, agent: Option<&str>, out: &mut Vec<UiMessage>) {
        self.fold.note_recorded(entry.session_id().as_deref(), entry.cwd().as_deref(), out);
        match entry.kind() {
            EntryKind::Assistant => self.assistant(entry, agent, out),
            EntryKind::User | EntryKind::ToolResult => self.user(entry, agent, out),
            EntryKind::System if agent.is_none() => self.system(entry, out),
            EntryKind::Attachment if agent.is_none() => self.attachment(entry, out),
            _ => self.title(entry, out),
        }
    }

    /// The state machine, for inputs that are not in a file.
    pub(crate) fn fold_mut(&mut self) -> &mut Fold {
        &mut self.fold
    }

    /// Ends the conversion after the last entry.
    pub fn finish(&mut self, out: &mut Vec<UiMessage>) {
        self.end_turn(out);
    }

    /// Ends the turn of an agent that has exited, if its last response was complete. Files of `-p` and of the
    /// SDKs do not mark the ends of their turns.
    pub(crate) fn finish_answered(&mut self, out: &mut Vec<UiMessage>) {
        let goes_on = |reason: &StopReason| *reason == StopReason::ToolUse || reason.as_str() == "pause_turn";
        if self.stop_reason.as_ref().is_some_and(|reason| !goes_on(reason)) {
            self.end_turn(out);
        }
    }

    fn assistant(&mut self, entry: &EntryRef<'_>, agent: Option<&str>, out: &mut Vec<UiMessage>) {
        let message = entry.message_view();
        if agent.is_none()
            && let Some(reason) = message.stop_reason.and_then(Raw::text)
        {
            self.stop_reason = Some(StopReason::from(&*reason.get()));
        }
        // Synthetic messages that a resumed session adds after an interrupt were never shown.
        let is_error = entry.get("isApiErrorMessage").and_then(Raw::bool) == Some(true);
        if message.model.is_some_and(|model| model == "<synthetic>") && !is_error {
            return;
        }
        self.open("assistant", entry, agent);
        self.line.push_str(",\"message\":{\"role\":\"assistant\"");
        for (key, text) in [("id", message.message_id), ("model", message.model)] {
            if let Some(text) = text {
                self.member(key, text);
            }
        }
        if let Some(usage) = message.usage {
            self.raw("usage", usage);
        }
        match message.content {
            Some(content) => self.raw("content", content),
            None => self.seed_call(entry),
        }
        self.line.push('}');
        if is_error {
            self.line.push_str(",\"is_api_error_message\":true");
        }
        self.close(out);
    }

    /// Writes a call in the format of the session specification, in which it is a sibling of the message.
    fn seed_call(&mut self, entry: &EntryRef<'_>) {
        self.line.push_str(",\"content\":[");
        if let [call] = &entry.tool_calls()[..] {
            self.line.push_str("{\"type\":\"tool_use\",\"id\":");
            write_string(&call.id, &mut self.line);
            self.line.push_str(",\"name\":");
            write_string(&call.name, &mut self.line);
            self.raw("input", call.input);
            self.line.push('}');
        }
        self.line.push(']');
    }

    fn user(&mut self, entry: &EntryRef<'_>, agent: Option<&str>, out: &mut Vec<UiMessage>) {
        let has_result = entry.content_blocks().any(|block| matches!(block, Block::ToolResult { .. }));
        if has_result || agent.is_some() {
            return self.forward(entry, agent, out);
        }
        let text = prompt_text(entry);
        let flag = |key| entry.get(key).and_then(Raw::bool) == Some(true);
        if text.starts_with("[Request interrupted by user") {
            self.forward(entry, None, out);
            let tools = text.contains("for tool use");
            let reason = if tools { "aborted_tools" } else { "aborted_streaming" };
            self.stop_reason = Some(StopReason::Other(reason.to_owned()));
            self.fold.end_recorded(self.stop_reason.take(), Some(TurnResult::INTERRUPTED), out);
        } else if flag("isCompactSummary") {
            self.forward_as(entry, "isSynthetic", out);
        } else if entry.is_meta() {
            // Notes to the model about the next message are not part of the conversation; notes that continue
            // a turn are.
            let continues = flag("turnCompanion") || flag("isSynthetic");
            // The CLI names the copy of a picture that it keeps; the picture itself is in the prompt.
            if continues && !text.starts_with("[Image: ") {
                self.forward_as(entry, "isSynthetic", out);
            }
        } else if let Some(tags) = CommandTags::parse(&text) {
            self.command(entry, &tags, out);
        } else if is_notification(entry, &text) {
            self.end_turn(out);
            self.fold.note_notification();
            self.notification(entry, &text, out);
        } else {
            self.prompt(entry, text, out);
        }
    }

    /// Converts a slash command, or the output of one.
    fn command(&mut self, entry: &EntryRef<'_>, tags: &CommandTags, out: &mut Vec<UiMessage>) {
        match &tags.name {
            Some(name) => {
                let args = tags.args.as_deref().map(|args| format!(" {args}")).unwrap_or_default();
                self.prompt(entry, format!("{name}{args}"), out);
                self.fold.begin_recorded(out);
            }
            None => self.forward(entry, None, out),
        }
    }

    /// Converts the notification that a background task has ended into the frame of a running agent.
    fn notification(&mut self, entry: &EntryRef<'_>, text: &str, out: &mut Vec<UiMessage>) {
        let Some(task_id) = tag(text, "task-id") else { return };
        self.open("system", entry, None);
        self.line.push_str(",\"subtype\":\"task_notification\",\"task_id\":");
        write_string(task_id, &mut self.line);
        for (name, key) in [
            ("tool-use-id", "tool_use_id"),
            ("status", "status"),
            ("output-file", "output_file"),
            ("summary", "summary"),
        ] {
            if let Some(value) = tag(text, name) {
                self.line.push_str(",\"");
                self.line.push_str(key);
                self.line.push_str("\":");
                write_string(value, &mut self.line);
            }
        }
        let count = |name| tag(text, name).and_then(|count| count.parse::<u64>().ok());
        if let (Some(tokens), Some(calls), Some(ms)) =
            (count("subagent_tokens"), count("tool_uses"), count("duration_ms"))
        {
            // Writing to a string cannot fail.
            let _ = write!(
                self.line,
                ",\"usage\":{{\"total_tokens\":{tokens},\"tool_uses\":{calls},\"duration_ms\":{ms}}}"
            );
        }
        self.close(out);
    }

    fn prompt(&mut self, entry: &EntryRef<'_>, text: String, out: &mut Vec<UiMessage>) {
        self.end_turn(out);
        let mut prompt = Prompt::new(text);
        prompt.uuid = entry.uuid().map(std::borrow::Cow::into_owned);
        prompt.attachments = attachments(entry);
        self.fold.step(Input::Prompt(&prompt), out);
    }

    fn system(&mut self, entry: &EntryRef<'_>, out: &mut Vec<UiMessage>) {
        match entry.subtype().as_deref() {
            Some("compact_boundary") => {
                self.open("system", entry, None);
                self.line.push_str(",\"subtype\":\"compact_boundary\",\"compact_metadata\":{\"trigger\":");
                let metadata = entry.get("compactMetadata");
                let of = |key| metadata.and_then(|metadata: Raw<'_>| metadata.get(key));
                self.line.push_str(of("trigger").map_or("null", Raw::as_str));
                for (key, name) in [("preTokens", "pre_tokens"), ("postTokens", "post_tokens")] {
                    if let Some(count) = of(key) {
                        self.raw(name, count);
                    }
                }
                self.line.push('}');
                self.close(out);
            }
            Some("local_command") => self.local_command(entry, out),
            Some("turn_duration") => self.end_turn(out),
            Some(subtype @ ("informational" | "model_refusal_fallback" | "model_fallback")) => {
                self.open("system", entry, None);
                self.line.push_str(",\"subtype\":");
                write_string(subtype, &mut self.line);
                for (key, name) in [
                    ("content", "content"),
                    ("fallbackModel", "fallback_model"),
                    ("retractedMessageUuids", "retracted_message_uuids"),
                ] {
                    if let Some(value) = entry.get(key) {
                        self.raw(name, value);
                    }
                }
                self.close(out);
            }
            _ => {}
        }
    }

    /// Converts a command that has no other entry, or the output of one.
    fn local_command(&mut self, entry: &EntryRef<'_>, out: &mut Vec<UiMessage>) {
        let text = entry.text();
        if text.starts_with('/') {
            self.prompt(entry, text, out);
            return self.fold.begin_recorded(out);
        }
        if let Some(name) = CommandTags::parse(&text).and_then(|tags| tags.name) {
            self.prompt(entry, name, out);
            return self.fold.begin_recorded(out);
        }
        self.open("system", entry, None);
        self.line.push_str(",\"subtype\":\"local_command_output\",\"content\":");
        write_string(&text, &mut self.line);
        self.close(out);
    }

    /// Converts a prompt that joined a running turn.
    fn attachment(&mut self, entry: &EntryRef<'_>, out: &mut Vec<UiMessage>) {
        if entry.attachment_type().as_deref() != Some("queued_command") {
            return;
        }
        let Some(attachment) = entry.get("attachment") else { return };
        let mode = attachment.get("commandMode").and_then(Raw::text);
        if mode.is_some_and(|mode| mode != "prompt") {
            return;
        }
        let Some(prompt) = attachment.get("prompt") else { return };
        let text = match prompt.text() {
            Some(text) => text.get().into_owned(),
            None => prompt
                .items()
                .filter_map(|block| Some(block.get("text")?.text()?.get().into_owned()))
                .collect(),
        };
        let mut prompt = Prompt::new(text);
        prompt.uuid = entry.uuid().map(std::borrow::Cow::into_owned);
        self.fold.step(Input::Prompt(&prompt), out);
        self.fold.add_recorded_prompt(prompt.uuid.as_deref().unwrap_or_default());
    }

    fn title(&mut self, entry: &EntryRef<'_>, out: &mut Vec<UiMessage>) {
        let key = match entry.type_name().as_deref() {
            Some("custom-title") => "customTitle",
            Some("ai-title") => "aiTitle",
            _ => return,
        };
        if let Some(title) = entry.get(key).and_then(Raw::text) {
            out.push(SessionTitle::new(self.fold.handle(), title.get()).into());
        }
    }

    fn end_turn(&mut self, out: &mut Vec<UiMessage>) {
        self.fold.end_recorded(self.stop_reason.take(), None, out);
    }

    /// Passes a user entry to the fold as a frame.
    fn forward(&mut self, entry: &EntryRef<'_>, agent: Option<&str>, out: &mut Vec<UiMessage>) {
        self.user_frame(entry, agent);
        self.close(out);
    }

    fn forward_as(&mut self, entry: &EntryRef<'_>, flag: &str, out: &mut Vec<UiMessage>) {
        self.user_frame(entry, None);
        self.line.push_str(",\"");
        self.line.push_str(flag);
        self.line.push_str("\":true");
        self.close(out);
    }

    fn user_frame(&mut self, entry: &EntryRef<'_>, agent: Option<&str>) {
        self.open("user", entry, agent);
        self.line.push_str(",\"message\":{\"role\":\"user\"");
        if let Some(content) = entry.message_view().content {
            self.raw("content", content);
        }
        self.line.push('}');
        if let Some(result) = entry.tool_use_result() {
            self.raw("tool_use_result", result);
        }
    }

    fn open(&mut self, kind: &str, entry: &EntryRef<'_>, agent: Option<&str>) {
        self.line.clear();
        self.line.push_str("{\"type\":\"");
        self.line.push_str(kind);
        self.line.push('"');
        for (key, text) in [
            ("uuid", entry.uuid()),
            ("session_id", entry.session_id()),
            ("parent_tool_use_id", agent.map(Into::into)),
        ] {
            if let Some(text) = text {
                self.line.push_str(",\"");
                self.line.push_str(key);
                self.line.push_str("\":");
                write_string(&text, &mut self.line);
            }
        }
    }

    fn member(&mut self, key: &str, text: Text<'_>) {
        self.line.push_str(",\"");
        self.line.push_str(key);
        self.line.push_str("\":");
        write_string(&text.get(), &mut self.line);
    }

    fn raw(&mut self, key: &str, value: Raw<'_>) {
        self.line.push_str(",\"");
        self.line.push_str(key);
        self.line.push_str("\":");
        self.line.push_str(value.as_str());
    }

    fn close(&mut self, out: &mut Vec<UiMessage>) {
        self.line.push('}');
        // The parts were validated when the entry was read.
        if let Ok(frame) = FrameRef::decode(self.line.as_bytes()) {
            self.fold.step(Input::Frame(&frame), out);
        }
    }
}

/// The text blocks, joined by newlines as in the fold.
fn prompt_text(entry: &EntryRef<'_>) -> String {
    let texts = entry.content_blocks().filter_map(|block| match block {
        Block::Text(text) => Some(text.get().into_owned()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn is_notification(entry: &EntryRef<'_>, text: &str) -> bool {
    let kind = entry.get("origin").and_then(|origin| origin.get("kind")?.text());
    kind.is_some_and(|kind| kind != "human") || text.trim_start().starts_with("<task-notification>")
}

/// The content of an element in the text of a notification.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inside, _)| inside.trim())
}

fn attachments(entry: &EntryRef<'_>) -> Vec<String> {
    let other = |block| match block {
        Block::Other(raw) => Some(raw.get("type")?.text()?.get().into_owned()),
        _ => None,
    };
    entry.content_blocks().filter_map(other).collect()
}
