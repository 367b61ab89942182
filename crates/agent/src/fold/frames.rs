//! Frames by their kind, and the kinds that are neither messages nor `system`.

use tidings_protocol::json::Raw;
use tidings_protocol::tools::canonical_name;
use tidings_protocol::ui::{
    PromptDropped, RateLimit, RawFrame, Retrying, Suggestion, ToolProgress, UiMessage,
};
use tidings_protocol::{FrameRef, Kind};

use super::Fold;
use super::out::Out;
use super::read::Members;

impl Fold {
    #[inline]
    pub(super) fn frame(&mut self, frame: &FrameRef<'_>, events: &mut Vec<UiMessage>) {
        let agent = frame.parent_tool_use_id();
        let mut out = Out { events, handle: self.handle, agent: agent.as_deref() };
        match frame.kind() {
            Kind::StreamEvent => self.stream_event(frame, &mut out),
            Kind::Assistant => self.assistant(frame, &mut out),
            Kind::User => self.user(frame, &mut out),
            Kind::Result => self.result(frame, &mut out),
            Kind::System => self.system(frame, &mut out.unwrapped()),
            Kind::ToolProgress => self.tool_progress(frame, &mut out.unwrapped()),
            // The client answers these; requests to the user come as separate inputs.
            Kind::ControlRequest
            | Kind::ControlResponse
            | Kind::ControlCancelRequest
            | Kind::KeepAlive
            | Kind::UpdateEnvironmentVariables => {}
            Kind::RateLimitEvent => rate_limit(frame, &mut out.unwrapped()),
            Kind::ToolUseSummary => out.unwrapped().system(frame.string("summary").unwrap_or_default()),
            Kind::AuthStatus => out.unwrapped().system(auth_status(frame)),
            Kind::PromptSuggestion => {
                if let Some(text) = frame.string("suggestion") {
                    out.unwrapped().push(Suggestion::new(self.handle, text));
                }
            }
            Kind::ConversationReset => out.unwrapped().system("The conversation was cleared"),
            Kind::ActiveGoal => {
                let goal = frame.member("value").and_then(|value| value.string("condition"));
                out.unwrapped().system(
                    goal.map_or_else(|| "The goal was removed".to_owned(), |goal| format!("Goal: {goal}")),
                );
            }
            // The vendor does not publish this kind.
            Kind::Unknown if frame.type_name().as_deref() == Some("command_lifecycle") => {
                self.lifecycle(frame, &mut out.unwrapped());
            }
            Kind::McpMessage | Kind::Unknown => out.unwrapped().push(raw(frame, self.handle)),
        }
    }

    fn tool_progress(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        if let Some(retry) = frame.member("subagent_retry") {
            let mut event = Retrying::new(self.handle, retry.count("attempt").unwrap_or_default());
            event.max_attempts = retry.count("max_retries");
            event.delay_ms = retry.count("retry_delay_ms");
            event.status = retry.count("error_status").and_then(|status| status.try_into().ok());
            event.error = retry.string("error_category");
            event.agent_id = frame.string("parent_tool_use_id").or_else(|| frame.string("tool_use_id"));
            return out.push(event);
        }
        let id = frame.string("tool_use_id").unwrap_or_default();
        let parent = frame.parent_tool_use_id();
        let name = frame.string("tool_name").unwrap_or_default();
        // A heartbeat, also one of a sub-agent, names the call in `parent_tool_use_id` and itself in
        // `tool_use_id`.
        let beats = |parent: &str| id.strip_prefix(parent).is_some_and(|rest| rest.starts_with("-heartbeat"));
        let of_call = parent.as_deref().filter(|parent| beats(parent) || canonical_name(&name) == "Agent");
        let agent = if of_call.is_some() { None } else { parent.as_deref() };
        let call = of_call.unwrap_or(&id);
        let seconds = frame.member("elapsed_time_seconds").and_then(Raw::f64).unwrap_or_default();
        let mut event = ToolProgress::new(self.handle, call, name, seconds);
        event.task_id = frame.string("task_id");
        Out { events: &mut *out.events, handle: out.handle, agent }.push(event);
    }

    /// Handles the life cycle of a prompt in the agent's queue.
    fn lifecycle(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let Some(uuid) = frame.string("command_uuid") else { return };
        self.state.turns.expect_lifecycle();
        match frame.string("state").as_deref() {
            Some("started") => self.state.turns.start(&uuid),
            Some(state @ ("cancelled" | "discarded" | "refused")) => {
                if let Some(turn_id) = self.state.turns.drop_prompt(&uuid) {
                    let mut event = PromptDropped::new(self.handle, uuid);
                    event.turn_id = Some(turn_id);
                    event.reason = Some(state.to_owned());
                    out.push(event);
                }
            }
            _ => {}
        }
    }
}

fn rate_limit(frame: &FrameRef<'_>, out: &mut Out<'_>) {
    let Some(info) = frame.rate_limit() else { return out.push(raw(frame, out.handle)) };
    let mut event = RateLimit::new(out.handle, info.status.as_str());
    event.kind = info.rate_limit_type.map(|kind| kind.as_str().to_owned());
    event.utilization = info.utilization;
    event.resets_at = frame.member("rate_limit_info").and_then(|info| info.get("resetsAt")?.i64());
    event.is_using_overage = info.is_using_overage;
    out.push(event);
}

fn auth_status(frame: &FrameRef<'_>) -> String {
    match frame.string("error") {
        None => format!("Signing in. {}", frame.strings("output").join("\n")),
        Some(error) => format!("Signing in failed: {error}"),
    }
}

/// The frame itself as an event.
pub(super) fn raw(frame: &FrameRef<'_>, handle: i64) -> RawFrame {
    RawFrame::new(handle, frame.name(), frame.json().as_str())
}
