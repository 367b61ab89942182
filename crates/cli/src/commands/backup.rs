//! `tidings backup`: what a server keeps, copied to a new folder.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use fs_err as fs;
use serde::Serialize;
use tidings_bridge::SqliteJournal;

use super::serve;
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::progress::Progress;

/// Copy what a server keeps to a new folder, while it runs or not
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Backup {
    /// The folder to make; one that is there is never written to
    #[arg(value_name = "OUT")]
    out: PathBuf,

    /// The data folder of the server [default: that of `tidings serve`]
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

The copy is a data folder: the journal with every session, event and decision, the admin token, the devices and the \
folders that are trusted. It is as secret as the original, and only its owner may read it. Clients that saw more than \
the copy holds are told to start again. Not in it: agents that run (hosts/) and `tidings sessions archive` (archive/).";

/// The journal of a server in its data folder.
pub(crate) const JOURNAL: &str = "journal.db";

/// What else a server cannot do without. Each may be missing, and each is replaced in one go when it changes.
const FILES: [&str; 4] = ["token", "devices.json", "trust.json", "journal.db-audit-key"];

/// What was copied, for scripts.
#[derive(Serialize)]
struct Copied {
    path: PathBuf,
    bytes: u64,
    files: Vec<CopiedFile>,
}

#[derive(Serialize)]
struct CopiedFile {
    name: &'static str,
    bytes: u64,
}

impl Backup {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let data = self.data.clone().map_or_else(serve::usual_data, Ok)?;
        if !data.join(JOURNAL).is_file() {
            let message = format!("There is no journal of a server in `{}`", data.display());
            let hint = "name the data folder of the server with --data";
            return Err(CannotRun { code: "not_found", message, hint }.into());
        }
        let path = std::path::absolute(&self.out)?;
        if path.symlink_metadata().is_ok() {
            let message = format!("There is a `{}` already", path.display());
            let hint = "choose another name; backups are not overwritten";
            return Err(CannotRun { code: "conflict", message, hint }.into());
        }
        let copied = copy(&data, path)?;
        if self.json {
            out.text(&format!("{}\n", serde_json::to_string(&copied)?))?;
        } else {
            out.text(&format!("{}\n", printable(&copied.path.display().to_string())))?;
            let files = human::plural(copied.files.len() as u64, "file");
            out.note(&format!(
                "Copied {files}, {}. Start from it with `tidings serve --data`.",
                human::bytes(copied.bytes)
            ))?;
        }
        Ok(Exit::Fine)
    }
}

/// Fills a folder of another name, so that one of the right name is always whole.
fn copy(data: &Path, path: PathBuf) -> anyhow::Result<Copied> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    private_folder(&part).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => CannotRun {
            code: "conflict",
            message: format!("Another backup is under way, or was broken off: `{}`", part.display()),
            hint: "remove that folder if nobody is writing it",
        }
        .into(),
        _ => anyhow::Error::new(error).context(format!("Failed to make the folder `{}`", part.display())),
    })?;
    let done = fill(data, &part).and_then(|files| {
        fs::rename(&part, &path)?;
        Ok(files)
    });
    if done.is_err() {
        drop(fs::remove_dir_all(&part));
    }
    let files = done?;
    Ok(Copied { path, bytes: files.iter().map(|file| file.bytes).sum(), files })
}

fn fill(data: &Path, part: &Path) -> anyhow::Result<Vec<CopiedFile>> {
    // Before the journal: whoever is let in while it is copied may be missing, and nobody who was revoked before comes back.
    let mut files = Vec::new();
    for name in FILES {
        match fs::read(data.join(name)) {
            Ok(bytes) => {
                private_file(&part.join(name), &bytes)?;
                files.push(CopiedFile { name, bytes: bytes.len() as u64 });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    let copy = part.join(JOURNAL);
    let mut bar: Option<(Progress, u64)> = None;
    SqliteJournal::backup(&data.join(JOURNAL), &copy, |done, total| {
        let (progress, before) = bar.get_or_insert_with(|| (Progress::bytes("copying", total), 0));
        progress.done(done.saturating_sub(*before));
        *before = done;
    })
    .map_err(tidings_bridge::Error::from)?;
    files.insert(0, CopiedFile { name: JOURNAL, bytes: fs::metadata(&copy)?.len() });
    Ok(files)
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    fs_err::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()
}
