use crate::json::{Json, object, open_string};

open_string! {
    /// How far a task is.
    pub struct TaskStatus {
        PENDING = "pending",
        IN_PROGRESS = "in_progress",
        COMPLETED = "completed",
        DELETED = "deleted",
    }
}

object! {
    /// A task for the list of tasks.
    pub struct TaskCreateInput {
        /// What: "Run the tests".
        req subject: String,
        /// What exactly.
        opt description: String,
        /// The words while it is being done: "Running the tests".
        opt active_form: String as "activeForm",
        /// Anything to keep with it.
        opt metadata: Json,
    }

    /// The task that was put on the list.
    pub struct TaskCreateOutput {
        /// The task with its number.
        opt task: Task,
    }

    /// A task to look up.
    pub struct TaskGetInput {
        /// Its number.
        req task_id: String as "taskId",
    }

    /// The task that was looked up.
    pub struct TaskGetOutput {
        /// The task, if there is one.
        opt task: Task,
    }

    /// A task.
    pub struct Task {
        /// Its number.
        opt id: String,
        /// What.
        opt subject: String,
        /// What exactly.
        opt description: String,
        /// How far it is.
        opt status: TaskStatus,
        /// The tasks that wait for it.
        opt blocks: Vec<String>,
        /// The tasks that it waits for.
        opt blocked_by: Vec<String> as "blockedBy",
    }

    /// What to change about a task.
    pub struct TaskUpdateInput {
        /// Its number.
        req task_id: String as "taskId",
        /// What.
        opt subject: String,
        /// What exactly.
        opt description: String,
        /// The words while it is being done.
        opt active_form: String as "activeForm",
        /// How far it is; `deleted` takes it off the list.
        opt status: TaskStatus,
        /// Tasks that wait for it from now on.
        opt add_blocks: Vec<String> as "addBlocks",
        /// Tasks that it waits for from now on.
        opt add_blocked_by: Vec<String> as "addBlockedBy",
        /// Who does it.
        opt owner: String,
        /// What to keep with it.
        opt metadata: Json,
    }

    /// What was changed about a task.
    pub struct TaskUpdateOutput {
        /// Whether it was changed.
        opt success: bool,
        /// Its number.
        opt task_id: String as "taskId",
        /// What was changed.
        opt updated_fields: Vec<String> as "updatedFields",
        /// Why it was not changed.
        opt error: String,
        /// How far it was and is.
        opt status_change: StatusChange as "statusChange",
    }

    /// A step of a task.
    pub struct StatusChange {
        /// How far it was.
        opt from: TaskStatus,
        /// How far it is.
        opt to: TaskStatus,
    }

    /// Asks for the list of tasks.
    pub struct TaskListInput {}

    /// The list of tasks.
    pub struct TaskListOutput {
        /// The tasks.
        opt tasks: Vec<ListedTask>,
    }

    /// A task as the list shows it.
    pub struct ListedTask {
        /// Its number.
        opt id: String,
        /// What.
        opt subject: String,
        /// How far it is.
        opt status: TaskStatus,
        /// Who does it.
        opt owner: String,
        /// The tasks that it waits for.
        opt blocked_by: Vec<String> as "blockedBy",
    }

    /// Something in the background to stop: a command, an agent.
    pub struct TaskStopInput {
        /// The task.
        opt task_id: String,
        /// The same, as older CLIs call it.
        opt shell_id: String,
    }

    /// What was stopped.
    pub struct TaskStopOutput {
        /// That it was stopped.
        opt message: String,
        /// The task.
        opt task_id: String,
        /// What kind of task it was.
        opt task_type: String,
        /// The command that ran.
        opt command: String,
    }
}
