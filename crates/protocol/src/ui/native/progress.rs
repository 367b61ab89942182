//! Sources of progress, and items of to-do lists.

use super::{closed_enums, structures};

structures! {
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
