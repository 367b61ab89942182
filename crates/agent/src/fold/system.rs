//! System frames, and frames of other minor types.

use std::borrow::Cow;

use tidings_protocol::json::Raw;
use tidings_protocol::tools::canonical_name;
use tidings_protocol::ui::{
    Compacted, PermissionResolved, PromptDropped, RateLimit, RawFrame, Resolution, RetractReason, Retrying,
    SessionPhase, SessionStarted, SessionTitle, SettingsChanged, Suggestion, ToolProgress,
};
use tidings_protocol::{FrameRef, Kind};

use super::limits::COMMANDS_MAX;
use super::out::Out;
use super::read::Members;
use super::user::command_output;
use super::{Fold, State};

impl Fold {
    pub(super) fn system(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let subtype = frame.subtype().unwrap_or_default();
        match &*subtype {
            "init" => self.init(frame, out),
            "status" => self.status(frame, out),
            "compact_boundary" => out.push(compacted(frame, self.handle)),
            "api_retry" => {
                let turn_id = self.state.turns.current();
                self.state.shown.retract_unfinished(turn_id, out);
                out.push(retrying(frame, self.handle));
            }
            "model_refusal_fallback" => {
                self.retract_frames(&frame.strings("retracted_message_uuids"), RetractReason::Refusal, out);
                self.fallback(frame, out);
            }
            "model_fallback" => self.fallback(frame, out),
            "local_command_output" => self.local_command_output(frame, out),
            "task_started" => {
                let State { agents, turns, calls, .. } = &mut self.state;
                agents.task_started(frame, turns.current(), calls, out);
            }
            "task_progress" => self.state.agents.task_progress(frame, out),
            "task_updated" => self.state.agents.task_updated(frame, out),
            "task_notification" => {
                self.state.turns.notified = true;
                self.state.agents.task_notification(frame, out);
            }
            // The set of running tasks follows from the frames about each task.
            "background_tasks_changed" => self.state.agents.report_ended_tasks(out),
            "thinking_tokens" => {
                let tokens = frame.count("estimated_tokens").unwrap_or_default();
                self.state.tokens.estimate(tokens, out);
            }
            "session_state_changed" => match frame.string("state").as_deref() {
                Some("idle") if self.state.turns.open.is_none() => self.enter(SessionPhase::Idle, out),
                Some("running") => self.enter_running(out),
                Some("requires_action") => self.enter(SessionPhase::WaitingForPerson, out),
                _ => {}
            },
            "commands_changed" => self.commands_changed(frame, out),
            "session_title_changed" => {
                if let Some(title) = frame.string("title") {
                    out.push(SessionTitle::new(self.handle, title));
                }
            }
            "permission_denied" => self.permission_denied(frame, out),
            "session_writes_lost" => {
                out.error("The disk is full: the agent could not write its session down");
            }
            _ => match log_message(&subtype, frame) {
                Some(message) => out.system(message),
                None => out.push(raw(frame, self.handle)),
            },
        }
    }

    /// Handles frames that are neither messages nor `system`.
    pub(super) fn other(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        match frame.kind() {
            Kind::RateLimitEvent => match rate_limit(frame, self.handle) {
                Some(event) => out.push(event),
                None => out.push(raw(frame, self.handle)),
            },
            Kind::ToolProgress => self.tool_progress(frame, out),
            Kind::ToolUseSummary => out.system(frame.string("summary").unwrap_or_default()),
            Kind::AuthStatus => {
                let lines = frame.strings("output").join("\n");
                let error = frame.string("error");
                out.system(error.map_or_else(
                    || format!("Signing in. {lines}"),
                    |error| format!("Signing in failed: {error}"),
                ));
            }
            Kind::PromptSuggestion => {
                if let Some(text) = frame.string("suggestion") {
                    out.push(Suggestion::new(self.handle, text));
                }
            }
            Kind::ConversationReset => out.system("The conversation was cleared"),
            Kind::ActiveGoal => {
                let goal = frame.member("value").and_then(|value| value.string("condition"));
                out.system(
                    goal.map_or_else(|| "The goal was removed".to_owned(), |goal| format!("Goal: {goal}")),
                );
            }
            _ if frame.type_name().as_deref() == Some("command_lifecycle") => self.lifecycle(frame, out),
            _ => out.push(raw(frame, self.handle)),
        }
    }

    fn init(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        // Every turn begins with this frame. A turn that is still open was cut off: its process was killed,
        // and another one resumed the session.
        if !self.state.shown.is_empty() && self.state.turns.open.is_some() {
            self.break_off("The agent was ended in the middle of a turn", out);
        }
        let commands = frame.strings("slash_commands");
        self.add_commands(&commands);
        let model = frame.string("model");
        let permission_mode = frame.string("permissionMode");
        let session = &mut self.state.session;
        let id = frame.session_id().map(Cow::into_owned).unwrap_or_default();
        if session.model.is_none() || session.id.as_ref() != Some(&id) {
            let mut event = SessionStarted::new(self.handle, id.as_str());
            event.model.clone_from(&model);
            event.cwd = frame.string("cwd");
            event.permission_mode.clone_from(&permission_mode);
            event.cli_version = frame.string("claude_code_version");
            event.tools = tools(frame);
            event.slash_commands = commands;
            out.push(event);
            session.id = Some(id);
            session.model = model;
            session.permission_mode = permission_mode;
        } else {
            self.settings(model, permission_mode, out);
        }
        self.begin_turn(out);
    }

    /// Reports settings that changed.
    fn settings(&mut self, model: Option<String>, permission_mode: Option<String>, out: &mut Out<'_>) {
        let session = &mut self.state.session;
        let mut event = SettingsChanged::new(self.handle);
        if model.is_some() && model != session.model {
            session.model.clone_from(&model);
            event.model = model;
        }
        if permission_mode.is_some() && permission_mode != session.permission_mode {
            session.permission_mode.clone_from(&permission_mode);
            event.permission_mode = permission_mode;
        }
        if event.model.is_some() || event.permission_mode.is_some() {
            out.push(event);
        }
    }

    fn status(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        self.note_started_prompts(frame);
        self.settings(None, frame.string("permissionMode"), out);
        match frame.string("status").as_deref() {
            Some("compacting") => self.enter(SessionPhase::Compacting, out),
            None if self.state.phase == Some(SessionPhase::Compacting) => {
                if let Some(error) = frame.string("compact_error") {
                    out.error(error);
                }
                self.enter(self.resting_phase(), out);
            }
            _ => {}
        }
    }

    /// Handles the agent's report that it is running, which it also sends while it waits for the user.
    fn enter_running(&mut self, out: &mut Out<'_>) {
        if self.state.asks.is_empty() {
            self.enter(SessionPhase::Running, out);
        }
    }

    fn fallback(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        if let Some(content) = frame.string("content").filter(|content| !content.is_empty()) {
            out.system(content);
        }
        self.settings(frame.string("fallback_model"), None, out);
    }

    fn local_command_output(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let content = frame.string("content").unwrap_or_default();
        if let Some(turn) = &mut self.state.turns.open {
            turn.displayed = true;
        }
        out.display(command_output(&content).unwrap_or(content));
    }

    fn commands_changed(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let commands = frame.member("commands").into_iter().flat_map(Raw::items);
        let names: Vec<String> = commands.filter_map(|command| command.string("name")).collect();
        self.state.session.commands.clear();
        self.add_commands(&names);
        let mut event = SettingsChanged::new(self.handle);
        event.slash_commands = Some(names);
        out.push(event);
    }

    fn add_commands(&mut self, names: &[String]) {
        let room = COMMANDS_MAX.saturating_sub(self.state.session.commands.len());
        self.state.session.commands.extend(names.iter().take(room).cloned());
    }

    /// Handles a tool call that a rule denied without asking the user.
    fn permission_denied(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        let id = frame.string("tool_use_id").unwrap_or_default();
        let mut event = PermissionResolved::new(self.handle, id, Resolution::Denied);
        event.by = frame.string("decision_reason_type");
        event.rule = frame.string("decision_reason");
        event.reason = frame.string("message");
        out.push(event);
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

/// A log message for frames that need no event of their own.
fn log_message(subtype: &str, frame: &FrameRef<'_>) -> Option<String> {
    let name = || frame.string("hook_name").unwrap_or_default();
    Some(match subtype {
        "informational" => frame.string("content")?,
        "model_refusal_no_fallback" => {
            let content = frame.string("content").filter(|text| !text.is_empty());
            content.unwrap_or_else(|| "The model refused, and there is no fallback model".to_owned())
        }
        "notification" => frame.string("text")?,
        "hook_started" => format!("Hook {} runs", name()),
        "hook_response" => match frame.string("outcome").as_deref() {
            Some("success") | None => format!("Hook {} is done", name()),
            Some(outcome) => {
                let text = frame.string("stderr").or_else(|| frame.string("output")).unwrap_or_default();
                format!("Hook {}: {outcome} {}", name(), text.trim_end())
            }
        },
        "plugin_install" => {
            let status = frame.string("status").unwrap_or_default();
            format!("Plugin {}: {status}", frame.string("name").unwrap_or_default())
        }
        "files_persisted" => "Files were stored".to_owned(),
        "memory_recall" => "Memories were recalled".to_owned(),
        "elicitation_complete" => "A question on a web page was answered".to_owned(),
        "mirror_error" => {
            format!("The session could not be mirrored: {}", frame.string("error").unwrap_or_default())
        }
        "worker_shutting_down" => {
            format!("The worker is shutting down: {}", frame.string("reason").unwrap_or_default())
        }
        "control_request_progress" => format!("A request is {}", frame.string("status").unwrap_or_default()),
        _ => return None,
    })
}

fn compacted(frame: &FrameRef<'_>, handle: i64) -> Compacted {
    let mut event = Compacted::new(handle);
    if let Some(metadata) = frame.member("compact_metadata") {
        event.trigger = metadata.string("trigger");
        event.tokens_before = metadata.count("pre_tokens");
        event.tokens_after = metadata.count("post_tokens");
    }
    event
}

fn retrying(frame: &FrameRef<'_>, handle: i64) -> Retrying {
    let mut event = Retrying::new(handle, frame.count("attempt").unwrap_or_default());
    event.max_attempts = frame.count("max_retries");
    event.delay_ms = frame.count("retry_delay_ms");
    event.status = frame.count("error_status").and_then(|status| status.try_into().ok());
    event.error = frame.string("error");
    event
}

fn rate_limit(frame: &FrameRef<'_>, handle: i64) -> Option<RateLimit> {
    let info = frame.rate_limit()?;
    let mut event = RateLimit::new(handle, info.status.as_str());
    event.kind = info.rate_limit_type.map(|kind| kind.as_str().to_owned());
    event.utilization = info.utilization;
    event.resets_at = frame.member("rate_limit_info").and_then(|info| info.get("resetsAt")?.i64());
    event.is_using_overage = info.is_using_overage;
    Some(event)
}

/// The names of the tools. The `rusty_claw` wire format has objects where the CLI has names.
fn tools(frame: &FrameRef<'_>) -> Vec<String> {
    let items = frame.member("tools").into_iter().flat_map(Raw::items);
    let name =
        |item: Raw<'_>| item.text().map(|name| name.get().into_owned()).or_else(|| item.string("name"));
    items.filter_map(name).collect()
}

fn raw(frame: &FrameRef<'_>, handle: i64) -> RawFrame {
    RawFrame::new(handle, frame.name(), frame.json().as_str())
}
