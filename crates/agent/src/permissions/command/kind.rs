//! Kinds of commands, for rules and for the risk.

use serde::{Deserialize, Serialize};

use super::danger::is_long;
use super::{SimpleCommand, shapes};

/// The kind of work that a command does.
///
/// A command has a kind only if every word is known: the program, its subcommand, its options and their
/// values. A command with an unknown option is [`CommandKind::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandKind {
    /// Reads and changes nothing: `ls`, `cat`, `grep`, `git status`.
    Look,
    /// Creates files and folders: `touch`, `mkdir`.
    Create,
    /// Changes files that its words name: `mv`, `sed -i`.
    Change,
    /// Works in a repository: `git commit`.
    Git,
    /// Runs tests.
    Test,
    /// Builds.
    Build,
    /// Installs packages.
    Install,
    /// Accesses the network.
    Network,
    /// Anything else.
    Other,
}

impl SimpleCommand {
    /// The kind of work that it does.
    pub fn kind(&self) -> CommandKind {
        if let Some(kind) = shapes::kind(self) {
            return kind;
        }
        match self.name() {
            "curl" | "wget" | "ssh" | "scp" | "sftp" | "nc" | "ncat" | "telnet" | "ftp" | "rsync"
            | "ping" | "dig" | "host" | "nslookup" | "http" | "https" => CommandKind::Network,
            _ => CommandKind::Other,
        }
    }

    pub(super) fn has_long(&self, name: &str) -> bool {
        self.arguments().iter().any(|word| is_long(&word.text, name))
    }
}

/// The address of another repository in a word of a git command, as opposed to the name of a configured
/// remote.
pub(crate) fn git_address<'a>(subcommand: &str, text: &'a str) -> Option<&'a str> {
    let goes_out = matches!(subcommand, "clone" | "fetch" | "pull" | "push" | "remote");
    let (before, _) = text.split_once(':')?;
    // `HEAD:main` and `:main` are refspecs.
    let is_ref =
        before.is_empty() || before == "HEAD" || before.starts_with("refs/") || before.starts_with('+');
    (goes_out && !is_ref && !text.starts_with('-')).then_some(text)
}
