use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What `tidings run` takes. Options that `claude` has too have its names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// What to say; `-` or nothing reads it from a pipe. On a terminal, nothing begins a conversation
    pub(super) prompt: Option<String>,

    /// What is printed: the answer as it is written, one JSON object at the end, or every frame as Claude Code writes it
    #[arg(long, short, value_name = "FORMAT", default_value = "text", alias = "output-format")]
    pub(super) output: Format,

    /// What happens to a question that nobody is there to answer: stop with exit code 4, or refuse and go on.
    /// With `deny` nobody is asked, on a terminal neither
    #[arg(long, value_name = "WHAT")]
    pub(super) on_ask: Option<OnAsk>,

    /// Show what tools changed in files
    #[arg(long)]
    pub(super) diff: bool,

    /// Show the model's reasoning, and notes that are usually for logs
    #[arg(long)]
    pub(super) verbose: bool,

    #[command(flatten)]
    pub(super) claude: ClaudeArgs,
}

/// Options that are passed on to `claude`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of claude")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct ClaudeArgs {
    /// The program to run; found by itself otherwise
    #[arg(long, value_name = "PATH")]
    pub(super) claude_path: Option<PathBuf>,

    /// The model: an alias such as `opus`, or a full name
    #[arg(long)]
    pub(super) model: Option<String>,

    /// The model that takes over when the first is overloaded
    #[arg(long, value_name = "MODEL")]
    pub(super) fallback_model: Option<String>,

    /// How hard the model thinks: low, medium, high, …
    #[arg(long, value_name = "LEVEL")]
    pub(super) effort: Option<String>,

    /// What may be done unasked: default, acceptEdits, plan, dontAsk, auto, bypassPermissions
    #[arg(long, value_name = "MODE")]
    pub(super) permission_mode: Option<String>,

    /// Ask nobody anything. Only for a machine that you can throw away
    #[arg(long)]
    pub(super) dangerously_skip_permissions: bool,

    /// Tools that may run unasked: `Bash(git log:*)` `Edit`; also several in one, with commas
    #[arg(long, alias = "allowedTools", value_name = "TOOL", num_args = 1..)]
    pub(super) allowed_tools: Vec<String>,

    /// Tools that may not run
    #[arg(long, alias = "disallowedTools", value_name = "TOOL", num_args = 1..)]
    pub(super) disallowed_tools: Vec<String>,

    /// The only tools there are; `""` for none
    #[arg(long, value_name = "TOOL", num_args = 1..)]
    pub(super) tools: Option<Vec<String>>,

    /// Resume a session, by its id or the beginning of it
    #[arg(long, short, value_name = "ID", conflicts_with = "continue_latest")]
    pub(super) resume: Option<String>,

    /// Go on with the latest session of this folder
    #[arg(long = "continue", short = 'c')]
    pub(super) continue_latest: bool,

    /// Leave the session that is resumed as it is, and go on with a copy
    #[arg(long)]
    pub(super) fork_session: bool,

    /// The id of the new session, a UUID
    #[arg(long, value_name = "UUID")]
    pub(super) session_id: Option<String>,

    /// Leave no session on disk
    #[arg(long)]
    pub(super) no_session_persistence: bool,

    /// More folders that may be worked in
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(super) add_dir: Vec<PathBuf>,

    /// The system prompt, in place of Claude Code's own
    #[arg(long, value_name = "TEXT", conflicts_with = "append_system_prompt")]
    pub(super) system_prompt: Option<String>,

    /// More for the end of Claude Code's own system prompt
    #[arg(long, value_name = "TEXT")]
    pub(super) append_system_prompt: Option<String>,

    /// How many rounds of model and tools there may be
    #[arg(long, value_name = "N")]
    pub(super) max_turns: Option<u32>,

    /// How much it may cost
    #[arg(long, value_name = "DOLLARS")]
    pub(super) max_budget_usd: Option<f64>,

    /// MCP servers, from files
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) mcp_config: Vec<PathBuf>,

    /// No MCP servers but those
    #[arg(long)]
    pub(super) strict_mcp_config: bool,

    /// Settings: a file, or JSON
    #[arg(long, value_name = "FILE_OR_JSON")]
    pub(super) settings: Option<String>,

    /// Where settings come from: user, project, local; with commas
    #[arg(long, value_name = "SOURCES", value_delimiter = ',')]
    pub(super) setting_sources: Option<Vec<Source>>,

    /// A JSON Schema that the result must fit
    #[arg(long, value_name = "JSON")]
    pub(super) json_schema: Option<String>,

    /// The agent that the session runs as
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,

    /// With `--output stream-json`: also the pieces of messages that are being written
    #[arg(long)]
    pub(super) include_partial_messages: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    StreamJson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnAsk {
    Deny,
    Fail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Source {
    User,
    Project,
    Local,
}

const EXAMPLES: &str = "\
Examples:
  tidings run \"what does this project do?\"
  tidings run                                     # a conversation; /exit or Ctrl-D leaves it
  git diff | tidings run \"review this\"
  tidings run \"fix the failing test\" --allowed-tools Edit \"Bash(cargo test:*)\" --diff
  tidings run \"list the TODOs\" --output json --on-ask deny | jq -r .result
  tidings run --continue \"and now the tests\"

The answer goes to standard output, everything else to standard error.
`--output json` prints the same object as `claude -p --output-format json`, `--output stream-json` the same lines as \
`claude -p --verbose --output-format stream-json`, but for `system/permission_denied`: questions come to us, and what \
`--on-ask deny` refused is told by the tool's result.
As with `claude -p`, what runs in the background is waited for, and the last turn decides the exit code.

A conversation has line editing and a history for each folder; several pasted lines are one prompt.

Keys: Ctrl-C interrupts the turn, once more leaves; at the prompt it clears what is typed, and leaves when nothing is. SIGTERM interrupts, and leaves \
within seconds. A permission is answered with one key, and never with Enter:
  [y] once   [s] this session   [a] always, with the rule that is shown   [n] no   [e] no, with a reason

Exit codes: 0 fine, 1 the turn failed, 2 wrong usage, 3 cannot run, 4 a person is needed and none is there, 130 interrupted";
