//! A temporary configuration folder with sessions.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tidings_transcript::roots::{Roots, SessionFiles};

/// A temporary configuration folder.
pub(crate) struct TestRoot {
    temp: TempDir,
}

impl TestRoot {
    /// Creates a folder without sessions.
    pub(crate) fn new() -> Self {
        let root = TestRoot { temp: TempDir::new().unwrap() };
        fs::create_dir(root.path().join("projects")).unwrap();
        root
    }

    /// Creates a folder with these files.
    pub(crate) fn with_files(files: &[(impl AsRef<str>, &str)]) -> Self {
        let root = TestRoot { temp: TempDir::new().unwrap() };
        for (name, text) in files {
            write(&root.path().join(name.as_ref()), text);
        }
        root
    }

    pub(crate) fn path(&self) -> &Path {
        self.temp.path()
    }

    /// A file of a project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join("projects").join(name)
    }

    /// Writes a file of a project.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        write(&path, text);
        path
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::new([self.path()])
    }

    pub(crate) fn sessions(&self) -> Vec<SessionFiles> {
        self.roots().scan().unwrap().sessions
    }
}

/// Writes a file, and creates the folders above it.
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
