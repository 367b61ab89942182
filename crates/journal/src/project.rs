//! Projects: folders that do not nest, each with its current session.

use jiff::Timestamp;

use super::{ErrorKind, JournalError, Key};
use crate::limits::TEXT_BYTES_MAX;

/// A folder and the session that works in it now. No project lies inside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder.
    pub folder: ProjectFolder,
    /// Its current session, if it has one.
    pub session: Option<Key>,
    /// Time of its opening.
    pub opened: Timestamp,
}

/// An absolute path without `.`, `..` or doubled slashes, so that one folder has one spelling. Links are for
/// the caller to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectFolder(String);

impl ProjectFolder {
    /// Checks a path.
    pub fn new(path: impl Into<String>) -> Result<Self, JournalError> {
        let path = path.into();
        let hint = "give the folder's canonical path";
        let refused = |why: &str| Err(JournalError::new(ErrorKind::Invalid, why, hint));
        if path.len() > TEXT_BYTES_MAX || path.contains('\0') {
            return refused("The folder's path is too long or has a NUL in it");
        }
        if path == "/" {
            return Ok(ProjectFolder(path));
        }
        let Some(inner) = path.strip_prefix('/') else { return refused("The folder's path is not absolute") };
        if inner.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return refused("The folder's path is not canonical");
        }
        Ok(ProjectFolder(path))
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders around it, the nearest first.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = &str> {
        let ends =
            self.0.bytes().enumerate().rev().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at.max(1));
        ends.filter(|end| *end < self.0.len()).map(|end| &self.0[..end])
    }

    /// Everything inside it sorts between these: from the first, and before the second.
    pub(crate) fn inside(&self) -> (String, String) {
        let stem = self.0.trim_end_matches('/');
        // `0` is the character after `/`.
        (format!("{stem}/"), format!("{stem}0"))
    }

    pub(crate) fn unknown(&self) -> JournalError {
        let message = format!("There is no project `{}`", self.0);
        JournalError::new(ErrorKind::NotFound, message, "list the projects")
    }

    pub(crate) fn nested(&self, other: &str) -> JournalError {
        let message = format!("The folder `{}` and the project `{other}` lie inside each other", self.0);
        JournalError::new(ErrorKind::Nested, message, "close the other project, or work in it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_spelling() {
        for path in ["", "a", "./a", "/a/", "/a//b", "/a/./b", "/a/..", "//", "/a\0"] {
            assert_eq!(ProjectFolder::new(path).unwrap_err().kind(), ErrorKind::Invalid, "{path}");
        }
    }

    #[test]
    fn the_folders_around_a_folder_are_known() {
        let around = |path: &str| ProjectFolder::new(path).unwrap().ancestors().collect::<Vec<_>>().join(" ");
        assert_eq!(around("/a/b/c"), "/a/b /a /");
        assert_eq!(around("/a"), "/");
        assert_eq!(around("/"), "");
        assert_eq!(ProjectFolder::new("/a").unwrap().inside(), ("/a/".to_owned(), "/a0".to_owned()));
        assert_eq!(ProjectFolder::new("/").unwrap().inside(), ("/".to_owned(), "0".to_owned()));
    }
}
