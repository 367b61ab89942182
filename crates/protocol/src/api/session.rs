//! Sessions as the server has them.

use std::collections::BTreeMap;

use super::{shapes, words};

shapes! {
    /// A session.
    pub struct SessionView {
        /// Its number.
        pub handle: i64,
        /// Its name, which stays when the CLI gives it another id.
        pub key: String,
        /// The folder that it works in.
        pub cwd: String,
        /// Its title, if a person or the agent gave it one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The first thing that was said in it, in one line and cut to 200 characters: what to call it while it has no title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub first_prompt: Option<String>,
        /// Whatever its owner wants to find it by.
        #[serde(default)]
        pub labels: BTreeMap<String, String>,
        /// What it is doing.
        pub state: ServerPhase,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// Whether `error` only says that somebody interrupted the last turn; left out when it does not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub turn_interrupted: bool,
        /// Why its agent does not answer, while it does not: somebody has stopped it, or what keeps it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stalled: Option<String>,
        /// The agent that runs was started without what its folder brings (settings, hooks, MCP servers), because nobody has
        /// agreed to it; left out when it was not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub untrusted: bool,
        /// The CLI's own ids for it, the oldest first.
        pub cli_session_ids: Vec<String>,
        /// The model that answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// What the agent may do unasked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub permission_mode: Option<String>,
        /// Who answers questions before a person does.
        pub policy: Policy,
        /// When it was made.
        pub created: String,
        /// When something last happened in it.
        pub active: String,
        /// The place of its newest event.
        pub cursor: String,
        /// The number of its newest event.
        pub head: u64,
        /// The number of the oldest event that is kept.
        pub floor: u64,
        /// What it has used.
        pub totals: Totals,
        /// What it may use.
        pub budget: Budget,
        /// Permissions that wait for an answer.
        pub pending_permissions: u64,
        /// Questions that wait for an answer.
        pub pending_questions: u64,
        /// Prompts that wait for their turn.
        pub queued: u64,
        /// What was last said in it, in one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_line: Option<String>,
        /// Whether a script plays the agent.
        #[serde(default)]
        pub demo: bool,
    }

    /// What a session has used.
    #[derive(Default)]
    pub struct Totals {
        /// Turns that have ended.
        pub turns: u64,
        /// What it has cost, as the agent counts it.
        pub cost_usd: f64,
        /// Tokens of the last prompt: what the context holds.
        pub input_tokens: i64,
        /// Tokens of the last answer.
        pub output_tokens: i64,
    }

    /// What a session may use; no limit where none is named.
    #[derive(Default)]
    pub struct Budget {
        /// Turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_turns: Option<u64>,
        /// Dollars.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget_usd: Option<f64>,
        /// Seconds that its turns may take together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_seconds: Option<u64>,
    }

    /// A session that is to be made.
    #[derive(Default)]
    pub struct CreateSession {
        /// The folder that it works in.
        pub cwd: String,
        /// What is said first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
        /// Pictures and files that come with the prompt.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<super::Attachment>>"))]
        pub attachments: Vec<super::Attachment>,
        /// The model that answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// What the agent may do unasked, as the CLI names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub permission_mode: Option<String>,
        /// Who answers questions before a person does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
        /// The CLI session to go on with: one found on disk is adopted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resume: Option<String>,
        /// Goes on in a copy of the session that is resumed.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub fork: bool,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// Added to what the agent is told about itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub append_system_prompt: Option<String>,
        /// Rules for tools that may run unasked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub allowed_tools: Vec<String>,
        /// MCP servers, as the CLI's `--mcp-config` has them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub mcp_config: Option<serde_json::Value>,
        /// More folders that the agent may work in.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub add_dirs: Vec<String>,
        /// Turns that it may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_turns: Option<u64>,
        /// Dollars that it may cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget_usd: Option<f64>,
        /// Seconds that its turns may take together.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_seconds: Option<u64>,
        /// Whatever its owner wants to find it by.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<BTreeMap<String, String>>"))]
        pub labels: BTreeMap<String, String>,
        /// Whether a script plays the agent. On a server with a demo it does unless this says no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub demo: Option<bool>,
        /// Keeps the CLI's own frames too, for the dialect `frames`.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub keep_frames: bool,
        /// The id of this command: sent again, it makes no second session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// What is to be changed about a session. What is left out stays.
    #[derive(Default)]
    pub struct PatchSession {
        /// Another title; an empty one takes it away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// Other labels, all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub labels: Option<BTreeMap<String, String>>,
        /// Another budget.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget: Option<Budget>,
        /// Another policy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
        /// The id of this command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// Sessions, and where the list goes on.
    pub struct SessionList {
        /// The sessions.
        pub items: Vec<SessionView>,
        /// Hand it back as `before` for what is before these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prev: Option<String>,
        /// Hand it back as `after` for what is after these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<String>,
    }
}

words! {
    /// What a session is doing.
    pub enum ServerPhase {
        /// Its process is being started.
        Starting,
        /// It waits for a prompt.
        Idle,
        /// A turn is under way.
        Running,
        /// A person has to answer something.
        NeedsYou,
        /// Its process was ended because nobody used it; the next prompt starts it again.
        Parked,
        /// Somebody stopped it; the next prompt starts it again.
        Stopped,
        /// The server or the agent ended during a turn; the next prompt goes on from there.
        Interrupted,
        /// It could not be started, or has died.
        Failed,
    }

    /// Who answers questions before a person does.
    pub enum Policy {
        /// A person is asked about everything that the CLI asks.
        Ask,
        /// What is known to be harmless runs; a person is asked about the rest.
        Standard,
        /// As `standard` while somebody watches; by risk while nobody does.
        Unattended,
        /// Nothing runs that the CLI asks about.
        Deny,
        /// Everything runs. It needs the scope `admin` and a server that allows it.
        Allow,
    }
}
