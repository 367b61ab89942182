//! The tool that writes files.

use super::{GitDiff, Patch};
use crate::json::{object, open_string};

open_string! {
    /// Kind of a write: a new file or an update.
    pub struct WriteKind {
        CREATE = "create",
        UPDATE = "update",
    }
}

object! {
    /// A file to write.
    pub struct WriteInput {
        /// Absolute path of the file.
        req file_path: String,
        /// New content of the file.
        opt content: String,
    }

    /// Result of writing a file.
    pub struct WriteOutput {
        /// Kind of the write.
        opt kind: WriteKind as "type",
        /// Its path.
        req file_path: String as "filePath",
        /// New content of the file.
        opt content: String,
        /// Diff of the file; empty for a new file.
        opt structured_patch: Patch as "structuredPatch",
        /// Previous content of the file.
        opt original_file: String as "originalFile",
        /// True if the user changed the text before approval.
        opt user_modified: bool as "userModified",
        /// The state of the file in its repository.
        opt git_diff: GitDiff as "gitDiff",
        /// True if the content waits for a review by the machine's owner; the file is unchanged.
        opt staged: bool,
    }
}
