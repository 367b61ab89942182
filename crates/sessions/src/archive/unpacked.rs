//! Reading archived sessions: a copy is compressed, so it is unpacked into a folder of the archive first.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use tidings_transcript::archive::Manifest;
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::search::{self, Hit, SearchFlow, SearchQuery};

use super::{Archive, failed};
use crate::limits::{ARCHIVE_SEARCH_BYTES_MAX, ARCHIVE_UNPACKED_MAX};
use crate::{Caller, Error};

/// The extent of a search in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchExtent {
    /// Every session was searched.
    Whole,
    /// Older sessions were left out: together they are too large for one search.
    Cut,
}

impl Archive {
    /// The files of an archived session, unpacked. They stay for the next request.
    pub fn open(&self, caller: &Caller, session: &str, now: Timestamp) -> Result<SessionFiles, Error> {
        let copy = self.copy(caller, session)?;
        // Another copy has another name, so that it is not taken for this one.
        let name = format!("{session}-{}", copy.archived.replace(':', ""));
        let folder = self.unpacked().join(name);
        if !folder.is_dir() {
            let part = self.unpacked().join(format!(".part-{}", uuid::Uuid::new_v4()));
            let unpacked = self.store().unpack(&copy, &part).map_err(|error| failed(&error));
            // Another request may have been faster; its files are the same.
            if unpacked.is_err() || fs::rename(&part, &folder).is_err() {
                drop(fs::remove_dir_all(&part));
            }
            unpacked?;
        }
        // If it fails, the folder only counts as older.
        drop(fs::File::open(&folder).and_then(|folder| folder.set_modified(now.into())));
        self.remove_oldest();
        Roots::new([folder]).find(session).map_err(|error| failed(&error))
    }

    /// Searches the sessions of which only a copy is left, the newest first.
    pub fn search(
        &self,
        caller: &Caller,
        on_disk: &HashSet<&str>,
        query: &SearchQuery,
        mut each: impl FnMut(&Hit<'_>) -> SearchFlow + Send,
    ) -> Result<SearchExtent, Error> {
        let mut left = ARCHIVE_SEARCH_BYTES_MAX;
        for copy in self.copies(caller)? {
            if on_disk.contains(copy.session.as_str()) {
                continue;
            }
            let Some(rest) = left.checked_sub(copy.bytes()) else { return Ok(SearchExtent::Cut) };
            left = rest;
            if self.search_copy(&copy, query, &mut each) == SearchFlow::Stop {
                break;
            }
        }
        Ok(SearchExtent::Whole)
    }

    fn search_copy(
        &self,
        copy: &Manifest,
        query: &SearchQuery,
        each: &mut (impl FnMut(&Hit<'_>) -> SearchFlow + Send),
    ) -> SearchFlow {
        let folder = self.unpacked().join(format!(".search-{}", uuid::Uuid::new_v4()));
        let mut flow = SearchFlow::Continue;
        match self.store().unpack(copy, &folder) {
            Ok(files) => {
                search::run(std::slice::from_ref(&files), query, |hit| {
                    flow = each(&hit);
                    flow
                });
            }
            // One damaged copy does not fail the search of the others.
            Err(error) => {
                tracing::warn!(session = copy.session, %error, "failed to search an archived session");
            }
        }
        drop(fs::remove_dir_all(folder));
        flow
    }

    /// Removes all unpacked sessions; an earlier server may have left some.
    pub(super) fn remove_unpacked(&self) {
        drop(fs::remove_dir_all(self.unpacked()));
    }

    /// Removes an unpacked session.
    pub(super) fn forget_unpacked(&self, session: &str) {
        let is_it = |path: &Path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(session))
        };
        for (_, path) in self.kept().into_iter().filter(|(_, path)| is_it(path)) {
            drop(fs::remove_dir_all(path));
        }
    }

    fn remove_oldest(&self) {
        let mut kept = self.kept();
        kept.sort();
        for (_, path) in kept.iter().rev().skip(ARCHIVE_UNPACKED_MAX) {
            drop(fs::remove_dir_all(path));
        }
    }

    /// Unpacked sessions, each with the time at which it was last read. Folders of requests that are under
    /// way are left out.
    fn kept(&self) -> Vec<(SystemTime, PathBuf)> {
        let entries = fs::read_dir(self.unpacked()).into_iter().flatten().flatten();
        let kept = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        kept.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect()
    }

    fn unpacked(&self) -> PathBuf {
        self.folder.join("unpacked")
    }
}
