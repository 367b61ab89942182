//! `tidings sessions index`: builds, shows and removes the full-text index.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tidings_transcript::ErrorKind;
use tidings_transcript::index::{Index, Updated};
use tidings_transcript::roots::{Roots, SessionFiles};

use super::{RootArgs, unreadable};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::progress::Progress;

/// Build or refresh the full-text index
///
/// With an index, a search in tens of gigabytes takes milliseconds. A search adds small changes to the index
/// itself; run this command, by hand or from a timer, after large changes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IndexArgs {
    /// Rebuild it from scratch
    #[arg(long, conflicts_with_all = ["status", "drop"])]
    rebuild: bool,

    /// Only show its status
    #[arg(long, conflicts_with = "drop")]
    status: bool,

    /// Remove it
    #[arg(long)]
    drop: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions index            build it, or add what was written since
  tidings sessions index --status   show what it contains and what is missing
  tidings sessions index --drop     remove it; searches then read the files

The index is stored in $TIDINGS_CACHE_DIR, or in `tidings` in the user's cache folder, and only its owner can read it.

Exit codes: 0 everything was read, 1 some files could not be read (see the warnings), 2 wrong usage, \
3 the command could not run";

/// JSON output of an update.
#[derive(Serialize)]
struct UpdatedLine {
    path: String,
    added: u64,
    grown: u64,
    replaced: u64,
    removed: u64,
    read_bytes: u64,
    #[serde(flatten)]
    size: IndexSize,
}

/// JSON output of `--status`.
#[derive(Serialize)]
struct IndexStatusLine {
    path: String,
    exists: bool,
    pending_bytes: u64,
    #[serde(flatten)]
    size: IndexSize,
}

#[derive(Serialize, Default)]
struct IndexSize {
    files: u64,
    covered_bytes: u64,
    index_bytes: u64,
}

#[derive(Serialize)]
struct DroppedLine {
    path: String,
    freed_bytes: u64,
}

impl IndexArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let path = path()?;
        if self.drop {
            return dropped(&path, root, out);
        }
        let roots = root.roots()?;
        let found = roots.scan()?;
        let looked = unreadable::warn(&found.unreadable, out)?;
        if self.status {
            status(&path, &found.sessions, root, out)?;
            return Ok(looked);
        }
        if self.rebuild {
            Index::remove(&path)?;
        }
        let updated = update(&path, &roots, &found.sessions, out)?;
        let size = IndexSize::of(&Index::create(&path)?)?;
        let read = unreadable::warn(&updated.unreadable, out)?;
        let Updated { added, grown, replaced, removed, bytes, .. } = updated;
        if root.json {
            let path = path.to_string_lossy().into_owned();
            let read_bytes = bytes;
            json(&UpdatedLine { path, added, grown, replaced, removed, read_bytes, size }, out)?;
        } else {
            let read = human::bytes(bytes);
            out.text(&format!(
                "{added} new, {grown} grown, {replaced} replaced, {removed} removed: {read} read\n"
            ))?;
            out.text(&size.shown(&path))?;
        }
        Ok(looked.and(read))
    }
}

/// Returns the path of the index.
pub(super) fn path() -> anyhow::Result<PathBuf> {
    let folder = RootArgs::cache_folder().ok_or(CannotRun {
        code: "not_found",
        message: "No folder for caches".to_owned(),
        hint: "set TIDINGS_CACHE_DIR, or HOME",
    })?;
    Ok(folder.join("index.sqlite"))
}

/// Updates the index; rebuilds it if it is damaged or mostly about deleted files.
fn update(path: &Path, roots: &Roots, sessions: &[SessionFiles], out: &Output) -> anyhow::Result<Updated> {
    let once = || {
        let mut index = Index::create(path)?;
        if index.is_worn()? {
            drop(index);
            Index::remove(path)?;
            index = Index::create(path)?;
        }
        let progress = Progress::bytes("indexing", index.pending(sessions)?);
        index.update(sessions, &roots.projects_folders(), |bytes| progress.done(bytes))
    };
    match once() {
        Err(error) if error.kind() == ErrorKind::Damaged => {
            out.note(&format!("{error}; rebuilding it"))?;
            Index::remove(path)?;
            Ok(once()?)
        }
        other => Ok(other?),
    }
}

fn status(path: &Path, sessions: &[SessionFiles], root: &RootArgs, out: &mut Output) -> anyhow::Result<()> {
    let Some(index) = Index::open(path)? else {
        let shown = path.to_string_lossy().into_owned();
        let pending_bytes = sessions.iter().map(SessionFiles::bytes).sum();
        if root.json {
            json(
                &IndexStatusLine { path: shown, exists: false, pending_bytes, size: IndexSize::default() },
                out,
            )?;
        } else {
            let hint = "`tidings sessions index` builds one";
            out.text(&format!("No index; {} to index ({hint})\n", human::bytes(pending_bytes)))?;
        }
        return Ok(());
    };
    let pending_bytes = index.pending(sessions)?;
    let size = IndexSize::of(&index)?;
    if root.json {
        let path = path.to_string_lossy().into_owned();
        json(&IndexStatusLine { path, exists: true, pending_bytes, size }, out)?;
    } else {
        out.text(&size.shown(path))?;
        out.text(&format!("{} not indexed yet\n", human::bytes(pending_bytes)))?;
    }
    Ok(())
}

fn dropped(path: &Path, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let freed_bytes = Index::remove(path)?;
    if root.json {
        json(&DroppedLine { path: path.to_string_lossy().into_owned(), freed_bytes }, out)?;
    } else if freed_bytes == 0 {
        out.text("No index\n")?;
    } else {
        out.text(&format!(
            "Removed {}: {}\n",
            human::bytes(freed_bytes),
            printable(&path.to_string_lossy())
        ))?;
    }
    Ok(Exit::Success)
}

impl IndexSize {
    fn of(index: &Index) -> anyhow::Result<Self> {
        let status = index.status()?;
        Ok(IndexSize { files: status.files, covered_bytes: status.covered, index_bytes: status.bytes })
    }

    fn shown(&self, path: &Path) -> String {
        let path = printable(&path.to_string_lossy());
        format!(
            "{} files, {} in {}: {path}\n",
            self.files,
            human::bytes(self.covered_bytes),
            human::bytes(self.index_bytes)
        )
    }
}

fn json(line: &impl Serialize, out: &mut Output) -> anyhow::Result<()> {
    out.json(line)
}
