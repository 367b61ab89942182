//! Requests of the agent.

use serde_json::Value;
use tidings_protocol::messages::Content;

use super::asks::Allowance;
use super::calls::CallEnd;
use super::effect::{Effect, FileRequest, TerminalRequest};
use super::frames::{items, text};
use super::state::Adapter;
use super::tools;
use crate::limits::ASKS_MAX;
use crate::rpc::{Id, RpcError};

/// Variable by which Goose tells a command its session. With that value it changes nothing else.
const SESSION_VARIABLE: &str = "AGENT_SESSION_ID";

impl Adapter {
    pub(super) fn agent_asks(&mut self, id: Id, method: &str, params: &Value) {
        let session = params.get("sessionId").and_then(Value::as_str);
        if session.is_some() && session != self.session.as_deref() {
            let error = RpcError::new(RpcError::INVALID_PARAMS, "There is no such session here", "");
            self.refuse_agent(&id, &error);
            return self.show_source();
        }
        match method {
            "session/request_permission" => self.ask_about_call(id, params),
            "elicitation/create" => self.ask_form(id, params),
            "fs/read_text_file" => {
                let request = FileRequest {
                    id,
                    path: text(params, "path").to_owned(),
                    line: params["line"].as_u64(),
                    limit: params["limit"].as_u64(),
                    content: String::new(),
                };
                self.out.push(Effect::ReadFile(request));
            }
            "fs/write_text_file" => self.write_file(id, params),
            "terminal/create" => self.create_terminal(id, params),
            "terminal/output" => self.terminal(TerminalRequest::Output(id, terminal(params))),
            "terminal/wait_for_exit" => self.terminal(TerminalRequest::WaitForExit(id, terminal(params))),
            "terminal/kill" => self.terminal(TerminalRequest::Kill(id, terminal(params))),
            "terminal/release" => self.terminal(TerminalRequest::Release(id, terminal(params))),
            _ => {
                self.refuse_agent(&id, &RpcError::no_method(method));
                self.show_source();
            }
        }
    }

    fn terminal(&mut self, request: TerminalRequest) {
        self.out.push(Effect::Terminal(request));
    }

    /// Refuses a request that needs permission, if no turn is running or too many requests are open.
    fn refuse_without_turn(&mut self, id: &Id) -> bool {
        let can_ask = self.turn.as_ref().is_some_and(|turn| !turn.is_cancelled);
        if can_ask && self.asks.len() < ASKS_MAX {
            return false;
        }
        let error =
            RpcError::new(RpcError::INVALID_REQUEST, "No turn is running, so there is no client to ask", "");
        self.refuse_agent(id, &error);
        true
    }

    fn write_file(&mut self, id: Id, params: &Value) {
        if self.refuse_without_turn(&id) {
            return;
        }
        let (path, content) = (text(params, "path").to_owned(), text(params, "content").to_owned());
        let allowance = Allowance::Write { path: path.clone(), content: content.clone() };
        let request = FileRequest { id, path, line: None, limit: None, content };
        let is_allowed = self.is_allowed_before(&allowance);
        if is_allowed || (self.accepts_edits() && !is_hidden(&request.path)) {
            self.out.push(Effect::WriteFile(request));
        } else {
            self.ask_to_write(request);
        }
    }

    fn create_terminal(&mut self, id: Id, params: &Value) {
        if self.refuse_without_turn(&id) {
            return;
        }
        self.made += 1;
        let command = text(params, "command").to_owned();
        let args: Vec<String> =
            items(params, "args").iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let pair = |pair: &Value| (text(pair, "name").to_owned(), text(pair, "value").to_owned());
        let env: Vec<(String, String)> = items(params, "env").iter().map(pair).collect();
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut line = tools::joined(&command, &words);
        let allowed_line = line.clone();
        // Variables and another folder change what a command does, so they are part of it.
        let is_own =
            |name: &str, value: &str| name == SESSION_VARIABLE && self.session.as_deref() == Some(value);
        for (name, value) in env.iter().rev().filter(|(name, value)| !is_own(name, value)) {
            line = format!("{} {line}", tools::joined("env", &[&format!("{name}={value}")]));
        }
        let cwd = params["cwd"].as_str().map(str::to_owned);
        if let Some(cwd) = cwd.as_deref().filter(|cwd| *cwd != self.settings.cwd) {
            line = format!("{} && {line}", tools::joined("cd", &[cwd]));
        }
        let request = TerminalRequest::Create {
            id: id.clone(),
            terminal: format!("terminal-{}", self.made),
            command,
            args,
            env,
            cwd,
            output_bytes: params["outputByteLimit"].as_u64(),
        };
        let is_plain = line == allowed_line;
        if (is_plain && self.is_allowed_before(&Allowance::Command(allowed_line))) || self.asks_nobody() {
            self.terminal(request);
        } else {
            self.ask_to_run(id, &line, request);
        }
    }

    /// True in a mode in which Claude Code would not ask about files of the folder. An agent can change its
    /// own mode, so the one that the host has set counts.
    fn accepts_edits(&self) -> bool {
        self.asks_nobody() || self.host_mode == "acceptEdits"
    }

    fn asks_nobody(&self) -> bool {
        self.host_mode == "bypassPermissions"
    }

    /// Shows the result of a call that was made for the agent.
    pub(super) fn show_performed(&mut self, id: &Id, result: &Result<Value, RpcError>) {
        let Some(tool_use_id) = self.performed.remove(id.as_json()) else { return };
        if self.turn.is_none() {
            return;
        }
        match result {
            Ok(_) => self.emit_result(&tool_use_id, &Content::text("Done"), CallEnd::Done),
            Err(error) => self.emit_result(&tool_use_id, &Content::text(&*error.message), CallEnd::Failed),
        }
    }
}

/// True if a part of a path is hidden: settings and hooks, which run something later.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

fn terminal(params: &Value) -> String {
    text(params, "terminalId").to_owned()
}
