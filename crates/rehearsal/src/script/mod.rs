//! The script format: TOML that reads like a conversation.
//!
//! `docs/rehearsal.md` explains it; `tidings rehearse schema` prints its JSON Schema.

mod agent;
mod block;
mod error;
mod fault;
mod request;
mod turn;
mod when;

use std::collections::BTreeMap;

use serde::Deserialize;

pub use agent::{AgentSetup, Emit};
pub use block::{Ask, Block};
pub use error::ScriptError;
pub use fault::{Expect, Fault, FaultKind};
pub use request::Request;
pub use turn::{ApiFailure, Turn, Usage};
pub use when::When;

/// A script: the answers of the model, and for the stand-in agent the behaviour of the CLI around them.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Name of the script in reports.
    #[serde(default)]
    pub name: Option<String>,
    /// Description of the script.
    #[serde(default)]
    pub about: Option<String>,
    /// Default pace of streamed answers.
    #[serde(default)]
    pub pace: Pace,
    /// Answers of the model. Turns with `when` are matched first; the others are used in order.
    #[serde(default, rename = "turn")]
    pub turns: Vec<Turn>,
    /// Setup of the stand-in agent.
    #[serde(default)]
    pub agent: AgentSetup,
    /// Faults of the stand-in agent.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// Expectations; checked at the end, with a report.
    #[serde(default, rename = "expect")]
    pub expects: Vec<Expect>,
}

/// Pace of a streamed answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Characters per delta; 0 sends each block as one delta.
    #[serde(default)]
    pub chunk_chars: usize,
    /// Delay between two deltas, in milliseconds.
    #[serde(default)]
    pub chunk_delay_ms: u64,
    /// Delay before the first byte, in milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
}

/// JSON objects as TOML tables.
pub type Table = serde_json::Map<String, serde_json::Value>;

/// Names and values, such as HTTP headers.
pub type Pairs = BTreeMap<String, String>;

impl Script {
    /// Parses a script; an error names its line, its key and what was expected.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Script = toml::from_str(text).map_err(|error| ScriptError::toml(&error, text))?;
        for (index, turn) in script.turns.iter().enumerate() {
            turn.check().map_err(|problem| ScriptError::in_table(text, "turn", index, problem))?;
        }
        for (index, fault) in script.faults.iter().enumerate() {
            fault.check().map_err(|problem| ScriptError::in_table(text, "fault", index, problem))?;
        }
        for (index, expect) in script.expects.iter().enumerate() {
            expect.check().map_err(|problem| ScriptError::in_table(text, "expect", index, problem))?;
        }
        Ok(script)
    }

    /// The JSON Schema of the format, for editors.
    #[cfg(feature = "schema")]
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Script).to_value()
    }
}
