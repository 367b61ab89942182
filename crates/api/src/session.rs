//! Sessions of the server.

use std::collections::BTreeMap;

use super::{open_enums, shapes};

shapes! {
    /// A session.
    pub struct SessionView {
        /// Numeric id.
        pub handle: i64,
        /// Key, which stays when the CLI gives the session another id.
        pub key: String,
        /// Working folder.
        pub cwd: String,
        /// Title, if the user or the agent set one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// First prompt, as one line cut to 200 characters: serves as the title if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub first_prompt: Option<String>,
        /// Last prompt, as one line cut to 200 characters: the name of a session without a title, as in lists
        /// of sessions on disk.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_prompt: Option<String>,
        /// Arbitrary labels for finding it.
        #[serde(default)]
        pub labels: BTreeMap<String, String>,
        /// State of the session.
        pub state: ServerPhase,
        /// Error message of a failed session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// True if `error` only reports that the user interrupted the last turn; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub turn_interrupted: bool,
        /// Reason why its agent does not respond: the agent or its host process was stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stalled: Option<String>,
        /// True if the agent runs without the settings, hooks and MCP servers of its folder, because the
        /// folder is not trusted; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub untrusted: bool,
        /// Session ids of the CLI, oldest first.
        pub cli_session_ids: Vec<String>,
        /// Current model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// Permission mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub permission_mode: Option<String>,
        /// Policy that decides requests before the user does.
        pub policy: Policy,
        /// Time of creation.
        pub created: String,
        /// Time of the last activity.
        pub active: String,
        /// Cursor of the newest event.
        pub cursor: String,
        /// Sequence number of the newest event.
        pub head: u64,
        /// Sequence number of the oldest stored event.
        pub floor: u64,
        /// True if the session continues by itself once a limit of the plan is reset; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub continue_after_limit: bool,
        /// Time at which it will continue by itself, while it waits for the reset of a limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub continues_at: Option<String>,
        /// Resources used.
        pub totals: Totals,
        /// Limits on resources.
        pub budget: Budget,
        /// Number of pending permission requests.
        pub pending_permissions: u64,
        /// Number of pending questions.
        pub pending_questions: u64,
        /// Dialog that the session waits in where it runs, as the agent names it, such as `permission
        /// prompt`. It is answered there; absent if a pending request is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub waits_for: Option<String>,
        /// Number of queued prompts.
        pub queued: u64,
        /// Last message, as one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_line: Option<String>,
        /// True if a script plays the agent.
        #[serde(default)]
        pub demo: bool,
        /// Name of the agent, if it is not Claude Code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub backend: Option<String>,
        /// Where the session was started.
        #[serde(default)]
        pub origin: SessionOrigin,
        /// Actions that are possible now. Clients hide the others.
        #[serde(default)]
        pub capabilities: Vec<SessionCapability>,
        /// Reason why some actions are not possible now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limited: Option<String>,
        /// Git worktree that was made for the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub worktree: Option<super::SessionWorktree>,
        /// Server of the fleet that the session runs on; omitted if it is the one that answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub node: Option<String>,
        /// Time at which the session's server was last heard of, while it is not connected; empty if it never
        /// was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unreachable: Option<String>,
        /// Events that the session's server has announced and this server does not have; omitted if there are
        /// none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub behind: Option<u64>,
        /// Name that the copies of its project share on all servers of the fleet: host and path of the remote
        /// repository, with `:` and the path inside of it, or `folder:` and a word for a folder without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub project: Option<String>,
    }

    /// Resources used by a session.
    #[derive(Default)]
    pub struct Totals {
        /// Number of finished turns.
        pub turns: u64,
        /// Cost in dollars, as counted by the agent; of turns outside of the server, from their tokens.
        pub cost_usd: f64,
        /// True if a model was used whose price is not known; its cost is not in the sum.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub cost_incomplete: bool,
        /// Tokens of the last prompt, which is the size of the context.
        pub input_tokens: i64,
        /// Tokens of the last answer.
        pub output_tokens: i64,
    }

    /// Limits on the resources of a session; absent means unlimited.
    #[derive(Default)]
    pub struct Budget {
        /// Maximum number of turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_turns: Option<u64>,
        /// Maximum cost in dollars.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget_usd: Option<f64>,
        /// Maximum total duration of its turns, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_seconds: Option<u64>,
    }

    /// Request for a new session.
    #[derive(Default)]
    pub struct CreateSession {
        /// Working folder.
        pub cwd: String,
        /// First prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
        /// Images and files attached to the prompt.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<super::Attachment>>"))]
        pub attachments: Vec<super::Attachment>,
        /// Model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// Permission mode, in the CLI's spelling.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub permission_mode: Option<String>,
        /// Policy that decides requests before the user does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
        /// CLI session to resume: a session on disk is adopted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resume: Option<String>,
        /// Forks the resumed session instead of continuing it.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub fork: bool,
        /// Point in the session up to which it is forked; by default all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub fork_at: Option<ForkPoint>,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// Text appended to the system prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub append_system_prompt: Option<String>,
        /// Permission rules for tools that run without a request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub allowed_tools: Vec<String>,
        /// MCP servers, in the format of the CLI's `--mcp-config`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub mcp_config: Option<serde_json::Value>,
        /// Additional folders for the agent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub add_dirs: Vec<String>,
        /// Maximum number of turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_turns: Option<u64>,
        /// Maximum cost in dollars.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget_usd: Option<f64>,
        /// Maximum total duration of its turns, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_seconds: Option<u64>,
        /// Continues by itself, once, when a limit of the plan that ended a turn is reset. Requires the scope
        /// `always`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub continue_after_limit: bool,
        /// Arbitrary labels for finding it.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<BTreeMap<String, String>>"))]
        pub labels: BTreeMap<String, String>,
        /// True if a script plays the agent; the default on a demo server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub demo: Option<bool>,
        /// Name of the agent; by default Claude Code. `agents` of the server's metadata lists the others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub backend: Option<String>,
        /// Also stores the CLI's own frames, for the dialect `frames`.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub keep_frames: bool,
        /// Makes a git worktree for the session, with a new branch of this name; an empty name chooses one.
        /// Requires the scope `always`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub worktree: Option<String>,
        /// Idempotency key: the same command sent again creates no second session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// Point in a conversation: before a prompt, or after a block of the answer to it.
    #[derive(Default)]
    pub struct ForkPoint {
        /// The `uuid` of the prompt.
        pub prompt: String,
        /// Beginning of a text block of the answer: the fork has the conversation up to this block. Without
        /// it, the fork ends before the prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub answer: Option<String>,
        /// Number of blocks that begin with the same text and are passed over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub skip: Option<u64>,
    }

    /// Changes to a session. Absent fields stay as they are.
    #[derive(Default)]
    pub struct PatchSession {
        /// New title; an empty one removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// New labels, replacing all existing ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub labels: Option<BTreeMap<String, String>>,
        /// New budget.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub budget: Option<Budget>,
        /// New policy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub policy: Option<Policy>,
        /// Continues by itself after a limit of the plan, or not. Turning it on requires the scope `always`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub continue_after_limit: Option<bool>,
        /// Idempotency key of this command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// One page of sessions.
    pub struct SessionList {
        /// The sessions.
        pub items: Vec<SessionView>,
        /// Pass as `before` to get the previous page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prev: Option<String>,
        /// Pass as `after` to get the next page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<String>,
    }
}

open_enums! {
    /// Place where a session was started.
    #[derive(Default)]
    pub enum SessionOrigin {
        /// This server started it.
        #[default]
        Server,
        /// A person started it in a terminal.
        Terminal,
        /// An editor started it.
        Editor,
        /// It runs in the background: without a terminal, or under another program.
        Background,
    }

    /// Action on a session.
    pub enum SessionCapability {
        /// Send prompts.
        Prompt,
        /// Interrupt the turn.
        Interrupt,
        /// Answer permission requests and questions.
        Answer,
        /// Change the model.
        SetModel,
        /// Change the permission mode.
        SetMode,
        /// Change an option of the agent.
        SetOption,
        /// Restore files.
        Rewind,
        /// Compact the conversation.
        Compact,
        /// Clear the conversation.
        Clear,
        /// Stop the agent.
        Stop,
        /// Continue the session on the server, in place of the process that holds it now.
        TakeOver,
        /// Show its terminal, and send keys to it.
        Terminal,
    }

    /// State of a session on the server.
    pub enum ServerPhase {
        /// Its process is starting.
        Starting,
        /// It waits for a prompt.
        Idle,
        /// A turn is running.
        Running,
        /// A request waits for the user.
        NeedsYou,
        /// Its process was stopped because it was idle; the next prompt starts it again.
        Parked,
        /// The user stopped it; the next prompt starts it again.
        Stopped,
        /// The server or the agent ended during a turn; the next prompt continues from there.
        Interrupted,
        /// It could not be started, or its process died.
        Failed,
    }

    /// Policy that decides requests before the user does.
    pub enum Policy {
        /// The user decides every request of the CLI.
        Ask,
        /// Harmless calls run; the user decides the rest.
        Standard,
        /// Like `standard` while a client is connected; otherwise decides by risk.
        Unattended,
        /// Every request of the CLI is denied.
        Deny,
        /// Every request is allowed. Requires the scope `admin` and a server that allows it.
        Allow,
    }
}

impl SessionView {
    /// Name of the session: the title, or else the last prompt, or else the first.
    pub fn name(&self) -> Option<&str> {
        let title = self.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        title.or(self.last_prompt.as_deref()).or(self.first_prompt.as_deref())
    }
}

impl ServerPhase {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ServerPhase::Starting => "starting",
            ServerPhase::Idle => "idle",
            ServerPhase::Running => "running",
            ServerPhase::NeedsYou => "needs_you",
            ServerPhase::Parked => "parked",
            ServerPhase::Stopped => "stopped",
            ServerPhase::Interrupted => "interrupted",
            ServerPhase::Failed => "failed",
            ServerPhase::Unknown => "unknown",
        }
    }
}
