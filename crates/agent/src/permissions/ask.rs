//! A question of the CLI, as a person or a policy can judge it.

use tidings_protocol::control::CanUseTool;
use tidings_protocol::json::Json;
use tidings_protocol::mobile::RiskLevel;
use tidings_protocol::permissions::PermissionUpdate;
use tidings_protocol::ui::{PermissionRequest, TargetType};

use super::command::is_plain_path;
use super::reach::{self, Depth, Links};
use super::request::risk_of_reading;
use super::{Digest, Grant, Reach, Script, derive, disk, rules};
use crate::request_table::{AskKey, Keyed};

/// The question whether a tool may run.
///
/// ```
/// use tidings_agent::permissions::Ask;
/// use tidings_protocol::control::CanUseTool;
/// use tidings_protocol::json::Json;
///
/// let call = CanUseTool::new("Read", Json::parse(r#"{"file_path":"notes.txt"}"#)?, "toolu_1");
/// let ask = Ask::new(1, "request-1", &call, Some("/home/ada"));
/// assert_eq!(ask.request.description, "Read the file `/home/ada/notes.txt`");
/// # Ok::<(), tidings_protocol::json::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// What the question is called.
    pub key: AskKey,
    /// The tool.
    pub tool_name: String,
    /// What the tool would get.
    pub input: Json,
    /// Ties an answer to what was shown.
    pub digest: Digest,
    /// The question for the events. Its words come from the input, never from the model.
    pub request: PermissionRequest,
    /// How much can go wrong.
    pub risk: RiskLevel,
    /// How far it reaches, by the names in it and by the path that made the CLI ask.
    pub reach: Reach,
    /// Where relative paths begin: the folder of the session.
    pub folder: Option<String>,
    /// The command taken apart, where the tool runs one.
    pub script: Option<Script>,
    /// What the model says the call is for. It may be wrong, and it may lie.
    pub model_says: Option<String>,
    /// The sub-agent that wants it; none for the main conversation.
    pub agent_id: Option<String>,
    /// The path that made the CLI ask.
    pub blocked_path: Option<String>,
    /// Changes of the rules that the CLI suggests.
    pub suggestions: Vec<PermissionUpdate>,
    /// Whether "always" can be offered.
    pub can_be_always: bool,
    /// Whether only a person can answer, because the tool is a question itself.
    pub needs_person: bool,
}

impl Ask {
    /// The question of the CLI in the session `session_id`. `request_id` names it where the call has no id of its own;
    /// `folder` is where relative paths begin.
    pub fn new(session_id: i64, request_id: &str, call: &CanUseTool, folder: Option<&str>) -> Self {
        let input = call.input().cloned().unwrap_or_else(empty_object);
        let tool_use_id = call.tool_use_id.as_deref().unwrap_or(request_id);
        let mut ask = Ask::announced(session_id, tool_use_id, &call.tool_name, input, folder);
        ask.request.reason.clone_from(&call.decision_reason);
        ask.agent_id.clone_from(&call.agent_id);
        ask.blocked_path.clone_from(&call.blocked_path);
        if let Some(path) = &call.blocked_path {
            // The CLI follows links, and names have told nothing of those.
            ask.reach = ask.reach.max(reach::of_path(path, Depth::Itself, folder, Links::Ignored));
            ask.risk = ask.risk.max(risk_of_reading(ask.reach));
        }
        ask.suggestions.clone_from(&call.permission_suggestions);
        ask.can_be_always = call.suppress_always_allow_rule != Some(true);
        ask.needs_person = call.requires_user_interaction == Some(true);
        ask
    }

    /// The same after a look at the disk of this machine: links are followed, and a file that a tool would write in the
    /// project is known to be new. For recordings the disk says nothing, so this is left to those who ask right now.
    #[must_use]
    pub fn on_disk(mut self) -> Self {
        let folder = self.folder.as_deref();
        let is_file = self.request.target_type == TargetType::Path;
        let real = match &self.script {
            Some(script) => reach::of_script(script, folder, Links::Followed),
            None if is_file => reach::of_real_path(&self.request.target, Depth::Itself, folder, folder),
            None => Reach::Folder,
        };
        if real > self.reach {
            self.reach = real;
            self.risk = RiskLevel::High;
        }
        let target = self.request.target.as_str();
        let is_new = is_file && self.tool_name == "Write" && target.starts_with('/') && !disk::exists(target);
        if is_new && self.reach == Reach::Folder && self.risk == RiskLevel::Medium {
            let inside = folder.and_then(|folder| target.strip_prefix(folder)).unwrap_or(target);
            if is_plain_path(inside) {
                self.risk = RiskLevel::Low;
            }
        }
        self
    }

    /// A call of the model that the CLI has not asked about yet.
    pub fn announced(
        session_id: i64,
        tool_use_id: &str,
        tool_name: &str,
        input: Json,
        folder: Option<&str>,
    ) -> Self {
        let derived = derive(tool_name, &input, folder);
        let model_says =
            input.raw().get("description").and_then(|text| Some(text.text()?.get().into_owned()));
        Ask {
            key: AskKey::new(session_id, tool_use_id),
            tool_name: tool_name.to_owned(),
            digest: Digest::of(tool_name, input.raw()),
            request: derived.request,
            risk: derived.risk,
            reach: derived.reach,
            folder: folder.map(str::to_owned),
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

    /// The smallest grant that covers this question; none if what the call does is not known before it runs.
    pub fn suggested_grant(&self) -> Option<Grant> {
        Grant::for_ask(self)
    }

    /// The rules that "always" adds. To be shown before somebody says so; empty if it cannot be said.
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
