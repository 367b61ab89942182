//! Properties of commands that read: depth, contents, and words that are names.

use super::danger::git_subcommand;
use super::{Role, SimpleCommand, Word, shapes};

impl SimpleCommand {
    /// True if it reads everything below the folders that it is given.
    pub(in crate::permissions) fn goes_below(&self) -> bool {
        let has = |letters: &[char], names: &[&str]| {
            letters.iter().any(|letter| self.has_flag(*letter))
                || names.iter().any(|name| self.has_long(name))
        };
        match self.name() {
            // After `cd`, the following commands may read anything in that folder; with `-N`, `diff` shows
            // all files that one of two folders has.
            "cd" | "diff" | "find" | "rg" | "du" | "git" => true,
            "ls" => has(&['R'], &["recursive"]),
            "grep" | "egrep" | "fgrep" => {
                has(&['r', 'R', 'd'], &["recursive", "dereference-recursive", "directories"])
            }
            _ => false,
        }
    }

    /// True if it shows the contents of files, and not only their names.
    pub(in crate::permissions) fn shows_contents(&self) -> bool {
        !matches!(
            self.name(),
            "ls" | "echo"
                | "pwd"
                | "cd"
                | "stat"
                | "file"
                | "du"
                | "df"
                | "basename"
                | "dirname"
                | "realpath"
                | "readlink"
                | "which"
                | "type"
                | "find"
        )
    }

    /// True if the program takes a word as text and does not open it as a file.
    pub(in crate::permissions) fn takes_as_text(&self, word: &Word) -> bool {
        let is_option = word.text.starts_with('-');
        let is_first = || {
            let mut operands = self.arguments().iter().filter(|word| !word.text.starts_with('-'));
            operands.next().is_some_and(|first| std::ptr::eq(first, word))
        };
        let follows = |option: &str| {
            let mut pairs = self.arguments().windows(2);
            pairs.any(|pair| std::ptr::eq(&raw const pair[1], word) && pair[0].text == option)
        };
        match self.name() {
            "echo" | "tr" | "basename" | "dirname" => true,
            "cut" => word.text.starts_with("-d") || follows("-d"),
            "sort" => word.text.starts_with("-t") || follows("-t"),
            // Without options no other word can be the pattern or the program.
            "grep" | "egrep" | "fgrep" | "sed" | "jq" => {
                let only_flags = |word: &Word| {
                    !word.text.starts_with("--") && !word.text.contains(['e', 'f', 'A', 'B', 'C', 'm'])
                };
                let mut options = self.arguments().iter().filter(|word| word.text.starts_with('-'));
                !is_option && is_first() && options.all(only_flags)
            }
            _ => false,
        }
    }

    /// True if it is a wrapper that does not change the effect of its inner command.
    pub(crate) fn is_transparent(&self) -> bool {
        self.role == Role::Wrapper
            && match self.name() {
                "timeout" | "nice" | "nohup" | "stdbuf" | "command" => true,
                // The program `time`, unlike the shell's keyword, writes to the file given with `-o`.
                "time" => !self.arguments().first().is_some_and(|word| word.text.starts_with('-')),
                "bash" | "sh" => self.words.len() == 3 && self.words[1].text == "-c",
                _ => false,
            }
    }

    /// The subcommand of git, and the words behind it.
    pub(crate) fn git_parts(&self) -> Option<(&str, &[Word])> {
        let arguments = self.arguments();
        let at = if self.name() == "git" { git_subcommand(arguments)? } else { return None };
        Some((&arguments[at].text, &arguments[at + 1..]))
    }

    /// The operands, if every word of the command is known.
    pub(crate) fn operands(&self) -> Option<Vec<String>> {
        shapes::operands(self)
    }

    /// The arguments without the messages of git commands.
    pub(in crate::permissions) fn words_that_name(&self) -> impl Iterator<Item = &Word> {
        let has_message = self
            .git_parts()
            .is_some_and(|(name, _)| matches!(name, "commit" | "merge" | "tag" | "stash" | "notes"));
        let mut is_message = false;
        self.arguments().iter().filter(move |word| {
            let text = word.text.as_str();
            let is_this = has_message && (is_message || is_message_within(text));
            is_message = has_message && !is_message && is_message_next(text);
            !is_this
        })
    }
}

/// True if the next word is a message: `-m`, `-am`, `--message`.
fn is_message_next(text: &str) -> bool {
    text == "--message"
        || (text.ends_with('m')
            && text.strip_prefix('-').is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_lowercase())))
}

/// True if the word contains a message: `-mtext`, `--message=text`.
fn is_message_within(text: &str) -> bool {
    text.starts_with("--message=") || (text.starts_with("-m") && text.len() > 2)
}
