//! The kinds of entries and their spelling.

use std::fmt;

/// Declares the kinds and their spelling, most frequent first.
macro_rules! kinds {
    ($( $(#[$meta:meta])* $Kind:ident = $text:literal, )+) => {
        /// The `type` of an entry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum EntryKind {
            $(
                #[doc = concat!("`", $text, "`: ")]
                $(#[$meta])*
                $Kind,
            )+
            /// Anything else: new, foreign, or not a string.
            Unknown,
        }

        impl EntryKind {
            /// All known kinds.
            pub const KNOWN: &'static [EntryKind] = &[$(EntryKind::$Kind),+];

            /// The file's spelling; empty for [`EntryKind::Unknown`].
            pub fn as_str(self) -> &'static str {
                match self {
                    $( EntryKind::$Kind => $text, )+
                    EntryKind::Unknown => "",
                }
            }

            #[inline]
            pub(super) fn of(text: &str) -> Self {
                match text {
                    $( $text => EntryKind::$Kind, )+
                    _ => EntryKind::Unknown,
                }
            }
        }
    };
}

kinds! {
    /// additional context for the model.
    Attachment = "attachment",
    /// a message of the user, or the result of a tool.
    User = "user",
    /// a content block of a response.
    Assistant = "assistant",
    /// an event of the session.
    System = "system",
    /// progress of a tool; no longer written.
    Progress = "progress",
    /// a step of a compaction, in the session specification only.
    CompactSystem = "compact_system",
    /// a prompt, in the later revision of the session specification only.
    Human = "human",
    /// a tool's result, in the later revision of the session specification only.
    ToolResult = "tool_result",
    /// entries preserved by a compaction, in the later revision of the session specification only.
    CompactPrelude = "compact_prelude",
    /// summary of a compaction, in the later revision of the session specification only.
    CompactRecap = "compact_recap",
    /// a prompt was queued or dequeued.
    QueueOperation = "queue-operation",
    /// the last prompt and the leaf to resume from.
    LastPrompt = "last-prompt",
    /// a request to the API.
    ApiRequest = "api-request",
    /// a message of API requests, under its hash.
    ApiRequestBlob = "api-request-blob",
    /// parts shared by API requests, under their hash.
    ApiRequestShape = "api-request-shape",
    /// a latched client setting.
    AtisLatch = "atis-latch",
    /// the tools called so far.
    ToolsUsed = "tools-used",
    /// the cost of the session.
    CostState = "cost-state",
    /// the summary of a branch.
    Summary = "summary",
    /// the title given by a model.
    AiTitle = "ai-title",
    /// the title given by the user.
    CustomTitle = "custom-title",
    /// the name of the session's agent.
    AgentName = "agent-name",
    /// the colour of the session's agent.
    AgentColor = "agent-color",
    /// the agent that the session runs as.
    AgentSetting = "agent-setting",
    /// a tag set by the user.
    Tag = "tag",
    /// normal or coordinator.
    Mode = "mode",
    /// the permission mode changed.
    PermissionMode = "permission-mode",
    /// the state of the files at a message.
    FileHistorySnapshot = "file-history-snapshot",
    /// one more file of a file history snapshot.
    FileHistoryDelta = "file-history-delta",
    /// a latched client setting.
    IsolationLatch = "isolation-latch",
    /// the session entered or left a worktree.
    WorktreeState = "worktree-state",
    /// the session moved to another folder.
    Relocated = "relocated",
    /// a pull request of the session.
    PrLink = "pr-link",
    /// a page of the session.
    FrameLink = "frame-link",
    /// the session is shared through a bridge.
    BridgeSession = "bridge-session",
    /// another session continues from here.
    ContinuedIn = "continued-in",
    /// tool results that were replaced by shorter ones.
    ContentReplacement = "content-replacement",
    /// the origin of a forked agent's context.
    ForkContextRef = "fork-context-ref",
    /// bookkeeping of the authorship of lines.
    AttributionSnapshot = "attribution-snapshot",
    /// a suggested prompt was accepted.
    SpeculationAccept = "speculation-accept",
    /// the summary of a task.
    TaskSummary = "task-summary",
    /// bookkeeping of collapsed context.
    MarbleOrigamiCommit = "marble-origami-commit",
    /// bookkeeping of collapsed context.
    MarbleOrigamiSnapshot = "marble-origami-snapshot",
    /// bookkeeping of collapsed context.
    MarbleOrigamiReset = "marble-origami-reset",
    /// bookkeeping of artifacts.
    ArtifactAutoreactLedger = "artifact-autoreact-ledger",
    /// bookkeeping of artifacts.
    ArtifactCommentMonitor = "artifact-comment-monitor",
    /// the model ended the session.
    EndedByModel = "ended-by-model",
}

impl EntryKind {
    /// True if entries of this kind have a uuid and a parent, and are thus part of the tree.
    ///
    /// The others are side records, keyed by session or by message.
    pub fn is_chained(self) -> bool {
        matches!(
            self,
            EntryKind::Attachment
                | EntryKind::User
                | EntryKind::Assistant
                | EntryKind::System
                | EntryKind::Progress
                | EntryKind::CompactSystem
        ) || self.is_rewrite()
    }

    /// True if only the later revision of the session specification has this kind.
    pub(super) fn is_rewrite(self) -> bool {
        matches!(
            self,
            EntryKind::Human | EntryKind::ToolResult | EntryKind::CompactPrelude | EntryKind::CompactRecap
        )
    }

    /// True if `message` is a message of the model or to it.
    pub(super) fn has_message(self) -> bool {
        matches!(self, EntryKind::User | EntryKind::Assistant | EntryKind::System) || self.is_rewrite()
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
