//! Tools that enter and leave a git worktree.

use crate::json::object;

object! {
    /// A worktree to work in: a new one, or an existing one.
    pub struct EnterWorktreeInput {
        /// Name of a new one.
        opt name: String,
        /// Path of an existing one.
        opt path: String,
    }

    /// The worktree that was entered.
    pub struct EnterWorktreeOutput {
        opt worktree_path: String as "worktreePath",
        opt worktree_branch: String as "worktreeBranch",
        /// Message for the model.
        opt message: String,
    }

    /// Request to leave the worktree.
    pub struct ExitWorktreeInput {
        /// `keep` or `remove`.
        req action: String,
        /// True to remove changes and commits that exist nowhere else.
        opt discard_changes: bool,
    }

    /// The worktree that was left.
    pub struct ExitWorktreeOutput {
        /// `keep` or `remove`.
        opt action: String,
        opt original_cwd: String as "originalCwd",
        opt worktree_path: String as "worktreePath",
        opt worktree_branch: String as "worktreeBranch",
        opt tmux_session_name: String as "tmuxSessionName",
        opt discarded_files: u64 as "discardedFiles",
        opt discarded_commits: u64 as "discardedCommits",
        /// Message for the model.
        opt message: String,
    }
}
