//! Reasons for which no rule may allow an access, whatever it matches.

use tidings_protocol::ui::PermissionLevel;

use super::revisions;
use crate::permissions::reach::{Links, Reach};
use crate::permissions::{
    Ask, CommandKind, Script, SessionFolder, SessionKind, SimpleCommand, WordKind, disk, paths, writes,
};

/// A reason for asking a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Objection {
    /// The session's folder is not known, so that nothing is known to be inside.
    FolderUnknown,
    /// It is part of a recording.
    Recorded,
    /// It may touch a folder that is closed to every policy.
    ProtectedFolder,
    /// Its effect is not known before it runs.
    NotKnownBeforeItRuns,
    /// It asks to run outside of the sandbox.
    OutsideOfTheSandbox,
    /// It may run in too many folders.
    TooManyFolders,
    /// It sets variables, which can change every program.
    SetsVariables,
    /// It works outside of the project.
    OutsideOfTheProject,
    /// Its words are the output of another command.
    WordsComeFromElsewhere,
    /// It writes a file that runs later.
    RunsLater,
    /// It fetches something, and does more than show it.
    FetchesAndDoesMore,
    /// It brings code of another repository into the project.
    BringsForeignCode,
    /// It runs code of a repository inside the project that is not the project's.
    AnotherRepository,
}

impl Objection {
    /// Its name, which takes the place of a rule's.
    pub(super) fn name(self) -> &'static str {
        match self {
            Objection::FolderUnknown => "folder-unknown",
            Objection::Recorded => "recorded",
            Objection::ProtectedFolder => "protected-folder",
            Objection::NotKnownBeforeItRuns => "not-known-before-it-runs",
            Objection::OutsideOfTheSandbox => "outside-of-the-sandbox",
            Objection::TooManyFolders => "too-many-folders",
            Objection::SetsVariables => "sets-variables",
            Objection::OutsideOfTheProject => "outside-of-the-project",
            Objection::WordsComeFromElsewhere => "words-come-from-elsewhere",
            Objection::RunsLater => "runs-later",
            Objection::FetchesAndDoesMore => "fetches-and-does-more",
            Objection::BringsForeignCode => "brings-foreign-code",
            Objection::AnotherRepository => "another-repository",
        }
    }
}

/// The objection to a request as a whole: a fact is missing, or a folder is closed to policies.
pub(super) fn of_request(ask: &Ask) -> Option<Objection> {
    if ask.facts.kind == SessionKind::Recorded {
        return Some(Objection::Recorded);
    }
    if ask.facts.folder == SessionFolder::Unknown {
        return Some(Objection::FolderUnknown);
    }
    ask.is_protected().then_some(Objection::ProtectedFolder)
}

/// The objection to a command line as a whole.
pub(super) fn of_script(ask: &Ask, script: &Script) -> Option<Objection> {
    if script.is_opaque() {
        Some(Objection::NotKnownBeforeItRuns)
    } else if ask.request.level == PermissionLevel::Admin && script.danger().is_none() {
        Some(Objection::OutsideOfTheSandbox)
    } else if script.fetches_and_does_more() {
        Some(Objection::FetchesAndDoesMore)
    } else {
        None
    }
}

/// The objection to one command. `starts` are the folders in which it may run.
pub(super) fn of_command(
    command: &SimpleCommand,
    reach: Reach,
    ask: &Ask,
    starts: &[Option<String>],
) -> Option<Objection> {
    if !command.assignments.is_empty() {
        return Some(Objection::SetsVariables);
    }
    let kind = command.kind();
    // Code and settings outside the project are not trusted like those of the project.
    let stays = matches!(kind, CommandKind::Look | CommandKind::Network | CommandKind::Other);
    if !stays && reach > Reach::Folder {
        return Some(Objection::OutsideOfTheProject);
    }
    if command.words.iter().any(|word| word.kind == WordKind::Dynamic) {
        return Some(Objection::WordsComeFromElsewhere);
    }
    if writes::changes_what_runs(command, starts, &ask.facts, Links::Followed) {
        return Some(Objection::RunsLater);
    }
    let folder = ask.facts.folder.path()?;
    if revisions::brings_foreign_code(command, folder) {
        return Some(Objection::BringsForeignCode);
    }
    let runs = matches!(kind, CommandKind::Build | CommandKind::Test | CommandKind::Install);
    (runs && works_in_another_repository(command, folder, starts)).then_some(Objection::AnotherRepository)
}

/// True if a command works in a repository that lies inside the session's folder, for example in a clone.
fn works_in_another_repository(command: &SimpleCommand, folder: &str, starts: &[Option<String>]) -> bool {
    let words = command.arguments().iter().flat_map(|word| {
        let behind = word.text.split_once('=').map(|(_, value)| value);
        let attached = word.text.strip_prefix('-').and_then(|option| option.get(1..));
        [Some(word.text.as_str()), behind, attached].into_iter().flatten()
    });
    let places = words.chain(["."]).filter(|text| !text.is_empty());
    places.clone().any(|place| {
        starts.iter().any(|start| is_in_another_repository(&paths::resolve(place, start.as_deref()), folder))
    })
}

fn is_in_another_repository(path: &str, folder: &str) -> bool {
    let mut path = path;
    while path != folder && paths::lies_in(path, folder) {
        if disk::exists(&format!("{path}/.git")) {
            return true;
        }
        path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    false
}
