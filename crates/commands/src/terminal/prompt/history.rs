//! Prompts of earlier conversations, one file per project.
//!
//! A file has one prompt in each line, after a line with its version; line breaks and backslashes are
//! escaped.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tidings_base::files;

/// Number of prompts that the history keeps.
const PROMPTS_MAX: usize = 1_000;

/// Length of a file that is read: a thousand long prompts.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// First line of a file.
const VERSION: &str = "#V2\n";

/// The prompts that were entered in a project, and a position among them.
pub struct PromptHistory {
    prompts: Vec<String>,
    file: Option<PathBuf>,
    /// Prompt that is shown, and the text that was typed before.
    shown: Option<(usize, String)>,
}

impl PromptHistory {
    /// Reads the history of a project from the data folder; without one, no history is stored.
    pub(crate) fn of_project(data: Option<&Path>, project: &Path) -> Self {
        PromptHistory::read(data.map(|data| history_file(data, project)))
    }

    fn read(file: Option<PathBuf>) -> Self {
        // An unreadable history counts as empty.
        let text = file.as_deref().and_then(|file| files::read_text(file, FILE_BYTES_MAX).ok());
        let mut prompts: Vec<String> = Vec::new();
        for line in text.as_deref().unwrap_or_default().lines().filter(|line| !line.starts_with("#V")) {
            add_to(&mut prompts, &unescaped(line));
        }
        if prompts.len() > 2 * PROMPTS_MAX {
            prompts.drain(..prompts.len() - PROMPTS_MAX);
            if let Some(file) = &file {
                // The file is too long until the next conversation.
                drop(files::replace(file, lines(&prompts).as_bytes()));
            }
        }
        PromptHistory { prompts, file, shown: None }
    }

    /// Adds a prompt, and stores it.
    pub(super) fn add(&mut self, prompt: &str) {
        self.shown = None;
        if add_to(&mut self.prompts, prompt)
            && let Some(file) = &self.file
        {
            // Failures are ignored: the conversation works without a history.
            drop(append(file, prompt));
        }
    }

    /// The prompt before the shown one. `typed` comes back after the newest.
    pub(super) fn older(&mut self, typed: &str) -> Option<&str> {
        let at = self.shown.as_ref().map_or(self.prompts.len(), |(at, _)| *at).checked_sub(1)?;
        let typed = self.shown.take().map_or_else(|| typed.to_owned(), |(_, typed)| typed);
        self.shown = Some((at, typed));
        Some(&self.prompts[at])
    }

    /// The newest prompt with a text, ignoring case, among those before number `below`.
    pub(super) fn find(&self, text: &str, below: Option<usize>) -> Option<(usize, &str)> {
        let text = text.to_lowercase();
        let end = below.unwrap_or(usize::MAX).min(self.prompts.len());
        let found = (0..end).rev().find(|at| self.prompts[*at].to_lowercase().contains(&text))?;
        Some((found, &self.prompts[found]))
    }

    /// The prompt after the shown one, or what was typed before.
    pub(super) fn newer(&mut self) -> Option<String> {
        let (at, typed) = self.shown.take()?;
        if at + 1 >= self.prompts.len() {
            return Some(typed);
        }
        self.shown = Some((at + 1, typed));
        Some(self.prompts[at + 1].clone())
    }

    /// Forgets the position, after the text was edited.
    pub(super) fn leave(&mut self) {
        self.shown = None;
    }
}

/// Path of the prompt history of a project, below the data folder.
fn history_file(data: &Path, project: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    project.hash(&mut hasher);
    let name = project.file_name().map_or(Cow::Borrowed("root"), |name| name.to_string_lossy());
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    data.join("history").join(format!("{name}-{:016x}", hasher.finish()))
}

/// Adds a prompt unless it is empty, begins with a space, or repeats the one before.
fn add_to(prompts: &mut Vec<String>, prompt: &str) -> bool {
    let is_new = !prompt.trim().is_empty()
        && !prompt.starts_with(char::is_whitespace)
        && prompts.last().is_none_or(|last| last != prompt);
    if is_new {
        prompts.push(prompt.to_owned());
    }
    is_new
}

/// Appends one prompt with one write, so that two conversations do not mix their lines.
fn append(file: &Path, prompt: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        files::create_private_folder(folder)?;
    }
    match files::create_private(file) {
        Ok(mut file) => return file.write_all(lines(&[prompt.to_owned()]).as_bytes()),
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    std::fs::OpenOptions::new().append(true).open(file)?.write_all(escaped(prompt).as_bytes())
}

/// The text of a file with these prompts.
fn lines(prompts: &[String]) -> String {
    prompts.iter().fold(VERSION.to_owned(), |mut text, prompt| {
        let _ = write!(text, "{}", escaped(prompt));
        text
    })
}

fn escaped(prompt: &str) -> String {
    format!("{}\n", prompt.replace('\\', r"\\").replace('\n', r"\n"))
}

fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\';
        text.push(match is_escape.then(|| letters.next()).flatten() {
            Some('n') => '\n',
            Some(other) => other,
            None => letter,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_each_project_has_a_history_of_its_own() {
        let data = Path::new("/data");
        let file = history_file(data, Path::new("/home/dev/my project"));
        assert!(file.to_str().unwrap().starts_with("/data/history/myproject-"), "{}", file.display());
        assert_ne!(file, history_file(data, Path::new("/home/other/my project")));
    }

    #[test]
    fn c2_the_history_is_walked_and_comes_back_to_what_was_typed() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("history/project");
        let mut history = PromptHistory::read(Some(file.clone()));
        assert_eq!(history.older("x"), None);
        for prompt in ["first", "second\nline", " secret", "", "second\nline"] {
            history.add(prompt);
        }
        let mut history = PromptHistory::read(Some(file));
        assert_eq!(history.older("typed"), Some("second\nline"));
        assert_eq!(history.older("second\nline"), Some("first"));
        assert_eq!(history.older("first"), None);
        assert_eq!(history.newer().as_deref(), Some("second\nline"));
        assert_eq!(history.newer().as_deref(), Some("typed"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn a_history_of_an_earlier_version_is_read_and_a_long_one_is_shortened() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("history");
        std::fs::write(&file, "#V2\nC:\\\\dir\\nnext\nlast\n").unwrap();
        let mut history = PromptHistory::read(Some(file.clone()));
        assert_eq!(history.older(""), Some("last"));
        assert_eq!(history.older("last"), Some("C:\\dir\nnext"));
        let many: Vec<String> = (0..2_500).map(|number| format!("prompt {number}\n")).collect();
        std::fs::write(&file, format!("#V2\n{}", many.concat())).unwrap();
        assert_eq!(PromptHistory::read(Some(file.clone())).prompts.len(), PROMPTS_MAX);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("#V2\nprompt 1500\n") && text.ends_with("prompt 2499\n"), "{text}");
    }
}
