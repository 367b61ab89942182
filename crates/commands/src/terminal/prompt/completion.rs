//! Completion of slash commands and of files after `@`.

use std::path::{Path, PathBuf};

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Text that replaces the word.
    pub(super) text: String,
    pub(super) description: String,
}

/// A slash command of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlashCommand {
    /// Name without the slash.
    pub name: String,
    pub description: String,
}

/// Sources of completions.
#[derive(Debug, Default)]
pub(super) struct Completer {
    commands: Vec<SlashCommand>,
    /// Folder of the session; none if its files are on another machine.
    folder: Option<PathBuf>,
    /// Files on another machine, and the text that they were searched for.
    remote_files: (String, Vec<String>),
}

/// Candidates for the word before the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    /// Start of the word in bytes.
    pub(super) start: usize,
    pub(super) candidates: Vec<Candidate>,
    /// Candidate that was chosen with Tab.
    pub(super) at: Option<usize>,
}

/// The candidate to choose, seen from the chosen one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Previous,
}

/// Maximum number of candidates.
const CANDIDATES_MAX: usize = 200;

/// Commands of the terminal itself.
const OWN_COMMANDS: [(&str, &str); 2] =
    [("exit", "Leave the conversation"), ("quit", "Leave the conversation")];

impl Completer {
    pub(super) fn set_folder(&mut self, folder: Option<PathBuf>) {
        self.folder = folder;
    }

    /// Sets the files on another machine that were found for a text.
    pub(super) fn set_remote_files(&mut self, query: String, files: Vec<String>) {
        self.remote_files = (query, files);
    }

    /// The text after `@` before the cursor, if its files are on another machine and were not searched yet.
    pub(super) fn remote_query<'t>(&self, text: &'t str, cursor: usize) -> Option<&'t str> {
        let query = word(text, cursor).1.strip_prefix('@')?;
        (self.folder.is_none() && self.remote_files.0 != query).then_some(query)
    }

    /// Sets the commands. Those without a description keep the one that is known.
    pub(super) fn set_commands(&mut self, commands: Vec<SlashCommand>) {
        let known = std::mem::replace(&mut self.commands, commands);
        for command in self.commands.iter_mut().filter(|command| command.description.is_empty()) {
            if let Some(known) = known.iter().find(|known| known.name == command.name) {
                command.description.clone_from(&known.description);
            }
        }
    }

    /// Candidates for the word before the cursor, if it begins with `/` at the start of the text or with `@`.
    pub(super) fn menu(&self, text: &str, cursor: usize) -> Option<Menu> {
        let (start, word) = word(text, cursor);
        let candidates = if let Some(path) = word.strip_prefix('@') {
            self.files(path)
        } else if let Some(name) = word.strip_prefix('/').filter(|_| start == 0) {
            self.commands(name)
        } else {
            Vec::new()
        };
        let is_complete = matches!(&candidates[..], [only] if only.text == word);
        (!candidates.is_empty() && !is_complete).then_some(Menu { start, candidates, at: None })
    }

    fn commands(&self, name: &str) -> Vec<Candidate> {
        let own = OWN_COMMANDS.iter().map(|(name, description)| (*name, *description));
        let agent = self.commands.iter().map(|command| (command.name.as_str(), command.description.as_str()));
        let mut found: Vec<Candidate> = agent
            .chain(own)
            .filter(|(command, _)| command.starts_with(name))
            .map(|(command, description)| Candidate {
                text: format!("/{command}"),
                description: description.lines().next().unwrap_or_default().to_owned(),
            })
            .collect();
        found.sort_by(|a, b| a.text.cmp(&b.text));
        found.dedup_by(|a, b| a.text == b.text);
        found
    }

    fn remote_files(&self, path: &str) -> Vec<Candidate> {
        let (query, files) = &self.remote_files;
        let files = files.iter().filter(|file| query == path && !file.contains(char::is_whitespace));
        files.map(|file| Candidate { text: format!("@{file}"), description: String::new() }).collect()
    }

    /// Files and folders whose path begins with a text. Hidden ones need a dot.
    fn files(&self, path: &str) -> Vec<Candidate> {
        let Some(folder) = &self.folder else { return self.remote_files(path) };
        let (parent, name) = path.rsplit_once('/').map_or(("", path), |(parent, name)| (parent, name));
        let looked = match parent {
            "" if path.starts_with('/') => PathBuf::from("/"),
            parent => folder.join(parent),
        };
        let Ok(entries) = fs_err::read_dir(&looked) else { return Vec::new() };
        let prefix = &path[..path.len() - name.len()];
        let mut found: Vec<Candidate> = entries
            .flatten()
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let is_shown = file.starts_with(name) && (name.starts_with('.') || !file.starts_with('.'));
                // A path with spaces would end at the first one.
                if !is_shown || file.contains(char::is_whitespace) {
                    return None;
                }
                let slash = if is_folder(&entry.path()) { "/" } else { "" };
                Some(Candidate { text: format!("@{prefix}{file}{slash}"), description: String::new() })
            })
            .take(CANDIDATES_MAX)
            .collect();
        found.sort_by(|a, b| a.text.cmp(&b.text));
        found
    }
}

/// Start of the word before the cursor, and the word.
fn word(text: &str, cursor: usize) -> (usize, &str) {
    let before = &text[..cursor];
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        let space = before[at..].chars().next().map_or(1, char::len_utf8);
        at + space
    });
    (start, &before[start..])
}

fn is_folder(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

impl Menu {
    /// The longest text with which all candidates begin.
    pub(super) fn common_prefix(&self) -> &str {
        let Some(first) = self.candidates.first() else { return "" };
        let common = self.candidates.iter().fold(first.text.len(), |length, candidate| {
            let same = first.text.chars().zip(candidate.text.chars()).take_while(|(a, b)| a == b);
            length.min(same.map(|(c, _)| c.len_utf8()).sum())
        });
        &first.text[..common]
    }

    /// Chooses the next or the previous candidate, and returns it.
    pub(super) fn choose(&mut self, step: Step) -> Option<&Candidate> {
        let count = self.candidates.len();
        let at = match (self.at, step) {
            (None, Step::Next) => 0,
            (None, Step::Previous) => count.checked_sub(1)?,
            (Some(at), Step::Next) => (at + 1) % count.max(1),
            (Some(at), Step::Previous) => (at + count).checked_sub(1)? % count.max(1),
        };
        self.at = Some(at);
        self.candidates.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(menu: Option<Menu>) -> Vec<String> {
        menu.map(|menu| menu.candidates.into_iter().map(|candidate| candidate.text).collect())
            .unwrap_or_default()
    }

    fn command(name: &str, description: &str) -> SlashCommand {
        SlashCommand { name: name.to_owned(), description: description.to_owned() }
    }

    #[test]
    fn commands_are_completed_at_the_start_only() {
        let mut completer = Completer::default();
        completer.set_commands(vec![command("compact", "Sum it up\nin words"), command("context", "")]);
        assert_eq!(texts(completer.menu("/co", 3)), ["/compact", "/context"]);
        assert_eq!(texts(completer.menu("/e", 2)), ["/exit"]);
        assert_eq!(completer.menu("/co", 3).unwrap().candidates[0].description, "Sum it up");
        assert_eq!(completer.menu("see /co", 7), None);
        assert_eq!(completer.menu("/exit", 5), None, "it is complete");
        completer.set_commands(vec![command("compact", "")]);
        assert_eq!(completer.menu("/co", 3).unwrap().candidates[0].description, "Sum it up");
    }

    #[test]
    fn files_are_completed_after_an_at_sign() {
        let folder = tempfile::TempDir::new().unwrap();
        fs_err::create_dir_all(folder.path().join("src/inner")).unwrap();
        for file in ["src/main.rs", "src/map.rs", ".hidden", "two words", "säge"] {
            fs_err::write(folder.path().join(file), "").unwrap();
        }
        let mut completer = Completer::default();
        assert_eq!(completer.menu("@s", 2), None, "no folder is known");
        assert_eq!(completer.remote_query("see @s", 6), Some("s"));
        completer.set_remote_files("s".to_owned(), vec!["src/main.rs".to_owned(), "two words".to_owned()]);
        assert_eq!((completer.remote_query("see @s", 6), completer.remote_query("see", 3)), (None, None));
        assert_eq!(texts(completer.menu("see @s", 6)), ["@src/main.rs"]);
        assert_eq!(completer.menu("see @sr", 7), None, "not searched yet");
        completer.set_folder(Some(folder.path().to_owned()));
        assert_eq!(texts(completer.menu("@s", 2)), ["@src/", "@säge"]);
        assert_eq!(texts(completer.menu("see @src/ma and", 11)), ["@src/main.rs", "@src/map.rs"]);
        assert_eq!(texts(completer.menu("ä\u{2003}@src/", "ä\u{2003}@src/".len())).len(), 3);
        assert_eq!(texts(completer.menu("@.", 2)), ["@.hidden"]);
        assert_eq!(texts(completer.menu("@t", 2)), [""; 0]);
        let absolute = format!("@{}/src/i", folder.path().display());
        assert_eq!(texts(completer.menu(&absolute, absolute.len())), [format!("{absolute}nner/")]);
    }

    #[test]
    fn tab_goes_to_the_common_prefix_and_then_through_the_candidates() {
        let mut completer = Completer::default();
        completer.set_commands(vec![command("context", ""), command("continue", ""), command("compact", "")]);
        let mut menu = completer.menu("/con", 4).unwrap();
        assert_eq!(menu.common_prefix(), "/cont");
        assert_eq!(menu.choose(Step::Next).unwrap().text, "/context");
        assert_eq!(menu.choose(Step::Next).unwrap().text, "/continue");
        assert_eq!(menu.choose(Step::Next).unwrap().text, "/context");
        assert_eq!(menu.choose(Step::Previous).unwrap().text, "/continue");
    }
}
