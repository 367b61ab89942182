//! `tidings terminal-host`: the process that holds the terminal of one `claude`. Not for users.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use tidings::host::terminal::{self, TerminalFolder, TerminalRecord, TerminalSize, TerminalStart};
use tidings_commands::error::Exit;

use super::session;
use crate::commands::hook::inline::TERMINAL_HOST;

/// Arguments of `tidings terminal-host`.
#[derive(Debug, Args)]
pub(crate) struct TerminalHostArgs {
    /// Data folder
    #[arg(long)]
    pub(super) data: PathBuf,

    /// First height of the terminal
    #[arg(long)]
    pub(super) rows: u16,

    /// First width of the terminal
    #[arg(long)]
    pub(super) cols: u16,

    /// The session has hooks in its arguments
    #[arg(long)]
    pub(super) hooks: bool,

    /// Program
    pub(super) program: PathBuf,

    /// Its arguments
    #[arg(last = true)]
    pub(super) args: Vec<OsString>,
}

/// The line that the host prints when it is ready, or could not start.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Started {
    Ready(TerminalRecord),
    Failed(String),
}

pub(crate) fn run(args: &TerminalHostArgs) -> anyhow::Result<Exit> {
    let host = std::process::id();
    let mut env = Vec::new();
    if args.hooks {
        env.push((TERMINAL_HOST.to_owned(), host.to_string()));
    }
    let id = uuid::Uuid::new_v4().simple().to_string();
    let start = TerminalStart {
        folder: TerminalFolder::new(&args.data),
        id: id[..ID_CHARS].to_owned(),
        program: args.program.clone(),
        args: args.args.clone(),
        env,
        cwd: std::env::current_dir()?.to_string_lossy().into_owned(),
        size: TerminalSize { rows: args.rows, cols: args.cols },
    };
    let attach = format!("tidings attach {}", start.id);
    let lock = match session::lock(&args.args, &attach) {
        Ok(lock) => lock,
        Err(error) => {
            tell(&Started::Failed(format!("{error}; {}", error.hint())));
            return Err(error.into());
        }
    };
    let ready = |record: &TerminalRecord| {
        tell(&Started::Ready(record.clone()));
        session::release_when_described(lock, record.pid);
    };
    // One thread is enough, and keeps the memory of a host small.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(terminal::run(start, ready)) {
        Ok(_) => Ok(Exit::Success),
        Err(error) => {
            tell(&Started::Failed(error.to_string()));
            Err(error.into())
        }
    }
}

const ID_CHARS: usize = 10;

/// Tells the process that started the host. It may be gone.
fn tell(started: &Started) {
    let mut stdout = std::io::stdout().lock();
    drop(serde_json::to_writer(&mut stdout, started).map(|()| stdout.write_all(b"\n")));
    drop(stdout.flush());
}
