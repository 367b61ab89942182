//! The mark of an archived session: a small file beside it, which only the TypeScript SDK writes.

use std::io::Read as _;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use tidings_base::files;
use tidings_protocol::json::Raw;

use super::SessionFile;
use crate::Error;
use crate::error::At as _;
use crate::limits::SIDECAR_BYTES_MAX;

/// `archiveSession`: marks a session as archived. Its files stay in place.
pub fn archive_session(session: &SessionFile, now: Timestamp) -> Result<(), Error> {
    mark(session, &ArchivedMark { archived: true, at: now, by: "sdk" })
}

/// `unarchiveSession`: removes the archived state of a session.
pub fn unarchive_session(session: &SessionFile, now: Timestamp) -> Result<(), Error> {
    mark(session, &ArchivedMark { archived: false, at: now, by: "sdk" })
}

#[derive(Serialize)]
struct ArchivedMark {
    archived: bool,
    #[serde(serialize_with = "super::write::milliseconds")]
    at: Timestamp,
    by: &'static str,
}

/// The contents of an archived mark.
pub(super) struct ArchivedState {
    pub(super) archived: bool,
    pub(super) at: Timestamp,
}

/// The mark of a session file, if it has one.
pub(super) fn read(session: &Path) -> Option<ArchivedState> {
    let mut text = String::new();
    let file = crate::open::regular(&session.with_extension("").join(NAME)).ok()?;
    file.take(SIDECAR_BYTES_MAX).read_to_string(&mut text).ok()?;
    let mark = Raw::parse(&text).ok()?;
    let at = mark.get("at").and_then(Raw::text)?.get().parse().ok()?;
    Some(ArchivedState { archived: mark.get("archived").and_then(Raw::bool)?, at })
}

const NAME: &str = "archived.json";

/// Writes a temporary file and renames it, so that a reader never sees half of it.
fn mark(session: &SessionFile, mark: &ArchivedMark) -> Result<(), Error> {
    let folder = session.dir();
    super::write::private_folder(&folder).at("make", &folder)?;
    let path = folder.join(NAME);
    let text = serde_json::to_string(mark).unwrap_or_default();
    files::replace(&path, text.as_bytes()).at("write", path)
}
