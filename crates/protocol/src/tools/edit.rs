//! Tools that replace text in files.

use super::{GitDiff, Patch};
use crate::json::object;

object! {
    /// Replacement of text in a file.
    pub struct EditInput {
        /// Absolute path of the file.
        req file_path: String,
        /// Text to replace; it must occur once, unless all occurrences are replaced.
        opt old_string: String,
        /// New text.
        opt new_string: String,
        /// True to replace every occurrence.
        opt replace_all: bool,
    }

    /// Result of an edit.
    pub struct EditOutput {
        /// The file's path.
        req file_path: String as "filePath",
        /// Replaced text.
        opt old_string: String as "oldString",
        /// New text.
        opt new_string: String as "newString",
        /// Content of the file before.
        opt original_file: String as "originalFile",
        /// Diff of the file.
        opt structured_patch: Patch as "structuredPatch",
        /// True if the user changed the text before approval.
        opt user_modified: bool as "userModified",
        /// True if every occurrence was replaced.
        opt replace_all: bool as "replaceAll",
        /// The state of the file in its repository.
        opt git_diff: GitDiff as "gitDiff",
        /// True if the edit waits for a review by the machine's owner; the file is unchanged.
        opt staged: bool,
    }

    /// Several edits of one file; a tool of older CLIs.
    pub struct MultiEditInput {
        /// Absolute path of the file.
        req file_path: String,
        /// Edits in order; each applies to the result of those before it.
        opt edits: Vec<Replacement>,
    }

    /// One of several edits.
    pub struct Replacement {
        /// Text to replace.
        opt old_string: String,
        /// New text.
        opt new_string: String,
        /// True to replace every occurrence.
        opt replace_all: bool,
    }

    /// Result of several edits.
    pub struct MultiEditOutput {
        /// The file's path.
        req file_path: String as "filePath",
        /// The edits.
        opt edits: Vec<Replacement>,
        /// Content of the file before.
        opt original_file_contents: String as "originalFileContents",
        /// Diff of all edits together.
        opt structured_patch: Patch as "structuredPatch",
        /// True if the user changed the text before approval.
        opt user_modified: bool as "userModified",
    }
}
