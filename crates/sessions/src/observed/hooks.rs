//! Messages of hooks, which the CLI runs beside its own dialogs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tidings::Decision;
use tidings_agent::UiMessage;
use tidings_agent::permissions::SessionFolder;
use tidings_agent::session::LocalAnswer;
use tidings_agent::sink::EventSink as _;
use tidings_api::{Choice, Code, Notice};
use tidings_journal::Key;
use tidings_protocol::control::CanUseTool;
use tidings_protocol::ui::{PermissionResolved, Resolution};

use super::process_check::SENTENCE;
use super::{ObservedProcess, Sessions};
use crate::limits::{CALL_NAMED_WITHIN, FOLLOW_PAUSE, SUBAGENT_HOLD};
use crate::process::Process;
use crate::running::sink::{EventSource, JournalSink};
use crate::{Error, Observe};

/// The process that sent a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSender {
    /// The process that opened the connection, if the operating system reports it.
    pub process: Option<Process>,
}

/// The message of a hook.
#[derive(Debug, Clone, Deserialize)]
pub struct HookMessage {
    input: HookInput,
    #[serde(default)]
    env: HookEnvironment,
}

/// The input that the CLI gives to a hook, as far as it is used here.
#[derive(Debug, Clone, Deserialize)]
struct HookInput {
    session_id: String,
    /// The folder in which the agent works now.
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    permission_suggestions: Option<Value>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    permission_mode: Option<String>,
}

/// Facts from the environment of the hook.
#[derive(Debug, Clone, Default, Deserialize)]
struct HookEnvironment {
    /// `0` if no person is at the session.
    #[serde(default)]
    attended: Option<String>,
}

/// A permission request of a hook. Dropping it withdraws the request.
#[derive(Debug)]
pub struct HeldRequest {
    process: Arc<ObservedProcess>,
    request_id: String,
    call: CanUseTool,
    place: SessionFolder,
    limit: Option<Duration>,
}

impl HeldRequest {
    /// Waits for the answer, and returns it as the hook's output. Without an answer it is `None`, and the
    /// dialog of the CLI decides.
    pub async fn answer(self) -> Option<Value> {
        let HeldRequest { process, request_id, call, place, limit } = self;
        let decided = process.session.decide(&request_id, &call, place);
        let decision = match limit {
            Some(limit) => tokio::time::timeout(limit, decided).await.ok().flatten(),
            None => decided.await,
        };
        output(decision?, &call)
    }
}

/// The decision as the output of a hook.
fn output(decision: Decision, call: &CanUseTool) -> Option<Value> {
    let decision = match decision {
        Decision::Allow(mut allow) => {
            let is_question = matches!(call.tool_name.as_str(), "AskUserQuestion" | "ExitPlanMode");
            if is_question && allow.updated_input.is_none() {
                // Without an input the CLI ignores the approval of a question.
                allow.updated_input = call.input().cloned();
            }
            let mut allowed = serde_json::to_value(&allow).ok()?;
            allowed["behavior"] = json!("allow");
            allowed
        }
        Decision::Deny(deny) => {
            let mut denied = serde_json::to_value(&deny).ok()?;
            denied["behavior"] = json!("deny");
            denied
        }
        _ => return None,
    };
    Some(json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
}

impl Sessions {
    /// Takes the message of a hook. A permission request waits for its answer.
    pub async fn hook(
        &self,
        sender: HookSender,
        event: &str,
        message: HookMessage,
    ) -> Result<Option<HeldRequest>, Error> {
        let HookMessage { input, env } = message;
        let _lock = self.0.observed.hooks.lock().await;
        let process = self.process_of_hook(&sender, &input.session_id).await?;
        if !process.has_hooks.swap(true, Ordering::Relaxed) {
            let entry = self.active_session(&process.key).await?.entry;
            entry.notify(Notice::Session { session: Box::new(entry.view()) });
        }
        // A sub-agent may have a mode of its own.
        if let (Some(mode), None) = (&input.permission_mode, &input.agent_id) {
            process.note_mode(mode);
        }
        // Something has happened, and the files tell what.
        process.changed.notify_one();
        self.0.observed.changed.notify_one();
        let (id, tool) = (input.tool_use_id.as_deref(), input.tool_name.as_deref());
        match (event, id, tool) {
            ("PreToolUse", Some(id), Some(tool)) => {
                process.calls().announce(id, input.agent_id.as_deref(), tool, &input.tool_input);
            }
            ("PostToolUse" | "PostToolUseFailure", Some(id), _) => {
                process.calls().end(id);
                let request = process.session.answered_locally(id, LocalAnswer::Allowed);
                process.sent.answered_locally(&request, Choice::Allow);
            }
            ("PermissionDenied", Some(id), _) => {
                process.calls().end(id);
                self.note_denial(&process.key, id, input.reason.as_deref()).await?;
            }
            ("PermissionRequest", _, Some(tool)) => {
                let is_attended = env.attended.as_deref() != Some("0");
                // A session of `claude --bg` stands still in its dialog until a person comes.
                let has_dialog = is_attended || process.running.is_background();
                let holds = |observe: &Observe| has_dialog || observe.hold_unattended;
                if self.config().observe.as_ref().is_some_and(holds) {
                    let call = process.call_of_request(&input, tool).await;
                    return self.hold(process, &input, tool, call).map(Some);
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// The process that a hook speaks for.
    async fn process_of_hook(
        &self,
        sender: &HookSender,
        cli_session: &str,
    ) -> Result<Arc<ObservedProcess>, Error> {
        if let Some(process) = self.process_if_sent_by_hook(sender, cli_session).await {
            return Ok(process);
        }
        self.look_for_processes().await?;
        self.process_if_sent_by_hook(sender, cli_session).await.ok_or_else(unknown_sender)
    }

    async fn process_if_sent_by_hook(
        &self,
        sender: &HookSender,
        cli_session: &str,
    ) -> Option<Arc<ObservedProcess>> {
        let process = self.observed().get(cli_session).cloned()?;
        let (cli, sender, sessions) = (process.running.clone(), sender.process.clone(), self.clone());
        let check = move || sessions.0.observed.hook_senders.is_hook_of(sender.as_ref(), &cli);
        let is_hook = tokio::task::spawn_blocking(check).await.unwrap_or_default();
        is_hook.then_some(process)
    }

    fn hold(
        &self,
        process: Arc<ObservedProcess>,
        input: &HookInput,
        tool: &str,
        announced: Option<String>,
    ) -> Result<HeldRequest, Error> {
        let agent_id = input.agent_id.as_deref();
        let request_id = self.config().ids.next();
        let mut call = json!({
            "tool_name": tool,
            "input": input.tool_input,
            "tool_use_id": announced.unwrap_or_else(|| request_id.clone()),
        });
        if let Some(agent_id) = agent_id {
            call["agent_id"] = json!(agent_id);
        }
        if let Some(suggestions) = &input.permission_suggestions {
            call["permission_suggestions"] = suggestions.clone();
        }
        let call = serde_json::from_value(call).map_err(|error| {
            Error::new(Code::Invalid, format!("The permission request cannot be read: {error}"), "")
        })?;
        process.note_request();
        // A sub-agent in the background shows its dialog only when its hook has ended.
        let limit = agent_id.map(|_| SUBAGENT_HOLD);
        let place = input.cwd.as_deref().map_or(SessionFolder::Unknown, SessionFolder::on_disk);
        Ok(HeldRequest { process, request_id, call, place, limit })
    }

    /// Shows that auto mode has denied a call.
    async fn note_denial(&self, key: &Key, tool_use_id: &str, reason: Option<&str>) -> Result<(), Error> {
        let entry = self.active_session(key).await?.entry;
        let mut resolved = PermissionResolved::new(entry.handle, tool_use_id, Resolution::Denied);
        resolved.by = Some("auto mode".to_owned());
        resolved.reason = reason.map(str::to_owned);
        let sink = JournalSink(entry, EventSource::Files);
        let stored = sink.send_all(vec![UiMessage::from(resolved)], None).await;
        stored.map_err(|error| Error::new(Code::Internal, error.to_string(), ""))
    }
}

impl ObservedProcess {
    /// The call that a permission request is about. If its hook has not come, the file names it in a moment.
    async fn call_of_request(&self, input: &HookInput, tool: &str) -> Option<String> {
        let claim = || self.calls().claim(input.agent_id.as_deref(), tool, &input.tool_input);
        let announced = async {
            loop {
                match claim() {
                    Some(call) => return call,
                    None => tokio::time::sleep(FOLLOW_PAUSE).await,
                }
            }
        };
        tokio::time::timeout(CALL_NAMED_WITHIN, announced).await.ok()
    }
}

fn unknown_sender() -> Error {
    Error::new(Code::Forbidden, SENTENCE, "hooks of Claude Code send it; see `tidings hook status`")
}

#[cfg(test)]
mod tests {
    use tidings::control::CanUseTool;

    use super::*;

    fn call(tool: &str) -> CanUseTool {
        serde_json::from_value(json!({"tool_name": tool, "input": {"plan": "first"}})).unwrap()
    }

    #[test]
    fn an_approved_question_always_has_an_input() {
        let plan = output(Decision::allow(), &call("ExitPlanMode")).unwrap();
        assert_eq!(plan["hookSpecificOutput"]["decision"]["updatedInput"], json!({"plan": "first"}));
        let tool = output(Decision::allow(), &call("Bash")).unwrap();
        let decision = &tool["hookSpecificOutput"]["decision"];
        assert_eq!((&decision["behavior"], decision.get("updatedInput")), (&json!("allow"), None));
    }

    #[test]
    fn a_denial_has_its_message() {
        let denied = output(Decision::deny("not now"), &call("Bash")).unwrap();
        let decision = &denied["hookSpecificOutput"]["decision"];
        assert_eq!((&decision["behavior"], &decision["message"]), (&json!("deny"), &json!("not now")));
    }
}
