//! The condition for the request that a turn answers.

use serde::Deserialize;

use super::Request;

/// Condition for the request that a turn answers. All given fields must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Some message (or the system prompt) contains this text.
    #[serde(default)]
    pub contains: Option<String>,
    /// No message contains this text.
    #[serde(default)]
    pub lacks: Option<String>,
    /// The last message contains this text.
    #[serde(default)]
    pub last_contains: Option<String>,
    /// The model's name contains this text.
    #[serde(default)]
    pub model_contains: Option<String>,
    /// This tool is offered.
    #[serde(default)]
    pub has_tool: Option<String>,
    /// This tool is not offered.
    #[serde(default)]
    pub lacks_tool: Option<String>,
    /// No tools are offered at all.
    #[serde(default)]
    pub no_tools: Option<bool>,
    /// Number of the request (from 1), not counting the CLI's own probes.
    #[serde(default)]
    pub request: Option<usize>,
}

impl When {
    /// True if the turn answers this request.
    pub fn matches(&self, request: &Request) -> bool {
        let has = |text: &String| request.texts.iter().any(|message| message.contains(text.as_str()));
        let offers = |tool: &String| request.tools.iter().any(|name| name == tool);
        self.contains.as_ref().is_none_or(has)
            && !self.lacks.as_ref().is_some_and(has)
            && self.last_contains.as_ref().is_none_or(|text| request.last.contains(text.as_str()))
            && self.model_contains.as_ref().is_none_or(|text| request.model.contains(text.as_str()))
            && self.has_tool.as_ref().is_none_or(offers)
            && !self.lacks_tool.as_ref().is_some_and(offers)
            && self.no_tools.is_none_or(|none| request.tools.is_empty() == none)
            && self.request.is_none_or(|number| request.number == number)
    }
}
