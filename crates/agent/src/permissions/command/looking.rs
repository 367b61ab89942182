//! What a command looks at.

use super::danger::git_subcommand;
use super::{Command, Role, Word};

impl Command {
    /// Whether it goes through everything below the folders that it is given.
    pub(in crate::permissions) fn goes_below(&self) -> bool {
        let has = |letters: &[char], names: &[&str]| {
            letters.iter().any(|letter| self.has_flag(*letter))
                || names.iter().any(|name| self.has_long(name))
        };
        match self.name() {
            // Where `cd` goes, everything that follows may look around, and with `-N` a `diff` shows all that one of two
            // folders has.
            "cd" | "diff" | "find" | "rg" | "du" | "git" => true,
            "ls" => has(&['R'], &["recursive"]),
            "grep" | "egrep" | "fgrep" => {
                has(&['r', 'R', 'd'], &["recursive", "dereference-recursive", "directories"])
            }
            _ => false,
        }
    }

    /// Whether it shows what is in files, and not only what they are called.
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

    /// Whether it is a wrapper that changes nothing about what its inner command does.
    pub(crate) fn is_transparent(&self) -> bool {
        self.role == Role::Wrapper
            && match self.name() {
                "timeout" | "nice" | "nohup" | "stdbuf" | "command" => true,
                // The program of this name, which is not the shell's word, writes to the file behind `-o`.
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

    /// The arguments without what somebody says about a change to a repository.
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

/// Whether the next word is a message: `-m`, `-am`, `--message`.
fn is_message_next(text: &str) -> bool {
    text == "--message"
        || (text.ends_with('m')
            && text.strip_prefix('-').is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_lowercase())))
}

/// Whether the word has a message in it: `-mtext`, `--message=text`.
fn is_message_within(text: &str) -> bool {
    text.starts_with("--message=") || (text.starts_with("-m") && text.len() > 2)
}
