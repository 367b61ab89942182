//! The folders below a root, in the layout of today and in older ones.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::{AgentFile, FileInfo, Found, SessionFiles};
use crate::Error;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, Reader};

/// The folder with one folder per project.
pub(super) fn projects_folder(root: &Path) -> Option<PathBuf> {
    let projects = root.join("projects");
    if projects.is_dir() {
        return Some(projects);
    }
    // Somebody gave the folder of projects, or a copy of it, itself.
    root.is_dir().then(|| root.to_owned())
}

pub(super) fn root(root: &Path, found: &mut Found) -> Result<(), Error> {
    let Some(projects) = projects_folder(root) else {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        return Err(Error::io("look into", root, missing));
    };
    let folders = list(&projects).at("look into", &projects)?;
    // Session files that lie in the root itself, with the folders that belong to them.
    let (own, folders): (Vec<_>, Vec<_>) =
        folders.into_iter().partition(|path| is_jsonl(path) || path.with_extension("jsonl").is_file());
    project(&projects, &own, found);
    for folder in folders.iter().filter(|path| path.is_dir()) {
        match list(folder) {
            Ok(paths) => project(folder, &paths, found),
            Err(error) => found.unreadable.push(Error::io("look into", folder, error)),
        }
    }
    Ok(())
}

fn is_jsonl(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("jsonl"))
}

/// One folder of a project.
fn project(folder: &Path, paths: &[PathBuf], found: &mut Found) {
    let mut sessions: HashMap<String, SessionFiles> = HashMap::new();
    let of = |id: &str| SessionFiles {
        id: id.to_owned(),
        folder: folder.to_owned(),
        main: None,
        agents: Vec::new(),
    };
    let mut loose = Vec::new();
    for path in paths {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { continue };
        if let Some(id) = name.strip_suffix(".jsonl") {
            if id.starts_with("agent-") {
                // Where older versions kept sub-agents.
                loose.extend(agent(path, paths, &mut found.unreadable));
                continue;
            }
            match FileInfo::of(path) {
                Ok(info) => sessions.entry(id.to_owned()).or_insert_with(|| of(id)).main = Some(info),
                Err(error) => found.unreadable.push(error),
            }
        } else if name == "subagents" {
            loose.extend(agents_below(path, &mut found.unreadable));
        } else if !name.contains('.') {
            let agents = agents_below(&path.join("subagents"), &mut found.unreadable);
            if !agents.is_empty() {
                sessions.entry(name.to_owned()).or_insert_with(|| of(name)).agents.extend(agents);
            }
        }
    }
    for agent in loose {
        // The folder does not tell whose it is, so its lines must.
        let id = owner(&agent.file.path).unwrap_or_else(|| format!("agent-{}", agent.agent_id));
        sessions.entry(id.clone()).or_insert_with(|| of(&id)).agents.push(agent);
    }
    found.sessions.extend(sessions.into_values());
}

/// The sub-agents in a folder and in the folders below it; a folder that does not exist has none.
pub(super) fn agents_below(folder: &Path, unreadable: &mut Vec<Error>) -> Vec<AgentFile> {
    let mut agents = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let paths = match list(&folder) {
            Ok(paths) => paths,
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                    unreadable.push(Error::io("look into", &folder, error));
                }
                continue;
            }
        };
        for path in &paths {
            if is_jsonl(path) {
                agents.extend(agent(path, &paths, unreadable));
            } else if path.extension().is_none() && path.is_dir() && !path.is_symlink() {
                folders.push(path.clone());
            }
        }
    }
    agents.sort_by(|a, b| a.file.path.cmp(&b.file.path));
    agents
}

/// The sub-agent whose file `path` is; `beside` is what lies in its folder, in order.
fn agent(path: &Path, beside: &[PathBuf], unreadable: &mut Vec<Error>) -> Option<AgentFile> {
    let agent_id = path.file_stem()?.to_str()?.strip_prefix("agent-")?.to_owned();
    match FileInfo::of(path) {
        Ok(file) => {
            let sidecar = Some(path.with_extension("meta.json"));
            let sidecar = sidecar.filter(|path| {
                beside.binary_search_by(|other| other.as_os_str().cmp(path.as_os_str())).is_ok()
            });
            Some(AgentFile { agent_id, file, sidecar })
        }
        Err(error) => {
            unreadable.push(error);
            None
        }
    }
}

/// The session that the lines of a sub-agent's file name.
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

/// The paths in a folder, in order of their names.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    // As bytes, since only the last part differs; to compare part by part takes longer than to read the folder.
    paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(paths)
}
