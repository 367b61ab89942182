//! `tidings completions` and `tidings man`: shell completions and manual pages of the command line.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use tidings_commands::error::Exit;
use tidings_commands::output::Output;

use crate::Cli;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    /// Shell to print the script for
    shell: Shell,
}

const COMPLETIONS: &str = "\
Examples:
  tidings completions bash > ~/.local/share/bash-completion/completions/tidings
  tidings completions zsh > \"${fpath[1]}/_tidings\"
  tidings completions fish > ~/.config/fish/completions/tidings.fish
  tidings completions powershell >> $PROFILE";

/// Write manual pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub(crate) struct ManArgs {
    /// Folder to write to; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const MAN: &str = "\
Examples:
  tidings man ~/.local/share/man/man1 && man tidings-sessions-list";

impl CompletionsArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "tidings", &mut script);
        out.bytes(&script)?;
        Ok(Exit::Success)
    }
}

impl ManArgs {
    pub(crate) fn run(&self, out: &Output) -> anyhow::Result<Exit> {
        fs_err::create_dir_all(&self.folder)?;
        clap_mangen::generate_to(Cli::command(), &self.folder)?;
        out.note(&format!("Manual pages are in {}", self.folder.display()))?;
        Ok(Exit::Success)
    }
}
