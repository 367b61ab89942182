//! Worktrees: a second working copy of a repository, with a branch of its own.

use std::path::Path;

use tidings_api::Code;

use super::{Git, names};
use crate::Error;
use crate::limits::BRANCH_BYTES_MAX;

impl Git {
    /// Makes a worktree with a new branch at the last commit.
    pub(crate) async fn add_worktree(&self, folder: &Path, branch: &str) -> Result<(), Error> {
        self.check_branch(branch).await?;
        if self.head().await?.is_none() {
            let message = "The repository has no commit yet, so a worktree would be empty";
            return Err(Error::new(Code::Conflict, message, "commit first"));
        }
        let folder = text(folder)?;
        if self.write(&["worktree", "add", "--quiet", "-b", branch, folder, "HEAD"], None).await?.is_ok {
            return Ok(());
        }
        let message = format!("`git` could not make a worktree with the branch `{branch}`");
        Err(Error::new(Code::Conflict, message, "choose another name for the branch"))
    }

    /// Removes a worktree with everything in it. Its branch stays.
    pub(crate) async fn remove_worktree(&self, folder: &Path) -> Result<(), Error> {
        if self.write(&["worktree", "remove", "--force", text(folder)?], None).await?.is_ok {
            return Ok(());
        }
        let hint = "run `git worktree remove` in the project yourself to see why";
        Err(Error::new(Code::Conflict, "`git` could not remove the worktree", hint))
    }

    /// The path from the top folder of the repository to this folder; empty if they are the same.
    pub async fn prefix(&self) -> Result<String, Error> {
        let found = self.run(&["rev-parse", "--show-prefix"]).await?;
        Ok(String::from_utf8_lossy(found.bytes.trim_ascii()).trim_end_matches('/').to_owned())
    }

    /// The folder in which the repository is stored, which a file `.git` can put anywhere.
    pub async fn repository_folder(&self) -> Result<String, Error> {
        let found = self.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await?;
        Ok(String::from_utf8_lossy(found.bytes.trim_ascii()).into_owned())
    }

    /// The number of files with changes that are not committed, untracked ones included.
    pub(crate) async fn uncommitted(&self) -> Result<u64, Error> {
        let args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
        let args: Vec<&str> = args.into_iter().chain(["--ignore-submodules=dirty"]).collect();
        let found = self.run(&args).await?;
        if !found.is_ok {
            let hint = "run `git status` in the worktree yourself";
            return Err(Error::new(Code::Conflict, "`git` could not find out what has changed", hint));
        }
        Ok(names(&found.bytes).count() as u64)
    }

    /// The number of commits of a branch that no other branch has.
    pub(crate) async fn own_commits(&self, branch: &str) -> Result<u64, Error> {
        let (others, own) = (format!("--exclude={branch}"), format!("refs/heads/{branch}"));
        let args = ["rev-list", "--count", &own, "--not", &others, "--branches", "--remotes"];
        let found = self.run(&args).await?;
        Ok(String::from_utf8_lossy(found.bytes.trim_ascii()).parse().unwrap_or_default())
    }

    /// The current branch.
    pub(super) async fn branch(&self) -> Result<Option<String>, Error> {
        let found = self.run(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await?;
        let name = String::from_utf8_lossy(found.bytes.trim_ascii()).into_owned();
        Ok(Some(name).filter(|name| found.is_ok && !name.is_empty()))
    }

    async fn check_branch(&self, branch: &str) -> Result<(), Error> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
        let is_known = !branch.is_empty()
            && branch.len() <= BRANCH_BYTES_MAX
            && branch.bytes().all(is_plain)
            && !branch.starts_with(['-', '.', '/']);
        if is_known && self.run(&["check-ref-format", &format!("refs/heads/{branch}")]).await?.is_ok {
            return Ok(());
        }
        let message = format!("`{branch}` cannot be the name of a branch");
        Err(Error::new(Code::Invalid, message, "use letters, digits, `-`, `_`, `.` and `/`"))
    }
}

fn text(folder: &Path) -> Result<&str, Error> {
    folder.to_str().ok_or_else(|| {
        Error::new(Code::Invalid, "The path of the worktree is not valid UTF-8", "rename the folder")
    })
}
