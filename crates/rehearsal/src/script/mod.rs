//! The script format: TOML that reads like a conversation.
//!
//! `docs/rehearsal.md` teaches it; `tidings rehearse schema` prints its JSON Schema.

mod agent;
mod block;
mod error;
mod fault;
mod turn;
mod when;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub use agent::{AgentSetup, Emit};
pub use block::{Ask, Block};
pub use error::ScriptError;
pub use fault::{Expect, Fault, FaultKind};
pub use turn::{ApiFailure, Turn, Usage};
pub use when::When;

/// What the model says, and for the stand-in agent what the CLI does around it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What the script is called in reports.
    #[serde(default)]
    pub name: Option<String>,
    /// What it shows.
    #[serde(default)]
    pub about: Option<String>,
    /// Defaults for how the answers are streamed.
    #[serde(default)]
    pub pace: Pace,
    /// What the model answers. Turns with `when` are looked at first; the others are taken in order.
    #[serde(default, rename = "turn")]
    pub turns: Vec<Turn>,
    /// What the stand-in agent is and has.
    #[serde(default)]
    pub agent: AgentSetup,
    /// What goes wrong, and when (agent only).
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// What must arrive; checked at the end, with a report.
    #[serde(default, rename = "expect")]
    pub expects: Vec<Expect>,
}

/// How an answer is streamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Characters per delta; 0 sends each block as one.
    #[serde(default)]
    pub chunk_chars: usize,
    /// Wait between two deltas.
    #[serde(default)]
    pub chunk_delay_ms: u64,
    /// Wait before the first byte.
    #[serde(default)]
    pub delay_ms: u64,
}

/// JSON objects as TOML tables.
pub type Table = serde_json::Map<String, serde_json::Value>;

/// Names and values, such as HTTP headers.
pub type Pairs = BTreeMap<String, String>;

impl Script {
    /// Reads a script; a mistake is named with its line, its key and what was expected there.
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
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Script).to_value()
    }
}
