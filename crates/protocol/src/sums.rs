//! Sums over sessions on disk: programs print them and the server sends them, as the same JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Statistics of sessions on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TranscriptStats {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of turns and responses.
    pub messages: u64,
    /// Number of prompts by the user.
    pub turns: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Number of failed tool calls and API errors.
    pub errors: u64,
    /// Number of sub-agents.
    pub subagents: u64,
    /// Number of abandoned branches.
    pub branches: u64,
    /// Number of compactions.
    pub compactions: u64,
    /// Number of lines that are not entries.
    pub damaged: u64,
    /// Earliest timestamp of an entry.
    pub first: Option<String>,
    /// Latest timestamp of an entry.
    pub last: Option<String>,
}

/// Sum over responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CostTotal {
    /// Number of responses.
    pub responses: u64,
    /// Prompt tokens that were not cached.
    pub input: u64,
    /// Tokens generated.
    pub output: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Tokens written to the cache for one hour.
    pub cache_write_1h: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Number of web searches.
    pub web_searches: u64,
    /// Dollars, at list prices; `null` if there is usage and none of it has a known price.
    pub cost_usd: Option<f64>,
}

/// One row of a cost report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CostRow {
    /// Key of the row: day, week, month, start of the block, session, folder or model.
    pub key: String,
    /// The sum.
    #[serde(flatten)]
    pub total: CostTotal,
    /// End of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// True if the block is the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// The project of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}
