//! Files that a call writes and that run later.

use super::command::{CommandKind, Script, SimpleCommand, Word, WordKind};
use super::reach::{self, Links};
use super::{SessionFacts, disk, paths, runs};

/// True if a command line writes a file that runs later, as far as its words show.
pub(crate) fn writes_what_runs(script: &Script, facts: &SessionFacts, links: Links) -> bool {
    let Some(starts) = reach::folders(script, facts) else {
        return true;
    };
    let runs = |path: &str| {
        starts.iter().any(|start| {
            let written = paths::resolve(path, start.as_deref());
            runs::runs_later(&written, facts.folder.path())
                || (links == Links::Followed && is_what_runs(&written, facts))
        })
    };
    script.commands().iter().any(|command| {
        let is_written = |word: &&Word| word.kind != WordKind::Glob && !word.text.starts_with('-');
        let mut operands = written_words(command).filter(is_written);
        command.written_files().any(&runs)
            || operands.any(|word| runs(&word.text))
            || written_words(command).any(is_unknown)
            || copies_folders(command)
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

/// The words of a command that may name files which it writes.
fn written_words(command: &SimpleCommand) -> impl Iterator<Item = &Word> {
    let writes = matches!(command.kind(), CommandKind::Create | CommandKind::Change);
    command.arguments().iter().filter(move |_| writes)
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
