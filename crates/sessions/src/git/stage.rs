//! Staging and commits, without the hooks, filters and programs that the repository configures.

use tidings_api::{Code, CommitMade};
use tidings_journal::limits::TEXT_BYTES_MAX;

use super::{Git, whole_names};
use crate::Error;
use crate::limits::{COMMIT_MESSAGE_BYTES_MAX, STAGED_PATHS_MAX};

impl Git {
    /// Files below the folder with staged changes.
    pub(super) async fn staged(&self) -> Result<Vec<String>, Error> {
        self.staged_names(&["--relative", "--", "."]).await
    }

    async fn staged_names(&self, which: &[&str]) -> Result<Vec<String>, Error> {
        let how = ["diff", "--cached", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let args: Vec<&str> =
            how.iter().chain(["--ignore-submodules=dirty"].iter()).chain(which).copied().collect();
        Ok(whole_names(&self.run(&args).await?))
    }

    /// Stages files and folders as they are now, or takes their staged changes back.
    pub async fn stage(&self, paths: &[String], staged: bool) -> Result<(), Error> {
        let paths = checked(paths)?;
        if staged {
            self.check_filters(&paths).await?;
        }
        let how: &[&str] = if staged { &["add", "-A", "--"] } else { &["reset", "-q", "--"] };
        let args: Vec<&str> = how.iter().copied().chain(paths).collect();
        if self.write(&args, None).await?.is_ok {
            return Ok(());
        }
        let message = if staged { "`git` could not stage this" } else { "`git` could not take this back" };
        Err(Error::new(
            Code::Conflict,
            message,
            "load the changes again, or run `git` in the folder yourself",
        ))
    }

    /// Refuses files that a filter of the repository changes: without the filter, as with Git LFS, the wrong
    /// contents would be stored.
    async fn check_filters(&self, paths: &[&str]) -> Result<(), Error> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"];
        let args: Vec<&str> = list.iter().chain(paths).copied().collect();
        let listed = self.run(&args).await?;
        let names = whole_names(&listed);
        if listed.is_cut || names.len() > STAGED_PATHS_MAX {
            let hint = "choose fewer files, or run `git` in the folder yourself";
            return Err(Error::new(Code::TooLarge, "These are too many files", hint));
        }
        let args: Vec<&str> = ["check-attr", "-z", "filter", "--"]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect();
        let found = whole_names(&self.run(&args).await?);
        // Each file has three parts: its path, the name of the attribute, and its value.
        let filtered = found
            .chunks(3)
            .find(|parts| !matches!(parts.get(2).map(String::as_str), Some("unspecified" | "unset") | None));
        match filtered.and_then(|parts| parts.first()) {
            None => Ok(()),
            Some(path) => {
                let message =
                    format!("A filter of the repository changes `{path}`, and filters do not run here");
                Err(Error::new(Code::Unprocessable, message, "stage it with `git` in the folder yourself"))
            }
        }
    }

    /// Commits what is staged.
    pub async fn make_commit(&self, message: &str, author: &CommitAuthor) -> Result<CommitMade, Error> {
        let message = message.trim();
        if message.is_empty() || message.len() > COMMIT_MESSAGE_BYTES_MAX || message.contains('\0') {
            let what = format!("The message of a commit has 1 to {COMMIT_MESSAGE_BYTES_MAX} bytes");
            return Err(Error::new(Code::Invalid, what, "write another one"));
        }
        let staged = self.staged().await?;
        if staged.is_empty() {
            return Err(Error::new(Code::Conflict, "Nothing is staged", "stage the changes to commit first"));
        }
        // In a folder inside of a repository, the rest of it is not visible here.
        if self.staged_names(&[]).await?.len() > staged.len() {
            let message = "Changes outside of this folder are staged too";
            return Err(Error::new(
                Code::Conflict,
                message,
                "commit them with `git` in the repository yourself",
            ));
        }
        let text = format!("--message={message}");
        let args = ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", &text];
        if !self.write(&args, Some(author)).await?.is_ok {
            let hint = "run `git commit` in the folder yourself to see why";
            return Err(Error::new(Code::Conflict, "`git` could not commit", hint));
        }
        let commit = self.head().await?.unwrap_or_default();
        Ok(CommitMade { commit, files: staged.len() as u64 })
    }

    /// The name and address that the repository or the user has configured for commits.
    pub async fn author(&self, environment: &[(String, String)]) -> Result<CommitAuthor, Error> {
        let home = environment.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home.as_str());
        let (name, email) = (self.setting("user.name", home).await?, self.setting("user.email", home).await?);
        if let (Some(name), Some(email)) = (name, email) {
            return Ok(CommitAuthor { name, email });
        }
        let hint = "run `git config --global user.name` and `user.email` on the server";
        Err(Error::new(Code::Unprocessable, "`git` does not know who commits", hint))
    }

    /// A setting of the repository, or else of the user. Settings are only read here; nothing runs.
    async fn setting(&self, name: &str, home: Option<&str>) -> Result<Option<String>, Error> {
        let mut found = self.run(&["config", "--get", name]).await?;
        for file in [".gitconfig", ".config/git/config"] {
            let Some(home) = home.filter(|_| found.bytes.trim_ascii().is_empty()) else { break };
            let file = std::path::Path::new(home).join(file);
            let Some(file) = file.to_str().filter(|file| std::path::Path::new(file).is_file()) else {
                continue;
            };
            found = self.run(&["config", "--file", file, "--get", name]).await?;
        }
        let value = String::from_utf8_lossy(found.bytes.trim_ascii()).into_owned();
        Ok(Some(value).filter(|value| !value.is_empty() && value.len() <= TEXT_BYTES_MAX))
    }
}

/// The author of a commit.
#[derive(Debug, Clone)]
pub struct CommitAuthor {
    pub(super) name: String,
    pub(super) email: String,
}

fn checked(paths: &[String]) -> Result<Vec<&str>, Error> {
    let is_wrong = |path: &String| path.is_empty() || path.contains('\0') || path.len() > TEXT_BYTES_MAX;
    if paths.is_empty() || paths.len() > STAGED_PATHS_MAX || paths.iter().any(is_wrong) {
        let message = format!("`paths` has 1 to {STAGED_PATHS_MAX} paths of files");
        return Err(Error::new(Code::Invalid, message, "send the paths that the changes list"));
    }
    // `git` runs in the folder of the session, which may be inside of a repository.
    let is_outside = |path: &String| path.starts_with('/') || path.split('/').any(|part| part == "..");
    match paths.iter().find(|path| is_outside(path)) {
        None => Ok(paths.iter().map(String::as_str).collect()),
        Some(path) => {
            let message = format!("`{path}` is not a path below the folder of the session");
            Err(Error::new(Code::Invalid, message, "send a relative path without `..`"))
        }
    }
}
