//! Options of the agent beside its model and its mode: their list, and changes of them.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use tidings_api::{AgentOption, AgentOptionValue};
use tidings_protocol::control::ErrorCode;
use tidings_protocol::json::Raw;

use super::frames::{items, text};
use super::modes::{Choices, Setting, bypasses};
use super::state::{Adapter, OutgoingCall, SettingChange};
use crate::limits::{OPTION_ID_BYTES_MAX, OPTION_TEXT_CHARS_MAX, OPTION_VALUES_MAX, OPTIONS_MAX};
use crate::rpc::RpcError;

/// Member of the settings of a host that contains options of the agent.
pub const OPTIONS_SETTING: &str = "configOptions";

/// Values of an option that is on or off.
const SWITCH: [(&str, &str); 2] = [("true", "On"), ("false", "Off")];

impl Choices {
    /// The options beside model and mode. Those of a kind that this adapter does not know are left out.
    ///
    /// No option of the category `mode` is among them: a mode is set by its permission mode, whose
    /// scope the server checks.
    pub(super) fn options(&self) -> Vec<AgentOption> {
        let model = self.option("model").map(|option| &option["id"]);
        let mode = self.option("mode").map(|option| &option["id"]);
        let is_other = |option: &&Value| {
            let id = Some(&option["id"]);
            id != model && id != mode && text(option, "category") != "mode"
        };
        let others = self.config_options().iter().filter(is_other);
        others.filter_map(described).take(OPTIONS_MAX).collect()
    }

    /// Current values of these options, by their ids.
    pub(super) fn option_values(&self) -> BTreeMap<String, String> {
        self.options().into_iter().map(|option| (option.id, option.value)).collect()
    }

    /// The request that sets an option, or the reason why it cannot be set.
    pub(super) fn set_option(&self, id: &str, value: &str, session: String) -> Result<Setting, String> {
        let all = self.options();
        let Some(option) = all.iter().find(|option| option.id == id) else {
            let ids: Vec<&str> = all.iter().map(|option| option.id.as_str()).collect();
            return Err(if ids.is_empty() {
                format!("This agent has no options, so `{id}` cannot be set")
            } else {
                format!("This agent has no option `{id}`; its options are: {}", ids.join(", "))
            });
        };
        if !option.values.iter().any(|known| known.value == value) {
            let values: Vec<&str> = option.values.iter().map(|known| known.value.as_str()).collect();
            return Err(format!("`{id}` has no value `{value}`; its values are: {}", values.join(", ")));
        }
        let is_switch = self.config_options().iter().any(|own| text(own, "id") == id && is_switch(own));
        let value: acp::SessionConfigOptionValue =
            if is_switch { (value == "true").into() } else { value.into() };
        Ok(Setting::Option(acp::SetSessionConfigOptionRequest::new(session, id.to_owned(), value)))
    }
}

/// An option as clients see it, if it has values to choose from.
fn described(option: &Value) -> Option<AgentOption> {
    let (value, values) = if is_switch(option) {
        let switch = |(value, name): (&str, &str)| AgentOptionValue {
            value: value.to_owned(),
            name: name.to_owned(),
            ..AgentOptionValue::default()
        };
        (option["currentValue"].as_bool()?.to_string(), SWITCH.map(switch).to_vec())
    } else {
        (option["currentValue"].as_str()?.to_owned(), values(option))
    };
    let id = text(option, "id");
    if !is_id(id) || !is_id(&value) || values.is_empty() {
        return None;
    }
    Some(AgentOption {
        id: id.to_owned(),
        name: label(text(option, "name")).unwrap_or_else(|| id.to_owned()),
        description: label(text(option, "description")),
        category: label(text(option, "category")),
        value,
        values,
        scope: String::new(),
    })
}

fn is_switch(option: &Value) -> bool {
    text(option, "type") == "boolean"
}

/// The values of an option, also those in groups.
fn values(option: &Value) -> Vec<AgentOptionValue> {
    let own = |value: &Value, group: Option<String>| {
        let id = text(value, "value");
        is_id(id).then(|| AgentOptionValue {
            value: id.to_owned(),
            name: label(text(value, "name")).unwrap_or_else(|| id.to_owned()),
            description: label(text(value, "description")),
            group,
            bypass: bypasses(id),
        })
    };
    let listed = items(option, "options").iter().flat_map(|entry| match entry["options"].as_array() {
        Some(inner) => {
            let group = label(text(entry, "name"));
            inner.iter().filter_map(|value| own(value, group.clone())).collect()
        }
        None => own(entry, None).into_iter().collect::<Vec<_>>(),
    });
    listed.take(OPTION_VALUES_MAX).collect()
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= OPTION_ID_BYTES_MAX
}

/// A text that is shown, if there is one.
fn label(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.chars().take(OPTION_TEXT_CHARS_MAX).collect())
}

/// The option in settings of a host, and its new value, if there is exactly one and nothing else.
fn one_option(settings: Raw<'_>) -> Option<(String, String)> {
    let mut given: BTreeMap<String, BTreeMap<String, String>> = settings.read().ok()?;
    let mut options = given.remove(OPTIONS_SETTING)?;
    options.pop_first().filter(|_| options.is_empty() && given.is_empty())
}

impl Adapter {
    /// Changes an option for the host.
    pub(super) fn apply_settings(&mut self, id: &str, settings: Raw<'_>) {
        let Some((option, value)) = one_option(settings) else {
            let error =
                format!("This agent takes one option of `{OPTIONS_SETTING}` at a time, and no settings");
            return self.refuse(id, &error, ErrorCode::INVALID_REQUEST);
        };
        match self.choices.set_option(&option, &value, self.session_id()) {
            Ok(setting) => {
                let change = SettingChange::Option { option, value };
                let call = OutgoingCall::Setting { request: id.to_owned(), change };
                self.call(setting.method(), &setting, call);
            }
            Err(error) => self.refuse(id, &error, ErrorCode::INVALID_REQUEST),
        }
    }

    /// Sets the next option that the host chose in an earlier run. False if all are set.
    ///
    /// A value with which the agent asks for nothing is not set again: the server decides about it each time.
    pub(super) fn apply_first_option(&mut self) -> bool {
        while let Some((id, value)) = self.settings.options.pop_first() {
            let is_current = self.choices.option_values().get(&id) == Some(&value);
            if is_current || bypasses(&value) {
                continue;
            }
            match self.choices.set_option(&id, &value, self.session_id()) {
                Ok(setting) => {
                    self.call(setting.method(), &setting, OutgoingCall::FirstOption { id, value });
                    return true;
                }
                Err(error) => self.inform(&error),
            }
        }
        false
    }

    /// The agent has answered the change of an option of an earlier run. The session begins without it if it
    /// was refused.
    pub(super) fn first_option_made(&mut self, id: &str, value: &str, result: Result<Value, RpcError>) {
        match result {
            Ok(answer) => {
                self.choices.note_option(id, value);
                self.choices.read(&answer);
            }
            Err(error) => {
                self.inform(&format!("The agent did not take `{value}` for `{id}`: {}", error.message));
            }
        }
        self.apply_first_settings();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choices() -> Choices {
        let mut choices = Choices::default();
        choices.read(&json!({"configOptions": [
            {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask",
             "options": [{"value": "ask", "name": "Ask"}]},
            {"id": "second", "name": "Another", "category": "mode", "type": "select", "currentValue": "yolo",
             "options": [{"value": "yolo", "name": "Yolo"}]},
            {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "a",
             "options": [{"value": "a", "name": "A"}]},
            {"id": "effort", "name": "Effort", "category": "thought_level", "type": "select",
             "currentValue": "low", "description": "How long it thinks", "options": [
                {"group": "g", "name": "Usual", "options": [{"value": "low", "name": "Low"}]},
                {"value": "high", "name": "High", "description": "Slow"}]},
            {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": false},
            {"id": "sandbox", "name": "", "type": "select", "currentValue": "read-only",
             "options": [{"value": "read-only"}, {"value": "danger-full-access"}]},
            {"id": "later", "name": "Of the future", "type": "slider", "currentValue": 5},
            {"id": "x".repeat(OPTION_ID_BYTES_MAX + 1), "type": "boolean", "currentValue": true},
        ]}));
        choices
    }

    #[test]
    fn options_are_listed_without_model_modes_and_kinds_that_are_unknown() {
        let all = choices().options();
        let ids: Vec<&str> = all.iter().map(|option| option.id.as_str()).collect();
        assert_eq!(ids, ["effort", "fast", "sandbox"]);
        let effort = &all[0];
        assert_eq!((effort.name.as_str(), effort.value.as_str()), ("Effort", "low"));
        assert_eq!(effort.category.as_deref(), Some("thought_level"));
        assert_eq!(effort.values[0].group.as_deref(), Some("Usual"));
        assert_eq!(effort.values[1].description.as_deref(), Some("Slow"));
        assert_eq!((all[1].value.as_str(), all[1].values[0].name.as_str()), ("false", "On"));
        assert_eq!(all[2].name, "sandbox", "shown by its id");
        let bypass: Vec<bool> = all[2].values.iter().map(|value| value.bypass).collect();
        assert_eq!(bypass, [false, true], "a value that asks for nothing is known as such");
    }

    #[test]
    fn an_option_is_set_by_its_kind_and_refused_with_those_that_exist() {
        let choices = choices();
        let set = |id: &str, value: &str| {
            let setting = choices.set_option(id, value, "s".to_owned())?;
            Ok::<_, String>(serde_json::to_value(setting).unwrap())
        };
        assert_eq!(
            set("effort", "high").unwrap(),
            json!({"sessionId": "s", "configId": "effort", "value": "high"})
        );
        assert_eq!(
            set("fast", "true").unwrap(),
            json!({"sessionId": "s", "configId": "fast", "type": "boolean", "value": true})
        );
        assert!(set("fast", "maybe").unwrap_err().contains("true, false"));
        assert!(set("effort", "huge").unwrap_err().contains("its values are: low, high"));
        for hidden in ["mode", "second", "model", "nothing"] {
            assert!(set(hidden, "yolo").unwrap_err().contains("its options are: effort, fast, sandbox"));
        }
        assert!(Choices::default().set_option("a", "b", String::new()).unwrap_err().contains("no options"));
    }

    #[test]
    fn a_list_without_end_is_bounded() {
        let values: Vec<Value> = (0..1000).map(|n| json!({"value": n.to_string()})).collect();
        let option = |n: usize| {
            json!({"id": format!("o{n}"), "name": "n".repeat(9000), "type": "select", "currentValue": "1",
                   "options": values})
        };
        let mut choices = Choices::default();
        choices.read(&json!({"configOptions": (0..100).map(option).collect::<Vec<_>>()}));
        let all = choices.options();
        assert_eq!((all.len(), all[0].values.len()), (OPTIONS_MAX, OPTION_VALUES_MAX));
        assert_eq!(all[0].name.len(), OPTION_TEXT_CHARS_MAX);
    }
}
