//! One block of an answer in a script.

use serde::Deserialize;
use serde_json::Value;

use super::Table;
use super::error::Problem;

/// One block of an answer: a text, a thought, a tool call, or any block of the API, unchanged.
///
/// For tool calls the stand-in agent also needs the result of the tool; the real CLI runs the tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// A text. TOML cannot express `\uXXXX` of a lone surrogate: see `raw_text`.
    #[serde(default)]
    pub text: Option<String>,
    /// A text in the escaped form of a JSON string.
    #[serde(default)]
    pub raw_text: Option<String>,
    /// A thought.
    #[serde(default)]
    pub thinking: Option<String>,
    /// Signature of the thought.
    #[serde(default)]
    pub signature: Option<String>,
    /// An encrypted thought, readable by the API only.
    #[serde(default)]
    pub redacted_thinking: Option<String>,
    /// Name of the called tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// Input of the tool.
    #[serde(default)]
    pub input: Table,
    /// Id of the call; generated if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// API: explanation with which the check of auto mode flags the call; other calls are not flagged.
    #[serde(default)]
    pub flagged: Option<String>,
    /// Any other block of the API, unchanged.
    #[serde(default)]
    pub raw: Option<Table>,
    /// Agent: the CLI requests permission first: `true`, or a table with members of the request.
    #[serde(default)]
    pub ask: Option<Ask>,
    /// Agent: result for the model: a text, or a list of blocks.
    #[serde(default)]
    pub result: Option<Value>,
    /// Agent: true if the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Agent: structured output for the host (`tool_use_result`).
    #[serde(default)]
    pub output: Option<Value>,
    /// Agent: duration of the tool, or of the command that it starts in the background, in milliseconds.
    #[serde(default)]
    pub takes_ms: u64,
}

/// A permission request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Ask {
    /// `ask = true`
    Plain(bool),
    /// `ask = { description = "…", decision_reason = "…", … }`: members of the request.
    With(Table),
}

impl Block {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let kinds = [
            ("text", self.text.is_some()),
            ("raw_text", self.raw_text.is_some()),
            ("thinking", self.thinking.is_some()),
            ("redacted_thinking", self.redacted_thinking.is_some()),
            ("tool", self.tool.is_some()),
            ("raw", self.raw.is_some()),
        ];
        let written: Vec<_> = kinds.iter().filter(|(_, written)| *written).map(|(name, _)| *name).collect();
        let [kind] = written[..] else {
            let found = if written.is_empty() { "none".to_owned() } else { written.join(" and ") };
            let all = "one of `text`, `raw_text`, `thinking`, `redacted_thinking`, `tool`, `raw`";
            return Err(Problem::general(format!("a block needs {all}, found {found}")));
        };
        if kind != "tool" {
            let strays = [
                ("input", !self.input.is_empty()),
                ("id", self.id.is_some()),
                ("flagged", self.flagged.is_some()),
                ("ask", self.ask.is_some()),
                ("result", self.result.is_some()),
                ("output", self.output.is_some()),
            ];
            if let Some((key, _)) = strays.into_iter().find(|(_, written)| *written) {
                return Err(Problem::new(
                    key,
                    format!("`{key}` belongs to a block with `tool`, this one has `{kind}`"),
                ));
            }
        }
        if self.flagged.as_ref().is_some_and(|explanation| explanation.trim().is_empty()) {
            let message = "`flagged` is the explanation of the check: expected a text that is not empty";
            return Err(Problem::new("flagged", message));
        }
        if self.raw.as_ref().is_some_and(|raw| !raw.contains_key("type")) {
            return Err(Problem::new("raw", "`raw` is a block of the API: expected a `type` in it"));
        }
        Ok(())
    }
}
