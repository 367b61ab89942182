//! The plugin folder of a scope, and its state on disk.

use std::env;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use tidings_commands::error::CannotRun;
use tidings_commands::sessions::RootArgs;

use super::plugin::{HookProgram, Manifest, NAME};

/// Sessions that get the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    /// Every session of this user
    User,
    /// Sessions that start in the current folder
    Project,
}

/// Files of the plugin, relative to its folder. The manifest is last: without it, Claude Code does not load
/// the folder.
pub(super) const HOOKS: &str = "hooks/hooks.json";
pub(super) const RECORD: &str = ".installed.json";
pub(super) const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Folders that `install` created around the plugin folder, so that `uninstall` can remove them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InstallRecord {
    pub(super) created_config_folder: bool,
    pub(super) created_skills_folder: bool,
}

/// Location of the plugin folder.
#[derive(Debug)]
pub(super) struct PluginFolder {
    pub(super) scope: Scope,
    /// Configuration folder of Claude Code, or `.claude` of the project.
    pub(super) config: PathBuf,
}

/// State of the plugin folder.
#[derive(Debug)]
pub(super) enum PluginState {
    Absent,
    Installed {
        version: String,
        program: Option<HookProgram>,
    },
    /// A folder or file that Tidings did not write.
    Foreign,
    /// A path on the way to the plugin's files is a symbolic link.
    Link(PathBuf),
}

impl PluginFolder {
    pub(super) fn of(scope: Scope) -> anyhow::Result<Self> {
        let config = match scope {
            Scope::User => std::path::absolute(RootArgs::config_folder_of_user())?,
            Scope::Project => env::current_dir()?.join(".claude"),
        };
        Ok(PluginFolder { scope, config })
    }

    pub(super) fn skills(&self) -> PathBuf {
        self.config.join("skills")
    }

    pub(super) fn path(&self) -> PathBuf {
        self.skills().join(NAME)
    }

    pub(super) fn state(&self) -> anyhow::Result<PluginState> {
        let path = self.path();
        // The user's configuration folder may be a link, for example into a folder of dotfiles.
        let config = Some(self.config.clone()).filter(|_| self.scope == Scope::Project);
        let inside = [path.join("hooks"), path.join(".claude-plugin")];
        let files = [path.join(HOOKS), path.join(MANIFEST), path.join(RECORD)];
        let outside = config.into_iter().chain([self.skills(), path.clone()]);
        for part in outside.chain(inside).chain(files) {
            if is_link(&part)? {
                return Ok(PluginState::Link(part));
            }
        }
        match path.symlink_metadata() {
            Err(error) if is_missing(&error) => return Ok(PluginState::Absent),
            Err(error) => return Err(error.into()),
            Ok(found) if !found.is_dir() => return Ok(PluginState::Foreign),
            Ok(_) => {}
        }
        let manifest = read(&path.join(MANIFEST))?;
        let Some(manifest) = manifest.and_then(|text| Manifest::parse_own(&text)) else {
            return Ok(PluginState::Foreign);
        };
        let program = read(&path.join(HOOKS))?.and_then(|text| HookProgram::parse(&text));
        Ok(PluginState::Installed { version: manifest.version, program })
    }

    pub(super) fn record(&self) -> anyhow::Result<InstallRecord> {
        let text = read(&self.path().join(RECORD))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}

impl Scope {
    pub(super) fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
        }
    }
}

/// Error for a folder that is not ours.
pub(super) fn foreign(path: &Path) -> CannotRun {
    CannotRun {
        code: "conflict",
        message: format!("This folder is not from Tidings: `{}`", path.display()),
        hint: "move or rename it, and try again",
    }
}

/// Error for a symbolic link, which may lead anywhere.
pub(super) fn link(path: &Path) -> CannotRun {
    CannotRun {
        code: "conflict",
        message: format!("Symbolic links are not followed: `{}`", path.display()),
        hint: "replace the link by a folder, or install the plugin with `claude plugin install`",
    }
}

pub(super) fn is_link(path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_symlink()),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads a small file; none if it does not exist or is not a text file.
fn read(path: &Path) -> io::Result<Option<String>> {
    const BYTES_MAX: u64 = 1 << 20;
    match path.symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).ok())
}
