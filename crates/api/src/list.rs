//! Lists and other read-only responses.

use std::collections::BTreeMap;

use super::{PendingPermission, PendingQuestion, QueuedInput, closed_enums, shapes};
use tidings_protocol::ui::UiMessage;

shapes! {
    /// Metadata of the server.
    pub struct Meta {
        /// Name of the server.
        pub name: String,
        /// Its version.
        pub version: String,
        /// The version of the events of the dialects `native` and `ui`.
        pub ui_wire_version: u32,
        /// The version of the messages of the dialect `mobile`.
        pub mobile_wire_version: u32,
        /// WebSocket subprotocol to request.
        pub websocket_protocol: String,
        /// Names of the server's capabilities.
        pub capabilities: Vec<String>,
        /// Limits on requests.
        pub limits: MetaLimits,
        /// True if a script plays the agents, except in sessions that request a real one.
        pub demo: bool,
        /// Claude Code installation used by real sessions; absent if there is none, so that none can be
        /// started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub claude: Option<MetaClaude>,
        /// Names of other agents that sessions can choose, as `backend`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub agents: Vec<String>,
        /// True if the disk of the server is full: sessions can be read and stopped; every request that needs
        /// storage is refused.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub storage_full: bool,
        /// What the journal of the server held and does not hold any more, one sentence each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub damage: Vec<String>,
        /// The caller.
        pub you: MetaCaller,
    }

    /// Claude Code installation of the server.
    #[derive(Default)]
    pub struct MetaClaude {
        /// Its version, once known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub version: Option<String>,
        /// Version that all tests of this server run with.
        #[serde(default)]
        pub tested: String,
        /// Other versions that were compared with it, oldest first.
        #[serde(default)]
        pub compared: Vec<String>,
    }

    /// Limits of the server.
    pub struct MetaLimits {
        /// Maximum size of a request body, in bytes.
        pub body_bytes: u64,
        /// Maximum size of the body of a prompt, in bytes, attachments included.
        pub input_bytes: u64,
        /// Maximum size of a WebSocket message, in bytes.
        pub message_bytes: u64,
        /// Maximum number of session subscriptions on one WebSocket.
        pub subscriptions: u64,
        /// Maximum number of entries on one page of a list.
        pub page: u64,
        /// Interval between heartbeats on a stream, in milliseconds.
        pub heartbeat_ms: u64,
    }

    /// Caller of a request, with its scopes.
    pub struct MetaCaller {
        /// Name of the caller.
        pub name: String,
        /// Scopes of the caller.
        pub scopes: Vec<String>,
    }

    /// List of pending permission requests.
    pub struct PermissionList {
        /// The permission requests, oldest first.
        pub items: Vec<PendingPermission>,
    }

    /// List of pending questions.
    pub struct QuestionList {
        /// The questions, oldest first.
        pub items: Vec<PendingQuestion>,
    }

    /// List of queued prompts.
    pub struct QueueList {
        /// The prompts, next one first.
        pub items: Vec<QueuedInput>,
    }

    /// One page of a session's events.
    pub struct HistoryPage {
        /// Events, oldest first.
        pub items: Vec<HistoryEvent>,
        /// Pass as `before` to get the previous page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prev: Option<String>,
        /// Pass as `after` to get the next page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<String>,
    }

    /// One event of a session's history.
    pub struct HistoryEvent {
        /// Cursor of the event.
        pub cursor: String,
        /// Sequence number of the event.
        pub seq: u64,
        /// Time of the event.
        pub at: String,
        /// The event.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub event: UiMessage,
    }

    /// Full input and output of one tool call: snapshots and sessions on disk truncate long ones.
    pub struct WholeCall {
        /// The call.
        pub tool_use_id: String,
        /// Events of the call in the dialect `native`, oldest first; they replace the truncated ones.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        pub events: Vec<UiMessage>,
    }

    /// Attachments of a prompt in full: events only name their kinds.
    pub struct WholePrompt {
        /// The prompt.
        pub uuid: String,
        /// Attached images and files; those given only by URL are left out.
        pub attachments: Vec<super::Attachment>,
    }

    /// Completions for the prompt field: files of a session, or its slash commands.
    #[derive(Default)]
    pub struct Completions {
        /// Paths below the folder of the session, or commands without their slash.
        pub items: Vec<String>,
        /// True if there are more than these.
        pub more: bool,
        /// Descriptions of the commands by name, as far as the agent has sent them.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<BTreeMap<String, String>>"))]
        pub about: BTreeMap<String, String>,
    }

    /// Archived sessions: copies of sessions on disk that Claude Code has deleted, or will delete.
    #[derive(Default)]
    pub struct ArchiveList {
        /// The sessions, the newest first.
        pub items: Vec<ArchiveItem>,
        /// True if there are more than these.
        pub more: bool,
        /// Size of all copies in bytes.
        pub stored_bytes: u64,
        /// The greatest size of all copies in bytes; a session that does not fit is not archived.
        pub bytes_max: u64,
        /// Number of days without a change after which the CLI deletes a session.
        #[serde(default)]
        pub cleanup_days: u64,
        /// Number of days before its deletion at which a session is archived.
        #[serde(default)]
        pub margin_days: u64,
        /// Number of sessions that the CLI may delete soon and that have no copy, because the next round has
        /// not come or the archive is full.
        #[serde(default)]
        pub waiting: u64,
    }

    /// An archived session.
    #[derive(Default)]
    pub struct ArchiveItem {
        /// Session id of the CLI.
        pub session: String,
        /// Name of the project's folder, as the CLI writes it.
        pub project: String,
        /// Title of the session when it was copied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// Folder that it worked in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cwd: Option<String>,
        /// True if the CLI has not deleted the session yet; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub on_disk: bool,
        /// Time of its last change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub modified: Option<String>,
        /// Time of the copy.
        pub archived: String,
        /// Size of its files in bytes.
        pub bytes: u64,
        /// Size of the copies in bytes.
        pub stored_bytes: u64,
    }

    /// Request to archive sessions now.
    #[derive(Default)]
    pub struct ArchiveRequest {
        /// The sessions to copy.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<ArchiveWhich>"))]
        pub which: ArchiveWhich,
    }

    /// Result of archiving sessions.
    #[derive(Default)]
    pub struct ArchiveRound {
        /// Number of sessions that were copied.
        pub archived: u64,
        /// Number of sessions without a copy because the archive is full.
        pub left_out: u64,
        /// Number of sessions that could not be copied, or not completely.
        pub failed: u64,
    }

    /// A session that was restored from the archive.
    #[derive(Default)]
    pub struct ArchiveRestored {
        /// Session id of the CLI.
        pub session: String,
        /// Number of its files.
        pub files: u64,
    }

    /// Folders in which a session can be started.
    #[derive(Default)]
    pub struct FolderList {
        /// The listed folder, with links resolved; absent for a list of the folders to start from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub path: Option<String>,
        /// The folder above it, if it may be listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent: Option<String>,
        /// The home folder of the server, if it may be listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub home: Option<String>,
        /// The folders in it, by name. Hidden and sensitive ones are left out.
        pub items: Vec<FolderItem>,
        /// True if there are more than these.
        pub more: bool,
    }

    /// A folder of a list.
    #[derive(Default)]
    pub struct FolderItem {
        /// Its name; of a folder to start from, its path.
        pub name: String,
        /// Its path, with links resolved.
        pub path: String,
        /// True if it is the top of a git working tree; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub git: bool,
    }

    /// Models that can be chosen, as listed by the agent that was started last; empty before the first start.
    #[derive(Default)]
    pub struct ModelList {
        /// The models.
        pub items: Vec<ModelChoice>,
        /// Permission modes that another agent than Claude Code has; absent for Claude Code, which has all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub modes: Option<Vec<String>>,
        /// Other options of a running agent than Claude Code; absent if it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<AgentOption>>"))]
        pub options: Vec<AgentOption>,
    }

    /// An option of an agent, with its values.
    #[derive(Default)]
    pub struct AgentOption {
        /// Id that the command `option` names.
        pub id: String,
        /// Display name.
        pub name: String,
        /// Description of its effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Kind of the option, such as `thought_level`, if the agent says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub category: Option<String>,
        /// Current value.
        pub value: String,
        /// Values that can be chosen.
        pub values: Vec<AgentOptionValue>,
        /// Scope that a device needs to set it.
        #[serde(default)]
        pub scope: String,
    }

    /// A value of an agent's option.
    #[derive(Default)]
    pub struct AgentOptionValue {
        /// Value that selects it.
        pub value: String,
        /// Display name.
        pub name: String,
        /// Description of its effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Name of the group that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub group: Option<String>,
        /// True if the agent asks for nothing with this value, which needs a server with `--allow-bypass`;
        /// omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub bypass: bool,
    }

    /// A selectable model.
    pub struct ModelChoice {
        /// Value that selects it.
        pub value: String,
        /// Display name.
        pub name: String,
        /// Description of its strengths.
        pub description: String,
        /// Model that the value currently resolves to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
    }

    /// Differences between the folder of a session and a commit.
    #[derive(Default)]
    pub struct WorkingTree {
        /// True if the folder is under version control.
        pub repository: bool,
        /// Output of `git diff`.
        pub diff: String,
        /// True if the diff was truncated.
        pub diff_cut: bool,
        /// Untracked files, by their path below the folder.
        pub untracked: Vec<String>,
        /// True if the list of untracked files was truncated.
        pub untracked_cut: bool,
        /// The commit that the folder is compared with; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub base: Option<String>,
        /// Files with staged changes, by their path below the folder.
        #[serde(default)]
        pub staged: Vec<String>,
        /// Changed files whose contents are not in the diff because they have the names of credentials.
        #[serde(default)]
        pub hidden: Vec<String>,
        /// Current branch; absent if none is checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub branch: Option<String>,
    }
}

closed_enums! {
    /// Sessions to archive.
    #[derive(Default)]
    pub enum ArchiveWhich {
        /// Those that the CLI may delete soon.
        #[default]
        Due,
        /// All of them.
        All,
    }
}
