use crate::json::{object, open_string};

open_string! {
    /// What a cell of a notebook holds.
    pub struct CellType {
        CODE = "code",
        MARKDOWN = "markdown",
    }

    /// What to do with a cell.
    pub struct NotebookEditMode {
        REPLACE = "replace",
        INSERT = "insert",
        DELETE = "delete",
    }
}

object! {
    /// A cell of a Jupyter notebook to change.
    pub struct NotebookEditInput {
        /// The notebook's path, from the root.
        req notebook_path: String,
        /// The cell; a new one comes after it.
        opt cell_id: String,
        /// What the cell shall contain.
        opt new_source: String,
        /// What kind of cell it shall be.
        opt cell_type: CellType,
        /// What to do; replaced if not said.
        opt edit_mode: NotebookEditMode,
    }

    /// What changed in a notebook.
    pub struct NotebookEditOutput {
        /// The notebook's path.
        opt notebook_path: String,
        /// The cell.
        opt cell_id: String,
        /// What kind of cell it is.
        opt cell_type: CellType,
        /// The language of the notebook.
        opt language: String,
        /// What was done.
        opt edit_mode: NotebookEditMode,
        /// What the cell contains now.
        opt new_source: String,
        /// What it contained before.
        opt old_source: String,
        /// Why nothing was done; empty if all went well.
        opt error: String,
        /// The whole notebook before.
        opt original_file: String,
        /// The whole notebook now.
        opt updated_file: String,
    }
}
