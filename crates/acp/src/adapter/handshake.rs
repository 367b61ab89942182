//! The start: handshakes with both sides, and opening the session.

use std::path::PathBuf;

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tidings_api::AgentOption;
use tidings_protocol::control::{AccountInfo, ControlOutcome, ControlResponse, InitializeReply, Success};
use tidings_protocol::messages::Message;

use super::effect::Effect;
use super::frames::{items, text};
use super::initialize::{InitializeParams, version_problem};
use super::mcp;
use super::modes::{OfferedMode, mode_for};
use super::state::{Adapter, OutgoingCall, Phase};
use super::turn_end::error_text;
use crate::rpc::{self, RpcError};

/// Bytes of an id of a session. Ids become parts of messages and of file names.
const SESSION_ID_BYTES_MAX: usize = 200;

/// The description of the agent in the reply to the handshake, beside the fields of Claude Code.
#[derive(Debug, Serialize)]
struct AgentDescription<'a> {
    name: &'a str,
    label: &'a str,
    modes: Vec<OfferedMode>,
    options: Vec<AgentOption>,
    /// As the agent advertises them.
    capabilities: &'a Value,
}

/// True if an id of a session can be part of messages and of file names.
pub(super) fn is_usable_id(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    !id.is_empty() && id.len() <= SESSION_ID_BYTES_MAX && id.chars().all(is_plain) && !id.starts_with('.')
}

impl Adapter {
    pub(super) fn begin(&mut self) {
        let params = InitializeParams::new(&self.settings.version);
        self.call("initialize", &params, OutgoingCall::Initialize);
    }

    pub(super) fn initialized(&mut self, result: Result<Value, RpcError>) {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => return self.fail(&format!("The handshake failed: {}", error.message)),
        };
        if let Some(problem) = version_problem(&answer) {
            return self.fail(&problem);
        }
        let info = &answer["agentInfo"];
        let name = [text(info, "title"), text(info, "name"), &self.settings.name];
        let name = name.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        let label = format!("{name} {}", text(info, "version"));
        label.trim_end().clone_into(&mut self.facts.label);
        self.facts.capabilities = answer["agentCapabilities"].clone();
        self.facts.auth_methods = items(&answer, "authMethods").to_vec();
        match self.settings.authenticate.clone() {
            Some(method) => {
                let params = acp::AuthenticateRequest::new(method);
                self.call("authenticate", &params, OutgoingCall::Authenticate);
            }
            None => self.open(),
        }
    }

    pub(super) fn authenticated(&mut self, result: Result<Value, RpcError>) {
        match result {
            Ok(_) => self.open(),
            Err(error) => self.fail(&format!("The login failed: {}", error.message)),
        }
    }

    /// Opens a session: the one to continue if the agent can, else a new one.
    fn open(&mut self) {
        let cwd = self.settings.cwd.clone();
        let mcp_servers = self.mcp_servers();
        let takes_folders = self.is_capable("sessionCapabilities/additionalDirectories");
        let folders = self.settings.folders.iter().filter(|_| takes_folders).map(PathBuf::from).collect();
        let Some(id) = self.settings.resume.clone() else {
            let params =
                acp::NewSessionRequest::new(cwd).mcp_servers(mcp_servers).additional_directories(folders);
            let text = self.settings.append_system_prompt.as_ref();
            // `_meta` is free form; agents that wrap Claude Code read this.
            let meta =
                text.map(|text| Map::from_iter([("systemPrompt".to_owned(), json!({"append": text}))]));
            self.call("session/new", &params.meta(meta), OutgoingCall::New);
            return;
        };
        let can_resume = self.is_capable("sessionCapabilities/resume");
        let can_load = self.is_capable("loadSession");
        let method = match (self.settings.replay, can_resume, can_load) {
            (false, true, _) | (true, true, false) => "session/resume",
            (_, _, true) => "session/load",
            (_, false, false) => {
                let text =
                    "This agent cannot continue sessions, so it begins without the conversation so far";
                self.inform(text);
                self.settings.resume = None;
                return self.open();
            }
        };
        // `session/resume` has the same parameters. Its own type leaves out an empty list of MCP servers.
        let params = acp::LoadSessionRequest::new(id.clone(), cwd)
            .mcp_servers(mcp_servers)
            .additional_directories(folders);
        self.session = Some(id);
        self.call(method, &params, OutgoingCall::Continue);
    }

    pub(super) fn opened(&mut self, result: Result<Value, RpcError>) {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) if error.code == RpcError::AUTH_REQUIRED => return self.fail(&self.login_needed()),
            // The host has the conversation, and people can tell the agent what matters.
            Err(error) if self.settings.resume.is_some() && !self.settings.replay => {
                let why = error_text(&error);
                let text = format!(
                    "The agent could not continue its session ({why}), so it begins without the conversation so far"
                );
                self.inform(&text);
                self.settings.resume = None;
                return self.open();
            }
            Err(error) => {
                return self.fail(&format!("The session could not be opened: {}", error_text(&error)));
            }
        };
        let id = self.settings.resume.clone().unwrap_or_else(|| text(&answer, "sessionId").to_owned());
        if !is_usable_id(&id) {
            return self.fail("The agent gave its session an id that cannot be used");
        }
        self.session = Some(id);
        self.end_replayed_turn();
        self.choices.read(&answer);
        self.apply_first_settings();
    }

    /// Sets the mode, the model and the options that the host chose; then the session is ready.
    pub(super) fn apply_first_settings(&mut self) {
        if let Some(mode) = self.settings.mode.take() {
            self.host_mode.clone_from(&mode);
            match mode_for(&self.choices, &mode) {
                Some(id) if !self.choices.is_current_mode(&id) => {
                    let setting = self.choices.set_mode(&id, self.session_id());
                    self.choices.note_mode(&id);
                    self.call(setting.method(), &setting, OutgoingCall::FirstSetting);
                    return;
                }
                Some(_) => {}
                None if mode == "default" && self.choices.mode() == "bypassPermissions" => {
                    return self.fail("It begins in a mode that asks for nothing, and has none that asks");
                }
                // Agents without modes ask by rules of their own.
                None if mode == "default" => {}
                None => return self.fail(&self.choices.no_mode(&mode)),
            }
        }
        if let Some(model) = self.settings.model.take().filter(|model| model != "default") {
            if let Some(setting) = self.choices.set_model(&model, self.session_id()) {
                self.choices.note_model(&model);
                self.call(setting.method(), &setting, OutgoingCall::FirstSetting);
                return;
            }
            // The host passes the model of the last run, or the name of an agent that has no models. A
            // session must not end because a model is gone.
            if self.settings.resume.is_none() {
                return self.fail(&self.choices.no_model(&model));
            }
            if !self.choices.models().is_empty() {
                self.inform(&self.choices.no_model(&model));
            }
        }
        if self.apply_first_option() {
            return;
        }
        self.phase = Phase::Ready;
        self.answer_handshake();
        self.start_next_prompt();
    }

    pub(super) fn first_setting_made(&mut self, result: Result<Value, RpcError>) {
        match result {
            Ok(answer) => {
                self.choices.read(&answer);
                self.apply_first_settings();
            }
            Err(error) => self.fail(&format!("A setting was refused: {}", error.message)),
        }
    }

    /// Answers the host's handshake, once both are ready.
    pub(super) fn answer_handshake(&mut self) {
        let response = match &self.phase {
            Phase::Starting => return,
            Phase::Failed(why) => ControlResponse::error(why),
            Phase::Ready => {
                let mut success = Success::new(&self.description());
                success.pending_permission_requests = Some(Vec::new());
                success.pending_user_dialog_requests = Some(Vec::new());
                ControlResponse::new(ControlOutcome::Success(success))
            }
        };
        let Some(request_id) = self.handshake.take() else { return };
        self.send(&Message::ControlResponse { request_id, response });
        if matches!(self.phase, Phase::Failed(_)) {
            self.out.push(Effect::Exit(1));
        }
    }

    /// The agent as the reply to the handshake describes it.
    fn description(&self) -> InitializeReply {
        let mut reply = InitializeReply::default();
        reply.commands.clone_from(&self.commands);
        reply.output_style = Some("default".to_owned());
        reply.available_output_styles = vec!["default".to_owned()];
        reply.models = self.choices.models();
        reply.account = Some(AccountInfo::default());
        // Empty lists are written, too.
        for list in ["commands", "agents", "models"] {
            reply.extra.insert(list, &Vec::<String>::new());
        }
        let agent = AgentDescription {
            name: &self.settings.name,
            label: &self.facts.label,
            modes: self.choices.modes(),
            options: self.choices.options(),
            capabilities: &self.facts.capabilities,
        };
        reply.extra.insert("agent", &rpc::to_value(&agent));
        reply
    }

    /// The start failed.
    pub(super) fn fail(&mut self, why: &str) {
        // The host learns the reason from the answer to its handshake, which may be still to come.
        let name = &self.settings.name;
        let is_named = why.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(' '));
        self.phase = Phase::Failed(if is_named { why.to_owned() } else { format!("{name}: {why}") });
        self.answer_handshake();
    }

    fn login_needed(&self) -> String {
        let methods: Vec<String> = self
            .facts
            .auth_methods
            .iter()
            .map(|method| {
                let about = [text(method, "name"), text(method, "description")];
                let about: Vec<&str> = about.into_iter().filter(|text| !text.is_empty()).collect();
                format!("`{}` ({})", text(method, "id"), about.join(": "))
            })
            .collect();
        let methods = if methods.is_empty() { "none".to_owned() } else { methods.join(", ") };
        format!(
            "It needs a login. Log in with its own program, or set `authenticate` of this agent to one of its methods: {methods}"
        )
    }

    fn mcp_servers(&mut self) -> Vec<acp::McpServer> {
        let mut servers = Vec::new();
        let mut left_out = Vec::new();
        for (name, config) in &self.settings.mcp_servers {
            match mcp::server(name, config, &self.facts.capabilities["mcpCapabilities"]) {
                Some(server) => servers.push(server),
                None => left_out.push(name.clone()),
            }
        }
        if !left_out.is_empty() {
            let text = format!("This agent cannot use these MCP servers: {}", left_out.join(", "));
            self.inform(&text);
        }
        servers
    }
}
