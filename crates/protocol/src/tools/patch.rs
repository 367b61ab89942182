use crate::json::object;

/// What an edit changed, as hunks of a unified diff.
pub type Patch = Vec<Hunk>;

object! {
    /// One hunk of a unified diff.
    pub struct Hunk {
        /// The first line of the old file that it shows, counted from 1.
        opt old_start: u64 as "oldStart",
        /// How many lines of the old file it shows.
        opt old_lines: u64 as "oldLines",
        /// The first line of the new file that it shows, counted from 1.
        opt new_start: u64 as "newStart",
        /// How many lines of the new file it shows.
        opt new_lines: u64 as "newLines",
        /// The lines, each with a space, `+` or `-` before it.
        req lines: Vec<String>,
    }

    /// The state of an edited file in its repository.
    pub struct GitDiff {
        /// The file, from the root of the repository.
        opt filename: String,
        /// `modified` or `added`.
        opt status: String,
        /// Lines added since the last commit.
        opt additions: u64,
        /// Lines removed since the last commit.
        opt deletions: u64,
        /// Both together.
        opt changes: u64,
        /// The unified diff.
        opt patch: String,
        /// The repository on its host, `owner/name`.
        opt repository: String,
    }
}

impl Hunk {
    /// How many lines it adds.
    pub fn added(&self) -> usize {
        self.starting_with('+')
    }

    /// How many lines it removes.
    pub fn removed(&self) -> usize {
        self.starting_with('-')
    }

    fn starting_with(&self, mark: char) -> usize {
        self.lines.iter().filter(|line| line.starts_with(mark)).count()
    }
}
