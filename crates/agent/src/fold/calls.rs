//! Tool calls without a result, and the text of results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_protocol::json::Raw;
use tidings_protocol::tools::{ToolFamily, canonical_name, family};
use tidings_protocol::ui::{ToolDetails, ToolProgress, UiMessage};

use super::limits::{CALLS_MAX, TOOL_PROGRESS_EVERY_MS};
use super::out::Out;
use super::read::{Members, tree};

/// The calls without a result, by id.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Calls {
    open: BTreeMap<String, Call>,
    /// Calls of this turn that have ended, so that a repeated frame changes nothing.
    done: Vec<String>,
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) name: String,
    /// The sub-agent that made it.
    pub(super) agent: Option<String>,
    /// Its input, if later events depend on it.
    pub(super) input: Option<Value>,
    /// Start time, from the ticks.
    since_ms: Option<i64>,
    /// Time of the last progress report.
    #[serde(rename = "told_ms")]
    reported_ms: Option<i64>,
}

impl Calls {
    /// A call begins, unless it has begun already.
    pub(super) fn begin(
        &mut self,
        tool_use_id: &str,
        name: &str,
        input: Value,
        now_ms: Option<i64>,
        out: &mut Out<'_>,
    ) {
        if self.has_begun(tool_use_id) || self.open.len() >= CALLS_MAX {
            return;
        }
        let needed = matches!(family(name), ToolFamily::Task | ToolFamily::SubAgent | ToolFamily::Plan);
        let call = Call {
            name: name.to_owned(),
            agent: out.agent.map(str::to_owned),
            input: needed.then(|| input.clone()),
            since_ms: now_ms,
            reported_ms: now_ms,
        };
        self.open.insert(tool_use_id.to_owned(), call);
        let session_id = out.handle;
        out.push(UiMessage::ToolExecuting {
            tool_use_id: tool_use_id.to_owned(),
            tool_name: name.to_owned(),
            input,
            session_id,
        });
    }

    /// Replaces the input of a call by the one that the user edited.
    pub(super) fn change(&mut self, tool_use_id: &str, input: &Value) {
        if let Some(known) = self.open.get_mut(tool_use_id).and_then(|call| call.input.as_mut()) {
            known.clone_from(input);
        }
    }

    /// True if a call has begun, in this turn or before.
    pub(super) fn has_begun(&self, tool_use_id: &str) -> bool {
        self.open.contains_key(tool_use_id) || self.done.iter().any(|done| done == tool_use_id)
    }

    /// A call without a result.
    pub(super) fn get(&self, tool_use_id: &str) -> Option<&Call> {
        self.open.get(tool_use_id)
    }

    /// Ends a call; returns it if it had no result before.
    pub(super) fn end(&mut self, ended: CallResult<'_>, out: &mut Out<'_>) -> Option<Call> {
        let CallResult { tool_use_id, is_error, result, details } = ended;
        if self.done.iter().any(|done| done == tool_use_id) {
            return None;
        }
        let call = self.open.remove(tool_use_id);
        if self.done.len() < CALLS_MAX {
            self.done.push(tool_use_id.to_owned());
        }
        let session_id = out.handle;
        let mut event = ToolDetails::new(session_id, tool_use_id, is_error);
        event.tool_name = call.as_ref().map(|call| call.name.clone());
        event.tool_use_result = details;
        out.push(event);
        out.push(UiMessage::ToolCompleted { tool_use_id: tool_use_id.to_owned(), result, session_id });
        call
    }

    /// Drops calls that are void.
    pub(super) fn forget(&mut self, tool_use_ids: &[String]) {
        self.open.retain(|id, _| !tool_use_ids.contains(id));
    }

    /// Ends the remaining calls of the main conversation at the end of a turn.
    pub(super) fn end_turn(&mut self, why: &str, out: &mut Out<'_>) {
        let left: Vec<String> =
            self.open.iter().filter(|(_, call)| call.agent.is_none()).map(|(id, _)| id.clone()).collect();
        for tool_use_id in left {
            let ended = CallResult {
                tool_use_id: &tool_use_id,
                is_error: true,
                result: why.to_owned(),
                details: None,
            };
            self.end(ended, out);
        }
        self.done.clear();
    }

    /// Ends all calls, each in its lane, after the process has ended.
    pub(super) fn end_all(&mut self, why: &str, out: &mut Out<'_>) {
        self.end_turn(why, out);
        for (tool_use_id, call) in std::mem::take(&mut self.open) {
            let mut lane = Out { events: &mut *out.events, handle: out.handle, agent: call.agent.as_deref() };
            let ended = CallResult {
                tool_use_id: &tool_use_id,
                is_error: true,
                result: why.to_owned(),
                details: None,
            };
            self.end(ended, &mut lane);
        }
        self.done.clear();
    }

    /// Reports how long calls have been running.
    pub(super) fn tick(&mut self, now_ms: i64, out: &mut Out<'_>) {
        for (tool_use_id, call) in &mut self.open {
            let since = *call.since_ms.get_or_insert(now_ms);
            let reported = *call.reported_ms.get_or_insert(now_ms);
            if now_ms.saturating_sub(reported) < TOOL_PROGRESS_EVERY_MS {
                continue;
            }
            call.reported_ms = Some(now_ms);
            let mut lane = Out { events: &mut *out.events, handle: out.handle, agent: call.agent.as_deref() };
            let seconds = seconds(now_ms.saturating_sub(since));
            lane.push(ToolProgress::new(out.handle, tool_use_id.as_str(), call.name.as_str(), seconds));
        }
    }
}

impl Call {
    /// True if the call starts a sub-agent.
    pub(super) fn starts_agent(&self) -> bool {
        canonical_name(&self.name) == "Agent"
    }
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct CallResult<'a> {
    pub(super) tool_use_id: &'a str,
    pub(super) is_error: bool,
    pub(super) result: String,
    pub(super) details: Option<Value>,
}

/// The text of a tool result: a string, the texts in a list of blocks, or the JSON text of any other value.
pub(super) fn result_text(content: Option<Raw<'_>>) -> String {
    let Some(content) = content.filter(|content| !content.is_null()) else { return String::new() };
    if let Some(text) = content.text() {
        return text.get().into_owned();
    }
    if !content.is_array() {
        return content.as_str().to_owned();
    }
    let parts: Vec<String> = content.items().map(block_text).collect();
    parts.join("\n")
}

fn block_text(block: Raw<'_>) -> String {
    let kind = block.string("type").unwrap_or_default();
    match &*kind {
        "text" => block.string("text").unwrap_or_default(),
        "image" => "[image]".to_owned(),
        "document" => format!("[{}]", block.string("title").unwrap_or_else(|| "document".to_owned())),
        "tool_reference" => block.string("tool_name").unwrap_or_default(),
        "web_search_result" | "search_result" => {
            let named = ["title", "url", "source"].iter().filter_map(|key| block.string(key));
            named.collect::<Vec<_>>().join(" ")
        }
        _ => block.as_str().to_owned(),
    }
}

/// The structured result of a tool, if there is one.
pub(super) fn details(raw: Option<Raw<'_>>) -> Option<Value> {
    raw.filter(|raw| !raw.is_null()).map(tree)
}

#[expect(clippy::cast_precision_loss, reason = "a call does not run for millions of years")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}
