//! The script of the stand-in.

use serde::Deserialize;
use serde_json::Value;

/// Answers of the agent, and its description of itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AcpScript {
    /// Result of `initialize`: members here replace the usual ones.
    pub initialize: Value,
    /// Result of `session/new`, `session/load` and `session/resume`: members here replace the usual ones.
    pub session: Value,
    /// Error of `session/new`, with `code` and `message`.
    pub refuse_session: Option<Value>,
    /// Error of `session/set_mode`, with `code` and `message`.
    pub refuse_mode: Option<Value>,
    /// Steps that follow the opening of a session.
    pub opening: Vec<AcpStep>,
    /// Updates that `session/load` replays.
    pub history: Vec<Value>,
    /// Past sessions that `session/list` lists.
    pub sessions: Vec<Value>,
    /// Number of sessions on one page of that list; without it all are on one.
    pub sessions_page: Option<usize>,
    /// Answers, one per prompt. A turn with `when` answers prompts that contain that text, the others are
    /// used in order.
    #[serde(rename = "turn")]
    pub turns: Vec<AcpTurn>,
}

/// The answer to one prompt.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AcpTurn {
    /// Text that the prompt contains.
    pub when: Option<String>,
    /// Steps of the turn.
    pub steps: Vec<AcpStep>,
    /// Stop reason of the response.
    pub stop: Option<String>,
    /// Error in place of a response, with `code` and `message`.
    pub error: Option<Value>,
    /// Steps after the response.
    pub late: Vec<AcpStep>,
}

/// One thing that the agent does. In texts, `{prompt}` is the prompt, `{answer}` the last response of the
/// client, and `{options}` an object with the values of the session's `configOptions`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AcpStep {
    /// Sends a delta of text.
    Text(String),
    /// Sends a delta of thought.
    Thought(String),
    /// Sends an update.
    Update(Value),
    /// Sends a request, an object with `method` and `params`, and waits for its response.
    Request(Value),
    /// Sends a notification, an object with `method` and `params`.
    Notify(Value),
    /// Writes a line as it is.
    Line(String),
    /// Writes a line of this many bytes.
    LongLine(usize),
    /// Sends a text this many times.
    Repeat(usize, String),
    /// Waits until the client cancels the turn.
    WaitForCancel,
    /// Does not end the turn when the client cancels it.
    IgnoreCancel,
    /// Pauses.
    PauseMs(u64),
    /// Writes to the error output.
    Stderr(String),
    /// Exits with this code.
    Exit(i32),
}

impl AcpScript {
    /// Parses a script. The error names its line.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}
