//! The tool that runs shell commands.

use super::Patch;
use crate::json::{Json, object};

object! {
    /// A shell command.
    pub struct BashInput {
        /// The command.
        req command: String,
        /// Timeout in milliseconds.
        opt timeout: u64,
        /// Short description of the command, by the model.
        opt description: String,
        /// True to continue without waiting for it.
        opt run_in_background: bool,
        /// True to run it outside of the sandbox.
        opt dangerously_disable_sandbox: bool as "dangerouslyDisableSandbox",
    }

    /// Output and result of a command.
    pub struct BashOutput {
        /// Standard output; standard error is mostly merged into it.
        opt stdout: String,
        /// Standard error, and notes of the CLI.
        opt stderr: String,
        /// True if the user or the timeout ended it.
        opt interrupted: bool,
        /// True if `stdout` is an image.
        opt is_image: bool as "isImage",
        /// True if the command prints nothing on success.
        opt no_output_expected: bool as "noOutputExpected",
        /// Meaning of the exit code for this command, if it is not simply an error.
        opt return_code_interpretation: String as "returnCodeInterpretation",
        /// File with the complete output.
        opt raw_output_path: String as "rawOutputPath",
        /// File with the output that was too long to return.
        opt persisted_output_path: String as "persistedOutputPath",
        /// Size of that file in bytes.
        opt persisted_output_size: u64 as "persistedOutputSize",
        /// Id of the background task that the command became.
        opt background_task_id: String as "backgroundTaskId",
        /// True if the user moved it to the background.
        opt backgrounded_by_user: bool as "backgroundedByUser",
        /// Time in milliseconds after which it was moved there.
        opt timed_out_after_ms: u64 as "timedOutAfterMs",
        /// Note that the working folder stays the same, if a command in the background changes its own.
        opt background_cwd_hint: String as "backgroundCwdHint",
        /// True if the background command ends with the final answer, so that no message reports its end.
        opt background_ends_with_final_response: bool as "backgroundEndsWithFinalResponse",
        /// True if the sub-agent that started the background command waits and continues at its end.
        opt background_wakes_owner: bool as "backgroundWakesOwner",
        /// True if it ran outside of the sandbox.
        opt dangerously_disable_sandbox: bool as "dangerouslyDisableSandbox",
        /// Content blocks, if the output is more than text.
        opt structured_content: Json as "structuredContent",
        /// Files that it changed.
        opt edit_diff: BashEditDiff as "bashEditDiff",
        /// Git operations that it performed.
        opt git_operation: Box<GitOperation> as "gitOperation",
        /// Note that files read before have changed.
        opt stale_read_file_state_hint: String as "staleReadFileStateHint",
        /// Note about rate limits of the repository's host.
        opt gh_rate_limit_hint: String as "ghRateLimitHint",
    }

    /// Files changed by a command.
    pub struct BashEditDiff {
        /// Files with their diffs.
        opt files: Vec<BashEditedFile>,
        /// Number of further changed files.
        opt more_files: u64 as "moreFiles",
        /// Paths of all changed files.
        opt changed_files: Vec<String> as "changedFiles",
    }

    /// One file changed by a command.
    pub struct BashEditedFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// Diff of the file.
        opt hunks: Patch,
        /// True if it is new.
        opt created: bool,
    }

    /// Git operations performed by a command.
    pub struct GitOperation {
        /// A commit it made.
        opt commit: GitCommit,
        /// A push.
        opt push: GitPush,
        /// A merge or a rebase.
        opt branch: GitBranch,
        /// An action on a pull request.
        opt pr: GitPullRequest,
    }

    /// A commit.
    pub struct GitCommit {
        /// Its hash.
        opt sha: String,
        /// `committed`, `amended` or `cherry-picked`.
        opt kind: String,
        /// The branch it is on.
        opt branch: String,
    }

    /// A push.
    pub struct GitPush {
        /// The branch that was pushed.
        opt branch: String,
    }

    /// A merge or a rebase.
    pub struct GitBranch {
        /// Name of the merged branch, or of the new base.
        opt target: String as "ref",
        /// `merged` or `rebased`.
        opt action: String,
    }

    /// A pull request.
    pub struct GitPullRequest {
        /// Its number.
        opt number: u64,
        /// Its page.
        opt url: String,
        /// Action on the pull request.
        opt action: String,
    }

    /// Reads new output of a background command; a tool of older CLIs.
    pub struct BashOutputInput {
        /// Id of the background command.
        req bash_id: String,
        /// Regular expression that selects lines.
        opt filter: String,
    }
}
