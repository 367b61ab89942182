//! Background tasks.

use crate::json::object;

object! {
    /// Stops a background task. An unknown id succeeds too.
    pub struct StopTask {
        req task_id: String,
    }

    /// Moves running tools to the background.
    pub struct BackgroundTasks {
        /// Id of the tool call; all of them when absent.
        opt tool_use_id: String,
    }

    /// The answer to a [`BackgroundTasks`].
    pub struct BackgroundTasksReply {
        /// True if the tool moved to the background, which is possible only after some seconds.
        opt backgrounded: bool,
    }

    /// Request for the end of a background task's output.
    pub struct GetTaskOutput {
        req task_id: String,
    }

    /// The end of a background task's output.
    pub struct TaskOutput {
        /// The last 8 KiB.
        def output: String,
        opt total_bytes: u64,
        opt truncated: bool,
    }
}

impl StopTask {
    /// Stops the task with this id.
    pub fn new(task_id: impl Into<String>) -> Self {
        StopTask { task_id: task_id.into(), ..StopTask::default() }
    }
}

impl BackgroundTasks {
    /// Moves the tool call with this id to the background.
    pub fn of(tool_use_id: impl Into<String>) -> Self {
        BackgroundTasks { tool_use_id: Some(tool_use_id.into()), ..BackgroundTasks::default() }
    }
}

impl GetTaskOutput {
    /// Requests the output of the task with this id.
    pub fn new(task_id: impl Into<String>) -> Self {
        GetTaskOutput { task_id: task_id.into(), ..GetTaskOutput::default() }
    }
}
