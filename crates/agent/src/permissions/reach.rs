//! How far a call reaches, judged by the names in it.

use serde::{Deserialize, Serialize};

use super::command::{Command, CommandKind, RedirectKind, Script, Word, WordKind, git_address};
use super::{disk, paths, secrets};
use crate::limits::FOLDERS_MAX;

/// How far something reaches, as far as names tell. The order is that of doubt.
///
/// A policy follows links as well when it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reach {
    /// Into the session's folder, and no further.
    #[default]
    Folder,
    /// To files outside of it that are named one by one.
    Named,
    /// Further: whole folders, patterns, and names with a dot in front, where programs keep what is theirs.
    Beyond,
    /// To something that opens doors.
    Secret,
}

/// How much of a path is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The file, or the names in the folder.
    Itself,
    /// Everything below it as well.
    Below,
}

/// Whether links on the disk are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Only names count, so that the result is the same on every machine.
    Ignored,
    /// A path is where it leads on this machine.
    Followed,
}

/// Packages that others published lie in hidden folders, and everybody looks at them.
const PACKAGES: &[&str] = &[
    "/.cargo/registry/",
    "/.cargo/git/",
    "/.rustup/toolchains/",
    "/.m2/repository/",
    "/.nvm/versions/",
    "/.pyenv/versions/",
];

/// Nobody writes more letters behind one dash, and each may be where a name begins.
const SHORT_OPTIONS_BYTES_MAX: usize = 256;

/// How far a path reaches. `folder` is that of the session.
pub(crate) fn of_path(path: &str, depth: Depth, folder: Option<&str>, links: Links) -> Reach {
    let place = Place::new(path, folder, folder);
    let by_name = if place.is_secret() { Reach::Secret } else { place.reach(depth) };
    match links {
        Links::Ignored => by_name,
        Links::Followed => by_name.max(of_real_path(path, depth, folder, folder)),
    }
}

/// How far a path reaches after links are followed. It begins at `from`, and `folder` is that of the session.
pub(crate) fn of_real_path(path: &str, depth: Depth, from: Option<&str>, folder: Option<&str>) -> Reach {
    let Some(folder) = folder.filter(|folder| folder.starts_with('/')) else {
        return Reach::Folder;
    };
    let Some(written) = paths::join(path, from) else {
        return Reach::Folder;
    };
    match disk::follow(&written, folder) {
        disk::Target::Inside(real)
            if secrets::lies_among_secrets(&real) || secrets::is_kept_secret(&real) =>
        {
            Reach::Secret
        }
        disk::Target::Inside(_) => Reach::Folder,
        disk::Target::Outside(real) => {
            let place = Place::new(&real, Some(folder), Some(folder));
            let escapes = if paths::lies_in(&paths::normalise(&written), &paths::normalise(folder)) {
                Reach::Beyond
            } else {
                Reach::Folder
            };
            let by_name = if place.is_secret() { Reach::Secret } else { place.reach(depth) };
            by_name.max(escapes)
        }
        disk::Target::Unknown => Reach::Beyond,
    }
}

/// How far the names reach that a pattern stands for, for a tool that only lists them.
pub(super) fn of_names(pattern: &str, folder: Option<&str>) -> Reach {
    let place = Place::new(pattern, folder, folder);
    if place.is_inside && !secrets::lies_among_secrets(&place.path) {
        Reach::Folder
    } else {
        of_path(pattern, Depth::Itself, folder, Links::Ignored)
    }
}

/// Whether a pattern chooses files whose contents nobody should see.
pub(super) fn chooses_secrets(pattern: &str) -> bool {
    let is_pattern = |part: &str| part.contains(['*', '?', '[']);
    // A tool that reads patterns takes lists of them in braces.
    pattern.split(['/', '{', ',', '}']).any(|part| {
        if is_pattern(part) {
            part != "**" && secrets::may_name_secret(part)
        } else {
            secrets::is_secret(part)
        }
    })
}

/// How far a command line reaches.
pub(crate) fn of_script(script: &Script, folder: Option<&str>, links: Links) -> Reach {
    let commands = script.commands().iter().map(|command| of_command(command, script, folder, links));
    let starts = folders(script, folder);
    let files = script.commands().iter().flat_map(|command| &command.redirects);
    let files = files
        .filter(|redirect| !matches!(redirect.kind, RedirectKind::Duplicate | RedirectKind::Text))
        .map(|redirect| match &starts {
            Some(starts) => of_file(&redirect.target.text, starts, folder, links),
            None => Reach::Beyond,
        });
    commands.chain(files).max().unwrap_or_default()
}

/// How far a file of a redirection reaches, which may begin in any of the folders `starts`.
pub(crate) fn of_file(path: &str, starts: &[Option<String>], folder: Option<&str>, links: Links) -> Reach {
    let reach = |start: &Option<String>| {
        of_path(&paths::resolve(path, start.as_deref()), Depth::Itself, folder, links).max(
            if links == Links::Followed {
                of_real_path(path, Depth::Itself, start.as_deref(), folder)
            } else {
                Reach::Folder
            },
        )
    };
    starts.iter().map(reach).max().unwrap_or_default()
}

/// The folders in which a command of a script may run: that of the session, and those that `cd` leads to. There is nothing
/// if they are too many.
pub(crate) fn folders(script: &Script, folder: Option<&str>) -> Option<Vec<Option<String>>> {
    let mut folders = vec![folder.map(str::to_owned)];
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

/// How far the words of one command of a script reach; its redirections are looked at on their own.
pub(crate) fn of_command(command: &Command, script: &Script, folder: Option<&str>, links: Links) -> Reach {
    let depth = if command.goes_below() { Depth::Below } else { Depth::Itself };
    let Some(starts) = folders(script, folder) else {
        return Reach::Beyond;
    };
    let of = Of { command, depth, folder, starts: &starts, links, kind: command.kind() };
    let words = command.words_that_name().map(|word| of.word(word));
    of.elsewhere(script).max(words.max().unwrap_or_default())
}

struct Of<'a> {
    command: &'a Command,
    depth: Depth,
    folder: Option<&'a str>,
    /// The folders that the command may run in.
    starts: &'a [Option<String>],
    links: Links,
    kind: CommandKind,
}

impl Of<'_> {
    /// How far it reaches without a word that says so.
    fn elsewhere(&self, script: &Script) -> Reach {
        match self.command.name() {
            // Without a word it goes home, and what `-` means is not known.
            "cd" => match self.command.arguments() {
                [word] if word.kind == WordKind::Static && !word.text.starts_with('-') => Reach::Folder,
                _ => Reach::Beyond,
            },
            // What git runs, and which hooks, stands in the repository that it is called in.
            "git" if script.commands().iter().any(|command| goes_away(command, self.folder)) => Reach::Beyond,
            "git" if is_for_another_folder(self.command, self.folder) => Reach::Beyond,
            "git" => Reach::Folder,
            _ if self.depth == Depth::Below => of_path(".", self.depth, self.folder, self.links),
            _ => Reach::Folder,
        }
    }

    fn word(&self, word: &Word) -> Reach {
        let text = word.text.as_str();
        let is_short = text.starts_with('-') && !text.starts_with("--");
        if is_short && text.len() > SHORT_OPTIONS_BYTES_MAX {
            return Reach::Beyond;
        }
        // What only looks takes its words as they are; others have syntax of their own: `HEAD:path`, `-Wl,path`.
        let is_plain = self.kind == CommandKind::Look && self.command.name() != "git";
        if text.contains("://") && !is_plain && self.kind != CommandKind::Network {
            return Reach::Beyond;
        }
        // Addresses are the business of rules about hosts.
        if self.command.git_parts().is_some_and(|(name, _)| git_address(name, text).is_some()) {
            return Reach::Folder;
        }
        let whole = (!text.starts_with('-')).then_some(text);
        let parts = text.split(['=', ':', '@', ',', ')']).skip(1);
        let parts = parts.filter(|_| !is_plain || text.starts_with('-'));
        // In `-rfx` nobody knows which letter takes the rest.
        let rests = text.char_indices().skip(2).filter(|_| is_short).map(|(at, _)| &text[at..]);
        let candidates = whole.into_iter().chain(parts).chain(rests).filter(|part| !part.is_empty());
        let starts = |part| self.starts.iter().map(move |start| self.place(part, word, start.as_deref()));
        candidates.flat_map(starts).max().unwrap_or_default()
    }

    fn place(&self, text: &str, word: &Word, start: Option<&str>) -> Reach {
        let by_name = self.place_by_name(text, word, start);
        if self.links == Links::Ignored || by_name > Reach::Named {
            return by_name;
        }
        by_name.max(of_real_path(text, self.depth, start, self.folder)).max(
            // The shell puts names of files in the place of a pattern, and a file may be a link.
            if word.kind == WordKind::Glob { self.of_pattern(text, start) } else { Reach::Folder },
        )
    }

    /// How far the files reach that a pattern stands for.
    fn of_pattern(&self, text: &str, start: Option<&str>) -> Reach {
        let (Some(folder), Some(pattern)) = (self.folder, paths::join(text, start)) else {
            return Reach::Folder;
        };
        if disk::pattern_stays_inside(&pattern, folder) { Reach::Folder } else { Reach::Beyond }
    }

    fn place_by_name(&self, text: &str, word: &Word, start: Option<&str>) -> Reach {
        let place = Place::new(text, start, self.folder);
        let reach = place.reach(self.depth);
        let is_pattern =
            word.kind == WordKind::Glob || (text.contains(['*', '?', '[']) && self.reads_patterns(word));
        if is_pattern && reach != Reach::Folder {
            return if place.is_secret() { Reach::Secret } else { Reach::Beyond };
        }
        let builds = matches!(self.kind, CommandKind::Build | CommandKind::Test | CommandKind::Install);
        let is_secret = if builds && reach == Reach::Folder {
            secrets::lies_among_secrets(&place.path) || secrets::is_kept_secret(&place.path)
        } else {
            place.is_secret() || (is_pattern && self.command.shows_contents() && chooses_secrets(text))
        };
        if is_secret { Reach::Secret } else { reach }
    }

    /// Whether the program takes a word for a pattern that the shell does not.
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

/// A path, and how it lies to the session's folder.
struct Place {
    path: String,
    is_inside: bool,
    /// Whether it is the session's folder itself, whatever that is called.
    is_folder: bool,
    /// Whether the shell would put the home of somebody in front.
    is_home: bool,
}

impl Place {
    /// The place of a path that begins in `start`, in a session whose folder is `folder`.
    fn new(text: &str, start: Option<&str>, folder: Option<&str>) -> Self {
        let path = paths::resolve(text, start);
        let folder = folder.map_or_else(|| ".".to_owned(), paths::normalise);
        let is_home = text.starts_with('~');
        let is_inside = !is_home && !holds_homes(&folder) && paths::lies_in(&path, &folder);
        Place { is_folder: path == folder, is_inside, is_home, path }
    }

    fn is_secret(&self) -> bool {
        secrets::lies_among_secrets(&self.path) || (!self.is_folder && secrets::has_secret_name(&self.path))
    }

    fn reach(&self, depth: Depth) -> Reach {
        if self.is_inside {
            return Reach::Folder;
        }
        // `~ada`, `~+` and `~-` are places that only the shell knows.
        if self.is_home && !matches!(self.path.as_str(), "~") && !self.path.starts_with("~/") {
            return Reach::Beyond;
        }
        let package = PACKAGES.iter().find_map(|folder| self.path.split_once(folder));
        let (before, behind) = package.unwrap_or(("", &self.path));
        let hides = |path: &str| path.split('/').any(|part| part.starts_with('.') && part != "..");
        if hides(before) || hides(behind) || (depth == Depth::Below && package.is_none()) {
            Reach::Beyond
        } else {
            Reach::Named
        }
    }
}

/// Whether a folder is somebody's home, or has homes in it. There everything is near, and nothing is meant by that.
fn holds_homes(folder: &str) -> bool {
    let mut parts = folder.rsplit('/');
    let last = parts.next().unwrap_or_default();
    folder == "/"
        || folder.starts_with('~')
        || matches!(last, "home" | "Users" | "root")
        || matches!(parts.next(), Some("home" | "Users"))
}

/// Whether a command takes the following ones to another folder than the session's.
fn goes_away(command: &Command, folder: Option<&str>) -> bool {
    command.name() == "cd" && !matches!(command.arguments(), [word] if is_the_folder(word, folder))
}

/// Whether git is told to work elsewhere.
fn is_for_another_folder(command: &Command, folder: Option<&str>) -> bool {
    let pairs = command.arguments().windows(2).take_while(|pair| pair[0].text.starts_with('-'));
    pairs.filter(|pair| pair[0].text == "-C").any(|pair| !is_the_folder(&pair[1], folder))
}

fn is_the_folder(word: &Word, folder: Option<&str>) -> bool {
    paths::resolve(&word.text, folder) == folder.map_or_else(|| ".".to_owned(), paths::normalise)
}
