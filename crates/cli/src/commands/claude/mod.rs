//! `tidings claude`: runs the interactive CLI in a terminal that outlives the user's.

pub(crate) mod attached;
mod direct;
pub(crate) mod find;
mod raw;
mod session;
mod settings;

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use tidings::host::terminal::{TerminalHost, TerminalSize, TerminalStart};
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::Output;
use tidings_commands::sessions::RootArgs;

use super::hook::inline::{self, TERMINAL_HOST};

/// Run `claude` so that it can be left, returned to and steered from elsewhere
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ClaudeArgs {
    /// Arguments of `claude`
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  tidings claude                         as `claude`
  tidings claude --resume                every argument is passed on
  alias claude='tidings claude'          use it everywhere

The terminal shows the real Claude Code, and nothing about it changes. It runs in a pseudo-terminal of its own, so \
that it survives: close the window, or press Ctrl-\\ to detach, and it goes on; `tidings attach ID` gets the same \
screen back, also in a second terminal at the same time (then the smaller size applies to both).

If `tidings serve` runs, the session is on its page, and prompts can be sent to it from there: they are typed into the \
input line when it is empty. Its permission requests can be answered there too, without `tidings hook install`: the \
hooks are passed with --settings. Without a server everything else works the same.

`tidings claude -p …`, subcommands such as `tidings claude mcp list`, and calls without a terminal run `claude` \
directly. The exit code is that of `claude`.";

/// The size of a terminal that does not tell its own.
const USUAL_SIZE: TerminalSize = TerminalSize { rows: 24, cols: 80 };

impl ClaudeArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        session::check_free(&self.args)?;
        run_here(&program()?, &self.args, None, out)
    }
}

/// Runs a `claude` in this terminal, so that it can be left and steered. Without a terminal, and for calls
/// that need none of their own, it replaces this process.
///
/// `data` is the data folder that was named, or none for the usual one.
pub(crate) fn run_here(
    program: &Path,
    args: &[OsString],
    data: Option<&Path>,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !has_terminal || direct::is_direct(args) {
        let failed = direct::exec(program, args);
        let message = format!("Failed to start `{}`: {failed}", program.display());
        return Err(CannotRun { code: "not_started", message, hint: "check the path of `claude`" }.into());
    }
    let usual = || RootArgs::data_folder().context("There is no data folder; set TIDINGS_DATA_DIR");
    let folder = std::path::absolute(data.map_or_else(usual, |data| Ok(data.to_owned()))?)?;
    attached::show_connected(start(program, args, &folder, data), out)
}

/// The `claude` to run, as an absolute path.
fn program() -> anyhow::Result<PathBuf> {
    let found = tidings::find::Search::from_environment().find();
    let program = found.map_err(|error| CannotRun {
        code: "not_found",
        message: error.to_string(),
        hint: "install Claude Code, or set CLAUDE_CLI_PATH",
    })?;
    Ok(std::path::absolute(program)?)
}

/// Starts a host that holds a terminal with `claude`, and connects to it. `named` is the data folder, if it
/// was named.
async fn start(
    program: &Path,
    args: &[OsString],
    data: &Path,
    named: Option<&Path>,
) -> anyhow::Result<attached::TerminalConnection> {
    let is_named = named.is_some() || env::var_os("TIDINGS_DATA_DIR").is_some();
    let given = is_named.then(|| data.to_owned());
    let hooks = inline::hooks(given.as_ref())?;
    let (args, has_hooks) = match settings::with_hooks(args, hooks) {
        Some(args) => (args, true),
        None => (args.to_owned(), false),
    };
    let id = TerminalHost::new_id();
    let mut variables: BTreeMap<OsString, OsString> = env::vars_os().collect();
    // Set by the server for its own agents; it keeps hooks from reporting a session.
    variables.remove(OsStr::new("TIDINGS_SESSION"));
    let start = TerminalStart {
        program: program.to_owned(),
        session: session::locked(&args, &format!("tidings attach {id}")),
        args,
        env: variables,
        host_variable: has_hooks.then(|| TERMINAL_HOST.to_owned()),
        cwd: working_folder()?,
        size: raw::size().unwrap_or(USUAL_SIZE),
    };
    let host = (&*env::current_exe()?, &["host"][..]);
    TerminalHost::start(data, id, host, start).await.map_err(|error| {
        let reasons =
            [error.to_string(), error.hint().to_owned()].into_iter().filter(|text| !text.is_empty());
        let reasons: Vec<String> = reasons.collect();
        let message = format!("The terminal could not be started: {}", reasons.join("; "));
        CannotRun { code: "failed", message, hint: "check the data folder, or use `claude` itself" }.into()
    })
}

/// The working folder as the shell names it: links in its path stay.
fn working_folder() -> std::io::Result<PathBuf> {
    let physical = env::current_dir()?;
    let named = env::var_os("PWD").map(PathBuf::from);
    let is_same =
        |named: &PathBuf| named.is_absolute() && named.canonicalize().is_ok_and(|folder| folder == physical);
    Ok(named.filter(is_same).unwrap_or(physical))
}
