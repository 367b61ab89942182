//! Background tasks.

use crate::json::object;

object! {
    /// Stops a background task. An unknown id is a success too.
    pub struct StopTask {
        req task_id: String,
    }

    /// Sends running tools to the background.
    pub struct BackgroundTasks {
        /// Which one; all of them when absent.
        opt tool_use_id: String,
    }

    /// The answer to a [`BackgroundTasks`].
    pub struct BackgroundTasksReply {
        /// Whether the tool went to the background. Not before it has run for some seconds.
        opt backgrounded: bool,
    }

    /// Asks for the end of a background task's output.
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
    /// Sends the tool call with this id to the background.
    pub fn of(tool_use_id: impl Into<String>) -> Self {
        BackgroundTasks { tool_use_id: Some(tool_use_id.into()), ..BackgroundTasks::default() }
    }
}

impl GetTaskOutput {
    /// The output of the task with this id.
    pub fn new(task_id: impl Into<String>) -> Self {
        GetTaskOutput { task_id: task_id.into(), ..GetTaskOutput::default() }
    }
}
