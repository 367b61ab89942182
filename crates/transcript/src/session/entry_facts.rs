//! The index data of one entry, collected in one pass over its keys.

use std::borrow::Cow;

use jiff::Timestamp;
use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::view::Block;

use super::node::{self, EntryRole, hash};
use super::{CommandTags, Trigger};

/// The index data of an entry.
#[derive(Debug)]
pub(super) struct EntryFacts<'a> {
    pub(super) part: EntryRole,
    pub(super) flags: u16,
    pub(super) dialect: Dialect,
    pub(super) at: Option<Timestamp>,
    pub(super) response: Option<Cow<'a, str>>,
    pub(super) parent: NamedParent<'a>,
    pub(super) calls: Vec<CallFacts<'a>>,
    pub(super) results: Vec<ResultFacts<'a>>,
    pub(super) compaction: Option<CompactionFacts<'a>>,
    /// Hash of a sub-agent's prompt.
    pub(super) prompt_hash: Option<u64>,
    pub(super) forked_from: Option<(Cow<'a, str>, Cow<'a, str>)>,
    /// An unusual `userType`.
    pub(super) user_type: Option<Cow<'a, str>>,
}

/// The parent that an entry names.
#[derive(Debug, PartialEq)]
pub(super) enum NamedParent<'a> {
    /// `null`: a root.
    Root,
    /// No such key: it follows the line before.
    Implied,
    Parent(Cow<'a, str>),
}

/// A tool call.
#[derive(Debug)]
pub(super) struct CallFacts<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    /// Data about the sub-agent that it starts.
    pub(super) launch: Option<LaunchFacts<'a>>,
}

#[derive(Debug)]
pub(super) struct LaunchFacts<'a> {
    pub(super) agent_type: Option<Cow<'a, str>>,
    pub(super) description: Option<Cow<'a, str>>,
    pub(super) prompt_hash: Option<u64>,
}

/// A tool result.
#[derive(Debug)]
pub(super) struct ResultFacts<'a> {
    /// `None` in the flat dialect.
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) is_error: bool,
    /// The entry that contains the call, according to the result.
    pub(super) source: Option<Cow<'a, str>>,
    /// The sub-agent that it came from, and its state.
    pub(super) agent: Option<(Cow<'a, str>, AgentState)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentState {
    Done,
    InBackground,
}

#[derive(Debug, Default)]
pub(super) struct CompactionFacts<'a> {
    pub(super) step: CompactionStep,
    pub(super) trigger: Option<Trigger>,
    pub(super) pre_tokens: Option<u64>,
    pub(super) post_tokens: Option<u64>,
    pub(super) total_messages: Option<u64>,
    pub(super) preserved_messages: Option<u64>,
    pub(super) anchor: Option<Cow<'a, str>>,
    pub(super) preserved: Vec<Cow<'a, str>>,
    /// First and last preserved entry, if they are not listed.
    pub(super) segment: Option<(Cow<'a, str>, Cow<'a, str>)>,
}

/// The step of a compaction that an entry records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CompactionStep {
    /// The boundary between two epochs.
    #[default]
    Boundary,
    /// The start of a compaction.
    Beginning,
    /// The summary of the earlier conversation.
    Summary,
    /// Anything else, such as an undone compaction.
    Other,
}

/// Returns true for tools that start sub-agents, by their current and earlier names.
pub(super) fn starts_agents(tool: &str) -> bool {
    matches!(tool, "Agent" | "Task")
}

/// Top-level keys that the head of an [`EntryRef`] does not contain.
#[derive(Default)]
struct EntryKeys<'a> {
    parent: Option<Raw<'a>>,
    result: Option<Raw<'a>>,
    source: Option<Raw<'a>>,
    metadata: Option<Raw<'a>>,
    forked_from: Option<Raw<'a>>,
    user_type: Option<Raw<'a>>,
    origin: Option<Raw<'a>>,
    prompt_source: Option<Raw<'a>>,
    flags: u16,
    is_summary: bool,
}

impl<'a> EntryKeys<'a> {
    fn of(entry: &EntryRef<'a>) -> Self {
        let mut keys = EntryKeys::default();
        for (key, value) in entry.json().members() {
            let set = |flag| if value.bool() == Some(true) { flag } else { 0 };
            match &*key.get() {
                "parentUuid" => keys.parent = Some(value),
                "toolUseResult" => keys.result = Some(value),
                "sourceToolAssistantUUID" => keys.source = Some(value),
                "compactMetadata" | "metadata" => keys.metadata = Some(value),
                "forkedFrom" => keys.forked_from = Some(value),
                "userType" => keys.user_type = Some(value),
                "origin" => keys.origin = Some(value),
                "promptSource" => keys.prompt_source = Some(value),
                "isDeleted" => keys.flags |= set(node::DELETED),
                "isAborted" | "isAbortedMidStream" => keys.flags |= set(node::ABORTED),
                "isError" | "isApiErrorMessage" => keys.flags |= set(node::ERROR),
                "is_active" | "isActive" => keys.flags |= set(node::MARKED_ACTIVE),
                "isCompactSummary" => keys.is_summary = value.bool() == Some(true),
                _ => {}
            }
        }
        keys
    }
}

impl<'a> EntryFacts<'a> {
    pub(super) fn of(entry: &EntryRef<'a>) -> Self {
        let keys = EntryKeys::of(entry);
        let mut facts = EntryFacts {
            part: EntryRole::Other,
            flags: keys.flags,
            dialect: entry.dialect(),
            at: entry.timestamp().and_then(|time| when(&time)),
            response: None,
            parent: match entry.parent_uuid() {
                Some(uuid) => NamedParent::Parent(uuid),
                None if keys.parent.is_some() => NamedParent::Root,
                None => NamedParent::Implied,
            },
            calls: Vec::new(),
            results: Vec::new(),
            compaction: None,
            prompt_hash: None,
            forked_from: keys.forked_from.and_then(|from| pair(from, "sessionId", "messageUuid")),
            user_type: keys.user_type.and_then(string).filter(|kind| kind != "external"),
        };
        facts.set(node::SIDECHAIN, entry.is_sidechain());
        facts.set(node::META, entry.is_meta());
        facts.part = match entry.kind() {
            EntryKind::User | EntryKind::Human | EntryKind::ToolResult => facts.user(entry, &keys),
            EntryKind::Assistant => facts.assistant(entry),
            EntryKind::System => facts.system(entry, &keys),
            EntryKind::CompactSystem | EntryKind::CompactPrelude | EntryKind::CompactRecap => {
                facts.compact(entry, &keys)
            }
            EntryKind::Attachment => EntryRole::Attachment,
            EntryKind::Progress => EntryRole::Progress,
            _ => EntryRole::Other,
        };
        facts
    }

    fn set(&mut self, flag: u16, on: bool) {
        if on {
            self.flags |= flag;
        }
    }

    fn user(&mut self, entry: &EntryRef<'a>, keys: &EntryKeys<'a>) -> EntryRole {
        let mut head: Option<Cow<'a, str>> = None;
        for block in entry.content_blocks() {
            match block {
                Block::ToolResult { tool_use_id, is_error, .. } => {
                    let agent = keys.result.and_then(agent_of);
                    self.set(node::ERROR, is_error);
                    let source = keys.source.and_then(string);
                    self.results.push(ResultFacts { id: Some(tool_use_id.get()), is_error, source, agent });
                }
                Block::Text(text) if head.is_none() => head = Some(text.get()),
                _ => {}
            }
        }
        self.set(node::TEXT, head.as_deref().is_some_and(|text| !text.trim().is_empty()));
        if keys.is_summary {
            self.compaction =
                Some(CompactionFacts { step: CompactionStep::Summary, ..CompactionFacts::default() });
            return EntryRole::CompactSummary;
        }
        if !self.results.is_empty() || entry.kind() == EntryKind::ToolResult {
            return EntryRole::ToolResult;
        }
        if entry.is_meta() {
            return EntryRole::Injected;
        }
        let text = head.unwrap_or_default();
        if entry.is_sidechain() {
            self.prompt_hash = Some(hash(text.trim()));
        }
        self.said_by_user(&text, keys)
    }

    fn said_by_user(&mut self, text: &str, keys: &EntryKeys<'_>) -> EntryRole {
        let text = text.trim_start();
        if let Some(tags) = CommandTags::parse(text) {
            let Some(name) = &tags.name else { return EntryRole::CommandOutput };
            self.set(node::ASKS_TO_COMPACT, name.trim_start_matches('/') == "compact");
            return EntryRole::Command;
        }
        if self.dialect != Dialect::Real
            && let Some(command) = plain_command(text)
        {
            self.set(node::ASKS_TO_COMPACT, command == "compact");
            return EntryRole::Command;
        }
        let origin = keys.origin.and_then(|origin| origin.get("kind")).and_then(string);
        let source = keys.prompt_source.and_then(string);
        if text.starts_with("[Request interrupted by user") {
            EntryRole::Interruption
        } else if text.starts_with("<bash-stdout>") || text.starts_with("<bash-stderr>") {
            EntryRole::CommandOutput
        } else if origin.is_some_and(|kind| kind != "human" && kind != "user")
            || source.as_deref() == Some("system")
        {
            EntryRole::Notification
        } else {
            EntryRole::Prompt
        }
    }

    fn assistant(&mut self, entry: &EntryRef<'a>) -> EntryRole {
        let said = entry.message_view();
        self.response = said.message_id.map(Text::get).filter(|id| !id.is_empty());
        let has_text = said.blocks().any(|block| matches!(block, Block::Text(_)));
        self.set(node::TEXT, has_text);
        for call in entry.tool_calls() {
            let launch = starts_agents(&call.name).then(|| LaunchFacts {
                agent_type: call.input.get("subagent_type").and_then(string),
                description: call.input.get("description").and_then(string),
                prompt_hash: call.input.get("prompt").and_then(string).map(|text| hash(text.trim())),
            });
            self.set(node::CALLS, true);
            self.set(node::DELEGATES, launch.is_some());
            self.calls.push(CallFacts { id: call.id, name: call.name, launch });
        }
        // The client writes an assistant entry when the API fails.
        let by_client = said.model.is_some_and(|model| model.get() == "<synthetic>");
        self.set(node::SYNTHETIC, by_client);
        if by_client && self.flags & node::ERROR != 0 { EntryRole::Error } else { EntryRole::Response }
    }

    fn system(&mut self, entry: &EntryRef<'a>, keys: &EntryKeys<'a>) -> EntryRole {
        self.set(node::TEXT, entry.message_view().content.is_some());
        let subtype = entry.subtype();
        match subtype.as_deref() {
            Some("compact_boundary") => {
                self.compaction = Some(boundary(keys.metadata));
                return EntryRole::Compaction;
            }
            Some("api_error" | "error") => self.set(node::ERROR, true),
            _ => {}
        }
        let results = entry.tool_results();
        if !results.is_empty() {
            self.results.extend(results.into_iter().map(|result| ResultFacts {
                id: result.tool_use_id,
                source: None,
                is_error: result.is_error,
                agent: None,
            }));
            return EntryRole::ToolResult;
        }
        match subtype.as_deref() {
            _ if self.flags & node::ERROR != 0 => EntryRole::Error,
            Some("local_command") => EntryRole::CommandOutput,
            _ => EntryRole::Event,
        }
    }

    fn compact(&mut self, entry: &EntryRef<'a>, keys: &EntryKeys<'a>) -> EntryRole {
        self.set(node::TEXT, true);
        let mut facts = boundary(keys.metadata);
        let operation = entry.get("message").and_then(string);
        facts.step = match (entry.kind(), operation.as_deref()) {
            (EntryKind::CompactPrelude, _) | (_, Some("conversation_compacted")) => CompactionStep::Boundary,
            (EntryKind::CompactRecap, _) => CompactionStep::Summary,
            (_, Some("conversation_compacting")) => CompactionStep::Beginning,
            _ => CompactionStep::Other,
        };
        let is_summary = facts.step == CompactionStep::Summary;
        self.compaction = Some(facts);
        if is_summary { EntryRole::CompactSummary } else { EntryRole::Compaction }
    }
}

/// A command in the flat dialect, which has no tags for it: `/compact`, with or without arguments.
fn plain_command(text: &str) -> Option<&str> {
    let word = text.strip_prefix('/')?.split_whitespace().next()?;
    word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')).then_some(word)
}

/// The sub-agent in a tool's structured output.
fn agent_of(result: Raw<'_>) -> Option<(Cow<'_, str>, AgentState)> {
    if !result.is_object() {
        return None;
    }
    let (mut id, mut running) = (None, AgentState::Done);
    for (key, value) in result.members() {
        match &*key.get() {
            "agentId" => id = string(value),
            "isAsync" if value.bool() == Some(true) => running = AgentState::InBackground,
            _ => {}
        }
    }
    Some((id?, running))
}

fn boundary(metadata: Option<Raw<'_>>) -> CompactionFacts<'_> {
    let mut facts = CompactionFacts::default();
    for (key, value) in metadata.into_iter().flat_map(Raw::members) {
        match &*key.get() {
            "trigger" => {
                facts.trigger = match string(value).as_deref() {
                    Some("manual") => Some(Trigger::Manual),
                    Some("auto") => Some(Trigger::Auto),
                    _ => None,
                }
            }
            "preTokens" => facts.pre_tokens = value.u64(),
            "postTokens" => facts.post_tokens = value.u64(),
            "totalMessages" => facts.total_messages = value.u64(),
            // A number in the flat dialect.
            "preservedMessages" if value.u64().is_some() => facts.preserved_messages = value.u64(),
            "preservedMessages" => {
                facts.anchor = value.get("anchorUuid").and_then(string).or(facts.anchor);
                let list = |key| value.get(key).into_iter().flat_map(Raw::items).filter_map(string).collect();
                facts.preserved = list("allUuids");
                if facts.preserved.is_empty() {
                    facts.preserved = list("uuids");
                }
            }
            "preservedSegment" => {
                facts.segment = pair(value, "headUuid", "tailUuid");
                facts.anchor = facts.anchor.or_else(|| value.get("anchorUuid").and_then(string));
            }
            _ => {}
        }
    }
    facts
}

fn string(value: Raw<'_>) -> Option<Cow<'_, str>> {
    value.text().map(Text::get)
}

fn pair<'a>(value: Raw<'a>, first: &str, second: &str) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
    Some((value.get(first).and_then(string)?, value.get(second).and_then(string)?))
}

/// Parses the time of an entry; `None` if it is invalid. The line still has the original text.
fn when(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| {
        let millis: f64 = text.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "what is out of range saturates and is refused below"
        )]
        Timestamp::from_millisecond(millis as i64).ok()
    })
}
