//! Permission decisions about tool calls.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::{Frame, text};
use super::hooks::Verdict;
use super::session::Session;
use super::stop::Flow;
use super::tools::{Call, Outcome};
use crate::script::Ask;

/// Decision about a call.
#[derive(Debug)]
pub(super) enum Permit {
    /// It runs; the value is the source of the decision.
    Allow(Value),
    /// It does not run, and the model receives the reason.
    Deny(Outcome),
    /// It does not run, and the turn ends.
    DenyAndStop(Outcome),
    /// A hook defers it.
    Defer,
    /// A hook ends the turn.
    Stop,
}

/// Tools that only the user can answer.
pub(super) const INTERACTIVE: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

/// Tools that `acceptEdits` allows, and Bash commands that only touch files.
const EDITS: &[&str] = &["Edit", "Write", "NotebookEdit"];
const FILE_COMMANDS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

impl Session {
    /// True if the CLI would request permission for this call without any rules and modes.
    pub(super) fn needs_asking(&self, call: &Call) -> bool {
        match &call.block.ask {
            Some(Ask::Plain(ask)) => *ask,
            Some(Ask::With(_)) => true,
            None => INTERACTIVE.contains(&call.name.as_str()) || self.server_of(&call.name).is_some(),
        }
    }

    /// Decides about a call; hooks and the host may change its input.
    pub(super) fn permit(&mut self, conversation: &Conversation, call: &mut Call) -> Flow<Permit> {
        let input = json!({"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id});
        let (name, id) = (call.name.clone(), call.id.clone());
        let verdict =
            self.run_hooks("PreToolUse", Some(&name), Some(&id), conversation.agent.as_ref(), &input)?;
        if let Some(permit) = self.hook_decides(call, &verdict) {
            return Ok(permit);
        }
        if let Some(input) = verdict.updated_input.clone() {
            call.input = input;
        }
        let decision = verdict.decision.as_ref().map(|(decision, _)| decision.as_str());
        if decision == Some("allow") {
            return Ok(Permit::Allow(accepted(&id, "config", Some("hook"))));
        }
        if decision != Some("ask") {
            if !self.needs_asking(call) {
                let reason = (self.mode == "bypassPermissions").then_some("mode");
                return Ok(Permit::Allow(accepted(&id, "config", reason)));
            }
            if let Some(reason) = self.allowed_by(call) {
                return Ok(Permit::Allow(accepted(&id, "config", Some(reason))));
            }
            if self.mode == "dontAsk" {
                let message = format!(
                    "Permission to use {name} has been denied because Claude Code is running in don't ask mode."
                );
                return self.denied_unasked(call, &message, "mode", None);
            }
        }
        if self.args.get("permission-prompt-tool") != Some("stdio")
            || self.args.get("permission-prompts") == Some("none")
        {
            let reason = "no approval surface in this session; permission request denied automatically";
            let message = format!(
                "Permission to use {name} was denied: it requires approval, and this session has no approval source."
            );
            return self.denied_unasked(call, &message, "asyncAgent", Some(reason));
        }
        self.ask(conversation, call, &verdict)
    }

    /// Records a denial for the result.
    pub(super) fn deny(&mut self, id: &str, name: &str, input: &Value) {
        let denial = json!({"tool_name": name, "tool_use_id": id, "tool_input": input});
        self.with_turn(|turn| turn.denials.push(denial));
    }

    /// Applies the permission updates of the host.
    pub(super) fn update_permissions(&mut self, updates: &Value) -> Flow {
        for update in updates.as_array().into_iter().flatten() {
            match text(update, "type") {
                "setMode" => self.change_mode(text(update, "mode"))?,
                "addRules" | "replaceRules" if update["behavior"] == "allow" => {
                    for rule in update["rules"].as_array().into_iter().flatten() {
                        let name = text(rule, "toolName");
                        self.rules.push(match rule.get("ruleContent").and_then(Value::as_str) {
                            Some(content) => format!("{name}({content})"),
                            None => name.to_owned(),
                        });
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets the mode and notifies the host of a change.
    pub(super) fn change_mode(&mut self, mode: &str) -> Flow {
        if self.mode != mode {
            mode.clone_into(&mut self.mode);
            let frame = Frame::system("status").with("status", Value::Null).with("permissionMode", mode);
            self.emit(frame)?;
        }
        Ok(())
    }

    fn hook_decides(&mut self, call: &Call, verdict: &Verdict) -> Option<Permit> {
        if verdict.late {
            let message =
                "PreToolUse hook did not respond before its timeout. The tool call was not executed.";
            return Some(Permit::Deny(Outcome::error(message)));
        }
        if verdict.stop.is_some() {
            return Some(Permit::Stop);
        }
        let denied =
            verdict.decision.as_ref().filter(|(decision, _)| decision == "deny").map(|(_, reason)| reason);
        if let Some(reason) = denied.or(verdict.block.as_ref()) {
            self.deny(&call.id, &call.name, &call.input);
            let message = format!("PreToolUse:{} hook error: {reason}", call.name);
            return Some(Permit::Deny(Outcome::error(&message).with_meta(rejected(&call.id, "hook"))));
        }
        verdict.decision.as_ref().is_some_and(|(decision, _)| decision == "defer").then_some(Permit::Defer)
    }

    /// Rule or mode that allows a call without a request.
    fn allowed_by(&self, call: &Call) -> Option<&'static str> {
        if INTERACTIVE.contains(&call.name.as_str()) {
            return None;
        }
        let command = text(&call.input, "command");
        let edits = EDITS.contains(&call.name.as_str())
            || (call.name == "Bash"
                && command.split_whitespace().next().is_some_and(|word| FILE_COMMANDS.contains(&word)));
        if self.mode == "bypassPermissions" || (self.mode == "acceptEdits" && edits) {
            return Some("mode");
        }
        let subject = if command.is_empty() { text(&call.input, "file_path") } else { command };
        self.rules.iter().any(|rule| rule_fits(rule, &call.name, subject)).then_some("rule")
    }

    fn denied_unasked(
        &mut self,
        call: &Call,
        message: &str,
        kind: &str,
        reason: Option<&str>,
    ) -> Flow<Permit> {
        let frame = Frame::system("permission_denied")
            .with("tool_name", call.name.as_str())
            .with("tool_use_id", call.id.as_str())
            .with("decision_reason_type", kind)
            .maybe("decision_reason", reason)
            .with("message", message);
        self.emit(frame)?;
        self.deny(&call.id, &call.name, &call.input);
        Ok(Permit::Deny(Outcome::error(message).with_meta(rejected(&call.id, "config"))))
    }
}

pub(super) fn accepted(id: &str, source: &str, reason: Option<&str>) -> Value {
    let mut decision = json!({"decision": "accept", "source": source});
    if let Some(reason) = reason {
        decision["reason_type"] = json!(reason);
    }
    json!({"id": id, "permission_decision": decision})
}

pub(super) fn rejected(id: &str, source: &str) -> Value {
    let decision = json!({"decision": "reject", "source": source});
    json!({"id": id, "non_execution_kind": "permission-rule", "permission_decision": decision})
}

/// True if the rule matches: `Bash`, `Bash(ls)`, `Bash(git log:*)`, `Bash(touch a *)`, `mcp__calc`.
fn rule_fits(rule: &str, name: &str, subject: &str) -> bool {
    match rule.split_once('(') {
        None => rule == name || name.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__")),
        Some((tool, content)) if tool == name => {
            let content = content.trim_end_matches(')');
            match content.strip_suffix(":*").or(content.strip_suffix(" *")).or(content.strip_suffix('*')) {
                Some(prefix) => subject.starts_with(prefix),
                None => subject == content,
            }
        }
        Some(_) => false,
    }
}
