//! How far a call reaches, judged by the names in it.

use serde::{Deserialize, Serialize};

use super::command::{Command, CommandKind, RedirectKind, Script, Word, WordKind, git_address};
use super::{paths, secrets};

/// How far something reaches, as far as names tell: no link is followed. The order is that of doubt.
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
pub(crate) fn of_path(path: &str, depth: Depth, folder: Option<&str>) -> Reach {
    let place = Place::new(path, folder);
    if place.is_secret() { Reach::Secret } else { place.reach(depth) }
}

/// How far the names reach that a pattern stands for, for a tool that only lists them.
pub(super) fn of_names(pattern: &str, folder: Option<&str>) -> Reach {
    let place = Place::new(pattern, folder);
    if place.is_inside && !secrets::lies_among_secrets(&place.path) {
        Reach::Folder
    } else {
        of_path(pattern, Depth::Itself, folder)
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
pub(super) fn of_script(script: &Script, folder: Option<&str>) -> Reach {
    let commands = script.commands().iter().map(|command| of_command(command, script, folder));
    let files = script.commands().iter().flat_map(|command| &command.redirects);
    let files = files
        .filter(|redirect| !matches!(redirect.kind, RedirectKind::Duplicate | RedirectKind::Text))
        .map(|redirect| of_path(&redirect.target.text, Depth::Itself, folder));
    commands.chain(files).max().unwrap_or_default()
}

/// How far the words of one command of a script reach; its redirections are looked at on their own.
pub(crate) fn of_command(command: &Command, script: &Script, folder: Option<&str>) -> Reach {
    let depth = if command.goes_below() { Depth::Below } else { Depth::Itself };
    let of = Of { command, depth, folder, kind: command.kind() };
    let words = command.words_that_name().map(|word| of.word(word));
    of.elsewhere(script).max(words.max().unwrap_or_default())
}

struct Of<'a> {
    command: &'a Command,
    depth: Depth,
    folder: Option<&'a str>,
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
            _ if self.depth == Depth::Below => of_path(".", self.depth, self.folder),
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
        candidates.map(|part| self.place(part, word)).max().unwrap_or_default()
    }

    fn place(&self, text: &str, word: &Word) -> Reach {
        let place = Place::new(text, self.folder);
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
    fn new(text: &str, folder: Option<&str>) -> Self {
        let path = paths::resolve(text, folder);
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
