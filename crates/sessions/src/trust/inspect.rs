//! Search for commands that a folder would make an agent run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tidings_base::hex::hex;

use super::{markdown, settings};
use crate::limits::{TRUST_DEPTH_MAX, TRUST_FILE_BYTES_MAX, TRUST_FILES_MAX, TRUST_LEVELS_MAX};

/// The result of inspecting a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The hash of the names and contents of all files that were found.
    pub digest: String,
    /// Commands and settings that need trust; empty if the folder is harmless.
    pub commands: Vec<FolderCommand>,
    /// Like `digest`, without the local settings.
    pub(super) rest: String,
    /// The local settings by path.
    pub(super) local: BTreeMap<PathBuf, Value>,
}

/// A setting or command that runs programs, or changes the servers that the agent talks to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderCommand {
    /// The file, relative to the folder if possible.
    pub file: String,
    /// The position in the file.
    pub place: String,
    /// The setting or command.
    pub text: String,
}

/// Settings files of one folder level.
const SETTINGS: [&str; 2] = [".claude/settings.json", LOCAL];

/// The settings of one user, which the agent writes to as well.
const LOCAL: &str = ".claude/settings.local.json";

/// Folders whose files may contain commands.
const DESCRIPTIONS: [&str; 3] = [".claude/agents", ".claude/commands", ".claude/skills"];

/// Folders with programs that other settings run. Their files are part of the digest, but not listed as
/// commands.
const PROGRAMS: [&str; 2] = [".claude/hooks", ".claude/plugins"];

/// Inspects a folder and its parents, as far up as `claude` reads them.
pub fn inspect(folder: &Path) -> Inspection {
    let mut inspector = Inspector {
        folder,
        hash: Sha256::new(),
        rest: Sha256::new(),
        local: BTreeMap::new(),
        commands: Vec::new(),
        files: 0,
    };
    let repository = folder.ancestors().take(TRUST_LEVELS_MAX).find(|level| level.join(".git").exists());
    for level in folder.ancestors().take(TRUST_LEVELS_MAX) {
        inspector.file(&level.join(".mcp.json"), settings::servers);
        // Settings apply in the folder and in the repository around it. Above that, only the user's settings
        // apply.
        if level == folder || repository.is_some_and(|repository| level.starts_with(repository)) {
            inspector.level(level);
        }
    }
    Inspection {
        digest: hex(&inspector.hash.finalize()),
        commands: inspector.commands,
        rest: hex(&inspector.rest.finalize()),
        local: inspector.local,
    }
}

struct Inspector<'a> {
    folder: &'a Path,
    hash: Sha256,
    rest: Sha256,
    local: BTreeMap<PathBuf, Value>,
    commands: Vec<FolderCommand>,
    files: usize,
}

/// Extracts positions and texts from a file.
type Reader = fn(&str) -> Vec<(String, String)>;

impl Inspector<'_> {
    fn level(&mut self, level: &Path) {
        for name in SETTINGS {
            self.file(&level.join(name), settings::settings);
        }
        for name in DESCRIPTIONS {
            for path in self.files(&level.join(name)) {
                self.file(&path, markdown::description);
            }
        }
        for name in PROGRAMS {
            for path in self.files(&level.join(name)) {
                self.file(&path, |_| Vec::new());
            }
        }
    }

    /// Adds a file to the digest, by its name, length and content, and records its commands.
    fn file(&mut self, path: &Path, read: Reader) {
        let Some(mut file) = open(path) else {
            // A file that cannot be read now may be readable for the agent.
            if fs::symlink_metadata(path).is_ok() && !path.is_dir() {
                self.record(path, "", "The file cannot be read");
            }
            return;
        };
        let mut bytes = Vec::new();
        let whole = (&mut file).take(TRUST_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).is_ok();
        let name = self.name(path);
        let is_local = path.ends_with(LOCAL);
        for part in [name.as_bytes(), &bytes] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
            if !is_local {
                self.rest.update((part.len() as u64).to_le_bytes());
                self.rest.update(part);
            }
        }
        if is_local {
            self.local.insert(path.to_owned(), serde_json::from_slice(&bytes).unwrap_or_default());
        }
        match std::str::from_utf8(&bytes) {
            _ if !whole || bytes.len() as u64 > TRUST_FILE_BYTES_MAX => {
                self.record(path, "", "The file is too long to inspect");
            }
            Ok(text) => {
                for (place, text) in read(text) {
                    self.record(path, &place, &text);
                }
            }
            // Programs may be binary; a description that is not UTF-8 cannot be inspected.
            Err(_) if is_program(path) => {}
            Err(_) => self.record(path, "", "The file is not text"),
        }
    }

    fn record(&mut self, path: &Path, place: &str, text: &str) {
        let found = FolderCommand { file: self.name(path), place: place.to_owned(), text: text.to_owned() };
        self.commands.push(found);
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(self.folder).unwrap_or(path).display().to_string()
    }

    /// The files below a folder, sorted.
    fn files(&mut self, folder: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries {
                self.files += 1;
                if self.files > TRUST_FILES_MAX || depth > TRUST_DEPTH_MAX {
                    self.record(&entry.path(), "", "There are too many files to inspect");
                    return found;
                }
                match entry.path().metadata() {
                    Ok(meta) if meta.is_dir() => waiting.push((entry.path(), depth + 1)),
                    _ => drop(found.insert(entry.path())),
                }
            }
        }
        found
    }
}

/// Opens a regular file. Pipes and devices are refused without blocking.
fn open(path: &Path) -> Option<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK;
        fs_err::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options.open(path).ok().filter(|file| file.metadata().is_ok_and(|found| found.is_file()))
}

fn is_program(path: &Path) -> bool {
    path.ancestors().skip(1).any(|level| PROGRAMS.iter().any(|folder| level.ends_with(folder)))
}
