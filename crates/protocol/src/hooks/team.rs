//! Events around teammates and their tasks.

use crate::json::object;

object! {
    /// A teammate is idle.
    pub struct TeammateIdle {
        opt teammate_name: String,
        /// Deprecated by the CLI.
        opt team_name: String,
    }

    /// A task was created.
    pub struct TaskCreated {
        req task_id: String,
        def task_subject: String,
        opt task_description: String,
        opt teammate_name: String,
        /// Deprecated by the CLI.
        opt team_name: String,
    }

    /// A task was completed.
    pub struct TaskCompleted {
        req task_id: String,
        def task_subject: String,
        opt task_description: String,
        opt teammate_name: String,
        /// Deprecated by the CLI.
        opt team_name: String,
    }
}
