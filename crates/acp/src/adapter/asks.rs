//! Requests to the host: permissions and forms.

use serde_json::{Value, json};

use super::effect::{Effect, FileRequest, TerminalRequest};
use super::frames::{items, text};
use super::state::Adapter;
use super::tools;
use crate::limits::ASKS_MAX;
use crate::rpc::{Id, RpcError};

/// A request that the host answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    /// Id of the agent's request.
    pub(super) id: Id,
    subject: Subject,
}

/// The subject of a request.
#[derive(Debug, Clone, PartialEq)]
enum Subject {
    /// A tool call of the agent, with the options that it offers.
    Call { call: String, tool: (String, Value), options: Vec<Value> },
    /// A file that the agent writes through us.
    Write { tool_use_id: String, tool: (String, Value), request: FileRequest },
    /// A command that the agent runs through us.
    Terminal { tool_use_id: String, tool: (String, Value), request: TerminalRequest },
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
            return self.respond(&id, &Ok(cancelled()));
        }
        let mut fields = call.clone();
        // The state of a call is not part of a request about it.
        fields["status"] = Value::Null;
        self.update_call(&fields);
        self.show_call(&own);
        let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.get_mut(&own)) else {
            return self.respond(&id, &Ok(cancelled()));
        };
        call.times_asked += 1;
        // The host is asked about the call as it is now, although it may have been shown in an earlier state.
        let tool = tools::tool(&call.facts);
        let tool_use_id = match call.times_asked {
            1 => call.tool_use_id.clone(),
            times => format!("{}.{times}", call.tool_use_id),
        };
        let title = call.facts.title.clone();
        let suggestions: Vec<Value> =
            option(&options, "allow_always").map(|always| suggestion(&tool.0, always)).into_iter().collect();
        let request = json!({
            "subtype": "can_use_tool", "tool_name": tool.0, "input": tool.1, "title": title,
            "display_name": tool.0, "tool_use_id": tool_use_id, "permission_suggestions": suggestions,
            "suppress_always_allow_rule": suggestions.is_empty(), "acp_options": options,
        });
        self.ask(Ask { id, subject: Subject::Call { call: own, tool, options } }, &request);
    }

    /// Asks about a file that the agent writes through us.
    pub(super) fn ask_to_write(&mut self, request: FileRequest) {
        let tool = ("Write".to_owned(), json!({"file_path": request.path, "content": request.content}));
        let tool_use_id = self.show_own_call("write", &tool);
        let body = own_request(&tool, &tool_use_id);
        let id = request.id.clone();
        self.ask(Ask { id, subject: Subject::Write { tool_use_id, tool, request } }, &body);
    }

    /// Asks about a command that the agent runs through us.
    pub(super) fn ask_to_run(&mut self, id: Id, line: &str, request: TerminalRequest) {
        let tool = ("Bash".to_owned(), json!({"command": line}));
        let tool_use_id = self.show_own_call("terminal", &tool);
        let body = own_request(&tool, &tool_use_id);
        self.ask(Ask { id, subject: Subject::Terminal { tool_use_id, tool, request } }, &body);
    }

    /// `elicitation/create`
    pub(super) fn ask_form(&mut self, id: Id, params: &Value) {
        if self.turn.as_ref().is_none_or(|turn| turn.is_cancelled) || self.asks.len() >= ASKS_MAX {
            return self.respond(&id, &Ok(json!({"action": "cancel"})));
        }
        let request = json!({
            "subtype": "elicitation", "mcp_server_name": self.settings.name, "message": text(params, "message"),
            "mode": text(params, "mode"), "requested_schema": params["requestedSchema"],
            "url": params["url"], "elicitation_id": params["elicitationId"],
        });
        self.ask(Ask { id, subject: Subject::Form }, &request);
    }

    /// Shows a call that we make for the agent. Returns its id.
    fn show_own_call(&mut self, kind: &str, tool: &(String, Value)) -> String {
        self.made += 1;
        let id = format!("{kind}-{}-{}", self.turns_begun, self.made);
        self.show_held_calls();
        self.emit_call(&id, &tool.0, &tool.1);
        id
    }

    fn ask(&mut self, ask: Ask, request: &Value) {
        let request_id = (self.ids)();
        self.asks.insert(request_id.clone(), ask);
        let frame = json!({"type": "control_request", "request_id": request_id, "request": request});
        self.out.push(Effect::ToHost(frame.to_string()));
    }

    /// The host has answered a request.
    pub(super) fn host_answered(&mut self, response: &Value) {
        let Some(ask) = self.asks.remove(text(response, "request_id")) else { return };
        // Anything but a clear permission is a denial.
        let body = if text(response, "subtype") == "success" { &response["response"] } else { &Value::Null };
        let is_allowed = text(body, "behavior") == "allow";
        let Ask { id, subject } = ask;
        match subject {
            Subject::Call { call, tool, options } => {
                let outcome = self.outcome(&call, &tool, &options, body);
                self.respond(&id, &Ok(outcome));
            }
            Subject::Write { tool_use_id, tool, request } => {
                if is_allowed && is_unchanged(body, &tool.1) {
                    self.performed.insert(id.as_json().to_owned(), tool_use_id);
                    self.out.push(Effect::WriteFile(request));
                } else {
                    self.deny_own(&id, &tool_use_id, &tool, body);
                }
            }
            Subject::Terminal { tool_use_id, tool, request } => {
                if is_allowed && is_unchanged(body, &tool.1) {
                    self.performed.insert(id.as_json().to_owned(), tool_use_id);
                    self.out.push(Effect::Terminal(request));
                } else {
                    self.deny_own(&id, &tool_use_id, &tool, body);
                }
            }
            Subject::Form => {
                let action = match text(body, "action") {
                    "accept" => json!({"action": "accept", "content": body["content"]}),
                    "decline" => json!({"action": "decline"}),
                    _ => json!({"action": "cancel"}),
                };
                self.respond(&id, &Ok(action));
            }
        }
        if body["interrupt"] == true {
            self.cancel_turn();
        }
    }

    /// The option of the agent that an answer means.
    fn outcome(&mut self, own: &str, tool: &(String, Value), options: &[Value], body: &Value) -> Value {
        let tool_use_id =
            self.turn.as_ref().and_then(|turn| turn.calls.get(own)).map(|call| call.tool_use_id.clone());
        let wants_always = !items(body, "updatedPermissions").is_empty();
        let chosen = match text(body, "behavior") {
            "allow" if !is_unchanged(body, &tool.1) => {
                self.inform("This agent does not take a changed input, so the call is rejected");
                None
            }
            "allow" if wants_always => option(options, "allow_always"),
            "allow" => {
                let once = option(options, "allow_once");
                if once.is_none() {
                    self.inform("This agent offers no permission for one call only, so the call is rejected");
                }
                once
            }
            _ => None,
        };
        if let Some(chosen) = chosen {
            self.note_allowances(own);
            return selected(chosen);
        }
        self.note_denial(&tool_use_id.unwrap_or_default(), &tool.0, &tool.1);
        let rejected = option(options, "reject_once").or_else(|| option(options, "reject_always"));
        rejected.map_or_else(cancelled, selected)
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

    fn deny_own(&mut self, id: &Id, tool_use_id: &str, tool: &(String, Value), body: &Value) {
        let why = body["message"].as_str().filter(|why| !why.is_empty()).unwrap_or("The user denied it");
        self.note_denial(tool_use_id, &tool.0, &tool.1);
        if self.turn.is_some() {
            self.emit_result(tool_use_id, &json!(why), true);
        }
        let error = RpcError::new(RpcError::INVALID_REQUEST, why, "");
        self.respond(id, &Err(error));
    }

    /// Withdraws a request that the agent does not need any more.
    pub(super) fn withdraw_ask(&mut self, id: &Id) {
        let found = self.asks.iter().find(|(_, ask)| ask.id == *id).map(|(request, _)| request.clone());
        if let Some(request) = found {
            self.cancel_ask(&request);
            let error = RpcError::new(RpcError::CANCELLED, "The request was cancelled", "");
            self.respond(id, &Err(error));
        }
    }

    /// Cancels all open requests of the agent, for example because the turn has ended.
    pub(super) fn cancel_asks(&mut self) {
        let open: Vec<String> = self.asks.keys().cloned().collect();
        for request in open {
            if let Some(ask) = self.cancel_ask(&request) {
                let answer = match &ask.subject {
                    Subject::Call { .. } => Ok(cancelled()),
                    Subject::Form => Ok(json!({"action": "cancel"})),
                    Subject::Write { .. } | Subject::Terminal { .. } => {
                        Err(RpcError::new(RpcError::CANCELLED, "The turn was cancelled", ""))
                    }
                };
                self.respond(&ask.id, &answer);
            }
        }
    }

    fn cancel_ask(&mut self, request: &str) -> Option<Ask> {
        let ask = self.asks.remove(request)?;
        let frame = json!({"type": "control_cancel_request", "request_id": request});
        self.out.push(Effect::ToHost(frame.to_string()));
        Some(ask)
    }
}

fn own_request(tool: &(String, Value), tool_use_id: &str) -> Value {
    json!({
        "subtype": "can_use_tool", "tool_name": tool.0, "input": tool.1, "display_name": tool.0,
        "tool_use_id": tool_use_id, "permission_suggestions": [], "suppress_always_allow_rule": true,
    })
}

/// The first option of a kind.
fn option<'a>(options: &'a [Value], kind: &str) -> Option<&'a Value> {
    options.iter().find(|option| text(option, "kind") == kind && option["optionId"].is_string())
}

fn selected(option: &Value) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
}

fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// The agent's "always" as a rule, which people see before they choose it. The agent keeps the actual rule.
fn suggestion(tool: &str, option: &Value) -> Value {
    let rule = json!({"toolName": tool, "ruleContent": text(option, "name")});
    // The destination tells the host that the text is a description, and not a rule of Claude Code.
    json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "agent"})
}

/// True if an answer leaves the input as it was.
fn is_unchanged(body: &Value, input: &Value) -> bool {
    body.get("updatedInput").is_none_or(|updated| updated.is_null() || updated == input)
}
