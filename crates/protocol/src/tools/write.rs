use super::{GitDiff, Patch};
use crate::json::{object, open_string};

open_string! {
    /// Whether a written file is new.
    pub struct WriteKind {
        CREATE = "create",
        UPDATE = "update",
    }
}

object! {
    /// A file to write as a whole.
    pub struct WriteInput {
        /// Its path, from the root.
        req file_path: String,
        /// What it shall contain.
        opt content: String,
    }

    /// What writing a file changed.
    pub struct WriteOutput {
        /// Whether the file is new.
        opt kind: WriteKind as "type",
        /// Its path.
        req file_path: String as "filePath",
        /// What it contains now.
        opt content: String,
        /// What changed; empty for a new file.
        opt structured_patch: Patch as "structuredPatch",
        /// What it contained before.
        opt original_file: String as "originalFile",
        /// Whether the user changed the text before agreeing.
        opt user_modified: bool as "userModified",
        /// The state of the file in its repository.
        opt git_diff: GitDiff as "gitDiff",
    }
}
