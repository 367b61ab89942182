use crate::json::{object, open_string};

open_string! {
    /// Status of an item of the to-do list.
    pub struct TodoStatus {
        PENDING = "pending",
        IN_PROGRESS = "in_progress",
        COMPLETED = "completed",
    }
}

object! {
    /// The new to-do list.
    pub struct TodoWriteInput {
        /// The whole list.
        req todos: Vec<TodoItem>,
    }

    /// The to-do list, before and after.
    pub struct TodoWriteOutput {
        /// The list before.
        opt old_todos: Vec<TodoItem> as "oldTodos",
        /// The list now.
        opt new_todos: Vec<TodoItem> as "newTodos",
    }

    /// An item of the to-do list.
    pub struct TodoItem {
        /// Text: "Run the tests".
        req content: String,
        /// Status of the item.
        opt status: TodoStatus,
        /// Text while it is in progress: "Running the tests".
        opt active_form: String as "activeForm",
    }
}
