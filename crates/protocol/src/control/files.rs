//! Files: reading, finding and rewinding.

use crate::json::{object, open_string};

open_string! {
    /// Encoding of the contents of a file.
    pub struct FileEncoding {
        UTF_8 = "utf-8",
        BASE64 = "base64",
    }
}

object! {
    /// Reverts the agent's changes to files since a user message.
    pub struct RewindFiles {
        req user_message_id: String,
        /// True to report the changes without making them.
        opt dry_run: bool,
    }

    /// The answer to a [`RewindFiles`].
    pub struct RewindFilesReply {
        def can_rewind: bool as "canRewind",
        opt error: String,
        opt files_changed: Vec<String> as "filesChanged",
        opt insertions: u64,
        opt deletions: u64,
        /// Number of symbolic links that were skipped.
        opt skipped_links: u64 as "skippedLinks",
    }

    /// Marks a file as already read, so that the agent may edit it.
    pub struct SeedReadState {
        req path: String,
        /// Time of the file's last change, in milliseconds.
        req mtime: f64,
    }

    /// Reads a file with the agent's access.
    pub struct ReadFile {
        req path: String,
        /// Defaults to a million.
        opt max_bytes: u64,
        opt encoding: FileEncoding,
    }

    /// Contents of the file requested by [`ReadFile`].
    pub struct FileContents {
        def contents: String,
        opt abs_path: String as "absPath",
        opt truncated: bool,
        /// Present if the contents are in base64.
        opt encoding: FileEncoding,
        /// True if bytes that are not text were replaced.
        opt lossy: bool,
    }

    /// Finds files by a part of their name.
    pub struct FileSuggestions {
        req query: String,
    }

    /// Files found by [`FileSuggestions`].
    pub struct FileSuggestionsReply {
        def suggestions: Vec<FileSuggestion>,
        opt cwd: String,
    }

    /// One found file.
    pub struct FileSuggestion {
        req path: String,
        opt score: f64,
    }

    /// Adds a repository to the session.
    pub struct RegisterRepoRoot {
        req directory: String,
        opt reload_claude_md: bool,
        opt reload_plugins: bool,
        opt reload_skills: bool,
    }

    /// The answer to a [`RegisterRepoRoot`].
    pub struct RegisterRepoRootReply {
        opt directory: String,
    }
}

impl RewindFiles {
    /// Reverts the changes since the message.
    pub fn to(user_message_id: impl Into<String>) -> Self {
        RewindFiles { user_message_id: user_message_id.into(), ..RewindFiles::default() }
    }

    /// Reports the changes without making them.
    pub fn dry_run(user_message_id: impl Into<String>) -> Self {
        RewindFiles { dry_run: Some(true), ..RewindFiles::to(user_message_id) }
    }
}

impl SeedReadState {
    /// Marks the file at `path` as read, in its version of `mtime` in milliseconds.
    pub fn new(path: impl Into<String>, mtime: f64) -> Self {
        SeedReadState { path: path.into(), mtime, ..SeedReadState::default() }
    }
}

impl ReadFile {
    /// Reads the file at `path`.
    pub fn new(path: impl Into<String>) -> Self {
        ReadFile { path: path.into(), ..ReadFile::default() }
    }
}

impl FileSuggestions {
    /// Finds files whose path has `query` in it.
    pub fn new(query: impl Into<String>) -> Self {
        FileSuggestions { query: query.into(), ..FileSuggestions::default() }
    }
}

impl RegisterRepoRoot {
    /// Adds the repository at `directory`.
    pub fn new(directory: impl Into<String>) -> Self {
        RegisterRepoRoot { directory: directory.into(), ..RegisterRepoRoot::default() }
    }
}
