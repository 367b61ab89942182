//! Worktrees of a repository, as listed by git.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::AsyncReadExt as _;

use crate::limits::{WORKTREES_BYTES_MAX, WORKTREES_TIMEOUT};

/// The worktrees of the repository that a folder belongs to; empty without git, without a repository, or when
/// git does not answer in time.
pub(super) async fn of(folder: &Path) -> Vec<PathBuf> {
    let answer = tokio::time::timeout(WORKTREES_TIMEOUT, run_git(folder)).await;
    let text = answer.ok().flatten().unwrap_or_default();
    tidings_transcript::manage::worktrees(&text)
}

async fn run_git(folder: &Path) -> Option<String> {
    let mut git = tokio::process::Command::new("git")
        .args(["worktree", "list", "--porcelain"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let mut text = String::new();
    git.stdout.take()?.take(WORKTREES_BYTES_MAX).read_to_string(&mut text).await.ok()?;
    git.wait().await.ok()?.success().then_some(text)
}
