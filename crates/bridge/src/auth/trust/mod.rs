//! Folders that bring commands of their own, and whether somebody has agreed to them (T10).
//!
//! A repository can carry hooks, MCP servers, helpers for keys and settings that send the agent elsewhere. `claude`
//! asks a person before it uses them, but not where it runs without a terminal, so the server asks in its place.
//!
//! Whoever starts an agent in a folder calls [`Trust::look`] first. Where the answer is not trusted, the agent is
//! started with the settings of the user only (`Options::setting_sources([SettingSource::User])`) and without the
//! folder's MCP servers (`Options::strict_mcp_config()`).

mod inspect;
mod markdown;
mod rule;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tidings_protocol::api::{FolderTrust, FoundCommand};

pub use inspect::{Found, Inspection, inspect};
pub(crate) use rule::{After, Before};

use super::private;
use super::secret::Random;
use crate::error::{Code, Error};
use crate::limits::TRUSTED_FOLDERS_MAX;

/// What somebody has agreed to. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Trust(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    random: Random,
    agreed: Mutex<Agreed>,
}

/// The file: folders, each with the digest that was agreed to.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Agreed {
    version: u32,
    folders: BTreeMap<PathBuf, String>,
}

impl Trust {
    pub(super) fn open(path: PathBuf, random: Random) -> Result<Self, Error> {
        let agreed = match private::read(&path)? {
            None => Agreed { version: 1, ..Agreed::default() },
            Some(text) => serde_json::from_str(&text)
                .ok()
                .filter(|agreed: &Agreed| agreed.version == 1)
                .ok_or_else(|| {
                    let message = format!("Failed to read the trusted folders in `{}`", path.display());
                    Error::new(Code::Internal, message, "move the file away and agree again")
                })?,
        };
        Ok(Trust(Arc::new(Shared { path, random, agreed: Mutex::new(agreed) })))
    }

    /// What a folder brings, and whether it may be used. It waits for the disk.
    pub fn look(&self, folder: &Path) -> Result<(Inspection, bool), Error> {
        let folder = whole(folder)?;
        let found = inspect(&folder);
        let trusted = found.commands.is_empty() || self.is_trusted(&folder, &found.digest);
        Ok((found, trusted))
    }

    /// Whether somebody has agreed to exactly this.
    pub fn is_trusted(&self, folder: &Path, digest: &str) -> bool {
        let agreed = self.0.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        agreed.folders.get(folder).is_some_and(|agreed| agreed == digest)
    }

    /// Agrees to what was shown; refused if that is not what is there now.
    pub fn agree(&self, folder: &Path, digest: &str) -> Result<(), Error> {
        let folder = whole(folder)?;
        if inspect(&folder).digest != digest {
            let hint = "look at it again before you agree";
            return Err(Error::new(Code::DigestMismatch, "The folder has changed since it was shown", hint));
        }
        self.change(|folders| {
            folders.insert(folder, digest.to_owned());
        })
    }

    /// Takes it back.
    pub fn withdraw(&self, folder: &Path) -> Result<(), Error> {
        let folder = whole(folder)?;
        self.change(|folders| {
            folders.remove(&folder);
        })
    }

    pub(super) fn view(&self, folder: &Path) -> Result<FolderTrust, Error> {
        let (found, trusted) = self.look(folder)?;
        let command = |found: Found| FoundCommand { file: found.file, place: found.place, text: found.text };
        Ok(FolderTrust {
            folder: whole(folder)?.display().to_string(),
            digest: found.digest,
            trusted,
            commands: found.commands.into_iter().map(command).collect(),
        })
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, String>)) -> Result<(), Error> {
        let mut agreed = self.0.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = agreed.folders.clone();
        change(&mut agreed.folders);
        let saved = if agreed.folders.len() > TRUSTED_FOLDERS_MAX {
            Err(Error::new(Code::TooMany, "Too many folders are trusted", "take some back"))
        } else {
            let text = serde_json::to_vec_pretty(&*agreed)
                .map_err(|error| Error::new(Code::Internal, error.to_string(), ""));
            text.and_then(|text| private::replace(&self.0.path, &text, &self.0.random))
        };
        if saved.is_err() {
            agreed.folders = before;
        }
        saved
    }
}

/// A folder by its one name.
fn whole(folder: &Path) -> Result<PathBuf, Error> {
    super::paths::inside(&[], folder)
}
