//! All files that belong to a session, in every part of the configuration folder.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Error;
use crate::roots::SessionFiles;

/// The purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FilePurpose {
    /// The conversation itself.
    Main,
    /// Conversations of sub-agents, and their sidecars.
    Agents,
    /// Outputs that were too large for a line.
    ToolResults,
    /// Titles, marks and all other files in the session's folder.
    Marks,
    /// Copies of edited files, from which Claude Code rewinds.
    FileHistory,
    /// Task lists and to-do lists.
    Tasks,
    /// Logs and settings of the session's processes, and pasted or uploaded files.
    Other,
}

impl FilePurpose {
    /// Every part, in the order of reports.
    pub const ALL: &'static [FilePurpose] = &[
        FilePurpose::Main,
        FilePurpose::Agents,
        FilePurpose::ToolResults,
        FilePurpose::Marks,
        FilePurpose::FileHistory,
        FilePurpose::Tasks,
        FilePurpose::Other,
    ];

    /// One word, for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            FilePurpose::Main => "main",
            FilePurpose::Agents => "agents",
            FilePurpose::ToolResults => "tool-results",
            FilePurpose::Marks => "marks",
            FilePurpose::FileHistory => "file-history",
            FilePurpose::Tasks => "tasks",
            FilePurpose::Other => "other",
        }
    }
}

/// One file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belonging {
    /// Full path.
    pub path: PathBuf,
    /// Path below the configuration folder: `projects/<project>/<session>.jsonl`.
    pub relative: PathBuf,
    /// Purpose of the file.
    pub part: FilePurpose,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last write.
    pub modified: SystemTime,
}

/// The files of a session.
#[derive(Debug, Default)]
pub struct AllFiles {
    /// All files, the main one first. Symbolic links are neither followed nor listed.
    pub files: Vec<Belonging>,
    /// Files and folders that belong to this session alone; together they make up the session.
    pub tops: Vec<PathBuf>,
    /// Errors about files and folders that could not be read.
    pub unreadable: Vec<Error>,
}

impl AllFiles {
    /// Finds the files of a session.
    pub fn of(session: &SessionFiles) -> Self {
        let mut found = AllFiles::default();
        let folder_name = session.folder.file_name().unwrap_or_default();
        let project = Path::new("projects").join(folder_name);
        if let Some(file) = &session.main {
            found.add_top(&file.path, &project, FilePurpose::Main);
        }
        for agent in &session.agents {
            // Agent files in the session's own folder are added with it; older versions kept them beside it.
            if !agent.file.path.starts_with(session.dir()) {
                let relative = agent.file.path.strip_prefix(&session.folder).unwrap_or(&agent.file.path);
                let relative = project.join(relative.parent().unwrap_or(Path::new("")));
                found.add_top(&agent.file.path, &relative, FilePurpose::Agents);
                if let Some(sidecar) = &agent.sidecar {
                    found.add_top(sidecar, &relative, FilePurpose::Agents);
                }
            }
        }
        if !names_one_session(&session.id) {
            return found;
        }
        found.add_top(&session.dir(), &project, FilePurpose::Marks);
        let released = format!("{}.desktop-released.json", session.id);
        found.add_top(&session.folder.join(released), &project, FilePurpose::Marks);
        if let Some(root) = config_folder(session) {
            found.add_from_root(&root, &session.id);
        }
        found
    }

    /// Keeps only files and folders below `folder`.
    pub(crate) fn retain_below(&mut self, folder: &Path) {
        self.retain_tops(|path| path.starts_with(folder));
    }

    /// Keeps only those top-level files and folders for which `keep` is true, and the files inside them.
    pub(crate) fn retain_tops(&mut self, keep: impl FnMut(&PathBuf) -> bool) {
        self.tops.retain(keep);
        self.files.retain(|file| self.tops.iter().any(|top| file.path.starts_with(top)));
    }

    /// Total size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    fn add_from_root(&mut self, root: &Path, id: &str) {
        let places = [
            ("file-history", id.to_owned(), FilePurpose::FileHistory),
            ("tasks", id.to_owned(), FilePurpose::Tasks),
            ("session-env", id.to_owned(), FilePurpose::Other),
            ("debug", format!("{id}.txt"), FilePurpose::Other),
            ("image-cache", id.to_owned(), FilePurpose::Other),
            ("uploads", id.to_owned(), FilePurpose::Other),
            ("jobs", id.to_owned(), FilePurpose::Other),
            ("jobs", format!("{id}.json"), FilePurpose::Other),
        ];
        for (folder, name, part) in places {
            self.add_top(&root.join(folder).join(name), Path::new(folder), part);
        }
        let todos = root.join("todos");
        for path in list(&todos).unwrap_or_default() {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let rest = name.strip_prefix(id).unwrap_or_default();
            if rest == ".json" || rest.starts_with("-agent-") {
                self.add_top(&path, Path::new("todos"), FilePurpose::Tasks);
            }
        }
    }

    /// Adds a file or a whole folder that lies in the folder `relative`; does nothing if it does not exist.
    fn add_top(&mut self, path: &Path, relative: &Path, part: FilePurpose) {
        // A main file without an extension has the path of the session's folder.
        if self.tops.iter().any(|known| known == path) {
            return;
        }
        let relative = relative.join(path.file_name().unwrap_or_default());
        let mut waiting = vec![(path.to_owned(), relative, part)];
        let mut exists = false;
        while let Some((path, relative, part)) = waiting.pop() {
            match metadata_of(&path, part) {
                Ok(metadata) => {
                    exists = true;
                    if metadata.is_dir() {
                        match list(&path) {
                            Ok(paths) => waiting.extend(paths.into_iter().rev().map(|path| {
                                let name = path.file_name().unwrap_or_default();
                                let part = part_inside(part, name);
                                let relative = relative.join(name);
                                (path, relative, part)
                            })),
                            Err(error) => self.unreadable.push(Error::io("look into", &path, error)),
                        }
                    } else if metadata.is_file() {
                        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                        self.files.push(Belonging { path, relative, part, bytes: metadata.len(), modified });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.unreadable.push(Error::io("look at", &path, error)),
            }
        }
        if exists {
            self.tops.push(path.to_owned());
        }
    }
}

/// The configuration folder of a session; `None` if its project does not lie in a `projects` folder.
pub fn config_folder(session: &SessionFiles) -> Option<PathBuf> {
    let projects = session.folder.parent()?;
    (projects.file_name() == Some(OsStr::new("projects"))).then(|| projects.parent().map(Path::to_owned))?
}

/// Checks that an id belongs to a single session: a file may be called `..jsonl`, and folders named after the
/// session `.` would be shared by all sessions.
fn names_one_session(id: &str) -> bool {
    !matches!(id, "" | "." | "..") && !id.contains(['/', '\\'])
}

/// Metadata of a file. The main file may be a symbolic link, since every reader follows it; links below the
/// session's folders may lead anywhere and are not followed.
fn metadata_of(path: &Path, part: FilePurpose) -> io::Result<Metadata> {
    if part == FilePurpose::Main { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) }
}

fn part_inside(part: FilePurpose, name: &OsStr) -> FilePurpose {
    match name.to_str() {
        Some("subagents") if part == FilePurpose::Marks => FilePurpose::Agents,
        Some("tool-results") if part == FilePurpose::Marks => FilePurpose::ToolResults,
        _ => part,
    }
}

/// The paths in a folder, sorted by name.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
