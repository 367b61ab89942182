//! One answer of a script to one request.

use serde::Deserialize;
use tidings_protocol::json::Raw;

use super::agent::Emit;
use super::error::Problem;
use super::{Block, Pace, Pairs, Table, When};

/// One answer of the model to one request.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that a script may set")]
pub struct Turn {
    /// Condition for the request; without it, the turn answers the next request that no other turn matches.
    #[serde(default)]
    pub when: Option<When>,
    /// True if the turn may stay unused.
    #[serde(default)]
    pub optional: bool,
    /// True if the turn answers every matching request, not only the first.
    #[serde(default)]
    pub repeat: bool,
    /// The answer, if it is a single text.
    #[serde(default)]
    pub text: Option<String>,
    /// The answer as blocks, in order.
    #[serde(default, rename = "block")]
    pub blocks: Vec<Block>,
    /// Stop reason; defaults to `tool_use` after tool calls and `end_turn` otherwise.
    #[serde(default)]
    pub stop: Option<String>,
    /// Token counts; estimated from the length of the texts by default.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Error of the API instead of an answer.
    #[serde(default)]
    pub error: Option<ApiFailure>,
    /// Headers of the HTTP response, such as rate limits.
    #[serde(default)]
    pub headers: Pairs,
    /// Pace of this answer, instead of the script's `pace`.
    #[serde(default)]
    pub pace: Option<Pace>,
    /// Number of bytes of the body after which the connection closes.
    #[serde(default)]
    pub cut_after: Option<usize>,
    /// Number of deltas after which a streamed answer stops, until the client closes the connection or the
    /// turn is interrupted.
    #[serde(default)]
    pub hold_after: Option<usize>,
    /// Closes the connection without any response.
    #[serde(default)]
    pub drop: bool,
    /// Sends `ping` events between the deltas.
    #[serde(default)]
    pub ping: bool,
    /// Sends an `error` event of this kind after the blocks, instead of the end of the message.
    #[serde(default)]
    pub error_event: Option<String>,
    /// Members to add to the message, such as `stop_details`.
    #[serde(default)]
    pub message: Table,
    /// Frames that the stand-in agent writes before the answer.
    #[serde(default)]
    pub before: Vec<Emit>,
    /// Frames that the stand-in agent writes after the answer and its tools.
    #[serde(default)]
    pub after: Vec<Emit>,
}

/// Token counts of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens that were not cached.
    #[serde(default)]
    pub input: u64,
    /// Output tokens.
    #[serde(default)]
    pub output: u64,
    /// Input tokens read from the cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Input tokens written to the cache for five minutes.
    #[serde(default)]
    pub cache_write_5m: u64,
    /// Input tokens written to the cache for an hour.
    #[serde(default)]
    pub cache_write_1h: u64,
    /// Number of web searches.
    #[serde(default)]
    pub web_searches: u64,
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApiFailure {
    /// HTTP status: 400, 401, 403, 404, 413, 429, 500, 529, …
    pub status: u16,
    /// Error type of the API; derived from the usual statuses by default.
    #[serde(default)]
    pub kind: Option<String>,
    /// Error message.
    #[serde(default)]
    pub message: Option<String>,
    /// Value of the `retry-after` header, in seconds.
    #[serde(default)]
    pub retry_after: Option<f64>,
}

impl Turn {
    /// Blocks of the answer; a turn's `text` is one text block.
    pub fn content(&self) -> Vec<Block> {
        match &self.text {
            Some(text) => vec![Block { text: Some(text.clone()), ..Block::default() }],
            None => self.blocks.clone(),
        }
    }

    /// Stop reason of the model.
    pub fn stop_reason(&self) -> &str {
        match &self.stop {
            Some(stop) => stop,
            None if self.blocks.iter().any(|block| block.tool.is_some()) => "tool_use",
            None => "end_turn",
        }
    }

    pub(super) fn check(&self) -> Result<(), Problem> {
        if self.text.is_some() && !self.blocks.is_empty() {
            return Err(Problem::new(
                "text",
                "a turn has either `text` or `[[turn.block]]` tables, not both",
            ));
        }
        let answers = self.text.is_some() || !self.blocks.is_empty();
        if self.error.is_some() && answers {
            return Err(Problem::new(
                "error",
                "a turn either fails (`error`) or answers (`text`, `[[turn.block]]`)",
            ));
        }
        if !answers && self.error.is_none() && !self.drop && self.error_event.is_none() && self.stop.is_none()
        {
            return Err(Problem::general(
                "the turn is empty: expected `text`, `[[turn.block]]`, `error`, `drop` or `stop`",
            ));
        }
        if let Some(error) = &self.error
            && !(400..600).contains(&error.status)
        {
            return Err(Problem::new("error", format!("`status` is {}, expected 400 to 599", error.status)));
        }
        if self.hold_after == Some(0) {
            return Err(Problem::new("hold_after", "`hold_after` is 0, expected at least 1 delta"));
        }
        let mut blocks = self.blocks.iter().enumerate();
        blocks.try_for_each(|(index, block)| {
            block.check().and_then(|()| check_raw_text(block)).map_err(|problem| problem.in_block(index))
        })
    }
}

/// Checks `raw_text`: invalid text would break the whole event, and the client's error would not name the
/// cause.
fn check_raw_text(block: &Block) -> Result<(), Problem> {
    let Some(text) = &block.raw_text else { return Ok(()) };
    match Raw::parse(&format!("\"{text}\"")) {
        Ok(raw) if raw.text().is_some() => Ok(()),
        _ => Err(Problem::new(
            "raw_text",
            "`raw_text` is the escaped form of a JSON string: expected `\\\"` for a quote, `\\\\` for a backslash",
        )),
    }
}

impl ApiFailure {
    /// Error type of the API.
    pub fn kind(&self) -> &str {
        match (&self.kind, self.status) {
            (Some(kind), _) => kind,
            (None, 400) => "invalid_request_error",
            (None, 401) => "authentication_error",
            (None, 402) => "billing_error",
            (None, 403) => "permission_error",
            (None, 404) => "not_found_error",
            (None, 413) => "request_too_large",
            (None, 429) => "rate_limit_error",
            (None, 529) => "overloaded_error",
            (None, _) => "api_error",
        }
    }

    /// Error message.
    pub fn message(&self) -> &str {
        match (&self.message, self.status) {
            (Some(message), _) => message,
            (None, 529) => "Overloaded",
            (None, 429) => "This request would exceed your account's rate limit. Please try again later.",
            (None, 401) => "invalid x-api-key",
            (None, _) => "rehearsed failure",
        }
    }
}
