//! Responses to an editor.

use std::collections::BTreeMap;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use tidings_api::{AgentOption, ModelChoice};

use super::open_prompts::PromptEnd;
use crate::meta::{add, meta};
use crate::rpc::{Id, RpcError, to_value};

/// Settings of a session that an editor shows and changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionState {
    /// Current permission mode.
    pub mode: String,
    /// Modes that the caller may choose.
    pub modes: Vec<ModeChoice>,
    /// Current model, if it is known.
    pub model: Option<String>,
    /// Models that can be chosen.
    pub models: Vec<ModelChoice>,
    /// Options of the agent besides its model and mode.
    pub options: Vec<AgentOption>,
    /// Slash commands, without the slash.
    pub commands: Vec<String>,
}

/// A permission mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeChoice {
    /// Its value.
    pub mode: String,
    /// Its name for people.
    pub name: &'static str,
    /// Its effect.
    pub description: &'static str,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// Its id.
    pub session: String,
    /// Working folder.
    pub cwd: String,
    /// Its title.
    pub title: Option<String>,
    /// Time of the last change.
    pub updated: Option<String>,
}

/// Value of the option for the default model.
const DEFAULT_MODEL: &str = "default";

impl ModeChoice {
    /// The modes of Claude Code that an editor may offer.
    pub const ALL: [(&'static str, &'static str, &'static str); 5] = [
        ("default", "Default", "Asks before each change"),
        ("acceptEdits", "Accept edits", "Edits files of the project without asking"),
        ("plan", "Plan", "Reads and plans, and changes nothing"),
        ("dontAsk", "Don't ask", "Refuses what no rule allows, and asks nothing"),
        ("bypassPermissions", "Bypass permissions", "Runs everything without asking"),
    ];

    /// The modes for which `may` returns true.
    pub fn allowed(may: impl Fn(&str) -> bool) -> Vec<ModeChoice> {
        ModeChoice::ALL
            .into_iter()
            .filter(|(mode, _, _)| may(mode))
            .map(|(mode, name, description)| ModeChoice { mode: mode.to_owned(), name, description })
            .collect()
    }
}

impl SessionState {
    fn mode_state(&self) -> acp::SessionModeState {
        let modes = self.modes.iter().map(|choice| {
            acp::SessionMode::new(choice.mode.clone(), choice.name).description(choice.description.to_owned())
        });
        acp::SessionModeState::new(self.mode.clone(), modes.collect())
    }

    /// All options, as the protocol wants them after each change.
    pub(super) fn options(&self) -> Vec<acp::SessionConfigOption> {
        let modes: Vec<_> = self
            .modes
            .iter()
            .map(|choice| {
                acp::SessionConfigSelectOption::new(choice.mode.clone(), choice.name)
                    .description(choice.description.to_owned())
            })
            .collect();
        let mode = acp::SessionConfigOption::select("mode", "Mode", self.mode.clone(), modes)
            .category(acp::SessionConfigOptionCategory::Mode);
        let model_option =
            acp::SessionConfigOption::select("model", "Model", self.model_value(), self.model_choices())
                .category(acp::SessionConfigOptionCategory::Model);
        let others = self.options.iter().map(|option| {
            let values: Vec<_> = option
                .values
                .iter()
                .map(|value| {
                    acp::SessionConfigSelectOption::new(value.value.clone(), value.name.clone())
                        .description(value.description.clone())
                })
                .collect();
            let select = acp::SessionConfigOption::select(
                option.id.clone(),
                option.name.clone(),
                option.value.clone(),
                values,
            );
            select.description(option.description.clone()).category(option.category.as_deref().map(category))
        });
        [mode, model_option].into_iter().chain(others).collect()
    }

    /// Notes the values of options. Returns true if one has changed.
    pub fn note_options(&mut self, values: &BTreeMap<String, String>) -> bool {
        let mut has_changed = false;
        for option in &mut self.options {
            if let Some(value) = values.get(&option.id).filter(|value| **value != option.value) {
                option.value.clone_from(value);
                has_changed = true;
            }
        }
        has_changed
    }

    /// The value of the current model: the choice that resolves to it, if there is one.
    fn model_value(&self) -> String {
        let Some(model) = &self.model else { return DEFAULT_MODEL.to_owned() };
        let by_value = self.models.iter().find(|choice| choice.value == *model);
        let found =
            by_value.or_else(|| self.models.iter().find(|choice| choice.model.as_ref() == Some(model)));
        found.map_or_else(|| model.clone(), |choice| choice.value.clone())
    }

    fn model_choices(&self) -> Vec<acp::SessionConfigSelectOption> {
        let mut choices: Vec<_> = self
            .models
            .iter()
            .map(|choice| {
                acp::SessionConfigSelectOption::new(choice.value.clone(), choice.name.clone())
                    .description(choice.description.clone())
            })
            .collect();
        let current = self.model_value();
        if !choices.iter().any(|choice| choice.value.0.as_ref() == current) {
            choices.insert(0, acp::SessionConfigSelectOption::new(current.clone(), current));
        }
        choices
    }

    /// The model that an option's value selects; none for the default.
    pub fn model_of(value: &str) -> Option<String> {
        (value != DEFAULT_MODEL).then(|| value.to_owned())
    }
}

fn category(name: &str) -> acp::SessionConfigOptionCategory {
    match name {
        "thought_level" => acp::SessionConfigOptionCategory::ThoughtLevel,
        name => acp::SessionConfigOptionCategory::Other(name.to_owned()),
    }
}

/// The response to `initialize`.
pub fn initialized(version: &str) -> Value {
    let sessions = acp::SessionCapabilities::new()
        .list(acp::SessionListCapabilities::new())
        .delete(acp::SessionDeleteCapabilities::new())
        .additional_directories(acp::SessionAdditionalDirectoriesCapabilities::new())
        .resume(acp::SessionResumeCapabilities::new())
        .close(acp::SessionCloseCapabilities::new());
    let capabilities = acp::AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(acp::PromptCapabilities::new().image(true).embedded_context(true))
        .mcp_capabilities(acp::McpCapabilities::new().http(true).sse(true))
        .session_capabilities(sessions);
    let mut response = acp::InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(acp::Implementation::new("tidings", version).title("Tidings (Claude Code)".to_owned()));
    response.meta = Some(meta("cursors", true));
    to_value(&response)
}

/// The response to `session/new`, `session/load` and `session/resume`.
pub fn opened(session: &str, state: &SessionState, cursor: &str, pending: &[Id]) -> Value {
    let pending: Vec<Value> =
        pending.iter().filter_map(|id| serde_json::from_str(id.as_json()).ok()).collect();
    let mut meta = Some(meta("session", session));
    add(&mut meta, "cursor", cursor);
    add(&mut meta, "pending", pending);
    let response = acp::NewSessionResponse::new(session.to_owned())
        .modes(state.mode_state())
        .config_options(state.options())
        .meta(meta);
    to_value(&response)
}

/// The response to `session/set_config_option`.
pub fn options_set(state: &SessionState) -> Value {
    to_value(&acp::SetSessionConfigOptionResponse::new(state.options()))
}

/// The response to `session/list`.
pub fn listed(sessions: Vec<ListedSession>, next: Option<String>) -> Value {
    let sessions = sessions.into_iter().map(|session| {
        acp::SessionInfo::new(session.session, session.cwd).title(session.title).updated_at(session.updated)
    });
    to_value(&acp::ListSessionsResponse::new(sessions.collect()).next_cursor(next))
}

/// The response to `session/prompt`.
pub fn stopped(end: &PromptEnd, cursor: &str) -> Result<Value, RpcError> {
    let reason = match end {
        PromptEnd::EndTurn => acp::StopReason::EndTurn,
        PromptEnd::MaxTokens => acp::StopReason::MaxTokens,
        PromptEnd::MaxTurns => acp::StopReason::MaxTurnRequests,
        PromptEnd::Refusal => acp::StopReason::Refusal,
        PromptEnd::Cancelled => acp::StopReason::Cancelled,
        PromptEnd::Failed(message) if needs_login(message) => {
            return Err(RpcError::new(RpcError::AUTH_REQUIRED, message.clone(), "run `claude` and `/login`"));
        }
        PromptEnd::Failed(message) => return Err(RpcError::new(RpcError::INTERNAL, message.clone(), "")),
    };
    Ok(to_value(&acp::PromptResponse::new(reason).meta(meta("cursor", cursor))))
}

fn needs_login(message: &str) -> bool {
    message.contains("/login")
}
