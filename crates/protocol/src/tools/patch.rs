//! Diffs of files in the outputs of tools.

use crate::json::object;

/// Diff of a file, as hunks of a unified diff.
pub type Patch = Vec<Hunk>;

object! {
    /// One hunk of a unified diff.
    pub struct Hunk {
        /// First line in the old file, from 1.
        opt old_start: u64 as "oldStart",
        /// Number of lines of the old file.
        opt old_lines: u64 as "oldLines",
        /// First line in the new file, from 1.
        opt new_start: u64 as "newStart",
        /// Number of lines of the new file.
        opt new_lines: u64 as "newLines",
        /// Lines, each prefixed by a space, `+` or `-`.
        req lines: Vec<String>,
    }

    /// The state of an edited file in its repository.
    pub struct GitDiff {
        /// Path of the file, relative to the root of the repository.
        opt filename: String,
        /// `modified` or `added`.
        opt status: String,
        /// Number of lines added since the last commit.
        opt additions: u64,
        /// Number of lines removed since the last commit.
        opt deletions: u64,
        /// Number of changed lines in total.
        opt changes: u64,
        /// The unified diff.
        opt patch: String,
        /// Name of the repository on its host, `owner/name`.
        opt repository: String,
    }
}

impl Hunk {
    /// Number of lines that it adds.
    pub fn added(&self) -> usize {
        self.starting_with('+')
    }

    /// Number of lines that it removes.
    pub fn removed(&self) -> usize {
        self.starting_with('-')
    }

    fn starting_with(&self, mark: char) -> usize {
        self.lines.iter().filter(|line| line.starts_with(mark)).count()
    }
}
