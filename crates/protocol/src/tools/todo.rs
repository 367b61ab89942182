//! The tool that writes the to-do list.

use crate::json::{object, open_string};

open_string! {
    /// Status of an item of the to-do list.
    pub struct TodoWriteStatus {
        PENDING = "pending",
        IN_PROGRESS = "in_progress",
        COMPLETED = "completed",
    }
}

object! {
    /// The new to-do list.
    pub struct TodoWriteInput {
        /// The whole list.
        req todos: Vec<TodoWriteItem>,
    }

    /// The to-do list, before and after.
    pub struct TodoWriteOutput {
        /// The list before.
        opt old_todos: Vec<TodoWriteItem> as "oldTodos",
        /// The list now.
        opt new_todos: Vec<TodoWriteItem> as "newTodos",
    }

    /// An item of the to-do list.
    pub struct TodoWriteItem {
        /// Text: "Run the tests".
        req content: String,
        /// Status of the item.
        opt status: TodoWriteStatus,
        /// Text while it is in progress: "Running the tests".
        opt active_form: String as "activeForm",
    }
}
