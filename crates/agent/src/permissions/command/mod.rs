//! Parsed shell commands.
//!
//! A rule about commands must never compare prefixes: `cat x; rm y` begins like a harmless command.
//! So a command line is parsed into its simple commands, including those inside of wrappers such as `sudo`,
//! `xargs` and `bash -c`.
//! The parser supports the part of the shell in which the text is what runs.
//! Everything else (`$(…)`, `$X`, `eval`, loops, hidden characters) makes the script *opaque*: its commands
//! are still listed as well as possible, for warnings, but no rule may allow it without the user.

mod danger;
mod fetching;
mod kind;
mod lexer;
mod options;
mod parser;
mod properties;
mod quoting;
mod shapes;
mod wrappers;

use std::collections::BTreeSet;

pub use danger::Danger;
pub use kind::CommandKind;
pub(crate) use kind::git_address;

/// A parsed command line.
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
    commands: Vec<SimpleCommand>,
    opaque: BTreeSet<Opaque>,
}

/// One command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SimpleCommand {
    /// The name and its arguments, without quotes.
    pub words: Vec<Word>,
    /// Variables that it sets in its environment, or in the shell if there are no words: `PATH=/tmp`.
    pub assignments: Vec<String>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
    /// The way in which it comes to run.
    pub role: Role,
}

/// The way in which a command comes to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Role {
    /// It is part of the command line.
    #[default]
    Direct,
    /// It is part of the command line and runs another command, which follows it in the list.
    Wrapper,
    /// Another command runs it: `rm` in `sudo rm`.
    Inner,
}

/// A word as the command receives it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Word {
    /// The text without quotes; the known part of it if the word is dynamic.
    pub text: String,
    /// Tells if the text is what the command receives.
    pub kind: WordKind,
}

/// The amount of information about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum WordKind {
    /// The command receives the text as it is.
    #[default]
    Static,
    /// A pattern: the command receives file names.
    Glob,
    /// Known only when it runs.
    Dynamic,
}

/// A redirection of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect {
    /// The direction.
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
    /// `<< EOF` and `<<< text`: the text is part of the command line.
    Text,
}

/// Reasons why the effect of a script is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Opaque {
    /// It is too long to parse.
    TooLong,
    /// It is nested too deeply, or has too many commands.
    TooMany,
    /// It is incomplete, or uses syntax that this parser does not support.
    Syntax,
    /// `$(…)`, backticks, `<(…)`: the output of one command becomes part of another.
    Substitution,
    /// `$X`, `${X}`, `$((…))`, `$'…'`, `{a,b}`: words are created when it runs.
    Expansion,
    /// `eval`, `source`, `alias`, `trap` and the like: text becomes a command.
    Evaluation,
    /// `if`, `for`, `while`, `case`, functions.
    ControlFlow,
    /// Invisible characters, or characters that change the display order of others.
    HiddenCharacter,
    /// The name of a command is not a plain ASCII name: it may look like another one.
    OddName,
    /// A shell reads its commands from standard input.
    ShellInput,
}

impl Script {
    /// Parses a command line. Every text gives a script; one that is not understood is opaque.
    pub fn parse(text: &str) -> Self {
        parser::parse(text)
    }

    /// Creates a script in another language, which is opaque.
    pub(crate) fn unknown() -> Self {
        Script { commands: Vec::new(), opaque: BTreeSet::from([Opaque::Syntax]) }
    }

    /// The commands in the order written, each wrapper before the command that it runs.
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }

    /// True if its effect is not fully known before it runs.
    pub fn is_opaque(&self) -> bool {
        !self.opaque.is_empty()
    }

    /// The reasons why it is opaque.
    pub fn opaque(&self) -> impl Iterator<Item = Opaque> {
        self.opaque.iter().copied()
    }

    /// The first danger in it: destructive commands, or those that need administrator rights.
    pub fn danger(&self) -> Option<Danger> {
        self.commands.iter().find_map(SimpleCommand::danger)
    }
}

impl SimpleCommand {
    /// The name as it is written; empty if there are only assignments or redirections.
    pub fn name(&self) -> &str {
        self.words.first().map_or("", |word| word.text.as_str())
    }

    /// The name without folders: `rm` for `/bin/rm`.
    pub fn base_name(&self) -> &str {
        let name = self.name();
        name.rsplit('/').next().unwrap_or(name)
    }

    /// The words after the name.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// True if an argument has exactly this text.
    pub fn has_argument(&self, text: &str) -> bool {
        self.arguments().iter().any(|word| word.text == text)
    }

    /// True if one of the short options in a word such as `-rf` is `letter`.
    pub fn has_flag(&self, letter: char) -> bool {
        self.arguments()
            .iter()
            .filter_map(|word| word.text.strip_prefix('-'))
            .any(|flags| !flags.starts_with('-') && flags.contains(letter))
    }

    /// The files that it writes through redirections, without `/dev/null` and descriptors.
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

    /// The danger of the command, if it needs more than the permission to execute.
    pub fn danger(&self) -> Option<Danger> {
        danger::of(self)
    }

    /// True if only its words matter: it sets no variable and uses no file through a redirection.
    pub fn is_bare(&self) -> bool {
        self.assignments.is_empty()
            && self.written_files().next().is_none()
            && self.read_files().next().is_none()
    }
}
