//! The hooks as entries of a settings file, for versions of Claude Code that do not load plugin folders.
//!
//! The bytes of the file are saved before it is changed, and `uninstall` puts them back. A file that was
//! edited since is left alone.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use tidings_base::files::NewFile;
use tidings_commands::error::CannotRun;

use super::folder::{PluginFolder, Scope, is_link, link};
use super::plugin::HookProgram;
use super::settings_text::SettingsText;

/// Folder beside the settings file with the saved copy.
const SAVED: &str = "tidings-hooks";
const BEFORE: &str = "before.json";
const AFTER: &str = "after.json";
const RECORD: &str = "installed.json";

/// Longest settings file.
const BYTES_MAX: u64 = 16 << 20;

/// A settings file that may have our entries.
#[derive(Debug)]
pub(super) struct SettingsEntries {
    /// The settings file.
    pub(super) path: PathBuf,
    config: PathBuf,
    saved: PathBuf,
}

/// State of the entries.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntriesState {
    Absent,
    Installed(EntriesRecord),
    /// The file has changed since the entries were written.
    Edited(EntriesRecord),
}

/// Facts about an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EntriesRecord {
    /// Version of Tidings.
    pub(super) version: String,
    pub(super) program: String,
    pub(super) data: Option<String>,
    created_config_folder: bool,
}

impl SettingsEntries {
    /// The user's settings, or the project's settings that are not committed: the entries contain paths of
    /// this machine.
    pub(super) fn of(scope: Scope) -> anyhow::Result<Self> {
        let config = PluginFolder::of(scope)?.config;
        let name = match scope {
            Scope::User => "settings.json",
            Scope::Project => "settings.local.json",
        };
        Ok(SettingsEntries { path: config.join(name), saved: config.join(SAVED), config })
    }

    pub(super) fn state(&self) -> anyhow::Result<EntriesState> {
        for path in [&self.path, &self.saved] {
            if is_link(path)? && self.saved.symlink_metadata().is_ok() {
                return Err(link(path).into());
            }
        }
        let Some(record) = read(&self.saved.join(RECORD))? else { return Ok(EntriesState::Absent) };
        let record: EntriesRecord = serde_json::from_slice(&record)?;
        let is_ours = read(&self.path)? == read(&self.saved.join(AFTER))?;
        Ok(if is_ours { EntriesState::Installed(record) } else { EntriesState::Edited(record) })
    }

    /// True if the file still has the command of a hook, also if it was edited.
    pub(super) fn has_hooks(&self) -> anyhow::Result<bool> {
        let text = read(&self.path)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&text).contains("hook run PermissionRequest"))
    }

    /// The text of the settings file with the entries. The file must not have entries of ours.
    pub(super) fn text_with(&self, hooks: &HookProgram) -> anyhow::Result<String> {
        let before = self.before()?.unwrap_or_default();
        let before = String::from_utf8(before).map_err(|_| self.unreadable("it is not valid UTF-8"))?;
        let mut settings =
            SettingsText::parse(&before).map_err(|error| self.unreadable(&error.to_string()))?;
        for (event, group) in hooks.entries() {
            settings.add_hook(event, group).map_err(|error| self.unreadable(&error.to_string()))?;
        }
        Ok(settings.text())
    }

    /// Writes the entries. The copy is saved first.
    pub(super) fn install(&self, hooks: &HookProgram) -> anyhow::Result<()> {
        for path in [&self.path, &self.saved] {
            if is_link(path)? {
                return Err(link(path).into());
            }
        }
        let created_config_folder = match self.state()? {
            EntriesState::Installed(record) => record.created_config_folder,
            // An installation was interrupted before it changed the file.
            EntriesState::Edited(record) if read(&self.path)? == self.before()? => {
                record.created_config_folder
            }
            EntriesState::Edited(_) => return Err(self.edited().into()),
            EntriesState::Absent => !self.config.exists(),
        };
        let (found, before, after) = (read(&self.path)?, self.before()?, self.text_with(hooks)?);
        let record = EntriesRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: hooks.program.clone(),
            data: hooks.data.clone(),
            created_config_folder,
        };
        fs::create_dir_all(&self.saved)?;
        match &before {
            Some(before) => replace(&self.saved.join(BEFORE), before, &self.path)?,
            None => remove(&self.saved.join(BEFORE))?,
        }
        replace(&self.saved.join(AFTER), after.as_bytes(), &self.path)?;
        // Until this file is there, nothing is installed.
        replace(&self.saved.join(RECORD), &serde_json::to_vec(&record)?, &self.path)?;
        if read(&self.path)? != found {
            return Err(self.edited().into());
        }
        replace(&self.path, after.as_bytes(), &self.path)
    }

    /// Puts the saved bytes back.
    pub(super) fn uninstall(&self) -> anyhow::Result<()> {
        let record = match self.state()? {
            EntriesState::Absent => return Ok(()),
            EntriesState::Installed(record) => record,
            // The installation was interrupted before, or the removal was.
            EntriesState::Edited(record) if read(&self.path)? == self.before()? => record,
            EntriesState::Edited(_) => return Err(self.edited().into()),
        };
        match self.before()? {
            Some(before) => replace(&self.path, &before, &self.path)?,
            None => remove(&self.path)?,
        }
        for name in [RECORD, AFTER, BEFORE] {
            remove(&self.saved.join(name))?;
        }
        fs::remove_dir(&self.saved)?;
        if record.created_config_folder {
            super::uninstall::remove_if_empty(&self.config)?;
        }
        Ok(())
    }

    /// The bytes of the file without the entries; none if there was no file.
    fn before(&self) -> anyhow::Result<Option<Vec<u8>>> {
        let has_copy = self.saved.join(RECORD).exists();
        Ok(read(&if has_copy { self.saved.join(BEFORE) } else { self.path.clone() })?)
    }

    fn unreadable(&self, why: &str) -> CannotRun {
        CannotRun {
            code: "conflict",
            message: format!("This settings file cannot be extended, {why}: `{}`", self.path.display()),
            hint: "correct the file, or update Claude Code with `claude update`; nothing was changed",
        }
    }

    fn edited(&self) -> CannotRun {
        CannotRun {
            code: "conflict",
            message: format!(
                "The settings were edited since the hooks were added: `{}`",
                self.path.display()
            ),
            hint: "remove the hooks that run `tidings hook run` from it and then the folder `tidings-hooks` beside it; \
                   nothing was changed",
        }
    }
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let missing =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= BYTES_MAX => fs::read(path).map(Some),
        Ok(_) => Err(io::Error::other(format!("Not a file of a usual size: `{}`", path.display()))),
        Err(error) if missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces a file atomically. It gets the permissions of another one, since settings may contain secrets.
fn replace(path: &Path, bytes: &[u8], like: &Path) -> anyhow::Result<()> {
    let mut new = NewFile::beside(path)?;
    if let Ok(found) = fs::metadata(like) {
        new.file().set_permissions(found.permissions())?;
    }
    new.write_all(bytes)?;
    Ok(new.put_durably()?)
}
