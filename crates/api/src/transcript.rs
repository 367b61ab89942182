//! Sessions on disk.

use serde_json::Value;

use tidings_protocol::sums::{CostRow, CostTotal};

use super::shapes;

shapes! {
    /// A session on disk. Fields that need a scan of the whole file are absent until it was scanned.
    pub struct Transcript {
        /// Its id.
        pub id: String,
        /// Short name of its folder.
        pub project: String,
        /// Folder that it worked in.
        pub cwd: Option<String>,
        /// Display title: title, last prompt, summary or first prompt.
        pub title: Option<String>,
        /// Time of its first entry.
        pub created: Option<String>,
        /// Time of the last change of its file.
        pub modified: Option<String>,
        /// Number of prompts by the user.
        pub turns: Option<u64>,
        /// Number of entries of the user, the model and its tools.
        pub messages: Option<u64>,
        /// Number of sub-agents.
        pub subagents: u64,
        /// Number of abandoned branches.
        pub branches: Option<u64>,
        /// Size of its files in bytes, sub-agents included.
        pub bytes: u64,
        /// Cost in dollars, sub-agents included.
        pub cost_usd: Option<f64>,
        /// Model of the last answer.
        pub model: Option<String>,
        /// Tag set by the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tag: Option<String>,
        /// True if only a copy in the archive is left: resuming the session restores it. Omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub archived: bool,
        /// Agent that keeps it and can resume it, as `backend` of a new session; omitted for Claude Code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub backend: Option<String>,
    }

    /// Changes to a session on disk. Absent fields stay as they are.
    #[derive(Default)]
    pub struct PatchTranscript {
        /// New title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
    }

    /// One page of sessions on disk.
    pub struct TranscriptList {
        /// The sessions.
        pub items: Vec<Transcript>,
        /// Pass as `before` to get the previous page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prev: Option<String>,
        /// Pass as `after` to get the next page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<String>,
    }

    /// Summary of all sessions on disk.
    pub struct TranscriptSummary {
        /// Number of sessions.
        pub sessions: u64,
        /// Number of folders that they worked in.
        pub projects: u64,
        /// Size of their files in bytes.
        pub bytes: u64,
        /// Time of the last change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub modified: Option<String>,
        /// Month of `month_cost_usd`, such as `2026-11`.
        pub month: String,
        /// Cost of the month so far, at list prices. Absent while files are still being counted: request it
        /// again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub month_cost_usd: Option<f64>,
        /// Number of days without a change after which the CLI deletes a session.
        pub cleanup_days: u64,
        /// Number of sessions that it will delete within a week.
        pub cleanup_sessions: u64,
        /// Size of those sessions in bytes.
        pub cleanup_bytes: u64,
    }

    /// A session on disk as events of the dialect `native`.
    pub struct TranscriptEvents {
        /// The session.
        pub transcript: Transcript,
        /// Number of the first event; pass as `before` to get earlier events.
        pub from: u64,
        /// True if there are earlier events.
        pub more: bool,
        /// Times of the events, in their order; of a merged event the time of its first delta.
        #[serde(default)]
        pub times: Vec<Option<String>>,
        /// The events, merged as in a snapshot: long tool inputs and outputs lose their middle, with a mark,
        /// unless the request wants them in full.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        pub events: Vec<Value>,
    }

    /// Branches of a session on disk.
    pub struct TranscriptBranches {
        /// The branches, in order of their start.
        pub items: Vec<TranscriptBranch>,
    }

    /// One branch of a session.
    pub struct TranscriptBranch {
        /// Last entry; pass as `leaf` to get its events.
        pub leaf: String,
        /// Last entry shared with another branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fork: Option<String>,
        /// State: `active` if the conversation continues here, or `abandoned`.
        pub state: String,
        /// Number of entries that belong to this branch only.
        pub entries: u64,
        /// Time of its last entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub at: Option<String>,
        /// First prompt in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
    }

    /// Search results in sessions on disk.
    pub struct TranscriptHits {
        /// The matching lines, newest sessions first.
        pub items: Vec<TranscriptHit>,
        /// True if there are more.
        pub more: bool,
    }

    /// A matching line.
    pub struct TranscriptHit {
        /// Id of the session.
        pub session: String,
        /// File name of the sub-agent, for a line outside of the session's own file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub agent: Option<String>,
        /// Line number, from 1.
        pub line: u64,
        /// Id of the entry.
        pub uuid: Option<String>,
        /// Author: `user`, `assistant`, `system` or `tool`; absent for a damaged line.
        pub role: Option<String>,
        /// Tool of the call or result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tool: Option<String>,
        /// Time of the entry.
        pub at: Option<String>,
        /// The match with its surrounding text.
        pub text: String,
        /// Start of the match in `text`, in UTF-16 code units, as in JavaScript.
        pub start: u64,
        /// End of the match in `text`, in UTF-16 code units.
        pub end: u64,
        /// True if only a copy of the session in the archive is left; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub archived: bool,
    }

    /// Tokens and dollars of sessions on disk, each response counted once.
    pub struct CostReport {
        /// Grouping, as the request named it with `by`.
        pub by: String,
        /// Name of the time zone in which days begin.
        pub zone: String,
        /// Sum of all rows.
        pub total: CostTotal,
        /// Rows, in order of time, or most expensive first.
        pub rows: Vec<CostRow>,
        /// Responses without a known price, which the costs exclude.
        pub unpriced: Vec<CostUnpriced>,
    }

    /// Responses of a model without a known price.
    pub struct CostUnpriced {
        /// The model.
        pub model: String,
        /// Number of responses.
        pub responses: u64,
    }
}
