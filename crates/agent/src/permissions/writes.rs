//! Files that a call writes and that run later.

use super::command::{CommandKind, Script, SimpleCommand, Word, WordKind};
use super::reach::{self, Links};
use super::{SessionFacts, disk, paths, runs};

/// True if a command line writes a file that runs later, as far as its words show.
pub(crate) fn writes_what_runs(script: &Script, facts: &SessionFacts, links: Links) -> bool {
    let Some(starts) = reach::folders(script, facts) else {
        return true;
    };
    script.commands().iter().any(|command| {
        command.written_files().any(|path| runs_from(path, &starts, facts, links))
            || changes_what_runs(command, &starts, facts, links)
    })
}

/// True if a command changes a file that runs later, by its words. `starts` are the folders in which it may
/// run.
pub(crate) fn changes_what_runs(
    command: &SimpleCommand,
    starts: &[Option<String>],
    facts: &SessionFacts,
    links: Links,
) -> bool {
    let is_named = |word: &&Word| word.kind != WordKind::Glob && !word.text.starts_with('-');
    matches!(command.kind(), CommandKind::Create | CommandKind::Change)
        && (command.arguments().iter().any(is_unknown)
            || copies_folders(command)
            || command
                .arguments()
                .iter()
                .filter(is_named)
                .any(|word| runs_from(&word.text, starts, facts, links)))
}

/// True if a path, which is relative to one of the folders, runs later.
fn runs_from(path: &str, starts: &[Option<String>], facts: &SessionFacts, links: Links) -> bool {
    starts.iter().any(|start| {
        let written = paths::resolve(path, start.as_deref());
        match links {
            Links::Ignored => runs::runs_later(&written, facts.folder.path()),
            Links::Followed => is_what_runs(&written, facts),
        }
    })
}

/// True if a file runs later, by its own name or by that of the file that a symbolic link leads to.
pub(crate) fn is_what_runs(path: &str, facts: &SessionFacts) -> bool {
    let folder = facts.folder.path();
    let leads_to = || match folder.map(|folder| disk::follow(path, folder)) {
        Some(disk::Target::Inside(real) | disk::Target::Outside(real)) => runs::runs_later(&real, folder),
        Some(disk::Target::Unknown) | None => false,
    };
    runs::runs_later(path, folder) || leads_to()
}

/// True if it copies whole folders, whose files no word names.
fn copies_folders(command: &SimpleCommand) -> bool {
    let has_flag = || ['r', 'R', 'a'].iter().any(|letter| command.has_flag(*letter));
    command.name() == "cp"
        && (has_flag() || command.has_argument("--recursive") || command.has_argument("--archive"))
}

/// True if the names of the written files are not known: those of a pattern without an extension.
fn is_unknown(word: &Word) -> bool {
    let name = word.text.rsplit('/').next().unwrap_or_default();
    let is_any = || {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_none_or(|ending| ending.contains(['*', '?', '['])) || runs::runs_by_its_name(name)
    };
    word.kind == WordKind::Glob && is_any()
}
