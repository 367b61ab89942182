//! The tool that runs a script that starts agents.

use crate::json::{Json, object};

object! {
    /// A script that starts agents.
    pub struct WorkflowInput {
        /// The script; or its file, or the name of a predefined one.
        opt script: String,
        opt script_path: String as "scriptPath",
        opt name: String,
        opt description: String,
        opt title: String,
        /// Arguments of the script.
        opt args: Json,
        /// An earlier run to continue.
        opt resume_from_run_id: String as "resumeFromRunId",
    }

    /// A script that runs in the background.
    pub struct WorkflowOutput {
        /// `async_launched` or `remote_launched`.
        opt status: String,
        opt task_id: String as "taskId",
        /// `local_workflow` or `remote_agent`.
        opt task_type: String as "taskType",
        opt workflow_name: String as "workflowName",
        opt run_id: String as "runId",
        opt summary: String,
        /// Folder of the transcripts of its agents.
        opt transcript_dir: String as "transcriptDir",
        opt script_path: String as "scriptPath",
        /// URL of its session, if it runs on another machine.
        opt session_url: String as "sessionUrl",
        opt warning: String,
        /// Error in the script.
        opt error: String,
    }
}
