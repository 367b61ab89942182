//! Prompts of earlier conversations, one file per project.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use rustyline::history::{FileHistory, History as _};

/// Number of prompts that the history keeps.
const PROMPTS_MAX: usize = 1_000;

/// The prompts that were entered in a project, and a position among them.
pub struct PromptHistory {
    prompts: FileHistory,
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
        let mut prompts = FileHistory::new();
        prompts.ignore_space(true);
        // Both fail only in histories with another store.
        drop(prompts.ignore_dups(true));
        drop(prompts.set_max_len(PROMPTS_MAX));
        if let Some(file) = &file {
            // An unreadable history counts as empty.
            drop(prompts.load(file));
        }
        PromptHistory { prompts, file, shown: None }
    }

    /// Adds a prompt, and stores it.
    pub(super) fn add(&mut self, prompt: &str) {
        self.shown = None;
        if prompt.trim().is_empty() || !self.prompts.add(prompt).unwrap_or(false) {
            return;
        }
        if let Some(file) = &self.file {
            // Failures are ignored: the conversation works without a history.
            let made = file.parent().map_or(Ok(()), create_private_folder);
            if made.is_ok() {
                drop(self.prompts.append(file));
            }
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

fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
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
}
