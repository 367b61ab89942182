//! Reach of a call, judged by the names in it.

use serde::{Deserialize, Serialize};

use super::command::{CommandKind, RedirectKind, Script, SimpleCommand, Word, WordKind, git_address};
use super::{SessionFacts, disk, glob, paths, public, secrets};
use crate::limits::FOLDERS_MAX;

/// The reach of an access, judged by names. The order is that of increasing risk.
///
/// A policy also follows symbolic links when it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reach {
    /// Inside the session's folder.
    #[default]
    Folder,
    /// Files outside of it that are the same on many machines: headers, documentation, published packages.
    Public,
    /// Other files outside of it that are named one by one.
    Named,
    /// More than that: whole folders, patterns, and hidden files, where programs store their own data.
    Beyond,
    /// Files that contain credentials.
    Secret,
    /// A folder that no policy and no grant opens, such as the data folder of the server.
    Protected,
}

/// The depth of an access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The file itself, or the names in the folder.
    Itself,
    /// Everything below it as well.
    Below,
}

/// Tells if symbolic links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Only names count, so that the result is the same on every machine.
    Ignored,
    /// A path is resolved on this machine.
    Followed,
}

/// Maximum length in bytes of a word with short options. A value may begin at each letter, so longer words
/// are not analysed.
const SHORT_OPTIONS_BYTES_MAX: usize = 256;

/// The reach of a path.
pub(crate) fn of_path(path: &str, depth: Depth, facts: &SessionFacts, links: Links) -> Reach {
    let folder = facts.folder.path();
    let by_name = PathLocation::new(path, folder, facts).reach(depth);
    match links {
        Links::Ignored => by_name,
        Links::Followed => by_name.max(of_real_path(path, depth, folder, facts)),
    }
}

/// The reach of a path after symbolic links are followed. It is relative to `from`.
pub(crate) fn of_real_path(path: &str, depth: Depth, from: Option<&str>, facts: &SessionFacts) -> Reach {
    let Some(folder) = facts.folder.path().filter(|folder| folder.starts_with('/')) else {
        return Reach::Beyond;
    };
    let Some(written) = paths::join(path, from) else {
        return Reach::Folder;
    };
    match disk::follow(&written, folder) {
        disk::Target::Inside(real) => {
            let location = PathLocation::new(&real, Some(folder), facts);
            if location.is_protected(depth) {
                Reach::Protected
            } else if secrets::is_sensitive_file(&real) {
                Reach::Secret
            } else {
                Reach::Folder
            }
        }
        disk::Target::Outside(real) => {
            let location = PathLocation::new(&real, Some(folder), facts);
            let escapes = if paths::lies_in(&paths::normalise(&written), &paths::normalise(folder)) {
                Reach::Beyond
            } else {
                Reach::Folder
            };
            location.reach(depth).max(escapes)
        }
        disk::Target::Unknown => Reach::Beyond,
    }
}

/// The reach of the names that a pattern matches, for a tool that only lists them.
pub(super) fn of_names(pattern: &str, facts: &SessionFacts) -> Reach {
    let location = PathLocation::new(pattern, facts.folder.path(), facts);
    if location.is_protected(Depth::Itself) || pattern_is_protected(&location.path, facts) {
        Reach::Protected
    } else if location.is_inside && !secrets::lies_among_secrets(&location.path) {
        Reach::Folder
    } else {
        of_path(pattern, Depth::Itself, facts, Links::Ignored)
    }
}

/// True if a pattern may match something in a protected folder, or the folder itself.
fn pattern_is_protected(pattern: &str, facts: &SessionFacts) -> bool {
    let may_be = |(pattern, name): (&str, &str)| {
        let is_hidden = name.starts_with('.') && !pattern.starts_with('.');
        pattern == name || pattern == "**" || (!is_hidden && glob::overlap(pattern, name))
    };
    let is_wild = |part: &str| part.contains(['*', '?', '[']);
    facts.protected.iter().any(|protected| {
        let pairs = pattern.split('/').zip(protected.split('/'));
        // The start of the pattern must lead towards the folder, and a wildcard must be in it.
        pairs.clone().all(may_be) && pairs.clone().any(|(part, _)| is_wild(part))
    })
}

/// True if a pattern may match files with credentials.
pub(super) fn chooses_secrets(pattern: &str) -> bool {
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    // Tools that read patterns accept lists in braces.
    pattern.split(['/', '{', ',', '}']).any(|part| {
        if is_pattern(part) {
            part != "**" && secrets::may_name_secret(part)
        } else {
            secrets::is_secret(part)
        }
    })
}

/// The reach of a command line.
pub(crate) fn of_script(script: &Script, facts: &SessionFacts, links: Links) -> Reach {
    let commands = script.commands().iter().map(|command| of_command(command, script, facts, links));
    let starts = folders(script, facts);
    let files = script.commands().iter().flat_map(|command| &command.redirects);
    let files = files
        .filter(|redirect| !matches!(redirect.kind, RedirectKind::Duplicate | RedirectKind::Text))
        .map(|redirect| match &starts {
            Some(starts) => of_file(&redirect.target.text, starts, facts, links),
            None => Reach::Beyond,
        });
    commands.chain(files).max().unwrap_or_default()
}

/// The reach of a redirection's file, which may be relative to any of the folders `starts`.
pub(crate) fn of_file(path: &str, starts: &[Option<String>], facts: &SessionFacts, links: Links) -> Reach {
    let reach = |start: &Option<String>| {
        of_path(&paths::resolve(path, start.as_deref()), Depth::Itself, facts, links).max(
            if links == Links::Followed {
                of_real_path(path, Depth::Itself, start.as_deref(), facts)
            } else {
                Reach::Folder
            },
        )
    };
    starts.iter().map(reach).max().unwrap_or_default()
}

/// The folders in which a command of a script may run: that of the session, and those that `cd` leads to.
/// `None` if there are too many.
pub(crate) fn folders(script: &Script, facts: &SessionFacts) -> Option<Vec<Option<String>>> {
    let mut folders = vec![facts.folder.path().map(str::to_owned)];
    let changes = script.commands().iter().filter(|command| command.name() == "cd");
    for word in changes.filter_map(|command| command.arguments().last()) {
        for at in 0..folders.len() {
            let next = Some(paths::resolve(&word.text, folders[at].as_deref()));
            if !folders.contains(&next) {
                folders.push(next);
            }
        }
        if folders.len() > FOLDERS_MAX {
            return None;
        }
    }
    Some(folders)
}

/// The reach of the words of one command of a script; its redirections are judged separately.
pub(crate) fn of_command(
    command: &SimpleCommand,
    script: &Script,
    facts: &SessionFacts,
    links: Links,
) -> Reach {
    let depth = if command.goes_below() { Depth::Below } else { Depth::Itself };
    let Some(starts) = folders(script, facts) else {
        return Reach::Beyond;
    };
    let command_reach = CommandReach { command, depth, facts, starts: &starts, links, kind: command.kind() };
    let words = command.words_that_name().map(|word| match command_reach.word(word) {
        // The program does not open what it takes as text.
        Reach::Public | Reach::Named if command.takes_as_text(word) => Reach::Folder,
        reach => reach,
    });
    command_reach.implicit(script).max(words.max().unwrap_or_default())
}

struct CommandReach<'a> {
    command: &'a SimpleCommand,
    depth: Depth,
    facts: &'a SessionFacts,
    /// The folders in which the command may run.
    starts: &'a [Option<String>],
    links: Links,
    kind: CommandKind,
}

impl CommandReach<'_> {
    /// The reach that does not follow from a word.
    fn implicit(&self, script: &Script) -> Reach {
        let folder = self.facts.folder.path();
        if self.depth == Depth::Below && folder.is_some_and(|folder| self.facts.protects_below(folder)) {
            return Reach::Protected;
        }
        match self.command.name() {
            // Without arguments `cd` goes to the home folder, and the meaning of `-` is unknown.
            "cd" => match self.command.arguments() {
                [word] if word.kind == WordKind::Static && !word.text.starts_with('-') => Reach::Folder,
                _ => Reach::Beyond,
            },
            // The repository in which git is called determines its hooks and the programs that it runs.
            "git" if script.commands().iter().any(|command| goes_away(command, folder)) => Reach::Beyond,
            "git" if is_for_another_folder(self.command, folder) => Reach::Beyond,
            "git" => Reach::Folder,
            _ if self.depth == Depth::Below => of_path(".", self.depth, self.facts, self.links),
            _ => Reach::Folder,
        }
    }

    fn word(&self, word: &Word) -> Reach {
        let text = word.text.as_str();
        let is_short = text.starts_with('-') && !text.starts_with("--");
        if is_short && text.len() > SHORT_OPTIONS_BYTES_MAX {
            return Reach::Beyond;
        }
        // Commands that only read take their words as they are; others have their own syntax: `HEAD:path`,
        // `-Wl,path`.
        let is_plain = self.kind == CommandKind::Look && self.command.name() != "git";
        if text.contains("://") && !is_plain && self.kind != CommandKind::Network {
            return Reach::Beyond;
        }
        // Rules about hosts decide about URLs.
        if self.command.git_parts().is_some_and(|(name, _)| git_address(name, text).is_some()) {
            return Reach::Folder;
        }
        let whole = (!text.starts_with('-')).then_some(text);
        let parts = text.split(['=', ':', '@', ',', ')']).skip(1);
        let parts = parts.filter(|_| !is_plain || text.starts_with('-'));
        // In `-rfx` any letter may take the rest as its value.
        let rests = text.char_indices().skip(2).filter(|_| is_short).map(|(at, _)| &text[at..]);
        let candidates = whole.into_iter().chain(parts).chain(rests).filter(|part| !part.is_empty());
        let starts = |part| self.starts.iter().map(move |start| self.reach_of(part, word, start.as_deref()));
        candidates.flat_map(starts).max().unwrap_or_default()
    }

    fn reach_of(&self, text: &str, word: &Word, start: Option<&str>) -> Reach {
        let by_name = self.reach_by_name(text, word, start);
        if self.links == Links::Ignored || by_name == Reach::Protected {
            return by_name;
        }
        by_name.max(of_real_path(text, self.depth, start, self.facts)).max(
            // The shell replaces a pattern by file names, and a file may be a symbolic link.
            if word.kind == WordKind::Glob { self.of_pattern(text, start) } else { Reach::Folder },
        )
    }

    /// The reach of the files that a pattern matches.
    fn of_pattern(&self, text: &str, start: Option<&str>) -> Reach {
        let (Some(folder), Some(pattern)) = (self.facts.folder.path(), paths::join(text, start)) else {
            return Reach::Folder;
        };
        if disk::pattern_stays_inside(&pattern, folder) { Reach::Folder } else { Reach::Beyond }
    }

    fn reach_by_name(&self, text: &str, word: &Word, start: Option<&str>) -> Reach {
        let location = PathLocation::new(text, start, self.facts);
        let reach = location.reach_by_place(self.depth);
        let is_pattern =
            word.kind == WordKind::Glob || (text.contains(['*', '?', '[']) && self.reads_patterns(word));
        if location.is_protected(self.depth)
            || (is_pattern && pattern_is_protected(&location.path, self.facts))
        {
            return Reach::Protected;
        }
        if is_pattern && reach != Reach::Folder {
            return if location.is_secret() { Reach::Secret } else { Reach::Beyond };
        }
        let builds = matches!(self.kind, CommandKind::Build | CommandKind::Test | CommandKind::Install);
        let is_secret = if builds && reach == Reach::Folder {
            secrets::is_sensitive_file(&location.path)
        } else {
            location.is_secret() || (is_pattern && self.command.shows_contents() && chooses_secrets(text))
        };
        if is_secret { Reach::Secret } else { reach }
    }

    /// True if the program interprets a word as a pattern that the shell does not expand.
    fn reads_patterns(&self, word: &Word) -> bool {
        let follows = |options: &[&str]| {
            let mut pairs = self.command.arguments().windows(2);
            pairs.any(|pair| pair[1] == *word && options.contains(&pair[0].text.as_str()))
        };
        match self.command.name() {
            "git" => true,
            "rg" => word.text.starts_with('-') || follows(&["-g", "--glob", "--iglob"]),
            "grep" | "egrep" | "fgrep" => word.text.starts_with("--") || follows(&["--include"]),
            _ => false,
        }
    }
}

/// A path in relation to the session's folder.
struct PathLocation<'a> {
    facts: &'a SessionFacts,
    path: String,
    is_inside: bool,
    /// True if it is the session's folder itself.
    is_folder: bool,
    /// True if the shell would expand it to a home folder.
    is_home: bool,
}

impl<'a> PathLocation<'a> {
    /// Creates the location of a path relative to `start`. Nothing is inside of an unknown folder.
    fn new(text: &str, start: Option<&str>, facts: &'a SessionFacts) -> Self {
        let path = paths::resolve(text, start);
        let folder = facts.folder.path().map(paths::normalise);
        let is_home = text.starts_with('~');
        let is_in = |folder: &String| !holds_homes(folder) && paths::lies_in(&path, folder);
        let is_inside = !is_home && folder.as_ref().is_some_and(is_in);
        PathLocation { facts, is_folder: folder.as_ref() == Some(&path), is_inside, is_home, path }
    }

    fn is_secret(&self) -> bool {
        secrets::lies_among_secrets(&self.path) || (!self.is_folder && secrets::has_secret_name(&self.path))
    }

    fn is_protected(&self, depth: Depth) -> bool {
        self.facts.protects(&self.path) || (depth == Depth::Below && self.facts.protects_below(&self.path))
    }

    fn reach(&self, depth: Depth) -> Reach {
        if self.is_protected(depth) {
            Reach::Protected
        } else if self.is_secret() {
            Reach::Secret
        } else {
            self.reach_by_place(depth)
        }
    }

    /// The reach if the path has no special name.
    fn reach_by_place(&self, depth: Depth) -> Reach {
        if self.is_inside {
            return Reach::Folder;
        }
        // Only the shell can resolve `~ada`, `~+` and `~-`.
        if self.is_home && !matches!(self.path.as_str(), "~") && !self.path.starts_with("~/") {
            return Reach::Beyond;
        }
        if public::is_public(&self.path) {
            return Reach::Public;
        }
        if public::hides(&self.path) || depth == Depth::Below { Reach::Beyond } else { Reach::Named }
    }
}

/// True if a folder is a home or contains homes. Being inside such a folder does not make a file part of a
/// project.
fn holds_homes(folder: &str) -> bool {
    let mut parts = folder.rsplit('/');
    let last = parts.next().unwrap_or_default();
    folder == "/"
        || folder.starts_with('~')
        || matches!(last, "home" | "Users" | "root")
        || matches!(parts.next(), Some("home" | "Users"))
}

/// True if a command changes to another folder than the session's.
fn goes_away(command: &SimpleCommand, folder: Option<&str>) -> bool {
    command.name() == "cd" && !matches!(command.arguments(), [word] if is_the_folder(word, folder))
}

/// True if git is called for another folder.
fn is_for_another_folder(command: &SimpleCommand, folder: Option<&str>) -> bool {
    let pairs = command.arguments().windows(2).take_while(|pair| pair[0].text.starts_with('-'));
    pairs.filter(|pair| pair[0].text == "-C").any(|pair| !is_the_folder(&pair[1], folder))
}

fn is_the_folder(word: &Word, folder: Option<&str>) -> bool {
    paths::resolve(&word.text, folder) == folder.map_or_else(|| ".".to_owned(), paths::normalise)
}
