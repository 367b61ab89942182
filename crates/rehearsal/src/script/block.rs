use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Table;
use super::error::Problem;

/// One block of an answer: a text, a thought, a tool call, or any block of the API as it is.
///
/// For tool calls the stand-in agent also needs to know what the tool gives back; the real CLI runs the tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// A text. `\uXXXX` of a lone surrogate cannot be written in TOML: see `raw_text`.
    #[serde(default)]
    pub text: Option<String>,
    /// A text as it stands between the quotes of a JSON string, escapes and all.
    #[serde(default)]
    pub raw_text: Option<String>,
    /// A thought.
    #[serde(default)]
    pub thinking: Option<String>,
    /// The thought's signature.
    #[serde(default)]
    pub signature: Option<String>,
    /// A thought that only the API can read.
    #[serde(default)]
    pub redacted_thinking: Option<String>,
    /// A tool is called: its name.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tool's arguments.
    #[serde(default)]
    pub input: Table,
    /// Names the call; made up unless written.
    #[serde(default)]
    pub id: Option<String>,
    /// Any other block of the API, as it is.
    #[serde(default)]
    pub raw: Option<Table>,
    /// Agent: the CLI asks for permission first: `true`, or a table with what the request says.
    #[serde(default)]
    pub ask: Option<Ask>,
    /// Agent: what the model gets back: a text, or a list of blocks.
    #[serde(default)]
    pub result: Option<Value>,
    /// Agent: the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Agent: the structured output that the host gets (`tool_use_result`).
    #[serde(default)]
    pub output: Option<Value>,
    /// Agent: how long the tool runs, or the command that it starts in the background.
    #[serde(default)]
    pub takes_ms: u64,
}

/// A permission request.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
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
        if self.raw.as_ref().is_some_and(|raw| !raw.contains_key("type")) {
            return Err(Problem::new("raw", "`raw` is a block of the API: expected a `type` in it"));
        }
        Ok(())
    }
}
