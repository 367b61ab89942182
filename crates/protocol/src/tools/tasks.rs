//! Tools for the list of tasks, and the one that stops background tasks.

use crate::json::{Json, object, open_string};

open_string! {
    /// Status of a task.
    pub struct TaskListStatus {
        PENDING = "pending",
        IN_PROGRESS = "in_progress",
        COMPLETED = "completed",
        DELETED = "deleted",
    }
}

object! {
    /// A new task for the list of tasks.
    pub struct TaskCreateInput {
        /// Title: "Run the tests".
        req subject: String,
        /// Description of the task.
        opt description: String,
        /// Text while it is in progress: "Running the tests".
        opt active_form: String as "activeForm",
        /// Arbitrary metadata.
        opt metadata: Json,
    }

    /// The task that was created.
    pub struct TaskCreateOutput {
        /// The task with its id.
        opt task: Task,
    }

    /// A lookup of a task.
    pub struct TaskGetInput {
        /// Id of the task.
        req task_id: String as "taskId",
    }

    /// Result of a lookup of a task.
    pub struct TaskGetOutput {
        /// The task, if there is one.
        opt task: Task,
    }

    /// A task.
    pub struct Task {
        /// Id of the task.
        opt id: String,
        /// Title of the task.
        opt subject: String,
        /// Description of the task.
        opt description: String,
        /// Status of the task.
        opt status: TaskListStatus,
        /// Tasks that are blocked by it.
        opt blocks: Vec<String>,
        /// Tasks that block it.
        opt blocked_by: Vec<String> as "blockedBy",
    }

    /// Changes to a task.
    pub struct TaskUpdateInput {
        /// Id of the task.
        req task_id: String as "taskId",
        /// New title.
        opt subject: String,
        /// New description.
        opt description: String,
        /// New text while it is in progress.
        opt active_form: String as "activeForm",
        /// New status; `deleted` removes it from the list.
        opt status: TaskListStatus,
        /// Further tasks that are blocked by it.
        opt add_blocks: Vec<String> as "addBlocks",
        /// Further tasks that block it.
        opt add_blocked_by: Vec<String> as "addBlockedBy",
        /// New owner.
        opt owner: String,
        /// New metadata.
        opt metadata: Json,
    }

    /// Result of an update of a task.
    pub struct TaskUpdateOutput {
        /// True if it was changed.
        opt success: bool,
        /// Id of the task.
        opt task_id: String as "taskId",
        /// Names of the changed fields.
        opt updated_fields: Vec<String> as "updatedFields",
        /// Error message.
        opt error: String,
        /// Status before and after.
        opt status_change: StatusChange as "statusChange",
    }

    /// A change of a task's status.
    pub struct StatusChange {
        /// Previous status.
        opt from: TaskListStatus,
        /// New status.
        opt to: TaskListStatus,
    }

    /// Request for the list of tasks.
    pub struct TaskListInput {}

    /// The list of tasks.
    pub struct TaskListOutput {
        /// The tasks.
        opt tasks: Vec<ListedTask>,
    }

    /// A task in the list.
    pub struct ListedTask {
        /// Id of the task.
        opt id: String,
        /// Title of the task.
        opt subject: String,
        /// Status of the task.
        opt status: TaskListStatus,
        /// Owner of the task.
        opt owner: String,
        /// Tasks that block it.
        opt blocked_by: Vec<String> as "blockedBy",
    }

    /// Request to stop a background task: a command or an agent.
    pub struct TaskStopInput {
        /// Id of the task.
        opt task_id: String,
        /// The id, under the key of older CLIs.
        opt shell_id: String,
    }

    /// Result of stopping a task.
    pub struct TaskStopOutput {
        /// Message that it was stopped.
        opt message: String,
        /// Id of the task.
        opt task_id: String,
        /// Type of the task.
        opt task_type: String,
        /// Command of the task.
        opt command: String,
    }
}
