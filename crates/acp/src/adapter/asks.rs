//! Requests to the host: permissions and forms.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use tidings_protocol::control::{
    Call, CanUseTool, ControlOutcome, ControlRequest, Elicitation, ElicitationAction, ElicitationAnswer,
    Success,
};
use tidings_protocol::json::Json;
use tidings_protocol::messages::{Content, ControlCancelRequest, Message};
use tidings_protocol::permissions::{
    Allow, PermissionBehavior, PermissionResult, PermissionRule, PermissionUpdate,
};

use super::calls::CallEnd;
use super::effect::{Effect, FileRequest, TerminalRequest};
use super::frames::{items, text};
use super::state::Adapter;
use super::tools::{self, ToolUse};
use crate::limits::ASKS_MAX;
use crate::rpc::{Id, RpcError};

/// A request that the host answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostRequest {
    /// Id of the agent's request.
    pub(super) id: Id,
    subject: Subject,
}

/// The subject of a request.
#[derive(Debug, Clone, PartialEq)]
enum Subject {
    /// A tool call of the agent, with the options that it offers.
    Call { call: String, tool: ToolUse, options: Vec<Value> },
    /// A file that the agent writes through us.
    Write { tool_use_id: String, tool: ToolUse, request: FileRequest },
    /// A command that the agent runs through us.
    Terminal { tool_use_id: String, tool: ToolUse, request: TerminalRequest },
    /// A form.
    Form,
}

/// A write or a command that was allowed, and that the agent will ask its client for next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Allowance {
    Write { path: String, content: String },
    Command(String),
}

impl Adapter {
    /// `session/request_permission`
    pub(super) fn ask_about_call(&mut self, id: Id, params: &Value) {
        let call = &params["toolCall"];
        let own = text(call, "toolCallId").to_owned();
        let options = items(params, "options").to_vec();
        if self.turn.as_ref().is_none_or(|turn| turn.is_cancelled) || self.asks.len() >= ASKS_MAX {
            return self.answer_agent(&id, &response(None));
        }
        let mut fields = call.clone();
        // The state of a call is not part of a request about it.
        fields["status"] = Value::Null;
        self.update_call(&fields);
        self.show_call(&own);
        let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.get_mut(&own)) else {
            return self.answer_agent(&id, &response(None));
        };
        call.times_asked += 1;
        // The host is asked about the call as it is now, although it may have been shown in an earlier state.
        let tool = tools::tool(&call.facts);
        let tool_use_id = match call.times_asked {
            1 => call.tool_use_id.clone(),
            times => format!("{}.{times}", call.tool_use_id),
        };
        let title = call.facts.title.clone();
        let always = option(&options, "allow_always").map(|always| suggestion(&tool.name, always));
        let mut request = request_about(&tool, &tool_use_id, always.into_iter().collect());
        request.title = Some(title);
        request.extra.insert("acp_options", &Value::Array(options.clone()));
        self.ask(HostRequest { id, subject: Subject::Call { call: own, tool, options } }, request);
    }

    /// Asks about a file that the agent writes through us.
    pub(super) fn ask_to_write(&mut self, request: FileRequest) {
        let tool = ToolUse::write(&request.path, &request.content);
        let tool_use_id = self.show_own_call("write", tool.clone());
        let body = request_about(&tool, &tool_use_id, Vec::new());
        let id = request.id.clone();
        self.ask(HostRequest { id, subject: Subject::Write { tool_use_id, tool, request } }, body);
    }

    /// Asks about a command that the agent runs through us.
    pub(super) fn ask_to_run(&mut self, id: Id, line: &str, request: TerminalRequest) {
        let tool = ToolUse::bash(line, None);
        let tool_use_id = self.show_own_call("terminal", tool.clone());
        let body = request_about(&tool, &tool_use_id, Vec::new());
        self.ask(HostRequest { id, subject: Subject::Terminal { tool_use_id, tool, request } }, body);
    }

    /// `elicitation/create`
    pub(super) fn ask_form(&mut self, id: Id, params: &Value) {
        if self.turn.as_ref().is_none_or(|turn| turn.is_cancelled) || self.asks.len() >= ASKS_MAX {
            return self.answer_agent(&id, &ElicitationAnswer::cancel());
        }
        let mut request = Elicitation::default();
        request.mcp_server_name.clone_from(&self.settings.name);
        text(params, "message").clone_into(&mut request.message);
        request.mode = Some(text(params, "mode").into());
        request.requested_schema = Some(Json::from(&params["requestedSchema"]));
        request.url = params["url"].as_str().map(str::to_owned);
        request.elicitation_id = params["elicitationId"].as_str().map(str::to_owned);
        // Members without a value are written, too.
        request.extra.insert("message", &String::new());
        for member in ["url", "elicitation_id"] {
            request.extra.insert(member, &Value::Null);
        }
        self.ask(HostRequest { id, subject: Subject::Form }, request);
    }

    /// Shows a call that we make for the agent. Returns its id.
    fn show_own_call(&mut self, kind: &str, tool: ToolUse) -> String {
        self.made += 1;
        let id = format!("{kind}-{}-{}", self.turns_begun, self.made);
        self.show_held_calls();
        self.emit_call(&id, tool);
        id
    }

    fn ask(&mut self, ask: HostRequest, request: impl Into<Call>) {
        let request_id = (self.ids)();
        self.asks.insert(request_id.clone(), ask);
        self.send(&Message::ControlRequest { request_id, request: ControlRequest::new(request) });
    }

    /// The host has answered a request.
    pub(super) fn host_answered(&mut self, request_id: &str, outcome: ControlOutcome) {
        let Some(HostRequest { id, subject }) = self.asks.remove(request_id) else { return };
        // Anything but a clear permission is a denial.
        let answer = match outcome {
            ControlOutcome::Success(answer) => answer,
            _ => Success::default(),
        };
        let decision = answer.reply::<CanUseTool>().unwrap_or_else(|_| PermissionResult::deny(""));
        match subject {
            Subject::Call { call, tool, options } => {
                let chosen = self.chosen(&call, &tool, &options, &decision);
                self.answer_agent(&id, &response(chosen));
            }
            Subject::Write { tool_use_id, tool, request } => {
                if self.may_perform(&id, &tool_use_id, &tool, &decision) {
                    self.out.push(Effect::WriteFile(request));
                }
            }
            Subject::Terminal { tool_use_id, tool, request } => {
                if self.may_perform(&id, &tool_use_id, &tool, &decision) {
                    self.out.push(Effect::Terminal(request));
                }
            }
            Subject::Form => self.answer_agent(&id, &form_answer(&answer)),
        }
        if matches!(decision, PermissionResult::Deny(deny) if deny.interrupt == Some(true)) {
            self.cancel_turn();
        }
    }

    /// The option of the agent that an answer means.
    fn chosen<'a>(
        &mut self,
        own: &str,
        tool: &ToolUse,
        options: &'a [Value],
        decision: &PermissionResult,
    ) -> Option<&'a Value> {
        let chosen = match decision {
            PermissionResult::Allow(allow) if !is_unchanged(allow, &tool.input) => {
                self.inform("This agent does not take a changed input, so the call is rejected");
                None
            }
            PermissionResult::Allow(allow) if allow.updated_permissions.iter().flatten().next().is_some() => {
                option(options, "allow_always")
            }
            PermissionResult::Allow(_) => {
                let once = option(options, "allow_once");
                if once.is_none() {
                    self.inform("This agent offers no permission for one call only, so the call is rejected");
                }
                once
            }
            _ => None,
        };
        if chosen.is_some() {
            self.note_allowances(own);
            return chosen;
        }
        let call = self.turn.as_ref().and_then(|turn| turn.calls.get(own));
        let tool_use_id = call.map(|call| call.tool_use_id.clone()).unwrap_or_default();
        self.note_denial(&tool_use_id, tool);
        option(options, "reject_once").or_else(|| option(options, "reject_always"))
    }

    /// True if the host allows exactly this call that we make for the agent. Refuses the request otherwise.
    fn may_perform(
        &mut self,
        id: &Id,
        tool_use_id: &str,
        tool: &ToolUse,
        decision: &PermissionResult,
    ) -> bool {
        if matches!(decision, PermissionResult::Allow(allow) if is_unchanged(allow, &tool.input)) {
            self.performed.insert(id.as_json().to_owned(), tool_use_id.to_owned());
            return true;
        }
        let why = decision.message().filter(|why| !why.is_empty()).unwrap_or("The user denied it");
        self.note_denial(tool_use_id, tool);
        if self.turn.is_some() {
            self.emit_result(tool_use_id, &Content::text(why), CallEnd::Failed);
        }
        self.refuse_agent(id, &RpcError::new(RpcError::INVALID_REQUEST, why, ""));
        false
    }

    fn note_allowances(&mut self, own: &str) {
        let Some(call) = self.turn.as_ref().and_then(|turn| turn.calls.get(own)) else { return };
        let writes = tools::diffs(&call.facts).map(|diff| Allowance::Write {
            path: text(diff, "path").to_owned(),
            content: text(diff, "newText").to_owned(),
        });
        let command = tools::command_line(&call.facts).map(Allowance::Command);
        let all: Vec<Allowance> = writes.chain(command).take(ASKS_MAX).collect();
        self.allowances.extend(all);
        let surplus = self.allowances.len().saturating_sub(ASKS_MAX);
        drop(self.allowances.drain(..surplus));
    }

    /// True if the host has allowed exactly this; the allowance is used up.
    pub(super) fn is_allowed_before(&mut self, wanted: &Allowance) -> bool {
        let found = self.allowances.iter().position(|allowance| allowance == wanted);
        found.is_some_and(|at| {
            self.allowances.remove(at);
            true
        })
    }

    /// Withdraws a request that the agent does not need any more.
    pub(super) fn withdraw_ask(&mut self, id: &Id) {
        let found = self.asks.iter().find(|(_, ask)| ask.id == *id).map(|(request, _)| request.clone());
        if let Some(request) = found {
            self.cancel_ask(&request);
            let error = RpcError::new(RpcError::CANCELLED, "The request was cancelled", "");
            self.refuse_agent(id, &error);
        }
    }

    /// Cancels all open requests of the agent, for example because the turn has ended.
    pub(super) fn cancel_asks(&mut self) {
        let open: Vec<String> = self.asks.keys().cloned().collect();
        for request in open {
            if let Some(ask) = self.cancel_ask(&request) {
                match &ask.subject {
                    Subject::Call { .. } => self.answer_agent(&ask.id, &response(None)),
                    Subject::Form => self.answer_agent(&ask.id, &ElicitationAnswer::cancel()),
                    Subject::Write { .. } | Subject::Terminal { .. } => {
                        let error = RpcError::new(RpcError::CANCELLED, "The turn was cancelled", "");
                        self.refuse_agent(&ask.id, &error);
                    }
                }
            }
        }
    }

    fn cancel_ask(&mut self, request: &str) -> Option<HostRequest> {
        let ask = self.asks.remove(request)?;
        let mut withdrawal = ControlCancelRequest::default();
        request.clone_into(&mut withdrawal.request_id);
        self.send(&Message::ControlCancelRequest(withdrawal));
        Some(ask)
    }
}

/// The request about a call, with the rules that would make it unnecessary.
fn request_about(tool: &ToolUse, tool_use_id: &str, suggestions: Vec<PermissionUpdate>) -> CanUseTool {
    let mut request = CanUseTool::new(&*tool.name, Json::from(&tool.input), tool_use_id);
    request.display_name = Some(tool.name.clone());
    request.suppress_always_allow_rule = Some(suggestions.is_empty());
    // An empty list is written, too.
    request.extra.insert("permission_suggestions", &suggestions);
    request.permission_suggestions = suggestions;
    request
}

/// The first option of a kind.
fn option<'a>(options: &'a [Value], kind: &str) -> Option<&'a Value> {
    options.iter().find(|option| text(option, "kind") == kind && option["optionId"].is_string())
}

/// The response that chooses an option, or none.
fn response(chosen: Option<&Value>) -> acp::RequestPermissionResponse {
    acp::RequestPermissionResponse::new(match chosen {
        Some(option) => {
            let id = text(option, "optionId").to_owned();
            acp::RequestPermissionOutcome::Selected(acp::SelectedPermissionOutcome::new(id))
        }
        None => acp::RequestPermissionOutcome::Cancelled,
    })
}

/// The answer to a form, whose JSON is the same on both sides.
fn form_answer(answer: &Success) -> ElicitationAnswer {
    match answer.reply::<Elicitation>() {
        Ok(given) if given.action == ElicitationAction::ACCEPT => {
            ElicitationAnswer::accept(given.content.unwrap_or_default())
        }
        Ok(given) if given.action == ElicitationAction::DECLINE => ElicitationAnswer::decline(),
        _ => ElicitationAnswer::cancel(),
    }
}

/// The agent's "always" as a rule, which people see before they choose it. The agent keeps the actual rule.
fn suggestion(tool: &str, option: &Value) -> PermissionUpdate {
    let rule = PermissionRule::matching(tool, text(option, "name"));
    // The destination tells the host that the text is a description, and not a rule of Claude Code.
    PermissionUpdate::add_rules(vec![rule], PermissionBehavior::ALLOW, "agent".into())
}

/// True if an answer leaves the input as it was.
fn is_unchanged(allow: &Allow, input: &Value) -> bool {
    let updated = allow.updated_input.as_ref().filter(|updated| !updated.raw().is_null());
    updated.is_none_or(|updated| *updated == Json::from(input))
}
