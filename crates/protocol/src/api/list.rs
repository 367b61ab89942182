//! Lists, and other answers that are only read.

use super::{PendingPermission, PendingQuestion, QueuedInput, shapes};
use crate::ui::UiMessage;

shapes! {
    /// What the server is and can do.
    pub struct Meta {
        /// What it is called.
        pub name: String,
        /// Its version.
        pub version: String,
        /// The version of the events of the dialects `native` and `ui`.
        pub ui_wire_version: u32,
        /// The version of the messages of the dialect `mobile`.
        pub mobile_wire_version: u32,
        /// The name to ask for when a WebSocket is opened.
        pub websocket_protocol: String,
        /// What it can do, in words to look for.
        pub capabilities: Vec<String>,
        /// What it takes at most.
        pub limits: MetaLimits,
        /// Whether a script plays the agents, unless a session is to have a real one.
        pub demo: bool,
        /// The Claude Code that real sessions run; none where there is none, so that none can be started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub claude: Option<MetaClaude>,
        /// The disk of the server is full: sessions can be read and stopped, and everything that has to be stored is refused.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub storage_full: bool,
        /// Who asks.
        pub you: MetaCaller,
    }

    /// The Claude Code of the server.
    #[derive(Default)]
    pub struct MetaClaude {
        /// Its version, once it has told it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub version: Option<String>,
    }

    /// What the server takes at most.
    pub struct MetaLimits {
        /// Bytes of the body of a request.
        pub body_bytes: u64,
        /// Bytes of the body of a prompt, with its attachments.
        pub input_bytes: u64,
        /// Bytes of a message on a WebSocket.
        pub message_bytes: u64,
        /// Sessions that are watched on one WebSocket.
        pub subscriptions: u64,
        /// Entries of one page of a list.
        pub page: u64,
        /// Milliseconds between signs of life on a stream.
        pub heartbeat_ms: u64,
    }

    /// Who asks, and what they may.
    pub struct MetaCaller {
        /// What they are called.
        pub name: String,
        /// What they may.
        pub scopes: Vec<String>,
    }

    /// Permissions that wait for an answer.
    pub struct PermissionList {
        /// The permissions, the oldest first.
        pub items: Vec<PendingPermission>,
    }

    /// Questions that wait for an answer.
    pub struct QuestionList {
        /// The questions, the oldest first.
        pub items: Vec<PendingQuestion>,
    }

    /// Prompts that wait for their turn.
    pub struct QueueList {
        /// The prompts, the next one first.
        pub items: Vec<QueuedInput>,
    }

    /// A part of what happened in a session.
    pub struct HistoryPage {
        /// Events, the oldest first.
        pub items: Vec<HistoryEvent>,
        /// Hand it back as `before` for what is before these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prev: Option<String>,
        /// Hand it back as `after` for what is after these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<String>,
    }

    /// Something that happened.
    pub struct HistoryEvent {
        /// Its place.
        pub cursor: String,
        /// Its number.
        pub seq: u64,
        /// When it happened.
        pub at: String,
        /// What happened.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub event: UiMessage,
    }

    /// What one call of a tool took and gave, in full: snapshots and sessions on disk cut what is long.
    pub struct WholeCall {
        /// The call.
        pub tool_use_id: String,
        /// Its events of the dialect `native`, the oldest first; they take the place of those that were cut.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        pub events: Vec<UiMessage>,
    }

    /// What came with a prompt, in full: events only say that something did.
    pub struct WholePrompt {
        /// The prompt.
        pub uuid: String,
        /// The pictures and files that came with it; those that were only named by an address are left out.
        pub attachments: Vec<super::Attachment>,
    }

    /// What can be put where a person writes: files of a session, or its slash commands.
    pub struct Completions {
        /// Paths below the folder of the session, or commands without their slash.
        pub items: Vec<String>,
        /// Whether there are more than these.
        pub more: bool,
    }

    /// The models that can be chosen, as the CLI that was started last lists them; none before one was.
    #[derive(Default)]
    pub struct ModelList {
        /// The models.
        pub items: Vec<ModelChoice>,
    }

    /// A model that can be chosen.
    pub struct ModelChoice {
        /// What to choose it by.
        pub value: String,
        /// What it is called.
        pub name: String,
        /// What it is good for.
        pub description: String,
        /// The model that the value stands for now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
    }

    /// How the folder of a session differs from its last commit.
    #[derive(Default)]
    pub struct WorkingTree {
        /// Whether it is under version control at all.
        pub repository: bool,
        /// The differences, as `git diff` prints them.
        pub diff: String,
        /// Whether the differences are longer than what is shown of them.
        pub diff_cut: bool,
        /// Files that are not under version control, by their path below the folder.
        pub untracked: Vec<String>,
        /// Whether there are more of them.
        pub untracked_cut: bool,
    }
}
