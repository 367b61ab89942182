//! Permission requests to the host.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::{members, text};
use super::hooks::Verdict;
use super::permission::{INTERACTIVE, Permit, accepted, rejected};
use super::session::Session;
use super::stop::Flow;
use super::tools::{Call, Outcome};
use super::wait::Reply;
use crate::script::Ask;

impl Session {
    /// Requests permission from the host; a `PermissionRequest` hook may answer first.
    pub(super) fn ask(
        &mut self,
        conversation: &Conversation,
        call: &mut Call,
        verdict: &Verdict,
    ) -> Flow<Permit> {
        let request = self.can_use_tool(conversation, call, verdict);
        let id = call.id.clone();
        self.with_turn(|turn| {
            turn.calls.iter_mut().filter(|open| open.id == id).for_each(|open| open.asked = true);
        });
        self.emit_state("requires_action")?;
        let asked = self.request(request.clone())?;
        let input = json!({
            "tool_name": call.name, "tool_input": call.input, "permission_suggestions": request["permission_suggestions"],
        });
        let hooks = self.send_hooks(
            "PermissionRequest",
            Some(&call.name),
            Some(&id),
            conversation.agent.as_ref(),
            &input,
        )?;
        let permit = self.race(call, &asked, hooks)?;
        self.emit_state("running")?;
        self.with_turn(|turn| {
            turn.calls.iter_mut().filter(|open| open.id == id).for_each(|open| open.asked = false);
        });
        Ok(permit)
    }

    /// The first answer decides; the other request is withdrawn.
    fn race(
        &mut self,
        call: &mut Call,
        asked: &str,
        hooks: Vec<(String, std::time::Duration, bool)>,
    ) -> Flow<Permit> {
        let mut waiting: Vec<String> = hooks.into_iter().map(|(id, _, _)| id).collect();
        loop {
            if let Some(reply) = self.fetch(asked) {
                for hook in waiting {
                    self.cancel(&hook)?;
                }
                return self.host_decides(call, &reply);
            }
            for hook in waiting.clone() {
                let Some(reply) = self.fetch(&hook) else { continue };
                waiting.retain(|id| *id != hook);
                let mut verdict = Verdict::default();
                self.add_hook_reply(&mut verdict, "PermissionRequest", Some(&call.name), reply, false)?;
                if let Some(decision) = verdict.permission {
                    self.cancel(asked)?;
                    return self.host_decides(call, &Reply::Success(decision));
                }
            }
            if self.stdin_ended {
                self.open.clear();
                return self.host_decides(call, &Reply::Closed);
            }
            self.pump(None)?;
        }
    }

    fn host_decides(&mut self, call: &mut Call, reply: &Reply) -> Flow<Permit> {
        let message = match reply {
            Reply::Success(answer) => match text(answer, "behavior") {
                "allow" => {
                    if let Some(input) = answer.get("updatedInput").filter(|input| input.is_object()) {
                        call.input = input.clone();
                    }
                    let lasting = answer.get("updatedPermissions").is_some_and(|updates| updates != &json!([]));
                    self.update_permissions(&answer["updatedPermissions"])?;
                    let source = if lasting { "user_permanent" } else { "user_temporary" };
                    return Ok(Permit::Allow(accepted(&call.id, source, None)));
                }
                "deny" if answer["interrupt"] == true => {
                    self.deny(&call.id, &call.name, &call.input);
                    let outcome = Outcome::error(text(answer, "message")).with_meta(rejected(&call.id, "user_reject"));
                    return Ok(Permit::DenyAndStop(outcome));
                }
                "deny" => text(answer, "message").to_owned(),
                _ => "The permission callback returned an invalid result: expected behavior allow or deny".to_owned(),
            },
            Reply::Error(error) => format!("Tool permission request failed: Error: {error}"),
            Reply::Late | Reply::Closed => {
                "Tool permission request failed: AbortError: Tool permission stream closed before response received".to_owned()
            }
        };
        self.deny(&call.id, &call.name, &call.input);
        Ok(Permit::Deny(Outcome::error(&message).with_meta(rejected(&call.id, "user_reject"))))
    }

    fn can_use_tool(&self, conversation: &Conversation, call: &Call, verdict: &Verdict) -> Value {
        let interactive = INTERACTIVE.contains(&call.name.as_str());
        let mut request =
            json!({"subtype": "can_use_tool", "tool_name": call.name, "display_name": call.name});
        // The plan is in its file, not in the request.
        request["input"] = if call.name == "ExitPlanMode" { json!({}) } else { call.input.clone() };
        if interactive {
            request["requires_user_interaction"] = json!(true);
        } else {
            request["permission_suggestions"] = suggestions(call);
        }
        if let Some(description) = call.input.get("description") {
            request["description"] = description.clone();
        }
        if let Some((server, tool)) = self.server_of(&call.name) {
            request["display_name"] = json!(super::mcp::display_name(tool));
            request["mcp_server"] = json!({"name": server, "source": "sdk"});
            request["server_policy_ask_only"] = json!(true);
        }
        if verdict.decision.is_some() {
            request["decision_reason_type"] = json!("hook");
            request["decision_reason_hook_event"] = json!("PreToolUse");
            request["decision_reason_hook_source"] = json!("callback");
        }
        request["tool_use_id"] = json!(call.id);
        if let Some(agent) = &conversation.agent {
            request["agent_id"] = json!(agent.id);
        }
        if let Some(Ask::With(extra)) = &call.block.ask {
            let mut all = members(&request);
            all.extend(extra.clone());
            request = Value::Object(all);
        }
        request
    }
}

/// Rule updates that would make the request unnecessary next time.
fn suggestions(call: &Call) -> Value {
    let rule = match call.input.get("command").and_then(Value::as_str) {
        Some(command) => json!({"toolName": call.name, "ruleContent": command}),
        None => json!({"toolName": call.name}),
    };
    json!([{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}])
}
