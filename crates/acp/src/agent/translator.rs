//! Events of a session as updates of the protocol.

use std::collections::{BTreeMap, BTreeSet};

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::{Map, Value};
use tidings_api::Attachment;
use tidings_protocol::ui::{
    SessionPhase, SubAgentOutcome, TodoList, TodoStatus, TokenUsage, ToolDetails, TurnResult, UiMessage,
    UserPrompt,
};

use super::answers::SessionState;
use super::calls::ClientFeatures;
use super::content::{self, text_block};
use super::tools::{self, IntoContent as _};
use crate::meta;
use crate::rpc;
use crate::text::bounded;

/// Translates the events of one session. Its state depends on the events only, so that a resumed connection
/// computes it from the events before its cursor.
#[derive(Debug)]
pub struct Translator {
    /// The id of the session, as the editor knows it.
    session: String,
    features: ClientFeatures,
    state: SessionState,
    cwd: String,
    /// Calls that the editor knows.
    calls: BTreeMap<String, KnownCall>,
    details: BTreeMap<String, ToolDetails>,
    /// Id of the current message, or of the current thought.
    message: Option<(ChunkKind, String)>,
    /// Size of the model's context, once an agent has told it.
    context_size: Option<u64>,
    context: ContextTokens,
    compaction: Option<String>,
    /// Prompts that this editor sent, and shows already.
    own_prompts: BTreeSet<String>,
}

#[derive(Debug, Clone, Default)]
struct KnownCall {
    tool: String,
    is_terminal: bool,
}

/// `_meta.terminal_info`: the terminal of a call, for editors that show commands as terminals.
#[derive(Debug, Serialize)]
struct TerminalInfo<'a> {
    terminal_id: &'a str,
    cwd: &'a str,
}

/// `_meta.terminal_output`: more output of the terminal.
#[derive(Debug, Serialize)]
struct TerminalOutput<'a> {
    terminal_id: &'a str,
    data: String,
}

/// `_meta.terminal_exit`: the end of its command.
#[derive(Debug, Serialize)]
struct TerminalExit<'a> {
    terminal_id: &'a str,
    exit_code: i32,
    signal: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkKind {
    Message,
    Thought,
}

/// Tokens of the model's context: the prompt of the last request and its answer.
#[derive(Debug, Clone, Copy, Default)]
struct ContextTokens {
    prompt: u64,
    /// Tokens generated in this turn, and those of them before the last request.
    generated: u64,
    generated_before: u64,
    /// Tokens in use, once they are known.
    used: Option<u64>,
}

impl ContextTokens {
    fn begin_turn(&mut self) {
        (self.generated, self.generated_before) = (0, 0);
    }

    /// Takes the prompt of the current request, and all tokens that were generated in this turn.
    fn update(&mut self, prompt: u64, generated: u64) -> u64 {
        if prompt != self.prompt {
            self.generated_before = self.generated;
        }
        (self.prompt, self.generated) = (prompt, generated);
        let used = prompt.saturating_add(generated.saturating_sub(self.generated_before));
        *self.used.insert(used)
    }
}

type Updates = Vec<(acp::SessionUpdate, Option<Map<String, Value>>)>;

impl Translator {
    /// A translator for a session, as the editor names it, in a folder.
    pub fn new(session: &str, cwd: &str, features: ClientFeatures, state: SessionState) -> Self {
        Translator {
            session: session.to_owned(),
            features,
            state,
            cwd: cwd.to_owned(),
            calls: BTreeMap::new(),
            details: BTreeMap::new(),
            message: None,
            context_size: None,
            context: ContextTokens::default(),
            compaction: None,
            own_prompts: BTreeSet::new(),
        }
    }

    /// The settings of the session, as the events up to now say.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Changes the settings that a response shows.
    pub fn state_mut(&mut self) -> &mut SessionState {
        &mut self.state
    }

    /// Notes a prompt of this editor, which is not sent back to it.
    pub fn note_own_prompt(&mut self, uuid: &str) {
        self.own_prompts.insert(uuid.to_owned());
    }

    /// True for a prompt of this editor.
    pub fn is_own_prompt(&self, event: &UiMessage) -> bool {
        let UiMessage::UserPrompt(UserPrompt { uuid: Some(uuid), .. }) = event else { return false };
        self.own_prompts.contains(uuid)
    }

    /// The notifications for an event with this cursor and sequence number.
    pub fn translate(&mut self, event: &UiMessage, cursor: &str, seq: u64) -> Vec<String> {
        let updates = self.updates(event, seq, None);
        updates.into_iter().map(|(update, meta)| self.notification(update, meta, Some(cursor))).collect()
    }

    /// The notifications with the images and files of another client's prompt, as of this cursor.
    pub fn attachments(&self, prompt: &UserPrompt, attachments: &[Attachment], cursor: &str) -> Vec<String> {
        let blocks = attachments.iter().map(content::attachment_block);
        // Those that are not kept any more are named.
        let lost =
            prompt.attachments.iter().skip(attachments.len()).map(|kind| text_block(format!("[{kind}]")));
        let chunks = blocks.chain(lost).map(|block| {
            let id = prompt.uuid.clone().map(acp::MessageId::new);
            let chunk = acp::ContentChunk::new(block).message_id(id);
            self.notification(acp::SessionUpdate::UserMessageChunk(chunk), None, Some(cursor))
        });
        chunks.collect()
    }

    /// The notifications that an editor gets right after it has opened the session.
    pub fn first_updates(&self) -> Vec<String> {
        if self.state.commands.is_empty() {
            return Vec::new();
        }
        vec![self.notification(self.commands_update(), None, None)]
    }

    /// The notification that other options can be chosen.
    pub fn changed_options(&self) -> String {
        self.notification(self.options_update(), None, None)
    }

    /// A notice, or a message for an editor that shows no notices.
    pub fn notice(&self, severity: &str, title: &str) -> String {
        self.notification(self.notice_update(severity, title), None, None)
    }

    fn notification(
        &self,
        update: acp::SessionUpdate,
        mut meta: Option<Map<String, Value>>,
        cursor: Option<&str>,
    ) -> String {
        if let Some(cursor) = cursor {
            meta::add(&mut meta, "cursor", cursor);
        }
        let update = acp::SessionNotification::new(self.session.clone(), update).meta(meta);
        rpc::notification("session/update", &update)
    }

    fn updates(&mut self, event: &UiMessage, seq: u64, lane: Option<&str>) -> Updates {
        if !event.facts().editor {
            return Vec::new();
        }
        let one = |update: acp::SessionUpdate| vec![(update, None)];
        match event {
            // The text of sub-agents is not part of the answer; their result is.
            UiMessage::TextChunk { .. } | UiMessage::Thinking(_) if lane.is_some() => Vec::new(),
            UiMessage::TextChunk { text, .. } => one(self.chunk(ChunkKind::Message, text, seq)),
            UiMessage::Thinking(thinking) => one(self.chunk(ChunkKind::Thought, &thinking.text, seq)),
            UiMessage::Display { content, .. } => {
                self.message = None;
                let update = self.chunk(ChunkKind::Message, content, seq);
                self.message = None;
                one(update)
            }
            UiMessage::TextEnded(_) | UiMessage::Complete { .. } => {
                self.message = None;
                Vec::new()
            }
            UiMessage::UserPrompt(prompt) => {
                self.message = None;
                let is_own = prompt.uuid.as_ref().is_some_and(|uuid| self.own_prompts.remove(uuid));
                if is_own || prompt.origin.is_some() || prompt.text.is_empty() {
                    return Vec::new();
                }
                let chunk = acp::ContentChunk::new(text_block(prompt.text.clone()));
                let id = prompt.uuid.clone().unwrap_or_else(|| format!("user-{seq}"));
                one(acp::SessionUpdate::UserMessageChunk(chunk.message_id(acp::MessageId::new(id))))
            }
            UiMessage::ToolPreparing(call) => self.call_known(&call.tool_use_id, &call.tool_name, lane),
            UiMessage::ToolExecuting { tool_use_id, tool_name, input, .. } => {
                let mut updates = self.call_known(tool_use_id, tool_name, lane);
                updates.push(self.call_started(tool_use_id, tool_name, input, lane));
                updates
            }
            UiMessage::ToolProgress(progress) => {
                let fields = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::InProgress);
                let meta = meta::meta("elapsedSeconds", progress.elapsed_seconds);
                self.call_update(&progress.tool_use_id, fields, Some(meta))
            }
            UiMessage::ToolDetails(details) => {
                self.details.insert(details.tool_use_id.clone(), details.clone());
                Vec::new()
            }
            UiMessage::ToolCompleted { tool_use_id, result, .. } => self.call_completed(tool_use_id, result),
            UiMessage::Lane(inner) => self.updates(&inner.event, seq, Some(&inner.agent_id)),
            UiMessage::SubAgentProgressed(agent) => {
                let title = agent.description.clone();
                let fields =
                    acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::InProgress).title(title);
                self.call_update(&agent.agent_id, fields, None)
            }
            UiMessage::SubAgentEnded(agent) => {
                let failed = agent.outcome != SubAgentOutcome::Completed;
                let status =
                    if failed { acp::ToolCallStatus::Failed } else { acp::ToolCallStatus::Completed };
                let text = agent.summary.as_ref().or(agent.error.as_ref());
                let content = text.map(|text| vec![text_block(bounded(text)).into_content()]);
                let fields = acp::ToolCallUpdateFields::new().status(status).content(content);
                self.call_update(&agent.agent_id, fields, None)
            }
            UiMessage::Retracted(retracted) => self.retracted(&retracted.tool_use_ids),
            UiMessage::TodoList(list) if list.agent_id.is_none() => one(plan(list)),
            UiMessage::TurnResult(result) => self.usage(result),
            UiMessage::TurnStarted(_) if lane.is_none() => {
                self.context.begin_turn();
                Vec::new()
            }
            UiMessage::TokenUpdate { input_tokens, output_tokens, .. } if lane.is_none() => {
                let count = |tokens: i64| u64::try_from(tokens).unwrap_or_default();
                let used = self.context.update(count(*input_tokens), count(*output_tokens));
                self.context_size.map_or_else(Vec::new, |size| {
                    one(acp::SessionUpdate::UsageUpdate(acp::UsageUpdate::new(used, size)))
                })
            }
            _ => self.session_updates(event, seq),
        }
    }

    /// Updates about the session, and not about its conversation.
    fn session_updates(&mut self, event: &UiMessage, seq: u64) -> Updates {
        let one = |update: acp::SessionUpdate| vec![(update, None)];
        match event {
            UiMessage::SessionStarted(started) => {
                let mode = started.permission_mode.clone();
                self.settings(mode, started.model.clone(), Some(started.slash_commands.clone()))
            }
            UiMessage::SettingsChanged(changed) => {
                let has_options =
                    changed.options.as_ref().is_some_and(|options| self.state.note_options(options));
                let (mode, model) = (changed.permission_mode.clone(), changed.model.clone());
                let mut updates = self.settings(mode, model, changed.slash_commands.clone());
                if has_options {
                    updates.push((self.options_update(), None));
                }
                updates
            }
            UiMessage::SessionTitle(title) => one(acp::SessionUpdate::SessionInfoUpdate(
                acp::SessionInfoUpdate::new().title(title.title.clone()),
            )),
            UiMessage::SessionStateChanged(changed)
                if changed.state == SessionPhase::Compacting && self.features.compaction =>
            {
                let id = format!("compaction-{seq}");
                self.compaction = Some(id.clone());
                let update = acp::CompactionUpdate::new(id, acp::CompactionStatus::InProgress);
                one(acp::SessionUpdate::CompactionUpdate(update))
            }
            UiMessage::Compacted(compacted) => {
                let mut updates = Vec::new();
                if self.features.compaction {
                    let id = self.compaction.take().unwrap_or_else(|| format!("compaction-{seq}"));
                    let update = acp::CompactionUpdate::new(id, acp::CompactionStatus::Completed);
                    updates.extend(one(acp::SessionUpdate::CompactionUpdate(update)));
                }
                self.context.used = compacted.tokens_after.or(self.context.used);
                if let Some((used, size)) = compacted.tokens_after.zip(self.context_size) {
                    updates.extend(one(acp::SessionUpdate::UsageUpdate(acp::UsageUpdate::new(used, size))));
                }
                updates
            }
            // The response to the prompt says it.
            UiMessage::Error { message, .. } if message == TurnResult::INTERRUPTED => Vec::new(),
            UiMessage::Error { message, .. } => one(self.notice_update("error", message)),
            UiMessage::Retrying(retry) if self.features.notices => {
                let why = retry.error.as_deref().unwrap_or("a call of the API failed");
                one(self.notice_update("warning", &format!("Attempt {} follows: {why}", retry.attempt)))
            }
            UiMessage::RateLimit(limit) if limit.status != "allowed" && self.features.notices => {
                let name = limit.kind.as_deref().unwrap_or("rate limit");
                let title = match limit.utilization {
                    Some(share) => format!("{name}: {:.0} % used", share * 100.0),
                    None => format!("{name}: {}", limit.status),
                };
                one(self.notice_update("warning", &title))
            }
            _ => Vec::new(),
        }
    }

    fn chunk(&mut self, kind: ChunkKind, text: &str, seq: u64) -> acp::SessionUpdate {
        let id = match &self.message {
            Some((current, id)) if *current == kind => id.clone(),
            _ => {
                let id = format!("{}-{seq}", if kind == ChunkKind::Message { "message" } else { "thought" });
                self.message = Some((kind, id.clone()));
                id
            }
        };
        let chunk = acp::ContentChunk::new(text_block(text)).message_id(acp::MessageId::new(id));
        match kind {
            ChunkKind::Message => acp::SessionUpdate::AgentMessageChunk(chunk),
            ChunkKind::Thought => acp::SessionUpdate::AgentThoughtChunk(chunk),
        }
    }

    /// Announces a call that the editor does not know.
    fn call_known(&mut self, id: &str, tool: &str, lane: Option<&str>) -> Updates {
        self.message = None;
        if self.calls.contains_key(id) {
            return Vec::new();
        }
        let kind = tools::kind(tool);
        let is_terminal = self.features.terminal_output && tool == "Bash";
        self.calls.insert(id.to_owned(), KnownCall { tool: tool.to_owned(), is_terminal });
        let call =
            acp::ToolCall::new(id.to_owned(), tool).kind(kind).name(tool.to_owned()).meta(lane_meta(lane));
        vec![(acp::SessionUpdate::ToolCall(call), None)]
    }

    fn call_started(
        &mut self,
        id: &str,
        tool: &str,
        input: &Value,
        lane: Option<&str>,
    ) -> (acp::SessionUpdate, Option<Map<String, Value>>) {
        let shown = tools::shown(tool, input);
        let is_terminal = self.calls.get(id).is_some_and(|call| call.is_terminal);
        let mut fields = acp::ToolCallUpdateFields::new()
            .title(shown.title)
            .kind(shown.kind)
            .status(acp::ToolCallStatus::InProgress)
            .locations(shown.locations)
            .raw_input(input.clone());
        let mut meta = lane_meta(lane);
        if is_terminal {
            let terminal = acp::Terminal::new(id.to_owned());
            fields = fields.content(vec![acp::ToolCallContent::Terminal(terminal)]);
            let info = rpc::to_value(&TerminalInfo { terminal_id: id, cwd: &self.cwd });
            meta.get_or_insert_default().insert("terminal_info".to_owned(), info);
        } else if !shown.content.is_empty() {
            fields = fields.content(shown.content);
        }
        (acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(id.to_owned(), fields).meta(meta)), None)
    }

    fn call_completed(&mut self, id: &str, result: &str) -> Updates {
        let details = self.details.remove(id);
        let known = self.calls.remove(id).unwrap_or_default();
        let failed = details.as_ref().is_some_and(|details| details.is_error);
        let status = if failed { acp::ToolCallStatus::Failed } else { acp::ToolCallStatus::Completed };
        let output =
            details.and_then(|details| details.tool_use_result).unwrap_or_else(|| bounded(result).into());
        let mut fields = acp::ToolCallUpdateFields::new().status(status);
        let mut meta = None;
        let is_edit = tools::kind(&known.tool) == acp::ToolKind::Edit;
        if known.is_terminal {
            let output = TerminalOutput { terminal_id: id, data: bounded(result) };
            let exit = TerminalExit { terminal_id: id, exit_code: failed.into(), signal: None };
            meta = Some(Map::from_iter([
                ("terminal_output".to_owned(), rpc::to_value(&output)),
                ("terminal_exit".to_owned(), rpc::to_value(&exit)),
            ]));
        } else if !result.is_empty() && (failed || !is_edit) {
            let text = bounded(result);
            let text = if tools::kind(&known.tool) == acp::ToolKind::Execute { fenced(&text) } else { text };
            fields = fields.content(vec![text_block(text).into_content()]);
        }
        // Output that was cut is not repeated in full.
        if output.to_string().len() <= crate::limits::TEXT_BYTES_MAX {
            fields = fields.raw_output(output);
        }
        let update = acp::ToolCallUpdate::new(id.to_owned(), fields).meta(meta);
        vec![(acp::SessionUpdate::ToolCallUpdate(update), None)]
    }

    /// An update of a call that the editor knows.
    fn call_update(
        &self,
        id: &str,
        fields: acp::ToolCallUpdateFields,
        meta: Option<Map<String, Value>>,
    ) -> Updates {
        if !self.calls.contains_key(id) {
            return Vec::new();
        }
        let update = acp::ToolCallUpdate::new(id.to_owned(), fields).meta(meta);
        vec![(acp::SessionUpdate::ToolCallUpdate(update), None)]
    }

    /// Calls that will not run. Text cannot be taken back in this version of the protocol; the text that
    /// replaces it is another message.
    fn retracted(&mut self, calls: &[String]) -> Updates {
        self.message = None;
        let mut updates = Vec::new();
        for id in calls {
            let fields = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Failed);
            updates.extend(self.call_update(id, fields, None));
            self.calls.remove(id);
        }
        updates
    }

    fn usage(&mut self, result: &TurnResult) -> Updates {
        let models = result.model_usage.as_ref().and_then(Value::as_object);
        let size =
            models.into_iter().flatten().filter_map(|(_, usage)| usage["contextWindow"].as_u64()).max();
        self.context_size = size.or(self.context_size);
        // The usage of a turn is the sum of its requests; it is zero after an interrupt.
        let of_turn = result.usage.as_ref().map(all_tokens).filter(|tokens| *tokens > 0);
        let Some((used, size)) = self.context.used.or(of_turn).zip(self.context_size) else {
            return Vec::new();
        };
        let cost = result.cost_usd.map(|dollars| acp::Cost::new(dollars, "USD"));
        vec![(acp::SessionUpdate::UsageUpdate(acp::UsageUpdate::new(used, size).cost(cost)), None)]
    }

    fn settings(
        &mut self,
        mode: Option<String>,
        model: Option<String>,
        commands: Option<Vec<String>>,
    ) -> Updates {
        let mut updates = Vec::new();
        let new_mode = mode.filter(|mode| *mode != self.state.mode);
        let new_model = model.filter(|model| self.state.model.as_ref() != Some(model));
        let has_changed = new_mode.is_some() || new_model.is_some();
        if let Some(mode) = new_mode {
            self.state.mode.clone_from(&mode);
            updates.push((acp::SessionUpdate::CurrentModeUpdate(acp::CurrentModeUpdate::new(mode)), None));
        }
        self.state.model = new_model.or(self.state.model.take());
        if has_changed {
            updates.push((self.options_update(), None));
        }
        if let Some(commands) = commands.filter(|commands| *commands != self.state.commands) {
            self.state.commands = commands;
            updates.push((self.commands_update(), None));
        }
        updates
    }

    fn options_update(&self) -> acp::SessionUpdate {
        acp::SessionUpdate::ConfigOptionUpdate(acp::ConfigOptionUpdate::new(self.state.options()))
    }

    fn commands_update(&self) -> acp::SessionUpdate {
        let commands = self.state.commands.iter().map(|name| acp::AvailableCommand::new(name.clone(), ""));
        acp::SessionUpdate::AvailableCommandsUpdate(acp::AvailableCommandsUpdate::new(commands.collect()))
    }

    fn notice_update(&self, severity: &str, title: &str) -> acp::SessionUpdate {
        if !self.features.notices {
            let text = if severity == "error" { format!("Error: {title}\n") } else { format!("{title}\n") };
            return acp::SessionUpdate::AgentMessageChunk(acp::ContentChunk::new(text_block(text)));
        }
        let severity = match severity {
            "error" => acp::NoticeSeverity::Error,
            "warning" => acp::NoticeSeverity::Warning,
            _ => acp::NoticeSeverity::Info,
        };
        acp::SessionUpdate::Notice(acp::Notice::new(severity, title))
    }
}

fn all_tokens(usage: &TokenUsage) -> u64 {
    usage.input_tokens
        + usage.output_tokens
        + usage.cache_creation_input_tokens
        + usage.cache_read_input_tokens
}

/// The sub-agent that an update belongs to.
fn lane_meta(lane: Option<&str>) -> Option<Map<String, Value>> {
    lane.map(|agent| meta::meta("parentToolCallId", agent))
}

fn plan(list: &TodoList) -> acp::SessionUpdate {
    let entries = list.items.iter().filter_map(|item| {
        let status = match item.status {
            TodoStatus::Pending => acp::PlanEntryStatus::Pending,
            TodoStatus::InProgress => acp::PlanEntryStatus::InProgress,
            TodoStatus::Completed => acp::PlanEntryStatus::Completed,
            // The protocol has no word for an item that was abandoned, nor for a status of a later version.
            _ => return None,
        };
        Some(acp::PlanEntry::new(item.content.clone(), acp::PlanEntryPriority::Medium, status))
    });
    acp::SessionUpdate::Plan(acp::Plan::new(entries.collect()))
}

/// Output of a command as a block of Markdown, whose fence is longer than any in the output.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}console\n{}\n{fence}", text.trim_end_matches('\n'))
}
