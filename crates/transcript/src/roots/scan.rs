//! The folders below a root, in the current layout and in older ones.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use super::{AgentFile, FileInfo, SessionFiles, SessionScan};
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, Reader};
use crate::{Error, ErrorKind};

/// The folder with one folder per project.
pub(super) fn projects_folder(root: &Path) -> Option<PathBuf> {
    let projects = root.join("projects");
    if projects.is_dir() {
        return Some(projects);
    }
    // The root is a `projects` folder, or a copy of one.
    root.is_dir().then(|| root.to_owned())
}

/// Filter of sessions, by id and main file.
pub(super) type SessionFilter<'a> = &'a dyn Fn(&str, &FileInfo) -> bool;

pub(super) fn root(root: &Path, wanted: SessionFilter<'_>, found: &mut SessionScan) -> Result<(), Error> {
    let Some(projects) = projects_folder(root) else {
        let message = format!("No such folder: `{}`", root.display());
        return Err(Error::new(ErrorKind::NotFound, message, "give the folder that contains `projects`"));
    };
    let folders = list(&projects).at("look into", &projects)?;
    // Session files in the root itself, with their folders.
    let (own, folders): (Vec<_>, Vec<_>) = folders
        .into_iter()
        .partition(|listed| is_jsonl(&listed.path) || listed.path.with_extension("jsonl").is_file());
    project(&projects, &own, wanted, found);
    for folder in folders.iter().filter(|listed| listed.is_dir()) {
        match list(&folder.path) {
            Ok(listed) => project(&folder.path, &listed, wanted, found),
            Err(error) => found.unreadable.push(Error::io("look into", &folder.path, error)),
        }
    }
    Ok(())
}

/// The error about a file whose name cannot be an id.
fn not_utf8(path: &Path) -> Error {
    let message = format!("The name of this session file is not UTF-8: `{}`", path.display());
    Error::new(ErrorKind::Invalid, message, "rename it").about(path)
}

fn is_jsonl(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("jsonl"))
}

/// Scans the folder of one project.
fn project(folder: &Path, listed: &[FolderItem], wanted: SessionFilter<'_>, found: &mut SessionScan) {
    let mut sessions: HashMap<String, SessionFiles> = HashMap::new();
    let of = |id: &str| SessionFiles {
        id: id.to_owned(),
        folder: folder.to_owned(),
        main: None,
        agents: Vec::new(),
    };
    let mut loose = Vec::new();
    let mut unwanted = HashSet::new();
    for file in listed {
        let Some(id) = file.name().and_then(|name| name.strip_suffix(".jsonl")) else {
            if file.name().is_none() && is_jsonl(&file.path) {
                found.unreadable.push(not_utf8(&file.path));
            }
            continue;
        };
        if id.starts_with("agent-") {
            // Older versions kept sub-agents here.
            loose.extend(agent(file, listed, &mut found.unreadable));
            continue;
        }
        match file.info() {
            Ok(info) if wanted(id, &info) => {
                drop(sessions.insert(id.to_owned(), SessionFiles { main: Some(info), ..of(id) }));
            }
            Ok(_) => drop(unwanted.insert(id)),
            Err(error) => found.unreadable.push(error),
        }
    }
    for dir in listed {
        let Some(name) = dir.name().filter(|name| !name.contains('.') && !unwanted.contains(name)) else {
            continue;
        };
        if name == "subagents" {
            loose.extend(agents_below(&dir.path, &mut found.unreadable));
            continue;
        }
        let agents = agents_below(&dir.path.join("subagents"), &mut found.unreadable);
        if !agents.is_empty() {
            sessions.entry(name.to_owned()).or_insert_with(|| of(name)).agents.extend(agents);
        }
    }
    for agent in loose {
        // The folder does not identify the session; the file's lines do.
        let id = owner(&agent.file.path).unwrap_or_else(|| format!("agent-{}", agent.agent_id));
        if !unwanted.contains(id.as_str()) {
            sessions.entry(id.clone()).or_insert_with(|| of(&id)).agents.push(agent);
        }
    }
    found.sessions.extend(sessions.into_values());
    found.unwanted.extend(unwanted.into_iter().map(str::to_owned));
}

/// The sub-agents in a folder and below; a folder that does not exist has none.
pub(super) fn agents_below(folder: &Path, unreadable: &mut Vec<Error>) -> Vec<AgentFile> {
    let mut agents = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let listed = match list(&folder) {
            Ok(listed) => listed,
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                    unreadable.push(Error::io("look into", &folder, error));
                }
                continue;
            }
        };
        for one in &listed {
            if is_jsonl(&one.path) {
                agents.extend(agent(one, &listed, unreadable));
            } else if one.path.extension().is_none() && one.is_dir() && !one.is_symlink() {
                folders.push(one.path.clone());
            }
        }
    }
    agents.sort_by(|a, b| a.file.path.as_os_str().cmp(b.file.path.as_os_str()));
    agents
}

/// A sub-agent's file; its sidecar is in the same folder.
fn agent(file: &FolderItem, beside: &[FolderItem], unreadable: &mut Vec<Error>) -> Option<AgentFile> {
    let Some(name) = file.path.file_stem()?.to_str() else {
        unreadable.push(not_utf8(&file.path));
        return None;
    };
    let agent_id = name.strip_prefix("agent-")?.to_owned();
    match file.info() {
        Ok(info) => {
            let sidecar = file.path.with_extension("meta.json");
            let there =
                beside.binary_search_by(|listed| listed.path.as_os_str().cmp(sidecar.as_os_str())).is_ok();
            Some(AgentFile { agent_id, file: info, sidecar: there.then_some(sidecar) })
        }
        Err(error) => {
            unreadable.push(error);
            None
        }
    }
}

/// The session that a sub-agent's lines name.
fn owner(path: &Path) -> Option<String> {
    const LINES_MAX: usize = 100;
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(std::fs::File::open(path).ok()?, &mut buffer);
    for _ in 0..LINES_MAX {
        if let Content::Entry(entry) = reader.next().ok()??.content
            && let Some(id) = entry.session_id()
        {
            return Some(id.into_owned());
        }
    }
    None
}

/// The other files of the session of the file at `path`.
///
/// A sub-agent's file lies in a folder `subagents`, or beside the main file if an older version wrote it.
#[cfg(feature = "analysis")]
pub(crate) fn relatives_of(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_agent = stem.starts_with("agent-");
    let subagents = path.ancestors().skip(1).find(|folder| folder.ends_with("subagents"));
    let main = match (is_agent, subagents) {
        (false, _) => path.to_owned(),
        (true, Some(subagents)) => match (subagents.parent(), owner(path)) {
            // Without a session folder around it, `subagents` lies beside the main files.
            (Some(dir), Some(id)) if !dir.ends_with(&id) => dir.join(format!("{id}.jsonl")),
            (Some(dir), _) => dir.with_extension("jsonl"),
            (None, _) => return Vec::new(),
        },
        (true, None) => owner(path).map(|id| folder.join(format!("{id}.jsonl"))).unwrap_or_default(),
    };
    let mut unreadable = Vec::new();
    let mut files: Vec<PathBuf> = main.is_file().then(|| main.clone()).into_iter().collect();
    let dir = main.with_extension("").join("subagents");
    files.extend(agents_below(&dir, &mut unreadable).into_iter().map(|agent| agent.file.path));
    let beside = main.parent().unwrap_or(Path::new(""));
    let id = main.file_stem().unwrap_or_default().to_string_lossy();
    let loose = list(if beside == Path::new("") { Path::new(".") } else { beside }).unwrap_or_default();
    let is_loose = |file: &FolderItem| file.name().is_some_and(|name| name.starts_with("agent-"));
    let mut loose: Vec<PathBuf> = loose.into_iter().filter(is_loose).map(|file| file.path).collect();
    loose.extend(
        agents_below(&beside.join("subagents"), &mut unreadable).into_iter().map(|agent| agent.file.path),
    );
    files.extend(loose.into_iter().filter(|file| is_jsonl(file) && owner(file).as_deref() == Some(&*id)));
    files.retain(|file| file != path);
    files
}

/// An item of a folder. Its type comes from the folder's listing, and reading its metadata from there is
/// cheaper than by path: there are thousands.
#[derive(Debug)]
struct FolderItem {
    path: PathBuf,
    entry: DirEntry,
}

impl FolderItem {
    fn name(&self) -> Option<&str> {
        self.path.file_name().and_then(OsStr::to_str)
    }

    fn is_symlink(&self) -> bool {
        self.entry.file_type().is_ok_and(|kind| kind.is_symlink())
    }

    /// Returns true for a folder, or a link to one.
    fn is_dir(&self) -> bool {
        if self.is_symlink() {
            self.path.is_dir()
        } else {
            self.entry.file_type().is_ok_and(|kind| kind.is_dir())
        }
    }

    fn info(&self) -> Result<FileInfo, Error> {
        if self.is_symlink() {
            return FileInfo::of(&self.path);
        }
        FileInfo::new(&self.path, self.entry.metadata())
    }
}

/// The items of a folder, sorted by name.
fn list(folder: &Path) -> io::Result<Vec<FolderItem>> {
    let entries = std::fs::read_dir(folder)?;
    let listed = |entry: io::Result<DirEntry>| entry.map(|entry| FolderItem { path: entry.path(), entry });
    let mut all = entries.map(listed).collect::<io::Result<Vec<_>>>()?;
    all.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    Ok(all)
}
