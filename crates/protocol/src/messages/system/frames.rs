//! Bodies of `system` frames, after the CLI's own schema.
// tidy: flat table

use crate::control::SlashCommand;
use crate::json::{Json, object, open_string};
use crate::messages::AssistantError;
use crate::permissions::PermissionMode;

object! {
    /// `compact_boundary`
    pub struct CompactBoundary {
        opt compact_metadata: CompactMetadata,
        opt uuid: String,
        opt session_id: String,
    }

    /// Metadata of a compaction.
    pub struct CompactMetadata {
        opt trigger: String,
        opt pre_tokens: u64,
        opt post_tokens: u64,
        opt duration_ms: u64,
        opt preserved_segment: PreservedSegment,
        /// Supersedes `preserved_segment`.
        opt preserved_messages: PreservedMessages,
    }

    /// Preserved messages, by the ends of their range.
    pub struct PreservedSegment {
        opt head_uuid: String,
        opt anchor_uuid: String,
        opt tail_uuid: String,
    }

    /// Preserved messages, in order: each follows the one before it, the first follows the anchor.
    pub struct PreservedMessages {
        opt anchor_uuid: String,
        def uuids: Vec<String>,
    }

    /// `status`
    pub struct Status {
        /// `compacting`, `requesting`, or absent.
        opt status: String,
        opt permission_mode: PermissionMode as "permissionMode",
        opt compact_result: String,
        opt compact_error: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `api_retry`
    pub struct ApiRetry {
        opt attempt: u64,
        opt max_retries: u64,
        opt retry_delay_ms: f64,
        /// HTTP status; absent when there was no response.
        opt error_status: u16,
        opt error: AssistantError,
        opt no_response: NoResponse,
        opt uuid: String,
        opt session_id: String,
    }

    /// Time that an API call went without a response.
    pub struct NoResponse {
        opt waited_ms: f64,
        opt retry_wait_ms: f64,
    }

    /// `control_request_progress`
    pub struct ControlRequestProgress {
        req request_id: String,
        opt status: String,
        opt attempt: u64,
        opt max_retries: u64,
        opt retry_delay_ms: f64,
        opt error_status: u16,
        opt uuid: String,
        opt session_id: String,
    }

    /// `model_refusal_fallback`
    pub struct ModelRefusalFallback {
        opt trigger: String,
        opt direction: String,
        opt scope: String,
        opt original_model: String,
        opt fallback_model: String,
        opt request_id: String,
        opt api_refusal_category: String,
        opt api_refusal_explanation: String,
        /// Messages to remove from the screen.
        opt retracted_message_uuids: Vec<String>,
        opt refused_user_message_uuid: String,
        opt content: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `model_refusal_no_fallback`
    pub struct ModelRefusalNoFallback {
        opt original_model: String,
        opt request_id: String,
        opt api_refusal_category: String,
        opt api_refusal_explanation: String,
        opt refused_user_message_uuid: String,
        opt content: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `model_fallback`
    pub struct ModelFallback {
        opt trigger: String,
        opt original_model: String,
        opt fallback_model: String,
        opt content: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `local_command_output`
    pub struct LocalCommandOutput {
        def content: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `hook_started`
    pub struct HookStarted {
        req hook_id: String,
        opt hook_name: String,
        opt hook_event: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `hook_progress`
    pub struct HookProgress {
        req hook_id: String,
        opt hook_name: String,
        opt hook_event: String,
        opt stdout: String,
        opt stderr: String,
        opt output: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `hook_response`
    pub struct HookResponse {
        req hook_id: String,
        opt hook_name: String,
        opt hook_event: String,
        opt output: String,
        opt stdout: String,
        opt stderr: String,
        opt exit_code: i32,
        /// `success`, `error` or `cancelled`.
        opt outcome: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `plugin_install`
    pub struct PluginInstall {
        opt status: String,
        opt name: String,
        opt error: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `task_started`
    pub struct TaskStarted {
        req task_id: String,
        opt run_id: String,
        opt tool_use_id: String,
        opt description: String,
        opt subagent_type: String,
        opt is_backgrounded: bool,
        opt spawn_depth: u64,
        opt parent_task_id: String,
        opt task_type: TaskType,
        opt workflow_name: String,
        opt prompt: String,
        opt skip_transcript: bool,
        opt ambient: bool,
        opt uuid: String,
        opt session_id: String,
    }

    /// `task_progress`
    pub struct TaskProgress {
        req task_id: String,
        opt run_id: String,
        opt tool_use_id: String,
        opt description: String,
        opt subagent_type: String,
        opt usage: TaskUsage,
        opt last_tool_name: String,
        opt summary: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// Resources used by a task.
    pub struct TaskUsage {
        def total_tokens: u64,
        def tool_uses: u64,
        def duration_ms: u64,
    }

    /// `task_updated`
    pub struct TaskUpdated {
        req task_id: String,
        opt run_id: String,
        def patch: TaskPatch,
        opt uuid: String,
        opt session_id: String,
    }

    /// Changed fields; merge them into the state of the task.
    pub struct TaskPatch {
        opt status: TaskStatus,
        opt description: String,
        opt end_time: f64,
        opt total_paused_ms: f64,
        opt error: String,
        opt is_backgrounded: bool,
    }

    /// `task_notification`
    pub struct TaskNotification {
        req task_id: String,
        opt run_id: String,
        opt tool_use_id: String,
        opt status: TaskStatus,
        opt reason: String,
        opt output_file: String,
        opt summary: String,
        opt usage: TaskUsage,
        opt resource_links: Vec<ResourceLink>,
        opt skip_transcript: bool,
        opt ambient: bool,
        opt uuid: String,
        opt session_id: String,
    }

    /// A resource created by a task.
    pub struct ResourceLink {
        req uri: String,
        opt name: String,
        opt title: String,
        opt description: String,
        opt mime_type: String as "mimeType",
        opt size: u64,
        opt annotations: Json,
    }

    /// `background_tasks_changed`
    pub struct BackgroundTasksChanged {
        req tasks: Vec<BackgroundTask>,
        opt uuid: String,
        opt session_id: String,
    }

    /// A background task.
    pub struct BackgroundTask {
        req task_id: String,
        opt run_id: String,
        opt task_type: TaskType,
        opt subagent_type: String,
        opt description: String,
        opt parent_task_id: String,
        opt ambient: bool,
    }

    /// `thinking_tokens`
    pub struct ThinkingTokens {
        def estimated_tokens: u64,
        def estimated_tokens_delta: i64,
        opt user_message_uuid: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `session_state_changed`
    pub struct SessionStateChangedFrame {
        req state: CliSessionState,
        opt uuid: String,
        opt session_id: String,
    }

    /// `worker_shutting_down`
    pub struct WorkerShuttingDown {
        opt reason: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `commands_changed`
    pub struct CommandsChanged {
        req commands: Vec<SlashCommand>,
        opt uuid: String,
        opt session_id: String,
    }

    /// `notification`
    pub struct NotificationFrame {
        opt key: String,
        req text: String,
        /// `low`, `medium`, `high` or `immediate`.
        opt priority: String,
        opt color: String,
        opt timeout_ms: f64,
        opt uuid: String,
        opt session_id: String,
    }

    /// `files_persisted`
    pub struct FilesPersisted {
        def files: Vec<PersistedFile>,
        def failed: Vec<FailedFile>,
        opt processed_at: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// A stored file.
    pub struct PersistedFile {
        req filename: String,
        opt file_id: String,
    }

    /// A file that could not be stored.
    pub struct FailedFile {
        req filename: String,
        opt error: String,
    }

    /// `memory_recall`
    pub struct MemoryRecall {
        opt mode: String,
        def memories: Vec<Memory>,
        opt uuid: String,
        opt session_id: String,
    }

    /// A memory that was recalled.
    pub struct Memory {
        req path: String,
        opt scope: String,
        opt content: String,
    }

    /// `elicitation_complete`
    pub struct ElicitationComplete {
        opt mcp_server_name: String,
        opt elicitation_id: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `permission_denied`
    pub struct PermissionDeniedFrame {
        req tool_name: String,
        opt tool_use_id: String,
        opt agent_id: String,
        opt decision_reason_type: String,
        opt decision_reason: String,
        opt message: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `mirror_error`
    pub struct MirrorError {
        opt error: String,
        opt key: MirrorKey,
        opt uuid: String,
        opt session_id: String,
    }

    /// Transcript that could not be mirrored.
    pub struct MirrorKey {
        opt project_key: String as "projectKey",
        opt session_id: String as "sessionId",
        /// Absent for the main transcript; the path of a sub-agent's.
        opt subpath: String,
    }

    /// `informational`
    pub struct Informational {
        req content: String,
        /// `info`, `notice`, `suggestion` or `warning`.
        opt level: String,
        opt tool_use_id: String,
        opt prevent_continuation: bool,
        opt tag: String,
        opt uuid: String,
        opt session_id: String,
    }

    /// `session_writes_lost`
    pub struct SessionWritesLost {
        opt error_code: String,
        def lost: Vec<String>,
        opt transcript_session_ids: Vec<String>,
        opt uuid: String,
        opt session_id: String,
    }
}

open_string! {
    /// State of a session: running, waiting for the user, or idle.
    pub struct CliSessionState {
        IDLE = "idle",
        RUNNING = "running",
        REQUIRES_ACTION = "requires_action",
    }

    /// Type of a task.
    pub struct TaskType {
        LOCAL_AGENT = "local_agent",
        LOCAL_BASH = "local_bash",
        LOCAL_WORKFLOW = "local_workflow",
        MCP_TASK = "mcp_task",
        REMOTE_AGENT = "remote_agent",
    }

    /// Status of a task. `stopped` in a notification is `killed` in an update.
    pub struct TaskStatus {
        PENDING = "pending",
        RUNNING = "running",
        PAUSED = "paused",
        COMPLETED = "completed",
        FAILED = "failed",
        KILLED = "killed",
        STOPPED = "stopped",
    }
}

impl Status {
    /// The activity, in the form of the CLI, which writes `null` if there is none.
    pub fn of(activity: Option<&str>) -> Self {
        let mut status = Status { status: activity.map(str::to_owned), ..Status::default() };
        status.extra.keep_null("status");
        status
    }
}

impl TaskStatus {
    /// True if a task in this state has ended.
    pub fn is_terminal(&self) -> bool {
        matches!(self.as_str(), "completed" | "failed" | "killed" | "stopped")
    }
}
