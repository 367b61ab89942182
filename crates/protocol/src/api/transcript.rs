//! Sessions on disk.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shapes;

shapes! {
    /// A session on disk. What needs a pass over its whole file is absent until somebody has made one.
    pub struct Transcript {
        /// Its id.
        pub id: String,
        /// A name for the folder that it worked in.
        pub project: String,
        /// That folder.
        pub cwd: Option<String>,
        /// What to call it: title, last prompt, summary or first prompt.
        pub title: Option<String>,
        /// When its first entry was written.
        pub created: Option<String>,
        /// When its file was last written to.
        pub modified: Option<String>,
        /// What a person asked, in numbers.
        pub turns: Option<u64>,
        /// Entries of a person, the model and its tools.
        pub messages: Option<u64>,
        /// Its sub-agents.
        pub subagents: u64,
        /// Ways that were left for another one.
        pub branches: Option<u64>,
        /// Size of its files, those of sub-agents too.
        pub bytes: u64,
        /// Dollars, sub-agents too.
        pub cost_usd: Option<f64>,
        /// The model that answered last.
        pub model: Option<String>,
        /// A person's tag.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tag: Option<String>,
    }

    /// Sessions on disk, and where the list goes on.
    pub struct TranscriptList {
        /// The sessions.
        pub items: Vec<Transcript>,
        /// Hand it back as `before` for what is before these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prev: Option<String>,
        /// Hand it back as `after` for what is after these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<String>,
    }

    /// All sessions on disk at a glance.
    pub struct TranscriptSummary {
        /// How many.
        pub sessions: u64,
        /// How many folders they worked in.
        pub projects: u64,
        /// Size of their files.
        pub bytes: u64,
        /// When one was last written to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub modified: Option<String>,
        /// The month that `month_cost_usd` is of, such as `2026-11`.
        pub month: String,
        /// What the month has cost so far, at list prices. Absent while files are still being counted: ask again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub month_cost_usd: Option<f64>,
        /// After how many days without a change the CLI deletes a session.
        pub cleanup_days: u64,
        /// How many it will delete within a week.
        pub cleanup_sessions: u64,
        /// Their size.
        pub cleanup_bytes: u64,
    }

    /// A session on disk as events of the dialect `native`.
    pub struct TranscriptEvents {
        /// The session.
        pub transcript: Transcript,
        /// The number of the first event; hand it back as `before` for what is before these.
        pub from: u64,
        /// Whether there is something before them.
        pub more: bool,
        /// The events, put together as in a snapshot: what tools took or gave loses its middle if it is long, where a mark says
        /// so, unless it was asked for whole.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        pub events: Vec<Value>,
    }

    /// The ways that a session on disk went.
    pub struct TranscriptBranches {
        /// The branches, in the order in which they began.
        pub items: Vec<TranscriptBranch>,
    }

    /// One way through a session.
    pub struct TranscriptBranch {
        /// Its last entry; hand it back as `leaf` for its events.
        pub leaf: String,
        /// The last entry that it shares with another branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fork: Option<String>,
        /// Whether the conversation goes on here: `active` or `abandoned`.
        pub state: String,
        /// Entries of its own.
        pub entries: u64,
        /// When its last entry was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub at: Option<String>,
        /// What was first said in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
    }

    /// Lines of sessions on disk that match.
    pub struct TranscriptHits {
        /// The lines, those of the newest sessions first.
        pub items: Vec<TranscriptHit>,
        /// Whether there are more.
        pub more: bool,
    }

    /// A line that matches.
    pub struct TranscriptHit {
        /// The session.
        pub session: String,
        /// The name of the sub-agent's file, if it is no line of the session's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub agent: Option<String>,
        /// The line, counted from 1.
        pub line: u64,
        /// The entry.
        pub uuid: Option<String>,
        /// Who said it: `user`, `assistant`, `system` or `tool`; unknown in a damaged line.
        pub role: Option<String>,
        /// The tool that was called or that answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tool: Option<String>,
        /// When.
        pub at: Option<String>,
        /// The match and what stands around it.
        pub text: String,
        /// Where the match begins in `text`, in UTF-16 units, as scripts count.
        pub start: u64,
        /// Where it ends.
        pub end: u64,
    }

    /// Figures about sessions on disk.
    pub struct TranscriptStats {
        /// Sessions.
        pub sessions: u64,
        /// Turns and responses.
        pub messages: u64,
        /// What people asked.
        pub turns: u64,
        /// Calls of tools.
        pub tool_calls: u64,
        /// The same by tool.
        pub tools: BTreeMap<String, u64>,
        /// Tools that failed, and answers that the API refused.
        pub errors: u64,
        /// Sub-agents.
        pub subagents: u64,
        /// Ways that were left for another one.
        pub branches: u64,
        /// Compactions.
        pub compactions: u64,
        /// Lines that are no entry.
        pub damaged: u64,
        /// The earliest time of an entry.
        pub first: Option<String>,
        /// The latest time of an entry.
        pub last: Option<String>,
    }

    /// Tokens and dollars of sessions on disk, each response counted once.
    pub struct CostReport {
        /// What the sums are made for: `day`, `week`, `month`, `session`, `project`, `model` or `block`.
        pub by: String,
        /// The name of the zone in which days begin.
        pub zone: String,
        /// The sum of everything.
        pub total: CostTotal,
        /// The sums, in order of time, or the dearest first.
        pub rows: Vec<CostRow>,
        /// What is not in the costs.
        pub unpriced: Vec<CostUnpriced>,
    }

    /// A sum over responses.
    pub struct CostTotal {
        /// How many.
        pub responses: u64,
        /// Tokens of prompts that no cache had.
        pub input: u64,
        /// Tokens generated.
        pub output: u64,
        /// Tokens that were put into the cache.
        pub cache_write: u64,
        /// Those of them that stay for five minutes.
        pub cache_write_5m: u64,
        /// Those of them that stay for an hour.
        pub cache_write_1h: u64,
        /// Tokens that came out of the cache.
        pub cache_read: u64,
        /// Searches of the web.
        pub web_searches: u64,
        /// Dollars, at list prices.
        pub cost_usd: f64,
    }

    /// A sum for one day, session, model or whatever was asked for.
    pub struct CostRow {
        /// The day, week, month, begin of the block, session, folder or model.
        pub key: String,
        /// The sum.
        #[serde(flatten)]
        pub total: CostTotal,
        /// When the block ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub end: Option<String>,
        /// Whether the block is the one that is running.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub active: Option<bool>,
        /// The project of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub project: Option<String>,
    }

    /// Responses of a model without a known price.
    pub struct CostUnpriced {
        /// The model.
        pub model: String,
        /// How many.
        pub responses: u64,
    }
}
