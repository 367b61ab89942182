//! The files of the repository, read once and passed to every check.

use crate::source;
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file of the repository.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Path from the root, with `/` on every system.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Rust only: the text without comments and literals.
    pub(crate) code: String,
}

impl TextFile {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let mut file = Self { path: path.to_owned(), text: text.to_owned(), code: String::new() };
        if file.is(&["rs"]) {
            file.code = source::code(text);
        }
        file
    }

    /// True if the file has one of these extensions.
    pub(crate) fn is(&self, extensions: &[&str]) -> bool {
        let extension = Path::new(&self.path).extension();
        extension.is_some_and(|own| extensions.iter().any(|extension| own == *extension))
    }
}

/// The root of the workspace, independent of the current folder.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The cargo that runs us, so that a toolchain override reaches the commands we start.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Every text file that git tracks or would track; a source archive without git is walked instead.
pub(crate) fn files() -> Result<Vec<TextFile>, Box<dyn Error>> {
    let mut paths = match tracked() {
        Some(paths) => paths,
        None => walked(root())?,
    };
    paths.sort();
    paths.dedup();
    Ok(paths.iter().filter_map(|path| read(path)).collect())
}

/// Skips files that are not UTF-8, which are data, and files that are deleted but not yet committed.
fn read(path: &str) -> Option<TextFile> {
    let text = std::fs::read_to_string(root().join(path)).ok()?;
    Some(TextFile::new(path, &text))
}

fn tracked() -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let names = String::from_utf8_lossy(&output.stdout);
    let paths: Vec<String> = names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    // An archive unpacked inside another repository that ignores it lists nothing.
    (!paths.is_empty()).then_some(paths)
}

fn walked(root: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    // Entries of `.gitignore`: build output, downloads, corpora.
    const SKIPPED: &[&str] = &["target", ".git", "node_modules", "corpus", "artifacts", "coverage"];
    let mut paths = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            } else {
                let path = entry.path();
                let parts = path.strip_prefix(root)?.iter().map(|part| part.to_string_lossy());
                paths.push(parts.collect::<Vec<_>>().join("/"));
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_and_git_both_find_this_file() {
        let this = "xtask/src/repo.rs".to_owned();
        assert!(walked(root()).unwrap().contains(&this));
        assert!(files().unwrap().iter().any(|file| file.path == this));
    }
}
