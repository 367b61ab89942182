//! Progress of the work.

use super::{closed_enums, events};

events! {
    /// Progress of the work.
    pub struct Progress {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Source of this progress.
            source: ProgressSource,
        }
        optional {
            /// Current step, as text.
            step: String,
            /// Number of completed steps.
            completed: u64,
            /// Total number of steps.
            total: u64,
            /// Percentage, from 0 to 100.
            percentage: f64,
            /// Sub-agent that does the work.
            agent_id: String,
        }
        defaulted {
            /// True if it is an estimate.
            estimated: bool,
        }
    }

    /// The agent's to-do list; replaces the previous one.
    pub struct TodoList {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// Sub-agent that owns the list.
            agent_id: String,
        }
        defaulted {
            /// In display order.
            items: Vec<TodoItem>,
        }
    }

    /// One item of a to-do list.
    pub struct TodoItem {
        required {
            /// Text of the item.
            content: String,
            /// Status of the item.
            status: TodoStatus,
        }
        optional {
            /// Text while it is in progress, such as "Running the tests".
            active_form: String,
            /// Id of the item, if the agent gave one.
            id: String,
        }
    }
}

closed_enums! {
    /// Source of progress.
    pub enum ProgressSource {
        /// Progress report of a task.
        Task,
        /// The to-do list.
        Todo,
        /// A running tool.
        Tool,
        /// Status text of the agent.
        Status,
        /// A phrase in the answer.
        Text,
    }

    /// Status of a to-do item.
    pub enum TodoStatus {
        /// Not started.
        Pending,
        /// In progress.
        InProgress,
        /// Done.
        Completed,
        /// Abandoned.
        Cancelled,
    }
}
