//! Files: reading, finding, and taking back what was done to them.

use crate::json::{object, open_string};

open_string! {
    /// How the contents of a file are written.
    pub struct FileEncoding {
        UTF_8 = "utf-8",
        BASE64 = "base64",
    }
}

object! {
    /// Takes back what the agent did to files since a user message.
    pub struct RewindFiles {
        req user_message_id: String,
        /// Whether only to tell what would be done.
        opt dry_run: bool,
    }

    /// The answer to a [`RewindFiles`].
    pub struct RewindFilesReply {
        def can_rewind: bool as "canRewind",
        opt error: String,
        opt files_changed: Vec<String> as "filesChanged",
        opt insertions: u64,
        opt deletions: u64,
        /// How many symbolic links were left alone.
        opt skipped_links: u64 as "skippedLinks",
    }

    /// Tells that a file was read already, so that the agent may edit it.
    pub struct SeedReadState {
        req path: String,
        /// When the file was last changed, in milliseconds.
        req mtime: f64,
    }

    /// Reads a file as the agent sees it.
    pub struct ReadFile {
        req path: String,
        /// A million when absent.
        opt max_bytes: u64,
        opt encoding: FileEncoding,
    }

    /// The file that [`ReadFile`] asked for.
    pub struct FileContents {
        def contents: String,
        opt abs_path: String as "absPath",
        opt truncated: bool,
        /// There if the contents are in base64.
        opt encoding: FileEncoding,
        /// Whether bytes that are no text were replaced.
        opt lossy: bool,
    }

    /// Finds files by a part of their name.
    pub struct FileSuggestions {
        req query: String,
    }

    /// The files that [`FileSuggestions`] found.
    pub struct FileSuggestionsReply {
        def suggestions: Vec<FileSuggestion>,
        opt cwd: String,
    }

    /// A file that was found.
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
    /// Takes back what was done since the message.
    pub fn to(user_message_id: impl Into<String>) -> Self {
        RewindFiles { user_message_id: user_message_id.into(), ..RewindFiles::default() }
    }

    /// Tells what would be taken back.
    pub fn dry_run(user_message_id: impl Into<String>) -> Self {
        RewindFiles { dry_run: Some(true), ..RewindFiles::to(user_message_id) }
    }
}

impl SeedReadState {
    /// The file at `path` was read when it was last changed at `mtime`, in milliseconds.
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
