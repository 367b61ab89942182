//! Modes, models and options of the agent, in the words of Claude Code where they fit.

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use serde_json::Value;
use tidings_api::AgentOption;
use tidings_protocol::control::ModelInfo;

use super::frames::{items, text};

/// Modes of well-known agents, and the permission mode of Claude Code that each fits.
///
/// The server decides by these words who may choose a mode, so a mode that runs everything unasked must be
/// `bypassPermissions` here.
const KNOWN: [(&str, &str); 19] = [
    ("default", "default"),
    ("acceptEdits", "acceptEdits"),
    ("plan", "plan"),
    ("dontAsk", "dontAsk"),
    ("auto", "auto"),
    ("bypassPermissions", "bypassPermissions"),
    // Codex
    ("read-only", "default"),
    ("workspace-write", "acceptEdits"),
    ("agent", "auto"),
    ("full-access", "bypassPermissions"),
    ("danger-full-access", "bypassPermissions"),
    ("agent-full-access", "bypassPermissions"),
    // Gemini
    ("autoEdit", "acceptEdits"),
    ("auto_edit", "acceptEdits"),
    ("yolo", "bypassPermissions"),
    // opencode
    ("build", "default"),
    // Goose
    ("approve", "default"),
    ("smart_approve", "auto"),
    ("chat", "plan"),
];

/// The modes, models and options that an agent offers, and the current ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Choices {
    modes: Vec<Value>,
    mode: Option<String>,
    models: Vec<Value>,
    model: Option<String>,
    options: Vec<Value>,
}

/// The reply to a host that asks for them.
#[derive(Debug, Serialize)]
pub(super) struct Offer {
    models: Vec<ModelInfo>,
    modes: Vec<OfferedMode>,
    options: Vec<AgentOption>,
}

/// A mode of the agent, and the permission mode that it fits.
#[derive(Debug, Serialize)]
pub(super) struct OfferedMode {
    id: String,
    permission_mode: String,
}

/// Parameters of a request that changes a setting of the agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Setting {
    Mode(acp::SetSessionModeRequest),
    Option(acp::SetSessionConfigOptionRequest),
    Model(SetModel),
}

/// Parameters of `session/set_model`, which older agents have instead of an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetModel {
    session_id: String,
    model_id: String,
}

impl Setting {
    /// The method of the request.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Setting::Mode(_) => "session/set_mode",
            Setting::Option(_) => "session/set_config_option",
            Setting::Model(_) => "session/set_model",
        }
    }
}

impl Choices {
    /// Reads the choices from a response or an update that contains them.
    pub(super) fn read(&mut self, answer: &Value) {
        if let Some(modes) = answer.get("modes").filter(|modes| modes.is_object()) {
            self.modes = items(modes, "availableModes").to_vec();
            self.mode = modes["currentModeId"].as_str().map(str::to_owned);
        }
        // A form that older agents use.
        if let Some(models) = answer.get("models").filter(|models| models.is_object()) {
            self.models = items(models, "availableModels").to_vec();
            self.model = models["currentModelId"].as_str().map(str::to_owned);
        }
        if answer["configOptions"].is_array() {
            self.options = items(answer, "configOptions").to_vec();
            if let Some(mode) = self.option("mode").and_then(|option| option["currentValue"].as_str()) {
                self.mode = Some(mode.to_owned());
            }
            if let Some(model) = self.option("model").and_then(|option| option["currentValue"].as_str()) {
                self.model = Some(model.to_owned());
            }
        }
    }

    /// All options, as the agent describes them.
    pub(super) fn config_options(&self) -> &[Value] {
        &self.options
    }

    /// The option of a category, such as `model`.
    pub(super) fn option(&self, category: &str) -> Option<&Value> {
        self.options
            .iter()
            .find(|option| text(option, "category") == category)
            .or_else(|| self.options.iter().find(|option| text(option, "id") == category))
    }

    /// The values of an option, also those in groups.
    fn values(option: &Value) -> Vec<&Value> {
        let groups = items(option, "options").iter();
        groups
            .flat_map(|value| match value["options"].as_array() {
                Some(inner) => inner.iter().collect::<Vec<_>>(),
                None => vec![value],
            })
            .collect()
    }

    /// Ids of the modes.
    fn mode_ids(&self) -> Vec<String> {
        let listed: Vec<String> = self.modes.iter().map(|mode| text(mode, "id").to_owned()).collect();
        if !listed.is_empty() {
            return listed;
        }
        let option = self.option("mode").into_iter();
        option.flat_map(Self::values).map(|value| text(value, "value").to_owned()).collect()
    }

    /// All that a host can choose from.
    pub(super) fn offer(&self) -> Offer {
        Offer { models: self.models(), modes: self.modes(), options: self.options() }
    }

    /// The modes as clients see them.
    pub(super) fn modes(&self) -> Vec<OfferedMode> {
        let offered = |id: String| OfferedMode { permission_mode: permission_mode(&id).to_owned(), id };
        self.mode_ids().into_iter().map(offered).collect()
    }

    /// The models as Claude Code lists them.
    pub(super) fn models(&self) -> Vec<ModelInfo> {
        let of = |value: &Value, key: &str| {
            ModelInfo::new(text(value, key), text(value, "name"), text(value, "description"))
        };
        match self.option("model") {
            Some(option) => Self::values(option).into_iter().map(|value| of(value, "value")).collect(),
            None => self.models.iter().map(|model| of(model, "modelId")).collect(),
        }
    }

    /// The current model, if the agent says so.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The current mode in the words of Claude Code, or by its own name.
    pub(super) fn mode(&self) -> &str {
        self.mode.as_deref().map_or("default", permission_mode)
    }

    pub(super) fn is_current_mode(&self, id: &str) -> bool {
        self.mode.as_deref() == Some(id)
    }

    pub(super) fn note_mode(&mut self, id: &str) {
        self.mode = Some(id.to_owned());
    }

    pub(super) fn note_model(&mut self, id: &str) {
        self.model = Some(id.to_owned());
    }

    pub(super) fn note_option(&mut self, id: &str, value: &str) {
        let Some(option) = self.options.iter_mut().find(|option| text(option, "id") == id) else { return };
        option["currentValue"] = match &option["currentValue"] {
            Value::Bool(_) => (value == "true").into(),
            _ => value.into(),
        };
    }

    /// The request that sets a mode.
    pub(super) fn set_mode(&self, id: &str, session: String) -> Setting {
        match self.option("mode").filter(|_| self.modes.is_empty()) {
            Some(option) => choose(option, id, session),
            None => Setting::Mode(acp::SetSessionModeRequest::new(session, id.to_owned())),
        }
    }

    /// The request that sets a model; none if there is no such model.
    pub(super) fn set_model(&self, model: &str, session_id: String) -> Option<Setting> {
        let is_listed = self.models().iter().any(|known| known.value == model);
        is_listed.then(|| match self.option("model") {
            Some(option) => choose(option, model, session_id),
            None => Setting::Model(SetModel { session_id, model_id: model.to_owned() }),
        })
    }

    /// The reason why a mode cannot be set.
    pub(super) fn no_mode(&self, mode: &str) -> String {
        let all = self.mode_ids();
        if all.is_empty() {
            return format!("This agent has no permission modes, so `{mode}` cannot be set");
        }
        format!("This agent has no mode that fits `{mode}`; its modes are: {}", all.join(", "))
    }

    /// The reason why a model cannot be set.
    pub(super) fn no_model(&self, model: &str) -> String {
        let all: Vec<String> = self.models().into_iter().map(|known| known.value).take(30).collect();
        if all.is_empty() {
            return format!("This agent does not let its clients choose a model, so `{model}` cannot be set");
        }
        format!("This agent has no model `{model}`; its models are: {}", all.join(", "))
    }
}

/// The request that chooses a value of an option.
fn choose(option: &Value, value: &str, session: String) -> Setting {
    let id = text(option, "id").to_owned();
    Setting::Option(acp::SetSessionConfigOptionRequest::new(session, id, value))
}

/// The permission mode that a mode fits, or its own name.
fn permission_mode(id: &str) -> &str {
    KNOWN.iter().find(|(known, _)| *known == short(id)).map_or(id, |(_, mode)| *mode)
}

/// True if a value is known as one with which an agent asks for nothing.
pub(super) fn bypasses(value: &str) -> bool {
    permission_mode(value) == "bypassPermissions"
}

/// The last part of an id that is an address: some agents have ids such as `https://…/session-modes#plan`.
fn short(id: &str) -> &str {
    id.rsplit(['#', '/']).next().unwrap_or(id)
}

/// The mode of the agent that fits a permission mode.
pub(super) fn mode_for(choices: &Choices, mode: &str) -> Option<String> {
    let mode = if mode == "manual" { "default" } else { mode };
    let all = choices.mode_ids();
    let exact = all.iter().find(|id| short(id) == mode);
    exact.or_else(|| all.iter().find(|id| permission_mode(id) == mode)).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codex() -> Choices {
        let mut choices = Choices::default();
        choices.read(&json!({"modes": {"currentModeId": "auto", "availableModes": [
            {"id": "read-only"}, {"id": "auto"}, {"id": "full-access"},
        ]}, "configOptions": [
            {"id": "model", "category": "model", "type": "select", "currentValue": "a",
             "options": [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]},
                         {"value": "b", "name": "B"}]},
        ]}));
        choices
    }

    #[test]
    fn modes_that_ask_nobody_are_known_as_such() {
        for id in ["full-access", "yolo", "bypassPermissions", "https://example.org/modes#yolo"] {
            assert_eq!(permission_mode(id), "bypassPermissions", "{id}");
        }
        assert_eq!(permission_mode("architect"), "architect", "shown by its name");
        assert_eq!(mode_for(&codex(), "default").as_deref(), Some("read-only"), "the one that asks");
        assert_eq!(mode_for(&codex(), "plan"), None);
        assert_eq!(mode_for(&codex(), "acceptEdits"), None);
        assert!(codex().no_mode("acceptEdits").contains("read-only, auto, full-access"));
    }

    #[test]
    fn models_come_from_the_option_of_that_category_also_in_groups() {
        let models = codex().models();
        assert_eq!(models.iter().map(|model| &*model.value).collect::<Vec<_>>(), ["a", "b"]);
        let setting = codex().set_model("b", "s".to_owned()).unwrap();
        assert_eq!(setting.method(), "session/set_config_option");
        let params = json!({"sessionId": "s", "configId": "model", "value": "b"});
        assert_eq!(serde_json::to_value(setting).unwrap(), params);
        assert_eq!(codex().set_model("c", "s".to_owned()), None);
    }
}
