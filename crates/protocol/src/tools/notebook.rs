//! The tool that edits Jupyter notebooks.

use crate::json::{object, open_string};

open_string! {
    /// Type of a notebook cell.
    pub struct CellType {
        CODE = "code",
        MARKDOWN = "markdown",
    }

    /// Operation on a cell.
    pub struct NotebookEditMode {
        REPLACE = "replace",
        INSERT = "insert",
        DELETE = "delete",
    }
}

object! {
    /// An edit of a cell of a Jupyter notebook.
    pub struct NotebookEditInput {
        /// Absolute path of the notebook.
        req notebook_path: String,
        /// Id of the cell; a new one is inserted after it.
        opt cell_id: String,
        /// New content of the cell.
        opt new_source: String,
        /// New type of the cell.
        opt cell_type: CellType,
        /// Operation; `replace` by default.
        opt edit_mode: NotebookEditMode,
    }

    /// Result of an edit of a notebook.
    pub struct NotebookEditOutput {
        /// The notebook's path.
        opt notebook_path: String,
        /// Id of the cell.
        opt cell_id: String,
        /// Type of the cell.
        opt cell_type: CellType,
        /// The language of the notebook.
        opt language: String,
        /// Operation that was performed.
        opt edit_mode: NotebookEditMode,
        /// New content of the cell.
        opt new_source: String,
        /// Previous content of the cell.
        opt old_source: String,
        /// Error message; empty on success.
        opt error: String,
        /// Content of the notebook before.
        opt original_file: String,
        /// Content of the notebook now.
        opt updated_file: String,
    }
}
