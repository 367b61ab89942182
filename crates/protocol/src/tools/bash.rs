use super::Patch;
use crate::json::{Json, object};

object! {
    /// A command for the shell.
    pub struct BashInput {
        /// What to run.
        req command: String,
        /// After how many milliseconds to give up.
        opt timeout: u64,
        /// What the command does, in a few words of the model.
        opt description: String,
        /// Whether to go on without waiting for it.
        opt run_in_background: bool,
        /// Whether to run it outside of the sandbox.
        opt dangerously_disable_sandbox: bool as "dangerouslyDisableSandbox",
    }

    /// What a command printed, and how it ended.
    pub struct BashOutput {
        /// Standard output; standard error is mostly mixed into it.
        opt stdout: String,
        /// Standard error, and notes of the CLI.
        opt stderr: String,
        /// Whether the user, or the timeout, ended it.
        opt interrupted: bool,
        /// Whether `stdout` is an image.
        opt is_image: bool as "isImage",
        /// Whether the command is one that prints nothing when it succeeds.
        opt no_output_expected: bool as "noOutputExpected",
        /// What the exit code means for this command, if it is not plainly an error.
        opt return_code_interpretation: String as "returnCodeInterpretation",
        /// The file with everything that was printed.
        opt raw_output_path: String as "rawOutputPath",
        /// The file with the output that was too long to be given.
        opt persisted_output_path: String as "persistedOutputPath",
        /// The bytes of that file.
        opt persisted_output_size: u64 as "persistedOutputSize",
        /// The task that the command goes on as.
        opt background_task_id: String as "backgroundTaskId",
        /// Whether the user sent it to the background.
        opt backgrounded_by_user: bool as "backgroundedByUser",
        /// The milliseconds after which it was sent there.
        opt timed_out_after_ms: u64 as "timedOutAfterMs",
        /// Whether it ran outside of the sandbox.
        opt dangerously_disable_sandbox: bool as "dangerouslyDisableSandbox",
        /// Content blocks, where the output is more than text.
        opt structured_content: Json as "structuredContent",
        /// The files that it changed.
        opt edit_diff: BashEditDiff as "bashEditDiff",
        /// What it did with git.
        opt git_operation: Box<GitOperation> as "gitOperation",
        /// A note that files read before have changed.
        opt stale_read_file_state_hint: String as "staleReadFileStateHint",
        /// A note about the limits of the host of the repository.
        opt gh_rate_limit_hint: String as "ghRateLimitHint",
    }

    /// The files that a command changed.
    pub struct BashEditDiff {
        /// Those that are shown.
        opt files: Vec<BashEditedFile>,
        /// How many are not shown.
        opt more_files: u64 as "moreFiles",
        /// The paths of all.
        opt changed_files: Vec<String> as "changedFiles",
    }

    /// One file that a command changed.
    pub struct BashEditedFile {
        /// Its path.
        opt file_path: String as "filePath",
        /// What changed in it.
        opt hunks: Patch,
        /// Whether it is new.
        opt created: bool,
    }

    /// What a command did with git.
    pub struct GitOperation {
        /// A commit it made.
        opt commit: GitCommit,
        /// A push.
        opt push: GitPush,
        /// A merge or a rebase.
        opt branch: GitBranch,
        /// What it did with a pull request.
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
        /// What was merged, or rebased onto.
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
        /// What was done with it.
        opt action: String,
    }

    /// Asks for what a background command printed meanwhile; a tool of older CLIs.
    pub struct BashOutputInput {
        /// The background command.
        req bash_id: String,
        /// A regular expression: only lines that match are wanted.
        opt filter: String,
    }
}
