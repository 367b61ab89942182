//! Writes a repaired copy of a session file, with a list of all repairs.
//!
//! ```no_run
//! use std::path::Path;
//! use tidings_transcript::repair::{self, Existing, RepairEvent};
//!
//! let (file, copy) = (Path::new("talk.jsonl"), Path::new("repaired.jsonl"));
//! let report = repair::file(file, copy, Existing::Refuse, |event| {
//!     if let RepairEvent::Action(action) = event {
//!         println!("line {}: {}", action.place.line, action.message);
//!     }
//! })?;
//! println!("{} repairs, {} bytes set aside", report.actions, report.lost_bytes);
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! The file itself is never changed, and the copy differs only where necessary:
//!
//! - Truncated, glued and NUL-filled lines: whole entries in them get lines of their own. Invalid UTF-8
//!   becomes U+FFFD.
//! - An entry that occurs several times stays at its first position with the contents of its last copy.
//! - A tool call whose result is lost, although the model continued, gets a result that notes the loss. The
//!   call at the end of a conversation is left alone: the CLI itself handles it.
//! - A tool result whose call is lost becomes text that notes the loss, since the API would reject it; the
//!   result itself is set aside.
//! - A missing parent is replaced by the preceding entry in the same lane: the main conversation is one lane,
//!   each sub-agent's another. So is the parent of the first entry of a cycle.
//! - A missing leaf to resume from is replaced by the last message before it, the last one of the file by the
//!   file's last message.
//!
//! A file in UTF-16, and a file without any readable entry, are errors: nothing is written.
//!
//! Bytes that cannot stay, and are nowhere else, go to a file beside the copy. Files of sub-agents are files
//! of their own. A copy of a repaired file has nothing left to repair.

mod copies;
mod edit;
mod links;
mod new_file;
mod orphans;
mod plan;
mod results;
mod survey;
mod synthetic;
mod write;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use new_file::RepairedFile;
use plan::RepairPlan;
use survey::Survey;
use write::CopyWriter;

use crate::blocks::Buffer;
use crate::check::other_files::OtherFiles;
use crate::error::At as _;
use crate::roots::FileInfo;
use crate::{Error, ErrorKind, Position, Rule, encoding};

/// Handling of files that exist already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to write.
    Refuse,
    /// Overwrite them.
    Replace,
}

/// Progress of a repair.
#[derive(Debug)]
pub enum RepairEvent<'a> {
    /// A repair was made.
    Action(&'a Action),
    /// Number of bytes that were copied since the last event.
    Read(u64),
}

/// One repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// Position in the damaged file.
    pub place: Position,
    /// The violated rule.
    pub rule: Rule,
    /// Description of the repair, to show.
    pub message: String,
    /// Uuid of the entry, if it has one.
    pub uuid: Option<String>,
}

/// Counts of a repair.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RepairReport {
    /// Number of lines of the damaged file.
    pub lines: u64,
    /// Number of repairs.
    pub actions: u64,
    /// Number of repairs by rule.
    pub rules: BTreeMap<Rule, u64>,
    /// Number of bytes that are in no line of the copy.
    pub lost_bytes: u64,
    /// Path of the file with these bytes, if there are any.
    pub lost: Option<PathBuf>,
}

/// Writes a repaired copy of `source` to `out`, and the bytes that cannot stay to `out` with `.lost`
/// appended.
pub fn file(
    source: &Path,
    out: &Path,
    existing: Existing,
    each: impl FnMut(RepairEvent<'_>),
) -> Result<RepairReport, Error> {
    let info = FileInfo::of(source)?;
    let lost_path = write::lost_path(out);
    refuse_to_overwrite(source, &info, out, &lost_path, existing)?;
    let mut opened = File::open(source).at("read", source)?;
    if encoding::is_utf_16(&mut opened).at("read", source)? {
        let message = format!("The file is UTF-16: `{}`", source.display());
        return Err(Error::new(ErrorKind::Invalid, message, encoding::UTF_16_HINT).about(source));
    }
    let permissions = opened.metadata().at("look at", source)?.permissions();
    let mut buffer = Buffer::default();
    // Lines appended meanwhile are ignored.
    let mut survey = Survey::of(&mut opened, info.bytes, &mut buffer).at("read", source)?;
    if info.bytes > 0 && !survey.has_content() {
        let message = format!("The file contains no session entry: `{}`", source.display());
        let hint = "nothing was written; the file may be another kind of file, or lost";
        return Err(Error::new(ErrorKind::Invalid, message, hint).about(source));
    }
    survey.add_other_files(OtherFiles::of(source, &[source]));
    let mut writing = CopyWriter {
        source,
        elsewhere: File::open(source).at("read", source)?,
        plan: RepairPlan::of(survey),
        out: RepairedFile::begin(out)?,
        lost_path,
        lost: None,
        report: RepairReport::default(),
        each,
    };
    writing.all(&mut opened, info.bytes, &mut buffer)?;
    let CopyWriter { out, lost, lost_path, mut report, .. } = writing;
    // First the bytes that would be lost otherwise.
    if let Some(lost) = lost {
        lost.finish(permissions.clone())?;
        report.lost = Some(lost_path);
    }
    out.finish(permissions)?;
    Ok(report)
}

fn refuse_to_overwrite(
    source: &Path,
    info: &FileInfo,
    out: &Path,
    lost: &Path,
    existing: Existing,
) -> Result<(), Error> {
    let there = FileInfo::of(out).ok();
    let is_same = fs_err::canonicalize(source).ok() == fs_err::canonicalize(out).ok()
        || there
            .as_ref()
            .is_some_and(|there| there.id == info.id && there.id != crate::roots::FileId::default());
    if there.is_some() && is_same {
        let message = format!("The copy would overwrite the file itself: `{}`", out.display());
        return Err(Error::new(
            ErrorKind::Invalid,
            message,
            "give the copy another name, review it, then move it",
        ));
    }
    if existing == Existing::Refuse {
        for path in [out, lost] {
            if path.symlink_metadata().is_ok() {
                let message = format!("The file exists already: `{}`", path.display());
                return Err(Error::new(
                    ErrorKind::Invalid,
                    message,
                    "give another name, or --force to overwrite it",
                ));
            }
        }
    }
    Ok(())
}
