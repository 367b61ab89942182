//! A permission request of the CLI, in a form that users and policies can judge.

use tidings_protocol::control::CanUseTool;
use tidings_protocol::json::Json;
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::permissions::PermissionUpdate;
use tidings_protocol::ui::{PermissionLevel, PermissionRequest, TargetType};

use super::reach::{self, Depth, Links};
use super::request::risk_of_reading;
use super::{Digest, Grant, Reach, Script, SessionFacts, derive, disk, rules, writes};
use crate::request_table::{AskKey, Keyed};

/// A request for permission to run a tool.
///
/// ```
/// use tidings_agent::permissions::{Ask, SessionFacts};
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::json::Json;
///
/// let call = CanUseTool::new("Read", Json::parse(r#"{"file_path":"notes.txt"}"#)?, "toolu_1");
/// let ask = Ask::new(1, "request-1", &call, &SessionFacts::in_folder("/home/ada/demo"));
/// assert_eq!(ask.request.description, "Read the file `/home/ada/demo/notes.txt`");
/// # Ok::<(), tidings_protocol::json::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// The key of the request.
    pub key: AskKey,
    /// The tool.
    pub tool_name: String,
    /// The input of the tool.
    pub input: Json,
    /// Digest of the input, which ties an answer to what was shown.
    pub digest: Digest,
    /// The request for the events. Its text comes from the input, never from the model.
    pub request: PermissionRequest,
    /// The risk level.
    pub risk: RiskLevel,
    /// The reach of the call, by the names in it and by the path that made the CLI ask.
    pub reach: Reach,
    /// The facts about the session.
    pub facts: SessionFacts,
    /// The parsed command, if the tool runs one.
    pub script: Option<Script>,
    /// The model's own description of the call. It may be wrong or deceptive.
    pub model_says: Option<String>,
    /// The sub-agent that makes the call; `None` for the main conversation.
    pub agent_id: Option<String>,
    /// The path that made the CLI ask.
    pub blocked_path: Option<String>,
    /// Changes of the rules that the CLI suggests.
    pub suggestions: Vec<PermissionUpdate>,
    /// True if "always" can be offered.
    pub can_be_always: bool,
    /// True if only the user can answer, because the tool itself is a question.
    pub needs_person: bool,
}

impl Ask {
    /// Creates a request from the CLI's `can_use_tool` in the session `session_id`. `request_id` is the key
    /// if the call has no id.
    pub fn new(session_id: i64, request_id: &str, call: &CanUseTool, facts: &SessionFacts) -> Self {
        let input = call.input().cloned().unwrap_or_else(empty_object);
        let tool_use_id = call.tool_use_id.as_deref().unwrap_or(request_id);
        let mut ask = Ask::announced(session_id, tool_use_id, &call.tool_name, input, facts);
        ask.request.reason.clone_from(&call.decision_reason);
        ask.agent_id.clone_from(&call.agent_id);
        ask.blocked_path.clone_from(&call.blocked_path);
        if let Some(path) = &call.blocked_path {
            // The CLI follows symbolic links, which the names alone do not show.
            ask.reach = ask.reach.max(reach::of_path(path, Depth::Itself, facts, Links::Ignored));
            ask.risk = ask.risk.max(risk_of_reading(ask.reach));
        }
        ask.suggestions.clone_from(&call.permission_suggestions);
        ask.can_be_always = call.suppress_always_allow_rule != Some(true);
        ask.needs_person = call.requires_user_interaction == Some(true);
        ask
    }

    /// Adds information from the disk of this machine: follows symbolic links, and finds out if a file that a
    /// tool would write in the project is new.
    /// It is a separate step, because the disk says nothing about recordings.
    #[must_use]
    pub fn on_disk(mut self) -> Self {
        let is_file = self.request.target_type == TargetType::Path;
        let real = self.real_reach();
        if real > self.reach {
            self.reach = real;
            self.risk = RiskLevel::High;
        }
        let target = self.request.target.as_str();
        let runs = match &self.script {
            Some(script) => writes::writes_what_runs(script, &self.facts, Links::Followed),
            None => is_file && self.is_write() && writes::is_what_runs(target, &self.facts),
        };
        if runs {
            self.risk = RiskLevel::High;
        }
        let is_new = is_file && self.tool_name == "Write" && target.starts_with('/') && !disk::exists(target);
        if is_new && self.reach == Reach::Folder && self.risk == RiskLevel::Medium {
            self.risk = RiskLevel::Low;
        }
        self
    }

    /// The reach of the request, with symbolic links followed now.
    pub(crate) fn real_reach(&self) -> Reach {
        let real = match (&self.script, self.request.target_type) {
            (Some(script), _) => reach::of_script(script, &self.facts, Links::Followed),
            (None, TargetType::Path) => {
                let depth = if self.request.recursive { Depth::Below } else { Depth::Itself };
                let folder = self.facts.folder.path();
                reach::of_real_path(&self.request.target, depth, folder, &self.facts)
            }
            _ => Reach::Folder,
        };
        self.reach.max(real)
    }

    /// True if it may touch a protected folder, which only a person can allow. A command that is not known
    /// before it runs, and a tool that is not known at all, may touch what they mention.
    pub(crate) fn is_protected(&self) -> bool {
        if self.facts.protected.is_empty() {
            return false;
        }
        let mentions = match (&self.script, self.request.target_type) {
            (Some(_), _) => self.facts.protects_mentioned(&self.request.target),
            (None, TargetType::Tool) => self.facts.protects_mentioned(&self.input.raw().to_string()),
            _ => false,
        };
        mentions || self.real_reach() == Reach::Protected
    }

    /// True if a tool writes a file.
    fn is_write(&self) -> bool {
        self.request.level > PermissionLevel::Read
    }

    /// Creates a request for a call of the model before the CLI asks about it.
    pub fn announced(
        session_id: i64,
        tool_use_id: &str,
        tool_name: &str,
        input: Json,
        facts: &SessionFacts,
    ) -> Self {
        let derived = derive(tool_name, &input, facts);
        let model_says =
            input.raw().get("description").and_then(|text| Some(text.text()?.get().into_owned()));
        Ask {
            key: AskKey::new(session_id, tool_use_id),
            tool_name: tool_name.to_owned(),
            digest: Digest::of(tool_name, input.raw()),
            request: derived.request,
            risk: derived.risk,
            reach: derived.reach,
            facts: facts.clone(),
            script: derived.script,
            model_says,
            agent_id: None,
            blocked_path: None,
            suggestions: Vec::new(),
            can_be_always: true,
            needs_person: false,
            input,
        }
    }

    /// The smallest grant that covers this request; `None` if the effect of the call is not known before it
    /// runs.
    pub fn suggested_grant(&self) -> Option<Grant> {
        Grant::for_ask(self)
    }

    /// The rules that "always" adds, to show before the user chooses it; empty if it cannot be offered.
    pub fn always_updates(&self) -> Vec<PermissionUpdate> {
        rules::always(self)
    }
}

impl Keyed for Ask {
    fn key(&self) -> &AskKey {
        &self.key
    }
}

fn empty_object() -> Json {
    Json::parse("{}").unwrap_or_default()
}
