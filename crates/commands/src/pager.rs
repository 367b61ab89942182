//! The pager of long output, as `gh` and `git` have one.

use std::env;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::process::{Child, Command, Stdio};

use clap::Args;
use parking_lot::Mutex;

/// Argument of commands whose output goes through a pager.
#[derive(Debug, Args)]
pub(crate) struct PagerArgs {
    /// Print to the terminal at once instead of through `TIDINGS_PAGER`, `PAGER` or `less`
    #[arg(long)]
    no_pager: bool,
}

/// A pager that shows the output of this program in the terminal.
pub(crate) struct Pager {
    child: Child,
    pub(crate) input: Box<dyn Write + Send>,
    /// Messages that are shown after the pager has ended, since it has the whole screen.
    pub(crate) notes: Mutex<Vec<String>>,
}

/// Pager if no variable names one.
const DEFAULT: &str = "less";

impl Pager {
    /// Starts the pager if standard output is a terminal that can move its cursor. `less` begins at the first
    /// line with the text `at`.
    pub(crate) fn start(args: &PagerArgs, at: Option<&str>) -> io::Result<Option<Pager>> {
        let is_capable = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        if args.no_pager || !is_capable || !io::stdout().is_terminal() {
            return Ok(None);
        }
        let Some(program) = program() else { return Ok(None) };
        // The pager handles Ctrl-C; this program must not end before it.
        ignore_interrupts()?;
        let mut command = shell(&program);
        if let Some(at) = at.filter(|_| is_less(&program)) {
            command.arg(format!("+/{at}"));
        }
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Some(Pager { child, input: Box::new(BufWriter::new(input)), notes: Mutex::default() }))
    }

    /// Waits until the user leaves the pager, and returns the messages.
    pub(crate) fn end(self) -> Vec<String> {
        let Pager { mut child, mut input, notes } = self;
        // A user who leaves early reads no more.
        drop(input.flush());
        drop(input);
        drop(child.wait());
        notes.into_inner()
    }
}

/// The command of the pager; `None` if the user wants none, or the default is not installed.
fn program() -> Option<String> {
    let given = ["TIDINGS_PAGER", "PAGER"].into_iter().find_map(|name| env::var(name).ok());
    if let Some(given) = given {
        return Some(given.trim().to_owned()).filter(|given| !given.is_empty() && given != "cat");
    }
    let path = env::var_os("PATH")?;
    let is_installed = env::split_paths(&path).any(|folder| folder.join(DEFAULT).is_file());
    is_installed.then(|| DEFAULT.to_owned())
}

fn is_less(program: &str) -> bool {
    let first = program.split_whitespace().next().unwrap_or_default();
    first.rsplit('/').next() == Some(DEFAULT)
}

#[cfg(unix)]
fn shell(program: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{program} \"$@\""), "sh"]);
    command
}

#[cfg(not(unix))]
fn shell(program: &str) -> Command {
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(DEFAULT));
    command.args(words);
    command
}

/// Catches SIGINT without an effect. It is caught and not ignored, so that the pager does not inherit it.
#[cfg(unix)]
fn ignore_interrupts() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    // The handler stays when the receiver is dropped.
    signal(SignalKind::interrupt()).map(drop)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "Unix may refuse")]
fn ignore_interrupts() -> io::Result<()> {
    Ok(())
}
