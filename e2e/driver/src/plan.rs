//! What a run consists of: the format of `sdk.json`, which `e2e/README.md` describes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use tidings::Prompt;
use tidings::messages::UserMessage;

/// One run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    #[serde(default)]
    pub(crate) options: Map<String, Value>,
    /// Options that only this SDK has.
    #[serde(default)]
    pub(crate) ours: Map<String, Value>,
    #[serde(default)]
    pub(crate) permissions: Vec<Permission>,
    #[serde(default)]
    pub(crate) hooks: Vec<HookPlan>,
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, Vec<ToolPlan>>,
    #[serde(default)]
    pub(crate) elicitation: Option<Value>,
    pub(crate) steps: Vec<Step>,
}

/// The answer to a question about a tool. The first that fits is taken, and used up unless it is the last.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Permission {
    /// Only for this tool.
    #[serde(default)]
    pub(crate) tool: Option<String>,
    pub(crate) answer: PermissionAnswer,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PermissionAnswer {
    /// With these members of the official `PermissionResult`; `input+` adds to the input as it was asked.
    Allow(Map<String, Value>),
    Deny(Map<String, Value>),
    /// No answer, until the question is taken back.
    Hold,
    /// A handler that fails.
    Panic,
    /// Somebody answers through the client.
    Later,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookPlan {
    pub(crate) event: String,
    #[serde(default)]
    pub(crate) matcher: Option<String>,
    /// What it answers, one after the other; the last again and again.
    pub(crate) outputs: Vec<Value>,
    #[serde(default)]
    pub(crate) block_on_failure: bool,
    #[serde(default)]
    pub(crate) fails: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolPlan {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Map<String, Value>,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) is_error: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// One prompt, in a session of its own.
    Query(String),
    /// Several prompts, in a session of their own.
    QueryStream(Vec<String>),
    #[serde(deserialize_with = "prompt")]
    Send(Box<Prompt>),
    Read(Read),
    /// Waits until so many questions have been asked.
    WaitForCalls(usize),
    Call(CallPlan),
    SleepMs(u64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Read {
    pub(crate) until: String,
    pub(crate) count: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallPlan {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) with: Value,
}

impl Default for Read {
    fn default() -> Self {
        Read { until: "result".to_owned(), count: 1 }
    }
}

/// A text, a list of blocks, or the members of a whole user message.
fn prompt<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Box<Prompt>, D::Error> {
    use serde::de::Error as _;
    let members = match Value::deserialize(deserializer)? {
        Value::Object(members) => Value::Object(members),
        content => serde_json::json!({"message": {"role": "user", "content": content}}),
    };
    let message: UserMessage = serde_json::from_value(members).map_err(D::Error::custom)?;
    Ok(Box::new(Prompt::from(message)))
}
