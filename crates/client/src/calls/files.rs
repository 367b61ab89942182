//! Requests about files.

use tidings_protocol::control::{
    FileContents, FileSuggestion, FileSuggestions, ReadFile, RegisterRepoRoot, RewindFiles, RewindFilesReply,
    SeedReadState,
};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Reverts changes to files since a prompt. Needs `Options::file_checkpoints`.
    pub async fn rewind_files(&self, prompt_uuid: &str) -> Result<RewindFilesReply, Error> {
        self.request(RewindFiles::to(prompt_uuid)).await
    }

    /// Previews what [`Client::rewind_files`] would revert.
    pub async fn preview_rewind(&self, prompt_uuid: &str) -> Result<RewindFilesReply, Error> {
        self.request(RewindFiles::dry_run(prompt_uuid)).await
    }

    /// Reads a file as the agent sees it.
    pub async fn read_file(&self, request: ReadFile) -> Result<FileContents, Error> {
        self.request(request).await
    }

    /// Marks a file as already read in its state of this modification time, so that the agent may edit it.
    pub async fn seed_read_state(&self, path: &str, mtime_ms: f64) -> Result<(), Error> {
        self.request(SeedReadState::new(path, mtime_ms)).await.map(drop)
    }

    /// Finds files by a part of their name.
    pub async fn file_suggestions(&self, query: &str) -> Result<Vec<FileSuggestion>, Error> {
        Ok(self.request(FileSuggestions::new(query)).await?.suggestions)
    }

    /// Adds a repository to the session. Returns its folder, if the CLI reports it.
    pub async fn register_repo_root(&self, request: RegisterRepoRoot) -> Result<Option<String>, Error> {
        Ok(self.request(request).await?.directory)
    }
}
