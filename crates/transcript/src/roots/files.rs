//! The files of one session.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::scan;
use crate::error::At as _;
use crate::{Error, ErrorKind};

/// The files of one session.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    /// The session's id: the name of its main file.
    pub id: String,
    /// The folder of its project, with the undecodable name.
    pub folder: PathBuf,
    /// The main file; `None` if only files of sub-agents are left.
    pub main: Option<FileInfo>,
    /// Sub-agents, including nested ones, sorted by file name.
    pub agents: Vec<AgentFile>,
}

/// A file of a sub-agent.
#[derive(Debug, Clone)]
pub struct AgentFile {
    /// The agent's id.
    pub agent_id: String,
    /// The file.
    pub file: FileInfo,
    /// `agent-<id>.meta.json` beside it: the origin of the agent.
    pub sidecar: Option<PathBuf>,
}

/// State of a file when it was examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// Path.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last write.
    pub modified: SystemTime,
    /// Identity that survives renaming.
    pub id: FileId,
}

/// A file's identity on its device; all zero if the system has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

impl SessionFiles {
    /// The session with the main file `path`.
    pub fn of_file(path: &Path) -> Result<Self, Error> {
        let main = FileInfo::of(path)?;
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut session = SessionFiles { id, folder, main: Some(main), agents: Vec::new() };
        let mut unreadable = Vec::new();
        session.agents = scan::agents_below(&session.dir().join("subagents"), &mut unreadable);
        match unreadable.pop() {
            Some(error) => Err(error),
            None => Ok(session),
        }
    }

    /// The folder beside the main file: sub-agents, tool results, marks. It need not exist.
    pub fn dir(&self) -> PathBuf {
        self.folder.join(&self.id)
    }

    /// The folder of outputs that were too large for a line. It need not exist.
    pub fn tool_results(&self) -> PathBuf {
        self.dir().join("tool-results")
    }

    /// All files with entries, the main one first.
    pub fn files(&self) -> impl Iterator<Item = &FileInfo> {
        self.main.iter().chain(self.agents.iter().map(|agent| &agent.file))
    }

    /// Size of all files with entries, in bytes.
    pub fn bytes(&self) -> u64 {
        self.files().map(|file| file.bytes).sum()
    }

    /// Time of the last write: of the main file, or else of the newest other file.
    pub fn modified(&self) -> Option<SystemTime> {
        match &self.main {
            Some(main) => Some(main.modified),
            None => self.agents.iter().map(|agent| agent.file.modified).max(),
        }
    }
}

impl FileInfo {
    /// Reads the metadata of a file.
    ///
    /// Anything but a regular file, or a link to one, is an error.
    pub fn of(path: &Path) -> Result<Self, Error> {
        Self::new(path, std::fs::metadata(path))
    }

    pub(super) fn new(path: &Path, metadata: io::Result<std::fs::Metadata>) -> Result<Self, Error> {
        let metadata = metadata.at("look at", path)?;
        if !metadata.is_file() {
            let message = format!("Not a regular file: `{}`", path.display());
            let error = Error::new(ErrorKind::Io, message, "it cannot be a session; move it away");
            return Err(error.about(path));
        }
        let modified = metadata.modified().at("look at", path)?;
        Ok(FileInfo { path: path.to_owned(), bytes: metadata.len(), modified, id: FileId::of(&metadata) })
    }
}

impl FileId {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        FileId { device: metadata.dev(), inode: metadata.ino() }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &std::fs::Metadata) -> Self {
        FileId::default()
    }
}
