//! Arguments of `tidings run`, and the options that are passed on to `claude`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `tidings run`. Options that `claude` has too are named like there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// Prompt; read from standard input if it is `-` or omitted. Without one, a terminal starts a
    /// conversation
    pub(super) prompt: Option<String>,

    /// Output: the answer as it is written, one JSON object at the end, or every frame of Claude Code
    #[arg(long, short, value_name = "FORMAT", default_value = "text", alias = "output-format")]
    pub(super) output: Format,

    /// Handling of permission requests and questions: `fail` ends the run with exit code 4, `deny` denies
    /// them and continues [default: ask on a terminal, else fail]
    #[arg(long, value_name = "WHAT")]
    pub(super) on_ask: Option<OnAsk>,

    /// Show diffs of changed files
    #[arg(long)]
    pub(super) diff: bool,

    /// Show the model's reasoning, and notes that are usually for logs
    #[arg(long)]
    pub(super) verbose: bool,

    /// Agent other than Claude Code: a well-known one that is installed, or one of the configuration of
    /// `tidings serve`
    #[arg(long, value_name = "NAME")]
    pub(super) backend: Option<String>,

    #[command(flatten)]
    pub(super) claude: RunClaudeArgs,
}

/// Options that are passed on to `claude`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of claude")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct RunClaudeArgs {
    /// `claude` program to run [default: found automatically]
    #[arg(long, value_name = "PATH")]
    pub(super) claude_path: Option<PathBuf>,

    /// Model: an alias such as `opus`, or a full name
    #[arg(long)]
    pub(super) model: Option<String>,

    /// Model to use while the first is overloaded
    #[arg(long, value_name = "MODEL")]
    pub(super) fallback_model: Option<String>,

    /// Reasoning effort: low, medium, high, …
    #[arg(long, value_name = "LEVEL")]
    pub(super) effort: Option<String>,

    /// Permission mode: default, acceptEdits, plan, dontAsk, auto or bypassPermissions
    #[arg(long, value_name = "MODE")]
    pub(super) permission_mode: Option<String>,

    /// Skip all permission requests. Only for a machine that you can throw away
    #[arg(long)]
    pub(super) dangerously_skip_permissions: bool,

    /// Tools that run without a permission request: `Bash(git log:*)` `Edit`; also separated by commas
    #[arg(long, alias = "allowedTools", value_name = "TOOL", num_args = 1..)]
    pub(super) allowed_tools: Vec<String>,

    /// Tools that may not run
    #[arg(long, alias = "disallowedTools", value_name = "TOOL", num_args = 1..)]
    pub(super) disallowed_tools: Vec<String>,

    /// Tools that are available, instead of all; `""` for none
    #[arg(long, value_name = "TOOL", num_args = 1..)]
    pub(super) tools: Option<Vec<String>>,

    /// Resume a session by its id or a unique prefix of it
    #[arg(long, short, value_name = "ID", conflicts_with = "continue_latest")]
    pub(super) resume: Option<String>,

    /// Resume the latest session of this folder
    #[arg(long = "continue", short = 'c')]
    pub(super) continue_latest: bool,

    /// Resume a copy, and leave the original session unchanged
    #[arg(long)]
    pub(super) fork_session: bool,

    /// Id of the new session, a UUID
    #[arg(long, value_name = "UUID")]
    pub(super) session_id: Option<String>,

    /// Do not store the session on disk
    #[arg(long)]
    pub(super) no_session_persistence: bool,

    /// Additional folders that tools may access
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(super) add_dir: Vec<PathBuf>,

    /// System prompt that replaces Claude Code's own
    #[arg(long, value_name = "TEXT", conflicts_with = "append_system_prompt")]
    pub(super) system_prompt: Option<String>,

    /// Text to append to Claude Code's system prompt
    #[arg(long, value_name = "TEXT")]
    pub(super) append_system_prompt: Option<String>,

    /// Maximum number of model and tool rounds
    #[arg(long, value_name = "N")]
    pub(super) max_turns: Option<u32>,

    /// Maximum cost
    #[arg(long, value_name = "DOLLARS")]
    pub(super) max_budget_usd: Option<f64>,

    /// Files that configure MCP servers
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) mcp_config: Vec<PathBuf>,

    /// Use only the MCP servers of --mcp-config
    #[arg(long)]
    pub(super) strict_mcp_config: bool,

    /// Settings: a file, or JSON
    #[arg(long, value_name = "FILE_OR_JSON")]
    pub(super) settings: Option<String>,

    /// Sources of settings, separated by commas: user, project, local
    #[arg(long, value_name = "SOURCES", value_delimiter = ',')]
    pub(super) setting_sources: Option<Vec<SettingSourceArg>>,

    /// JSON Schema that the result must match
    #[arg(long, value_name = "JSON")]
    pub(super) json_schema: Option<String>,

    /// Agent that the session runs as
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,

    /// With `--output stream-json`: also print the deltas of partial messages
    #[arg(long)]
    pub(super) include_partial_messages: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
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
pub(super) enum SettingSourceArg {
    User,
    Project,
    Local,
}

const EXAMPLES: &str = "\
Examples:
  tidings run \"what does this project do?\"
  tidings run                                     # a conversation; /exit or Ctrl-D ends it
  git diff | tidings run \"review this\"
  tidings run \"fix the failing test\" --allowed-tools Edit \"Bash(cargo test:*)\" --diff
  tidings run \"list the TODOs\" --output json --on-ask deny | jq -r .result
  tidings run --continue \"and now the tests\"

The answer goes to standard output, everything else to standard error.
`--output json` prints the same object as `claude -p --output-format json`, `--output stream-json` the same lines as \
`claude -p --verbose --output-format stream-json`, except for `system/permission_denied`: Tidings handles permission \
requests itself, and the tool's result reports what `--on-ask deny` denied.
As with `claude -p`, background work is awaited, and the last turn decides the exit code.

Keys of a conversation; ? shows them there:
  Enter                        send; during a turn: queue for after it
  Ctrl-S                       steer: send into the current turn
  Alt-Enter, Ctrl-J, \\ Enter  new line; several pasted lines are one prompt
  Tab                          complete a /command or an @file
  Up, Down                     earlier prompts of this folder
  Ctrl-G                       write the prompt in $VISUAL or $EDITOR
  Ctrl-V                       attach the image in the clipboard; a dragged image is attached too
  Ctrl-C                       clear the line, then interrupt the turn, then leave
  Ctrl-D                       leave

SIGTERM interrupts, and exits within seconds. A permission request is answered with one key, never with Enter:
  [y] once   [s] this session   [a] always, with the rule that is shown   [n] no   [e] no, with a reason

Exit codes: 0 success, 1 the turn failed, 2 wrong usage, 3 the command could not run, 4 a person must decide and there \
is no terminal, 130 interrupted";
