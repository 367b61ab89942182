//! `tidings hook uninstall`: removes the plugin folder.

use std::io;
use std::path::Path;

use fs_err as fs;
use tidings_commands::error::Exit;
use tidings_commands::output::{Output, printable};

use super::HookUninstallArgs;
use super::entries::{EntriesState, SettingsEntries};
use super::folder::{HOOKS, MANIFEST, PluginFolder, PluginState, RECORD, foreign, link};

impl HookUninstallArgs {
    pub(super) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let folder = PluginFolder::of(self.target.scope)?;
        let entries = SettingsEntries::of(self.target.scope)?;
        let path = folder.path();
        let shown = printable(&path.display().to_string());
        match folder.state()? {
            PluginState::Installed { .. } => {}
            PluginState::Absent if entries.state()? != EntriesState::Absent => {
                return self.run_entries(&entries, out);
            }
            PluginState::Absent => {
                out.note(&format!("The hooks are not installed: there is no `{shown}`."))?;
                return Ok(Exit::Success);
            }
            PluginState::Foreign => return Err(foreign(&path).into()),
            PluginState::Link(path) => return Err(link(&path).into()),
        }
        if self.target.dry_run {
            out.note("Would remove this folder:")?;
            out.text(&format!("{shown}\n"))?;
            return Ok(Exit::Success);
        }
        remove(&folder)?;
        if path.exists() {
            out.note(&format!(
                "Removed the hooks. `{shown}` has files that are not from Tidings; it stays."
            ))?;
        } else {
            out.note("Removed the hooks. Running sessions keep theirs until they end.")?;
        }
        if entries.state()? != EntriesState::Absent {
            return self.run_entries(&entries, out);
        }
        Ok(Exit::Success)
    }

    /// Takes the entries out of the settings.
    fn run_entries(&self, entries: &SettingsEntries, out: &mut Output) -> anyhow::Result<Exit> {
        if self.target.dry_run {
            out.note("Would put this file back as it was:")?;
            out.text(&format!("{}\n", printable(&entries.path.display().to_string())))?;
            return Ok(Exit::Success);
        }
        entries.uninstall()?;
        out.note("Removed the hooks from the settings. Running sessions keep theirs until they end.")?;
        Ok(Exit::Success)
    }
}

/// Removes our files, and the folders that are empty then.
pub(super) fn remove(folder: &PluginFolder) -> anyhow::Result<()> {
    let path = folder.path();
    let record = folder.record()?;
    // The manifest is last: it marks the folder as ours if the removal is interrupted.
    for name in [HOOKS, RECORD, MANIFEST] {
        match fs::remove_file(path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    for empty in [path.join("hooks"), path.join(".claude-plugin"), path] {
        remove_if_empty(&empty)?;
    }
    if record.created_skills_folder {
        remove_if_empty(&folder.skills())?;
    }
    if record.created_config_folder {
        remove_if_empty(&folder.config)?;
    }
    Ok(())
}

pub(super) fn remove_if_empty(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Err(error)
        }
        _ => Ok(()),
    }
}
