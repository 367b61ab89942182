//! Trust in folders that contain commands of their own (T10).
//!
//! A repository can contain hooks, MCP servers, API key helpers and settings that send the agent to another
//! server. In a terminal `claude` asks the user before it uses them. Without a terminal it does not ask, so
//! the server does.
//!
//! Call [`Trust::look`] before an agent is started in a folder. If the folder is not trusted, start the agent
//! with the settings of the user only (`Options::setting_sources([SettingSource::User])`) and without the
//! folder's MCP servers (`Options::strict_mcp_config()`).

mod inspect;
mod markdown;
mod rule;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tidings_api::{Code, FolderTrust, FoundCommand, TrustedFolderList};

pub use inspect::{FolderCommand, Inspection, inspect};
pub(crate) use rule::{TrustBaseline, TrustChange};

use super::private;
use crate::Error;
use crate::limits::{TRUSTED_FOLDERS_MAX, TRUSTED_LIST_MAX};

/// The trusted folders. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Trust(Arc<TrustState>);

#[derive(Debug)]
struct TrustState {
    path: PathBuf,
    agreed: Mutex<Agreed>,
}

/// The content of the file: trusted folders with their digests.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Agreed {
    version: u32,
    folders: BTreeMap<PathBuf, String>,
}

impl Trust {
    /// Reads the file of trusted folders.
    pub fn open(path: PathBuf) -> Result<Self, Error> {
        let agreed = match private::read(&path)? {
            None => Agreed { version: 1, ..Agreed::default() },
            Some(text) => serde_json::from_str(&text)
                .ok()
                .filter(|agreed: &Agreed| agreed.version == 1)
                .ok_or_else(|| {
                    let message = format!("Failed to read the trusted folders in `{}`", path.display());
                    Error::new(Code::Internal, message, "move the file away and trust your folders again")
                })?,
        };
        Ok(Trust(Arc::new(TrustState { path, agreed: Mutex::new(agreed) })))
    }

    /// Inspects a folder. Returns true if it is harmless or trusted. Blocks on disk I/O.
    pub fn look(&self, folder: &Path) -> Result<(Inspection, bool), Error> {
        let folder = canonical_folder(folder)?;
        let found = inspect(&folder);
        let trusted = found.commands.is_empty() || self.is_trusted(&folder, &found.digest);
        Ok((found, trusted))
    }

    /// True if exactly this digest of the folder is trusted.
    pub fn is_trusted(&self, folder: &Path, digest: &str) -> bool {
        let agreed = self.0.agreed.lock();
        agreed.folders.get(folder).is_some_and(|agreed| agreed == digest)
    }

    /// Trusts a folder with the digest that was shown. Fails if the folder has changed since.
    pub fn agree(&self, folder: &Path, digest: &str) -> Result<(), Error> {
        let folder = canonical_folder(folder)?;
        if inspect(&folder).digest != digest {
            let hint = "inspect it again before you trust it";
            return Err(Error::new(Code::DigestMismatch, "The folder has changed since it was shown", hint));
        }
        self.change(|folders| {
            folders.insert(folder, digest.to_owned());
        })
    }

    /// Withdraws the trust in a folder, which need not exist any more.
    pub fn withdraw(&self, folder: &Path) -> Result<(), Error> {
        let folder = canonical_folder(folder).unwrap_or_else(|_| folder.to_owned());
        self.change(|folders| {
            folders.remove(&folder);
        })
    }

    /// The folders that users trusted, with what they contain now. Blocks on disk I/O.
    pub fn list(&self, sees: impl Fn(&Path) -> bool) -> TrustedFolderList {
        let agreed: Vec<PathBuf> = self.0.agreed.lock().folders.keys().cloned().collect();
        let mut folders = agreed.into_iter().filter(|folder| sees(folder));
        let items = folders.by_ref().take(TRUSTED_LIST_MAX).map(|folder| self.view_or_missing(&folder));
        let items = items.collect();
        TrustedFolderList { items, more: folders.next().is_some() }
    }

    /// The same as [`Trust::view`], also of a folder that does not exist.
    pub fn view_or_missing(&self, folder: &Path) -> FolderTrust {
        self.view(folder).unwrap_or_else(|_| FolderTrust {
            folder: folder.display().to_string(),
            digest: String::new(),
            trusted: false,
            commands: Vec::new(),
            missing: true,
        })
    }

    /// A folder with the commands that were found in it.
    pub fn view(&self, folder: &Path) -> Result<FolderTrust, Error> {
        let (found, trusted) = self.look(folder)?;
        let command =
            |found: FolderCommand| FoundCommand { file: found.file, place: found.place, text: found.text };
        Ok(FolderTrust {
            folder: canonical_folder(folder)?.display().to_string(),
            digest: found.digest,
            trusted,
            commands: found.commands.into_iter().map(command).collect(),
            missing: false,
        })
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<PathBuf, String>)) -> Result<(), Error> {
        let mut agreed = self.0.agreed.lock();
        let before = agreed.folders.clone();
        change(&mut agreed.folders);
        let saved = if agreed.folders.len() > TRUSTED_FOLDERS_MAX {
            Err(Error::new(
                Code::TooMany,
                "Too many folders are trusted",
                "withdraw the trust in some of them",
            ))
        } else {
            let text = serde_json::to_vec_pretty(&*agreed)
                .map_err(|error| Error::new(Code::Internal, error.to_string(), ""));
            text.and_then(|text| private::replace(&self.0.path, &text))
        };
        if saved.is_err() {
            agreed.folders = before;
        }
        saved
    }
}

/// The canonical path of a folder.
fn canonical_folder(folder: &Path) -> Result<PathBuf, Error> {
    super::paths::inside(&[], folder)
}
