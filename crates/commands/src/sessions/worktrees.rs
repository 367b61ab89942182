//! Worktrees of a git repository.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the worktrees of a folder's repository; none without git, without a repository, or if git takes
/// longer than 5 seconds.
pub(crate) fn of(folder: &Path) -> Vec<PathBuf> {
    const WAIT_MAX: Duration = Duration::from_secs(5);
    const STEP: Duration = Duration::from_millis(5);
    let started = Command::new("git")
        .args(["worktree", "list", "--porcelain"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut git) = started else { return Vec::new() };
    let Some(mut output) = git.stdout.take() else { return Vec::new() };
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    });
    let began = Instant::now();
    let ended = loop {
        match git.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if began.elapsed() < WAIT_MAX => std::thread::sleep(STEP),
            _ => break None,
        }
    };
    let Some(status) = ended else {
        // Kill and reap it, so that no process is left behind.
        drop(git.kill());
        drop(git.wait());
        return Vec::new();
    };
    match reading.join() {
        Ok(Ok(text)) if status.success() => tidings_transcript::manage::worktrees(&text),
        _ => Vec::new(),
    }
}
