use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// One request in the log; a line of NDJSON when serialised.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Counts all requests from 1.
    pub n: usize,
    /// The HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The model asked for.
    pub model: Option<String>,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The bound on the answer's tokens.
    pub max_tokens: Option<u64>,
    /// The names of the tools offered.
    pub tools: Vec<String>,
    /// What the conversation looks like, without its texts.
    pub messages: Vec<MessageShape>,
    /// The beta features asked for by header.
    pub betas: Vec<String>,
    /// What answered.
    pub turn: AnsweredBy,
    /// The status of the answer; none where the connection was closed instead.
    pub status: Option<u16>,
    /// The id of the answer, as in its `request-id` header.
    pub request_id: String,
    /// The request's body on one line, if bodies are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
}

/// A message of a conversation, without its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MessageShape {
    /// Who speaks.
    pub role: String,
    /// The types of the blocks; `string` where the content is no list.
    pub blocks: Vec<String>,
}

/// What answered a request: the index of a turn (from 0), or a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnsweredBy {
    /// A turn of the script.
    Turn(usize),
    /// `probe`: the CLI only asked whether the API is there.
    Probe,
    /// `exhausted`: the script had no turn for the request.
    Exhausted,
    /// `none`: no answer of a model was asked for.
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
