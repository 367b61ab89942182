use std::path::{Path, PathBuf};

use serde::Serialize;
use tidings_transcript::ErrorKind;
use tidings_transcript::index::{Index as Opened, Updated};
use tidings_transcript::roots::{Roots, SessionFiles};

use super::{Place, unreadable};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::progress::Progress;

/// Build or refresh the full-text index
///
/// With an index, a search in tens of gigabytes takes milliseconds. Searches keep it up to date by themselves while
/// little has changed; run this again, by hand or from a timer, after much has.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Index {
    /// Build it anew
    #[arg(long, conflicts_with_all = ["status", "drop"])]
    rebuild: bool,

    /// Only show what it holds
    #[arg(long, conflicts_with = "drop")]
    status: bool,

    /// Remove it
    #[arg(long)]
    drop: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions index            build it, or read what was written since
  tidings sessions index --status   what it holds and what it lacks
  tidings sessions index --drop     remove it; searches then read the files

It lies in $TIDINGS_CACHE_DIR, or in `tidings` in the user's cache folder, and only its owner can read it.

Exit codes: 0 everything was read, 1 something could not be, and is named, 2 wrong usage, 3 cannot run";

/// What happened, for scripts.
#[derive(Serialize)]
struct UpdatedLine {
    path: String,
    added: u64,
    grown: u64,
    replaced: u64,
    removed: u64,
    read_bytes: u64,
    #[serde(flatten)]
    holds: Holds,
}

/// What the index holds, for scripts.
#[derive(Serialize)]
struct StatusLine {
    path: String,
    exists: bool,
    pending_bytes: u64,
    #[serde(flatten)]
    holds: Holds,
}

#[derive(Serialize, Default)]
struct Holds {
    files: u64,
    covered_bytes: u64,
    index_bytes: u64,
}

#[derive(Serialize)]
struct DroppedLine {
    path: String,
    freed_bytes: u64,
}

impl Index {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let path = path()?;
        if self.drop {
            return dropped(&path, place, out);
        }
        let roots = place.roots()?;
        let found = roots.scan()?;
        let looked = unreadable::warn(&found.unreadable, out)?;
        if self.status {
            status(&path, &found.sessions, place, out)?;
            return Ok(looked);
        }
        if self.rebuild {
            Opened::remove(&path)?;
        }
        let updated = update(&path, &roots, &found.sessions, out)?;
        let holds = Holds::of(&Opened::create(&path)?)?;
        let read = unreadable::warn(&updated.unreadable, out)?;
        let Updated { added, grown, replaced, removed, bytes, .. } = updated;
        if place.json {
            let path = path.to_string_lossy().into_owned();
            let read_bytes = bytes;
            json(&UpdatedLine { path, added, grown, replaced, removed, read_bytes, holds }, out)?;
        } else {
            let read = human::bytes(bytes);
            out.text(&format!(
                "{added} new, {grown} grown, {replaced} replaced, {removed} removed: {read} read\n"
            ))?;
            out.text(&holds.shown(&path))?;
        }
        Ok(looked.and(read))
    }
}

/// Where the index lies.
pub(super) fn path() -> anyhow::Result<PathBuf> {
    let folder = Place::cache_folder().ok_or(CannotRun {
        code: "not_found",
        message: "There is no folder for caches".to_owned(),
        hint: "set TIDINGS_CACHE_DIR, or HOME",
    })?;
    Ok(folder.join("index.sqlite"))
}

/// Brings the index up to date; one that is damaged or mostly about files that are gone is built anew.
fn update(path: &Path, roots: &Roots, sessions: &[SessionFiles], out: &Output) -> anyhow::Result<Updated> {
    let once = || {
        let mut index = Opened::create(path)?;
        if index.is_worn()? {
            drop(index);
            Opened::remove(path)?;
            index = Opened::create(path)?;
        }
        let progress = Progress::bytes("indexing", index.pending(sessions)?);
        index.update(sessions, &roots.projects_folders(), |bytes| progress.done(bytes))
    };
    match once() {
        Err(error) if error.kind() == ErrorKind::Damaged => {
            out.note(&format!("{error}; it is built anew"))?;
            Opened::remove(path)?;
            Ok(once()?)
        }
        other => Ok(other?),
    }
}

fn status(path: &Path, sessions: &[SessionFiles], place: &Place, out: &mut Output) -> anyhow::Result<()> {
    let Some(index) = Opened::open(path)? else {
        let shown = path.to_string_lossy().into_owned();
        let pending_bytes = sessions.iter().map(SessionFiles::bytes).sum();
        if place.json {
            json(&StatusLine { path: shown, exists: false, pending_bytes, holds: Holds::default() }, out)?;
        } else {
            let hint = "`tidings sessions index` builds one";
            out.text(&format!("No index; {} could be in one ({hint})\n", human::bytes(pending_bytes)))?;
        }
        return Ok(());
    };
    let pending_bytes = index.pending(sessions)?;
    let holds = Holds::of(&index)?;
    if place.json {
        let path = path.to_string_lossy().into_owned();
        json(&StatusLine { path, exists: true, pending_bytes, holds }, out)?;
    } else {
        out.text(&holds.shown(path))?;
        out.text(&format!("{} still to be read\n", human::bytes(pending_bytes)))?;
    }
    Ok(())
}

fn dropped(path: &Path, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
    let freed_bytes = Opened::remove(path)?;
    if place.json {
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
    Ok(Exit::Fine)
}

impl Holds {
    fn of(index: &Opened) -> anyhow::Result<Self> {
        let status = index.status()?;
        Ok(Holds { files: status.files, covered_bytes: status.covered, index_bytes: status.bytes })
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
    Ok(out.bytes(format!("{}\n", serde_json::to_string(line)?).as_bytes())?)
}
