use super::{GitDiff, Patch};
use crate::json::object;

object! {
    /// Text to replace in a file.
    pub struct EditInput {
        /// The file's path, from the root.
        req file_path: String,
        /// What to look for; it must be there once, unless all are to be replaced.
        opt old_string: String,
        /// What to put in its place.
        opt new_string: String,
        /// Whether to replace every occurrence.
        opt replace_all: bool,
    }

    /// What an edit changed.
    pub struct EditOutput {
        /// The file's path.
        req file_path: String as "filePath",
        /// What was looked for.
        opt old_string: String as "oldString",
        /// What was put in its place.
        opt new_string: String as "newString",
        /// What the file contained before.
        opt original_file: String as "originalFile",
        /// What changed.
        opt structured_patch: Patch as "structuredPatch",
        /// Whether the user changed the text before agreeing.
        opt user_modified: bool as "userModified",
        /// Whether every occurrence was replaced.
        opt replace_all: bool as "replaceAll",
        /// The state of the file in its repository.
        opt git_diff: GitDiff as "gitDiff",
    }

    /// Several edits of one file at once; a tool of older CLIs.
    pub struct MultiEditInput {
        /// The file's path, from the root.
        req file_path: String,
        /// The edits in their order; each sees what those before it left.
        opt edits: Vec<Replacement>,
    }

    /// One edit of several.
    pub struct Replacement {
        /// What to look for.
        opt old_string: String,
        /// What to put in its place.
        opt new_string: String,
        /// Whether to replace every occurrence.
        opt replace_all: bool,
    }

    /// What several edits changed.
    pub struct MultiEditOutput {
        /// The file's path.
        req file_path: String as "filePath",
        /// The edits.
        opt edits: Vec<Replacement>,
        /// What the file contained before.
        opt original_file_contents: String as "originalFileContents",
        /// What changed, all edits together.
        opt structured_patch: Patch as "structuredPatch",
        /// Whether the user changed the text before agreeing.
        opt user_modified: bool as "userModified",
    }
}
