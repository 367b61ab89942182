//! System frames.

use std::borrow::Cow;

use tidings_protocol::FrameRef;
use tidings_protocol::json::{Misfit, Raw, Text};
use tidings_protocol::messages::{
    ApiRetry, CliSessionState, CommandsChanged, CompactBoundary, HookResponse, InitDetails,
    LocalCommandOutput, PermissionDeniedFrame, SessionStateChangedFrame, Status, SystemView,
};
use tidings_protocol::ui::{
    Compacted, PermissionResolved, Resolution, RetractReason, Retrying, SessionPhase, SessionStarted,
    SessionTitle, SettingsChanged,
};

use super::frames::raw;
use super::limits::COMMANDS_MAX;
use super::out::Out;
use super::read::{Members, whole};
use super::user::command_output;
use super::{Fold, State};

impl Fold {
    pub(super) fn system(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) {
        if self.typed_system(frame, out).is_err() {
            out.push(raw(frame, self.handle));
        }
    }

    /// Handles a frame by its subtype; fails, before any event, if it lacks a required field.
    fn typed_system(&mut self, frame: &FrameRef<'_>, out: &mut Out<'_>) -> Result<(), Misfit> {
        match frame.system() {
            SystemView::Init(body) => self.init(frame, body.read()?, out),
            SystemView::Status(body) => self.status(frame, body.read()?, out),
            SystemView::CompactBoundary(body) => out.push(compacted(body.read()?, self.handle)),
            SystemView::ApiRetry(body) => {
                let retry = body.read()?;
                let turn_id = self.state.turns.current();
                self.state.shown.retract_unfinished(turn_id, out);
                out.push(retrying(&retry, self.handle));
            }
            SystemView::ModelRefusalFallback(body) => {
                let refusal = body.read()?;
                let retracted = refusal.retracted_message_uuids.unwrap_or_default();
                self.retract_frames(&retracted, RetractReason::Refusal, out);
                self.fallback(refusal.content, refusal.fallback_model, out);
            }
            SystemView::ModelRefusalNoFallback(body) => {
                let content = body.read()?.content.filter(|text| !text.is_empty());
                out.system(
                    content.unwrap_or_else(|| "The model refused, and there is no fallback model".to_owned()),
                );
            }
            SystemView::ModelFallback(body) => {
                let fallback = body.read()?;
                self.fallback(fallback.content, fallback.fallback_model, out);
            }
            SystemView::LocalCommandOutput(body) => self.local_command_output(body.read()?, out),
            SystemView::TaskStarted(body) => {
                let State { agents, turns, calls, .. } = &mut self.state;
                agents.task_started(body.read()?, turns.current(), calls, out);
            }
            SystemView::TaskProgress(body) => self.state.agents.task_progress(body.read()?, out),
            SystemView::TaskUpdated(body) => self.state.agents.task_updated(body.read()?, out),
            SystemView::TaskNotification(body) => {
                let notification = body.read()?;
                self.state.turns.notified = true;
                self.state.agents.task_notification(notification, out);
            }
            // The set of running tasks follows from the frames about each task.
            SystemView::BackgroundTasksChanged(_) => self.state.agents.report_ended_tasks(out),
            SystemView::ThinkingTokens(body) => {
                self.state.tokens.estimate(body.read()?.estimated_tokens, out);
            }
            SystemView::SessionStateChanged(body) => self.cli_state(&body.read()?, out),
            SystemView::CommandsChanged(body) => self.commands_changed(body.read()?, out),
            SystemView::PermissionDenied(body) => self.permission_denied(body.read()?, out),
            SystemView::SessionWritesLost(_) => {
                out.error("The disk is full: the agent could not write its session down");
            }
            SystemView::Informational(body) => out.system(body.read()?.content),
            SystemView::Notification(body) => out.system(body.read()?.text),
            SystemView::HookStarted(body) => {
                out.system(format!("Hook {} runs", body.read()?.hook_name.unwrap_or_default()));
            }
            SystemView::HookResponse(body) => out.system(hook_outcome(body.read()?)),
            SystemView::PluginInstall(body) => {
                let install = body.read()?;
                let (name, status) = (install.name.unwrap_or_default(), install.status.unwrap_or_default());
                out.system(format!("Plugin {name}: {status}"));
            }
            SystemView::FilesPersisted(_) => out.system("Files were stored"),
            SystemView::MemoryRecall(_) => out.system("Memories were recalled"),
            SystemView::ElicitationComplete(_) => out.system("A question on a web page was answered"),
            SystemView::MirrorError(body) => {
                let error = body.read()?.error.unwrap_or_default();
                out.system(format!("The session could not be mirrored: {error}"));
            }
            SystemView::WorkerShuttingDown(body) => {
                let reason = body.read()?.reason.unwrap_or_default();
                out.system(format!("The worker is shutting down: {reason}"));
            }
            SystemView::ControlRequestProgress(body) => {
                out.system(format!("A request is {}", body.read()?.status.unwrap_or_default()));
            }
            SystemView::HookProgress(_) => out.push(raw(frame, self.handle)),
            // The vendor does not publish these subtypes.
            SystemView::Unknown => match (frame.subtype().as_deref(), frame.string("title")) {
                (Some("session_title_changed"), Some(title)) => {
                    out.push(SessionTitle::new(self.handle, title));
                }
                (Some("session_title_changed"), None) => {}
                _ => out.push(raw(frame, self.handle)),
            },
        }
        Ok(())
    }

    /// Handles the agent's report of its state.
    fn cli_state(&mut self, frame: &SessionStateChangedFrame, out: &mut Out<'_>) {
        if frame.state == CliSessionState::IDLE && self.state.turns.open.is_none() {
            self.enter(SessionPhase::Idle, out);
        } else if frame.state == CliSessionState::RUNNING {
            self.enter_running(out);
        } else if frame.state == CliSessionState::REQUIRES_ACTION {
            self.enter(SessionPhase::WaitingForPerson, out);
        }
    }

    fn init(&mut self, frame: &FrameRef<'_>, init: InitDetails, out: &mut Out<'_>) {
        // Every turn begins with this frame. A turn that is still open was cut off: its process was killed,
        // and another one resumed the session.
        if !self.state.shown.is_empty() && self.state.turns.open.is_some() {
            self.break_off("The agent was ended in the middle of a turn", out);
        }
        let commands = init.slash_commands.unwrap_or_default();
        self.add_commands(&commands);
        let model = init.model;
        let permission_mode = init.permission_mode.map(|mode| mode.to_string());
        let session = &mut self.state.session;
        let id = frame.session_id().map(Cow::into_owned).unwrap_or_default();
        if session.model.is_none() || session.id.as_ref() != Some(&id) {
            let mut event = SessionStarted::new(self.handle, id.as_str());
            event.model.clone_from(&model);
            event.cwd = init.cwd;
            event.permission_mode.clone_from(&permission_mode);
            event.cli_version = init.claude_code_version;
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

    fn status(&mut self, frame: &FrameRef<'_>, status: Status, out: &mut Out<'_>) {
        self.note_started_prompts(frame);
        self.settings(None, status.permission_mode.map(|mode| mode.to_string()), out);
        // Adapters of other agents report a change of their options here.
        if let Some(options) = status.extra.get("configOptions") {
            let words = |(id, value): (Text<'_>, Raw<'_>)| {
                Some((id.get().into_owned(), value.text()?.get().into_owned()))
            };
            let mut event = SettingsChanged::new(self.handle);
            event.options = Some(options.members().filter_map(words).collect());
            out.push(event);
        }
        match status.status.as_deref() {
            Some("compacting") => self.enter(SessionPhase::Compacting, out),
            None if self.state.phase == Some(SessionPhase::Compacting) => {
                if let Some(error) = status.compact_error {
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

    fn fallback(&mut self, content: Option<String>, model: Option<String>, out: &mut Out<'_>) {
        if let Some(content) = content.filter(|content| !content.is_empty()) {
            out.system(content);
        }
        self.settings(model, None, out);
    }

    fn local_command_output(&mut self, output: LocalCommandOutput, out: &mut Out<'_>) {
        if let Some(turn) = &mut self.state.turns.open {
            turn.displayed = true;
        }
        out.display(command_output(&output.content).unwrap_or(output.content));
    }

    fn commands_changed(&mut self, changed: CommandsChanged, out: &mut Out<'_>) {
        let names: Vec<String> = changed.commands.into_iter().map(|command| command.name).collect();
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
    fn permission_denied(&mut self, denied: PermissionDeniedFrame, out: &mut Out<'_>) {
        let id = denied.tool_use_id.unwrap_or_default();
        let mut event = PermissionResolved::new(self.handle, id, Resolution::Denied);
        event.by = denied.decision_reason_type;
        event.rule = denied.decision_reason;
        event.reason = denied.message;
        out.push(event);
    }
}

fn compacted(boundary: CompactBoundary, handle: i64) -> Compacted {
    let mut event = Compacted::new(handle);
    if let Some(metadata) = boundary.compact_metadata {
        event.trigger = metadata.trigger;
        event.tokens_before = metadata.pre_tokens;
        event.tokens_after = metadata.post_tokens;
    }
    event
}

fn retrying(retry: &ApiRetry, handle: i64) -> Retrying {
    let mut event = Retrying::new(handle, retry.attempt.unwrap_or_default());
    event.max_attempts = retry.max_retries;
    event.delay_ms = retry.retry_delay_ms.and_then(whole);
    event.status = retry.error_status;
    event.error = retry.error.as_ref().map(ToString::to_string);
    event
}

fn hook_outcome(hook: HookResponse) -> String {
    let name = hook.hook_name.unwrap_or_default();
    match hook.outcome.as_deref() {
        Some("success") | None => format!("Hook {name} is done"),
        Some(outcome) => {
            let text = hook.stderr.or(hook.output).unwrap_or_default();
            format!("Hook {name}: {outcome} {}", text.trim_end())
        }
    }
}

/// The names of the tools. The `rusty_claw` wire format has objects where the CLI has names.
fn tools(frame: &FrameRef<'_>) -> Vec<String> {
    let items = frame.member("tools").into_iter().flat_map(Raw::items);
    let name =
        |item: Raw<'_>| item.text().map(|name| name.get().into_owned()).or_else(|| item.string("name"));
    items.filter_map(name).collect()
}
