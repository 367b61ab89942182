//! The folder in which git keeps a repository, read without git: a repository can make git run programs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::limits::GIT_FILE_BYTES_MAX;

/// The folders of a repository. They differ for a worktree.
#[derive(Debug)]
pub(crate) struct GitFolder {
    /// The folder of the working copy.
    own: PathBuf,
    /// The folder that all working copies share.
    common: PathBuf,
}

impl GitFolder {
    /// Finds the repository that a folder belongs to.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(|folder| {
            let dot_git = folder.join(".git");
            let own = if dot_git.is_dir() {
                dot_git
            } else {
                let text = read(&dot_git).ok()?;
                folder.join(text.trim().strip_prefix("gitdir:")?.trim())
            };
            let common = match read(&own.join("commondir")) {
                Ok(text) => own.join(text.trim()),
                Err(_) => own.clone(),
            };
            Some(GitFolder { own, common })
        })
    }

    /// The texts of its settings files, as far as they exist.
    pub(crate) fn settings(&self) -> impl Iterator<Item = io::Result<String>> {
        [self.common.join("config"), self.own.join("config.worktree")]
            .into_iter()
            .map(|path| read(&path))
            .filter(|text| !matches!(text, Err(error) if error.kind() == io::ErrorKind::NotFound))
    }

    /// True if a name stands for a local branch, and for nothing else.
    pub(crate) fn is_branch(&self, name: &str) -> bool {
        let is_plain = !name.is_empty()
            && name.split('/').all(|part| {
                !part.is_empty()
                    && !part.starts_with(['.', '-'])
                    && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '#'))
            });
        let is_ambiguous =
            || self.own.join(name).exists() || self.has_ref(name) || self.has_ref(&format!("tags/{name}"));
        is_plain && self.has_ref(&format!("heads/{name}")) && !is_ambiguous()
    }

    fn has_ref(&self, name: &str) -> bool {
        let is_packed = |text: String| {
            text.lines()
                .any(|line| line.split_once(" refs/").is_some_and(|(_, found)| found.trim_end() == name))
        };
        self.common.join("refs").join(name).is_file()
            || read(&self.common.join("packed-refs")).is_ok_and(is_packed)
    }
}

/// Reads a file of limited length. Opening a pipe would block.
fn read(path: &Path) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    let length = File::open(path)?.take(GIT_FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if length as u64 > GIT_FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too long"));
    }
    Ok(text)
}
