//! Entries outside of the tree. For most kinds the last one in the file counts.

use std::collections::BTreeMap;

use crate::json::{Json, object, open_string};
use crate::messages::{Content, ModelUsage};
use crate::permissions::PermissionMode;

object! {
    /// Summary of a branch. Its leaf may be in another file.
    pub struct Summary {
        opt summary: String,
        opt leaf_uuid: String as "leafUuid",
        opt session_id: String as "sessionId",
        opt timestamp: String,
    }

    /// Title given by a model.
    pub struct AiTitle {
        opt ai_title: String as "aiTitle",
        opt session_id: String as "sessionId",
    }

    /// Title given by the user; it takes precedence over the model's.
    pub struct CustomTitle {
        opt custom_title: String as "customTitle",
        opt session_id: String as "sessionId",
    }

    /// The name of the session's agent.
    pub struct AgentName {
        opt agent_name: String as "agentName",
        opt session_id: String as "sessionId",
    }

    /// The colour of the session's agent.
    pub struct AgentColor {
        opt agent_color: String as "agentColor",
        opt session_id: String as "sessionId",
    }

    /// The agent that the session runs as.
    pub struct AgentSetting {
        opt agent_setting: String as "agentSetting",
        opt session_id: String as "sessionId",
    }

    /// Tag set by the user.
    pub struct Tag {
        opt tag: String,
        opt session_id: String as "sessionId",
    }

    /// Mode of the session: it works itself or coordinates others.
    pub struct Mode {
        /// `normal` or `coordinator`.
        opt mode: String,
        opt session_id: String as "sessionId",
    }

    /// The permission mode changed.
    pub struct PermissionModeChange {
        opt permission_mode: PermissionMode as "permissionMode",
        opt session_id: String as "sessionId",
    }

    /// Last prompt, and the leaf to resume from. It is written before the leaf's own line.
    pub struct LastPrompt {
        opt last_prompt: String as "lastPrompt",
        opt leaf_uuid: String as "leafUuid",
        opt session_id: String as "sessionId",
        opt explicit: bool,
        opt rewound: bool,
        opt cut_uuid: String as "cutUuid",
    }

    /// A prompt was queued or dequeued.
    pub struct QueueOperation {
        opt operation: QueueAction,
        opt content: Content,
        opt timestamp: String,
        opt session_id: String as "sessionId",
        opt reason: String,
        opt command_uuid: String as "commandUuid",
        opt delivery_id: String as "deliveryId",
    }

    /// State of the files at a message, for rewinding.
    pub struct FileHistorySnapshot {
        /// Id of the message, not of this entry.
        opt message_id: String as "messageId",
        opt snapshot: FileSnapshot,
        opt is_snapshot_update: bool as "isSnapshotUpdate",
    }

    /// The backups of a snapshot, by path.
    pub struct FileSnapshot {
        opt message_id: String as "messageId",
        opt tracked_file_backups: BTreeMap<String, FileBackup> as "trackedFileBackups",
        opt timestamp: String,
    }

    /// One more file of a file history snapshot.
    pub struct FileHistoryDelta {
        opt message_id: String as "messageId",
        opt snapshot_message_id: String as "snapshotMessageId",
        opt tracking_path: String as "trackingPath",
        opt backup: FileBackup,
        opt timestamp: String,
    }

    /// A copy of a file.
    pub struct FileBackup {
        /// `null` in the file if there was no file to copy.
        opt backup_file_name: String as "backupFileName",
        opt version: u64,
        opt backup_time: String as "backupTime",
        opt real_parent_dir: String as "realParentDir",
    }

    /// Totals of the client, written when it exits. They include calls that left no assistant entry.
    pub struct CostState {
        opt session_id: String as "sessionId",
        opt total_cost_usd: f64 as "totalCostUSD",
        /// Durations are in milliseconds.
        opt total_api_duration: f64 as "totalAPIDuration",
        opt total_api_duration_without_retries: f64 as "totalAPIDurationWithoutRetries",
        opt total_tool_duration: f64 as "totalToolDuration",
        opt total_duration: f64 as "totalDuration",
        opt total_lines_added: u64 as "totalLinesAdded",
        opt total_lines_removed: u64 as "totalLinesRemoved",
        /// Milliseconds since 1970.
        opt start_time: f64 as "startTime",
        opt has_unknown_model_cost: bool as "hasUnknownModelCost",
        opt model_usage: BTreeMap<String, ModelUsage> as "modelUsage",
    }

    /// The tools called so far.
    pub struct ToolsUsed {
        opt tools: Vec<String>,
        opt session_id: String as "sessionId",
    }

    /// A latched client setting.
    pub struct AtisLatch {
        opt atis: String,
        opt session_id: String as "sessionId",
    }

    /// A latched client setting.
    pub struct IsolationLatch {
        opt side: Json,
        opt session_id: String as "sessionId",
    }

    /// The session entered a worktree; `null` in the file when it left.
    pub struct WorktreeState {
        opt worktree_session: WorktreeSession as "worktreeSession",
        opt session_id: String as "sessionId",
    }

    /// A worktree that a session works in.
    pub struct WorktreeSession {
        opt original_cwd: String as "originalCwd",
        opt worktree_path: String as "worktreePath",
        opt worktree_name: String as "worktreeName",
        opt worktree_branch: String as "worktreeBranch",
        opt original_branch: String as "originalBranch",
        opt original_head_commit: String as "originalHeadCommit",
        opt session_id: String as "sessionId",
    }

    /// The session moved to another folder.
    pub struct Relocated {
        opt relocated_cwd: String as "relocatedCwd",
        opt session_id: String as "sessionId",
    }

    /// A pull request of the session.
    pub struct PrLink {
        opt pr_number: u64 as "prNumber",
        opt pr_url: String as "prUrl",
        opt pr_repository: String as "prRepository",
        opt session_id: String as "sessionId",
        opt timestamp: String,
    }

    /// A page of the session.
    pub struct FrameLink {
        opt frame_url: String as "frameUrl",
        opt title: String,
        opt path: String,
        opt artifact_count: u64 as "artifactCount",
        opt session_id: String as "sessionId",
    }

    /// The session is shared through a bridge.
    pub struct BridgeSession {
        opt bridge_session_id: String as "bridgeSessionId",
        opt last_sequence_num: u64 as "lastSequenceNum",
        opt owner_account_uuid: String as "ownerAccountUuid",
        opt owner_organization_uuid: String as "ownerOrganizationUuid",
        opt session_id: String as "sessionId",
    }

    /// Tool results that were replaced by shorter ones.
    pub struct ContentReplacement {
        opt replacements: Vec<Json>,
        opt agent_id: String as "agentId",
        opt session_id: String as "sessionId",
    }

    /// Origin of a forked agent's context.
    pub struct ForkContextRef {
        opt agent_id: String as "agentId",
        opt parent_session_id: String as "parentSessionId",
        opt parent_last_uuid: String as "parentLastUuid",
        opt context_length: u64 as "contextLength",
        opt session_id: String as "sessionId",
    }
}

open_string! {
    /// Operation on a queued prompt.
    pub struct QueueAction {
        ENQUEUE = "enqueue",
        DEQUEUE = "dequeue",
        REMOVE = "remove",
        POP_ALL = "popAll",
    }
}
