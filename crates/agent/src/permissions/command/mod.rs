//! Shell commands, parsed.
//!
//! A rule about commands must never look at a prefix: `cat x; rm y` begins like a harmless command. So a command line is
//! taken apart into its simple commands, with wrappers such as `sudo`, `xargs` and `bash -c` looked into. The parser
//! understands the part of the shell in which what is written is what runs. Everything else (`$(…)`, `$X`, `eval`,
//! loops, hidden characters) makes the script *opaque*: its commands are still listed as well as can be, so that a
//! person can be warned, but nothing may be allowed without one.

mod danger;
mod kind;
mod lexer;
mod looking;
mod options;
mod parser;
mod shapes;
mod words;
mod wrappers;

use std::collections::BTreeSet;

pub use danger::Danger;
pub use kind::CommandKind;
pub(crate) use kind::git_address;
pub(super) use shapes::is_plain_path;

/// A command line taken apart.
///
/// ```
/// use tidings_agent::permissions::Script;
///
/// let script = Script::parse("cat notes.txt; sudo rm -rf /");
/// let names: Vec<_> = script.commands().iter().map(|command| command.name()).collect();
/// assert_eq!(names, ["cat", "sudo", "rm"]);
/// assert!(!script.is_opaque());
///
/// assert!(Script::parse("cat $(rm x)").is_opaque());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    commands: Vec<Command>,
    opaque: BTreeSet<Opaque>,
}

/// One command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Command {
    /// The name and its arguments, without quotes.
    pub words: Vec<Word>,
    /// What it sets in its environment, or in the shell where there are no words: `PATH=/tmp`.
    pub assignments: Vec<String>,
    /// Where its streams come from and go.
    pub redirects: Vec<Redirect>,
    /// Whether it is written as it is, or runs on behalf of another command.
    pub role: Role,
}

/// How a command comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Role {
    /// It stands in the command line.
    #[default]
    Direct,
    /// It stands in the command line and runs another, which follows it in the list.
    Wrapper,
    /// Another command runs it: `rm` in `sudo rm`.
    Inner,
}

/// A word as the command gets it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Word {
    /// The text without quotes; what is known of it where it is dynamic.
    pub text: String,
    /// Whether the text is what the command gets.
    pub kind: WordKind,
}

/// How much is known of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum WordKind {
    /// The command gets it as it is.
    #[default]
    Static,
    /// A pattern: the command gets the names of files.
    Glob,
    /// Known when it runs, and not before.
    Dynamic,
}

/// Where a stream of a command comes from or goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect {
    /// In which direction.
    pub kind: RedirectKind,
    /// The file, the descriptor, or the text.
    pub target: Word,
}

/// The direction of a [`Redirect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectKind {
    /// `< file`.
    Read,
    /// `> file`, also `>|`, `&>` and `<>`.
    Write,
    /// `>> file`.
    Append,
    /// `2>&1`, `<&-`.
    Duplicate,
    /// `<< EOF` and `<<< text`: the text stands in the command line.
    Text,
}

/// Why nobody can say what a script will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Opaque {
    /// It is longer than what is looked at.
    TooLong,
    /// It nests deeper than what is looked at, or has too many commands.
    TooMany,
    /// It does not end, or means something that this parser does not know.
    Syntax,
    /// `$(…)`, backticks, `<(…)`: the output of one command becomes part of another.
    Substitution,
    /// `$X`, `${X}`, `$((…))`, `$'…'`, `{a,b}`: the words are made when it runs.
    Expansion,
    /// `eval`, `source`, `alias`, `trap` and the like: text becomes a command.
    Evaluation,
    /// `if`, `for`, `while`, `case`, functions.
    ControlFlow,
    /// Characters that are not seen, or that change the order in which others are seen.
    HiddenCharacter,
    /// The name of a command is no plain ASCII name: it may look like another one.
    OddName,
    /// A shell reads its commands from its input.
    ShellInput,
}

impl Script {
    /// Takes a command line apart. Every text gives a script; one that is not understood is opaque.
    pub fn parse(text: &str) -> Self {
        parser::parse(text)
    }

    /// A script in another language, of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Script { commands: Vec::new(), opaque: BTreeSet::from([Opaque::Syntax]) }
    }

    /// The commands in the order written, each wrapper before what it runs.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Whether something in it is not known before it runs.
    pub fn is_opaque(&self) -> bool {
        !self.opaque.is_empty()
    }

    /// Why it is opaque.
    pub fn opaque(&self) -> impl Iterator<Item = Opaque> {
        self.opaque.iter().copied()
    }

    /// The first thing in it that destroys, or needs the powers of an administrator.
    pub fn danger(&self) -> Option<Danger> {
        self.commands.iter().find_map(Command::danger)
    }
}

impl Command {
    /// The name as it is written; empty where there are only assignments or redirections.
    pub fn name(&self) -> &str {
        self.words.first().map_or("", |word| word.text.as_str())
    }

    /// The name without the folders in front: `rm` for `/bin/rm`.
    pub fn base_name(&self) -> &str {
        let name = self.name();
        name.rsplit('/').next().unwrap_or(name)
    }

    /// The words after the name.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Whether an argument is written exactly so.
    pub fn has_argument(&self, text: &str) -> bool {
        self.arguments().iter().any(|word| word.text == text)
    }

    /// Whether one of the short options in a word such as `-rf` is `letter`.
    pub fn has_flag(&self, letter: char) -> bool {
        self.arguments()
            .iter()
            .filter_map(|word| word.text.strip_prefix('-'))
            .any(|flags| !flags.starts_with('-') && flags.contains(letter))
    }

    /// The files that it writes through redirections; `/dev/null` and descriptors are none.
    pub fn written_files(&self) -> impl Iterator<Item = &str> {
        self.redirects
            .iter()
            .filter(|redirect| matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append))
            .map(|redirect| redirect.target.text.as_str())
            .filter(|target| *target != "/dev/null")
    }

    /// The files that it reads through redirections.
    pub fn read_files(&self) -> impl Iterator<Item = &str> {
        self.redirects
            .iter()
            .filter(|redirect| redirect.kind == RedirectKind::Read)
            .map(|redirect| redirect.target.text.as_str())
            .filter(|target| *target != "/dev/null")
    }

    /// Why it needs more than the permission to run something, if it does.
    pub fn danger(&self) -> Option<Danger> {
        danger::of(self)
    }

    /// Whether nothing but its words matters: it sets no variable and touches no file through a redirection.
    pub fn is_bare(&self) -> bool {
        self.assignments.is_empty()
            && self.written_files().next().is_none()
            && self.read_files().next().is_none()
    }
}
