//! `tidings backup`: copies a server's data to a new folder.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use fs_err as fs;
use serde::Serialize;
use tidings_base::files;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::human;
use tidings_commands::output::{Output, printable};
use tidings_commands::progress::Progress;
use tidings_journal::{JOURNAL_FILE, SqliteJournal};

use super::serve;
use crate::commands::remote::IGNORED_FOLDERS;

/// Copy a server's data to a new folder; works while the server runs
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupArgs {
    /// Folder to create; an existing one is never written to
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// Data folder of the server [default: the default of `tidings serve`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings backup /backup/tidings-monday
  tidings backup /backup/tidings --data /srv/tidings --json
  tidings serve --data /backup/tidings-monday           start from a copy

The copy is a data folder: the journal with every session, event and decision, the admin token, the devices, the \
trusted folders and the policies of folders. It is as secret as the original, and only its owner can read it. Clients that have seen events newer \
than the copy resynchronize. Running agents (hosts/) and archived sessions (archive/) are not copied.";

/// Other files of a data folder that are copied. Each may be missing, and the server replaces each
/// atomically.
const FILES: [&str; 6] =
    ["token", "devices.json", "trust.json", "policies.json", "journal.db-audit-key", IGNORED_FOLDERS];

/// JSON result of a backup.
#[derive(Serialize)]
struct BackupReport {
    path: PathBuf,
    bytes: u64,
    files: Vec<CopiedFile>,
}

#[derive(Serialize)]
struct CopiedFile {
    name: &'static str,
    bytes: u64,
}

impl BackupArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let data = self.data.clone().map_or_else(serve::configured_data, Ok)?;
        if !data.join(JOURNAL_FILE).is_file() {
            let message = format!("No server journal in `{}`", data.display());
            let hint = "name the data folder of the server with --data";
            return Err(CannotRun { code: "not_found", message, hint }.into());
        }
        let path = std::path::absolute(&self.out)?;
        if path.symlink_metadata().is_ok() {
            let message = format!("`{}` already exists", path.display());
            let hint = "choose another name; backups are not overwritten";
            return Err(CannotRun { code: "conflict", message, hint }.into());
        }
        let copied = copy(&data, path)?;
        if self.json {
            out.json(&copied)?;
        } else {
            out.text(&format!("{}\n", printable(&copied.path.display().to_string())))?;
            let files = human::plural(copied.files.len() as u64, "file");
            out.note(&format!(
                "Copied {files}, {}. Start from it with `tidings serve --data`.",
                human::bytes(copied.bytes)
            ))?;
        }
        Ok(Exit::Success)
    }
}

/// Fills a temporary folder and renames it, so that a folder with the final name is always complete.
fn copy(data: &Path, path: PathBuf) -> anyhow::Result<BackupReport> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    private_folder(&part).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => CannotRun {
            code: "conflict",
            message: format!("Another backup is running, or was aborted: `{}`", part.display()),
            hint: "remove that folder if no backup is running",
        }
        .into(),
        _ => anyhow::Error::new(error).context(format!("Failed to create the folder `{}`", part.display())),
    })?;
    let done = fill(data, &part).and_then(|files| {
        fs::rename(&part, &path)?;
        Ok(files)
    });
    if done.is_err() {
        drop(fs::remove_dir_all(&part));
    }
    let files = done?;
    Ok(BackupReport { path, bytes: files.iter().map(|file| file.bytes).sum(), files })
}

fn fill(data: &Path, part: &Path) -> anyhow::Result<Vec<CopiedFile>> {
    // Before the journal: a device paired during the copy may be missing, but no device revoked before it
    // regains access.
    let mut files = Vec::new();
    for name in FILES {
        let file = data.join(name);
        if file.is_symlink() {
            let message = format!("A file of the data folder is a link: `{}`", file.display());
            let hint = "put the file itself there, and try again";
            return Err(CannotRun { code: "forbidden", message, hint }.into());
        }
        match fs::read(file) {
            Ok(bytes) => {
                private_file(&part.join(name), &bytes)?;
                files.push(CopiedFile { name, bytes: bytes.len() as u64 });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    let copy = part.join(JOURNAL_FILE);
    let mut bar: Option<(Progress, u64)> = None;
    SqliteJournal::backup(&data.join(JOURNAL_FILE), &copy, |done, total| {
        let (progress, before) = bar.get_or_insert_with(|| (Progress::bytes("copying", total), 0));
        progress.done(done.saturating_sub(*before));
        *before = done;
    })
    .map_err(tidings_sessions::Error::from)?;
    files.insert(0, CopiedFile { name: JOURNAL_FILE, bytes: fs::metadata(&copy)?.len() });
    Ok(files)
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = files::create_private(path)?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}
