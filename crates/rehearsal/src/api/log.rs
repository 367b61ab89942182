//! The log of requests: one entry for each, without the texts.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// One request in the log; a line of NDJSON when serialised.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Number of the request, from 1; all requests count.
    pub n: usize,
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Requested model.
    pub model: Option<String>,
    /// True if a streamed response is requested.
    pub stream: bool,
    /// Maximum number of output tokens.
    pub max_tokens: Option<u64>,
    /// Names of the offered tools.
    pub tools: Vec<String>,
    /// Shape of the conversation, without its texts.
    pub messages: Vec<MessageShape>,
    /// Beta features requested by header.
    pub betas: Vec<String>,
    /// Source of the answer.
    pub turn: AnsweredBy,
    /// Status of the response; `None` if the connection was closed instead.
    pub status: Option<u16>,
    /// Id of the response, as in its `request-id` header.
    pub request_id: String,
    /// Body of the request on one line, if bodies are logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
}

/// A message of a conversation, without its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MessageShape {
    /// Role of the author.
    pub role: String,
    /// Types of the blocks; `string` if the content is not a list.
    pub blocks: Vec<String>,
}

/// Source of the answer to a request: the index of a turn (from 0), or a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnsweredBy {
    /// A turn of the script.
    Turn(usize),
    /// `probe`: the CLI only checked that the API is available.
    Probe,
    /// `exhausted`: the script had no turn for the request.
    Exhausted,
    /// `none`: the request was not for an answer of the model.
    None,
}

impl Serialize for AnsweredBy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AnsweredBy::Turn(index) => index.serialize(serializer),
            AnsweredBy::Probe => "probe".serialize(serializer),
            AnsweredBy::Exhausted => "exhausted".serialize(serializer),
            AnsweredBy::None => "none".serialize(serializer),
        }
    }
}
