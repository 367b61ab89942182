//! Requests about background tasks.

use tidings_protocol::control::{BackgroundTasks, GetTaskOutput, StopTask, TaskOutput};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Stops a background task. An unknown id is not an error.
    pub async fn stop_task(&self, task_id: &str) -> Result<(), Error> {
        self.request(StopTask::new(task_id)).await.map(drop)
    }

    /// Moves all running tools to the background. The CLI does not reply whether any moved; task events show
    /// it.
    pub async fn background_tasks(&self) -> Result<(), Error> {
        self.request(BackgroundTasks::default()).await.map(drop)
    }

    /// Moves one running tool to the background. Returns `false` if it did not move; it must have run for
    /// some seconds.
    pub async fn background_task(&self, tool_use_id: &str) -> Result<bool, Error> {
        Ok(self.request(BackgroundTasks::of(tool_use_id)).await?.backgrounded.unwrap_or(true))
    }

    /// The last part of a background task's output.
    pub async fn task_output(&self, task_id: &str) -> Result<TaskOutput, Error> {
        self.request(GetTaskOutput::new(task_id)).await
    }
}
