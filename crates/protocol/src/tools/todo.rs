use crate::json::{object, open_string};

open_string! {
    /// How far an item of the list is.
    pub struct TodoStatus {
        PENDING = "pending",
        IN_PROGRESS = "in_progress",
        COMPLETED = "completed",
    }
}

object! {
    /// The list of what is to be done, as it shall be from now on.
    pub struct TodoWriteInput {
        /// The whole list.
        req todos: Vec<TodoItem>,
    }

    /// The list of what is to be done, before and after.
    pub struct TodoWriteOutput {
        /// The list before.
        opt old_todos: Vec<TodoItem> as "oldTodos",
        /// The list now.
        opt new_todos: Vec<TodoItem> as "newTodos",
    }

    /// Something to be done.
    pub struct TodoItem {
        /// What: "Run the tests".
        req content: String,
        /// How far it is.
        opt status: TodoStatus,
        /// The words while it is being done: "Running the tests".
        opt active_form: String as "activeForm",
    }
}
