//! Repositories from which the code of a project may come.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::git_folder::GitFolder;

/// The repositories from which a project may fetch.
///
/// A policy compares those of the session's beginning with those of the decision: an agent that could change
/// an address could fetch anything from a remote with a trusted name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeSources {
    /// The settings of git.
    Known(GitSettings),
    /// Not known: the settings could not be read, or the session's beginning was not seen.
    #[default]
    Unknown,
}

/// Settings of git that determine what is fetched, and what runs meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitSettings {
    /// The names of the remote repositories.
    remotes: BTreeSet<String>,
    /// All lines except those of branches, each behind the name of its section.
    lines: Vec<String>,
}

impl CodeSources {
    /// Reads the settings of the repository that a folder belongs to. A folder without a repository has no
    /// remote.
    pub fn read(folder: impl AsRef<Path>) -> Self {
        let Some(git) = GitFolder::find(folder.as_ref()) else {
            return CodeSources::Known(GitSettings::default());
        };
        let mut settings = GitSettings::default();
        let mut branches = Vec::new();
        for file in git.settings() {
            match file {
                Ok(text) if settings.add(&text, &mut branches).is_some() => {}
                _ => return CodeSources::Unknown,
            }
        }
        // A branch may follow an address instead of a remote.
        let follows_remote = |remote: &String| remote == "." || settings.remotes.contains(remote);
        let odd: Vec<String> = branches.into_iter().filter(|remote| !follows_remote(remote)).collect();
        settings.lines.extend(odd.into_iter().map(|remote| format!("branch remote = {remote}")));
        CodeSources::Known(settings)
    }

    /// True if these are the sources of the session's beginning, and `remote` is one of them. Without a name,
    /// git chooses one.
    pub(crate) fn still_have(&self, now: &CodeSources, remote: Option<&str>) -> bool {
        match (self, now) {
            (CodeSources::Known(then), CodeSources::Known(now)) => {
                then == now && remote.is_none_or(|remote| then.remotes.contains(remote))
            }
            _ => false,
        }
    }
}

impl GitSettings {
    /// Adds the lines of a file. Returns `None` if it includes another one, whose contents may change.
    fn add(&mut self, text: &str, branches: &mut Vec<String>) -> Option<()> {
        let mut section = String::new();
        for line in text.replace("\\\r\n", "").replace("\\\n", "").lines() {
            let mut line = line.trim();
            if let Some(header) = line.strip_prefix('[') {
                let (name, rest) = header.rsplit_once(']')?;
                section = header_of(name);
                line = rest.trim();
                if section.starts_with("include") {
                    return None;
                }
                if let Some(remote) = section.strip_prefix("remote ") {
                    self.remotes.insert(remote.trim_matches('"').to_owned());
                }
            }
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if !section.starts_with("branch ") {
                self.lines.push(format!("{section} {line}"));
            } else if let Some((key, value)) = line.split_once('=')
                && matches!(key.trim().to_ascii_lowercase().as_str(), "remote" | "pushremote")
            {
                branches.push(value.trim().to_owned());
            }
        }
        Some(())
    }
}

/// The name of a section, which git reads without regard to case, and its part in quotes, if it has one.
fn header_of(name: &str) -> String {
    match name.split_once('"') {
        Some((section, part)) => format!("{} \"{part}", section.trim().to_ascii_lowercase()),
        None => name.trim().to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a\n";

    fn read(config: &str) -> CodeSources {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join(".git")).unwrap();
        fs_err::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs_err::write(folder.path().join(".git/config"), config).unwrap();
        CodeSources::read(folder.path())
    }

    #[test]
    fn k23_only_settings_that_say_where_code_comes_from_are_compared() {
        let start = read(ORIGIN);
        for (more, is_same) in [
            ("", true),
            ("# a comment\n", true),
            ("[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n", true),
            ("[Branch \"x\"]\n\tremote = .\n", true),
            ("[branch \"x\"]\n\tremote = https://evil.org/x\n", false),
            ("[branch \"x\"] pushRemote = https://evil.org/x\n", false),
            ("[remote \"eve\"]\n\turl = https://evil.org/x\n", false),
            ("[remote \"origin\"]\n\turl = https://evil.org/x\n", false),
            ("[url \"https://evil.org/\"]\n\tinsteadOf = https://example.org/\n", false),
            ("[core] sshCommand = ./x\n", false),
            ("[include]\n\tpath = ../x\n", false),
            ("[includeIf \"gitdir:/\"]\n\tpath = ../x\n", false),
            ("[broken\n", false),
        ] {
            let now = read(&format!("{ORIGIN}{more}"));
            assert_eq!(start.still_have(&now, Some("origin")), is_same, "{more}");
        }
        assert!(start.still_have(&start, None));
        assert!(!start.still_have(&start, Some("eve")));
        assert!(!CodeSources::Unknown.still_have(&CodeSources::Unknown, None));
    }
}
