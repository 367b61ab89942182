//! The copies in the archive: list, restore, remove.

use std::collections::HashSet;

use jiff::Timestamp;
use tidings_api::{ArchiveItem, ArchiveList, ArchiveRestored, Code};
use tidings_transcript::archive::Manifest;
use tidings_transcript::cleanup_period::CleanupPeriod;
use tidings_transcript::roots::SessionFiles;

use super::{Archive, failed, is_due, margin};
use crate::limits::ARCHIVE_LIST_MAX;
use crate::{Caller, Error};

const DAY_SECONDS: u64 = 24 * 60 * 60;

impl Archive {
    /// The archived sessions that the caller may see, the newest first.
    pub fn list(&self, caller: &Caller, now: Timestamp) -> Result<ArchiveList, Error> {
        let mut copies = self.copies(caller)?;
        let on_disk = self.on_disk()?;
        let ids: HashSet<&str> = on_disk.iter().map(|session| session.id.as_str()).collect();
        let retention = CleanupPeriod::of(&self.config_dir);
        // Sessions of other folders are not counted either.
        let waiting = if caller.folders.is_empty() {
            let due = on_disk.iter().filter(|session| is_due(session, retention, now.into()));
            due.filter(|session| !is_current(&copies, session)).count()
        } else {
            0
        };
        let stored_bytes = copies.iter().map(Manifest::stored_bytes).sum();
        let more = copies.len() > ARCHIVE_LIST_MAX;
        copies.truncate(ARCHIVE_LIST_MAX);
        let item = |copy: &Manifest| item(copy, ids.contains(copy.session.as_str()));
        Ok(ArchiveList {
            items: copies.iter().map(item).collect(),
            more,
            stored_bytes,
            bytes_max: self.bytes_max,
            cleanup_days: retention.days,
            margin_days: margin(retention).as_secs() / DAY_SECONDS,
            waiting: waiting as u64,
        })
    }

    /// Restores a session to the configuration folder of the CLI, where it is listed, searched and resumed.
    pub fn restore(&self, caller: &Caller, session: &str) -> Result<ArchiveRestored, Error> {
        let copy = self.copy(caller, session)?;
        let restored = self.store().restore(&copy, &self.config_dir).map_err(|error| failed(&error))?;
        if let Some(error) = restored.failed.into_iter().next() {
            return Err(failed(&error));
        }
        Ok(ArchiveRestored { session: copy.session, files: restored.files.len() as u64 })
    }

    /// Removes the copy of a session.
    pub fn remove(&self, caller: &Caller, session: &str) -> Result<(), Error> {
        let copy = self.copy(caller, session)?;
        self.forget_unpacked(session);
        self.store().remove(&copy).map_err(|error| failed(&error))
    }

    /// The copy of a session that the caller may see.
    pub(super) fn copy(&self, caller: &Caller, session: &str) -> Result<Manifest, Error> {
        let found = self.copies(caller)?.into_iter().find(|copy| copy.session == session);
        found.ok_or_else(|| {
            let message = format!("The archive has no session `{session}`");
            Error::new(Code::NotFound, message, "GET /v1/archive lists them")
        })
    }

    /// All copies that the caller may see, the newest first. One without a known folder is visible only to
    /// callers that may see all.
    pub(super) fn copies(&self, caller: &Caller) -> Result<Vec<Manifest>, Error> {
        let mut copies = self.store().contents().map_err(|error| failed(&error))?.sessions;
        copies.retain(|copy| {
            caller.folders.is_empty() || copy.cwd.as_deref().is_some_and(|cwd| caller.sees(cwd))
        });
        copies.sort_by(|a, b| b.modified().cmp(&a.modified()).then_with(|| a.session.cmp(&b.session)));
        Ok(copies)
    }
}

/// True if a session has a copy of its present contents.
fn is_current(copies: &[Manifest], session: &SessionFiles) -> bool {
    copies.iter().any(|copy| copy.session == session.id && copy.modified() == session.modified())
}

fn item(copy: &Manifest, on_disk: bool) -> ArchiveItem {
    let modified = copy.modified().and_then(|time| Timestamp::try_from(time).ok());
    ArchiveItem {
        session: copy.session.clone(),
        project: copy.project.clone(),
        title: copy.title.clone(),
        cwd: copy.cwd.clone(),
        on_disk,
        modified: modified.map(|time| time.to_string()),
        archived: copy.archived.clone(),
        bytes: copy.bytes(),
        stored_bytes: copy.stored_bytes(),
    }
}
