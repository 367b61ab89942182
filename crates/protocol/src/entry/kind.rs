use std::fmt;

/// Declares the kinds and their spelling, the most frequent ones first.
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
            /// Anything else: new, foreign, or no string at all.
            Unknown,
        }

        impl EntryKind {
            /// Every kind that is known.
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
    /// something that the model is told next to the conversation.
    Attachment = "attachment",
    /// input, or what a tool gave back.
    User = "user",
    /// a content block of a response.
    Assistant = "assistant",
    /// an event of the session.
    System = "system",
    /// how a tool goes; not written any more.
    Progress = "progress",
    /// a step of a compaction, in seed 001 only.
    CompactSystem = "compact_system",
    /// a prompt, in the rewrite of seed 001 only.
    Human = "human",
    /// a tool's result, in the rewrite of seed 001 only.
    ToolResult = "tool_result",
    /// what a compaction kept, in the rewrite of seed 001 only.
    CompactPrelude = "compact_prelude",
    /// what a compaction summed up, in the rewrite of seed 001 only.
    CompactRecap = "compact_recap",
    /// a prompt went into the queue or came out of it.
    QueueOperation = "queue-operation",
    /// the last prompt and the leaf to resume from.
    LastPrompt = "last-prompt",
    /// a request to the API.
    ApiRequest = "api-request",
    /// a message of such requests, under its hash.
    ApiRequestBlob = "api-request-blob",
    /// what such requests share, under its hash.
    ApiRequestShape = "api-request-shape",
    /// a switch of the client.
    AtisLatch = "atis-latch",
    /// the tools called so far.
    ToolsUsed = "tools-used",
    /// what the session has cost.
    CostState = "cost-state",
    /// what a branch is about.
    Summary = "summary",
    /// the title that a model gave.
    AiTitle = "ai-title",
    /// the title that a person gave.
    CustomTitle = "custom-title",
    /// the name of the session's agent.
    AgentName = "agent-name",
    /// its colour.
    AgentColor = "agent-color",
    /// the agent that the session runs as.
    AgentSetting = "agent-setting",
    /// a person's tag.
    Tag = "tag",
    /// normal or coordinator.
    Mode = "mode",
    /// the permission mode changed.
    PermissionMode = "permission-mode",
    /// the files as they stood at a message.
    FileHistorySnapshot = "file-history-snapshot",
    /// one more file in such a snapshot.
    FileHistoryDelta = "file-history-delta",
    /// a switch of the client.
    IsolationLatch = "isolation-latch",
    /// the session went into a worktree or left it.
    WorktreeState = "worktree-state",
    /// the session moved to another folder.
    Relocated = "relocated",
    /// a pull request belongs to the session.
    PrLink = "pr-link",
    /// a page belongs to the session.
    FrameLink = "frame-link",
    /// the session is shared through a bridge.
    BridgeSession = "bridge-session",
    /// another session goes on from here.
    ContinuedIn = "continued-in",
    /// tool results that were replaced by shorter ones.
    ContentReplacement = "content-replacement",
    /// where a forked agent got its context.
    ForkContextRef = "fork-context-ref",
    /// bookkeeping of who wrote which lines.
    AttributionSnapshot = "attribution-snapshot",
    /// a guessed next prompt was taken.
    SpeculationAccept = "speculation-accept",
    /// what a task came to.
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
    /// the model closed the session.
    EndedByModel = "ended-by-model",
}

impl EntryKind {
    /// Whether entries of this kind have a uuid and a parent, and so a place in the tree.
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

    /// Whether only the rewrite of seed 001 has this kind.
    pub(super) fn is_rewrite(self) -> bool {
        matches!(
            self,
            EntryKind::Human | EntryKind::ToolResult | EntryKind::CompactPrelude | EntryKind::CompactRecap
        )
    }

    /// Whether `message` is something said, by the model or to it.
    pub(super) fn has_message(self) -> bool {
        matches!(self, EntryKind::User | EntryKind::Assistant | EntryKind::System) || self.is_rewrite()
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
