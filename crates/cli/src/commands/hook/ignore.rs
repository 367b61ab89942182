//! `tidings hook ignore`: folders whose sessions are not reported.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use fs_err as fs;
use tidings_base::files;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::{Output, printable};

use super::{HookIgnoreArgs, data_folder};
use crate::commands::remote::IGNORED_FOLDERS;

/// Reads the ignored folders; none if there is no such file.
pub(super) fn read(data: &Path) -> Vec<PathBuf> {
    let text = std::fs::read(data.join(IGNORED_FOLDERS)).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').map(|line| OsString::from_vec(line.to_vec()));
    // An empty or relative path would ignore folders by accident.
    lines.map(PathBuf::from).filter(|path| path.is_absolute()).collect()
}

impl HookIgnoreArgs {
    pub(super) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let data = data_folder(self.data.as_ref())?;
        let mut folders = read(&data);
        let shown = |folder: &Path| printable(&folder.display().to_string());
        if self.remove {
            let folder = self.listed(&folders)?;
            folders.retain(|listed| *listed != folder);
            write(&data, &folders)?;
            out.note(&format!("Sessions in `{}` are reported again.", shown(&folder)))?;
            return Ok(Exit::Success);
        }
        let folder = fs::canonicalize(&self.folder)?;
        check(&folder)?;
        if folders.contains(&folder) {
            out.note(&format!("`{}` is already ignored.", shown(&folder)))?;
            return Ok(Exit::Success);
        }
        folders.push(folder.clone());
        write(&data, &folders)?;
        out.note(&format!("Sessions in `{}` and below are no longer reported.", shown(&folder)))?;
        Ok(Exit::Success)
    }

    /// The listed folder to remove, which may no longer exist.
    fn listed(&self, folders: &[PathBuf]) -> anyhow::Result<PathBuf> {
        let given = std::path::absolute(&self.folder)?;
        let real = std::fs::canonicalize(&given).ok();
        let found = [real, Some(given)].into_iter().flatten().find(|folder| folders.contains(folder));
        found.ok_or_else(|| {
            CannotRun {
                code: "not_found",
                message: format!("This folder is not ignored: `{}`", self.folder.display()),
                hint: "`tidings hook status` lists the ignored folders",
            }
            .into()
        })
    }
}

fn check(folder: &Path) -> Result<(), CannotRun> {
    let refused = |message: &str, hint| {
        let message = format!("{message}: `{}`", printable(&folder.display().to_string()));
        Err(CannotRun { code: CannotRun::USAGE, message, hint })
    };
    if !folder.is_dir() {
        return refused("Not a folder", "name the folder that sessions work in");
    }
    if folder.as_os_str().as_bytes().contains(&b'\n') {
        return refused("The path has a line break, and cannot be stored", "rename the folder");
    }
    Ok(())
}

/// Replaces the file, so that a hook reads the old list or the new one.
fn write(data: &Path, folders: &[PathBuf]) -> anyhow::Result<()> {
    tidings_sessions::private::data_folder(data)?;
    let mut text = Vec::new();
    for folder in folders {
        text.extend_from_slice(folder.as_os_str().as_bytes());
        text.push(b'\n');
    }
    Ok(files::replace(&data.join(IGNORED_FOLDERS), &text)?)
}
