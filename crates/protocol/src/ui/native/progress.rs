//! How far the work has come.

use super::{events, words};

events! {
    /// How far the work has come.
    pub struct Progress {
        required {
            /// Session it belongs to.
            session_id: i64,
            /// Where this is known from.
            source: ProgressSource,
        }
        optional {
            /// What is being done.
            step: String,
            /// Steps done.
            completed: u64,
            /// Steps in all.
            total: u64,
            /// From 0 to 100.
            percentage: f64,
            /// The sub-agent whose work it is.
            agent_id: String,
        }
        defaulted {
            /// Whether it is a guess.
            estimated: bool,
        }
    }

    /// The agent's list of things to do, replacing the last.
    pub struct TodoList {
        required {
            /// Session it belongs to.
            session_id: i64,
        }
        optional {
            /// The sub-agent whose list it is.
            agent_id: String,
        }
        defaulted {
            /// In the order to be shown.
            items: Vec<TodoItem>,
        }
    }

    /// One thing to do.
    pub struct TodoItem {
        required {
            /// What.
            content: String,
            /// How it stands.
            status: TodoStatus,
        }
        optional {
            /// The same as something that is being done: "Running the tests".
            active_form: String,
            /// Names it, where the agent does.
            id: String,
        }
    }
}

words! {
    /// Where progress is known from.
    pub enum ProgressSource {
        /// The agent tells how a task goes.
        Task,
        /// The list of things to do.
        Todo,
        /// A running tool.
        Tool,
        /// What the agent says it is doing.
        Status,
        /// A phrase in the answer.
        Text,
    }

    /// How a thing to do stands.
    pub enum TodoStatus {
        /// Not begun.
        Pending,
        /// Being done.
        InProgress,
        /// Done.
        Completed,
        /// Given up.
        Cancelled,
    }
}
