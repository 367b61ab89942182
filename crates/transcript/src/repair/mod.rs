//! A repaired copy of a session file, and a list of what was done.
//!
//! ```no_run
//! use std::path::Path;
//! use tidings_transcript::repair::{self, Event, Existing};
//!
//! let (file, copy) = (Path::new("talk.jsonl"), Path::new("repaired.jsonl"));
//! let report = repair::file(file, copy, Existing::Refuse, |event| {
//!     if let Event::Action(action) = event {
//!         println!("line {}: {}", action.place.line, action.message);
//!     }
//! })?;
//! println!("{} repairs, {} bytes set aside", report.actions, report.lost_bytes);
//! # Ok::<(), tidings_transcript::Error>(())
//! ```
//!
//! The file itself is never changed, and in the copy nothing changes but what has to:
//!
//! - Cut, glued and NUL-filled lines: whole entries in them get lines of their own. Bytes that are no UTF-8 become
//!   U+FFFD.
//! - An entry that stands there several times stays where it stood first and says what its last copy says.
//! - A tool call whose result is lost, though the model went on, gets a result that says so. The call at the end of a
//!   conversation is left alone: the CLI itself deals with it.
//! - A tool result whose call is lost becomes text that says so, since the API refuses it as it is; the result itself is
//!   set aside.
//! - A parent that no line bears is replaced by the entry before in the same lane: the main conversation is one, each
//!   sub-agent's another. So is the parent of the first entry of a ring.
//! - A leaf to resume from that no line bears is replaced by the last message before it, the last one of the file by
//!   the file's last message.
//!
//! A file in UTF-16, and one in which no entry can be read, are errors: nothing is written.
//!
//! What cannot stay, and is nowhere else, goes to a file beside the copy. Files of sub-agents are files of their own.
//! A copy of a repaired file has nothing left to repair.

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

use crate::blocks::Buffer;
use crate::error::At as _;
use crate::relatives::Elsewhere;
use crate::roots::FileInfo;
use crate::{Error, ErrorKind, Place, Rule, encoding};
use new_file::NewFile;
use plan::Plan;
use survey::Survey;
use write::Writing;

/// What to do with files that are there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave them, and do nothing.
    Refuse,
    /// Write over them.
    Replace,
}

/// What happens while a file is repaired.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something was done.
    Action(&'a Action),
    /// So many more bytes were copied.
    Read(u64),
}

/// One repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// Where in the damaged file.
    pub place: Place,
    /// The rule that did not hold.
    pub rule: Rule,
    /// What was done, to show.
    pub message: String,
    /// The entry, where it has a name.
    pub uuid: Option<String>,
}

/// What was done in all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Lines of the damaged file.
    pub lines: u64,
    /// Repairs.
    pub actions: u64,
    /// Repairs by rule.
    pub rules: BTreeMap<Rule, u64>,
    /// Bytes that are in no line of the copy.
    pub lost_bytes: u64,
    /// Where these are, if there are any.
    pub lost: Option<PathBuf>,
}

/// Writes a repaired copy of `source` to `out`, and what had to go to `out` with `.lost` behind it.
pub fn file(
    source: &Path,
    out: &Path,
    existing: Existing,
    each: impl FnMut(Event<'_>),
) -> Result<Report, Error> {
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
    // Lines that are appended while we read are none of ours.
    let mut survey = Survey::of(&mut opened, info.bytes, &mut buffer).at("read", source)?;
    if info.bytes > 0 && !survey.has_content() {
        let message = format!("Nothing in the file is a session entry: `{}`", source.display());
        let hint = "nothing was written; the file may be another kind of file, or lost";
        return Err(Error::new(ErrorKind::Invalid, message, hint).about(source));
    }
    survey.know_elsewhere(Elsewhere::of(source, &[source]));
    let mut writing = Writing {
        source,
        elsewhere: File::open(source).at("read", source)?,
        plan: Plan::of(survey),
        out: NewFile::begin(out)?,
        lost_path,
        lost: None,
        report: Report::default(),
        each,
    };
    writing.all(&mut opened, info.bytes, &mut buffer)?;
    let Writing { out, lost, lost_path, mut report, .. } = writing;
    // First what would else be lost.
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
            "give the copy another name, look at it, then move it",
        ));
    }
    if existing == Existing::Refuse {
        for path in [out, lost] {
            if path.symlink_metadata().is_ok() {
                let message = format!("There is a file of that name: `{}`", path.display());
                return Err(Error::new(
                    ErrorKind::Invalid,
                    message,
                    "give another name, or --force to write over it",
                ));
            }
        }
    }
    Ok(())
}
