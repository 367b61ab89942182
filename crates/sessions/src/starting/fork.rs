//! Forks of a part of a session: a copy of its file that ends at some message.

use std::path::PathBuf;

use jiff::Timestamp;
use tidings::Ids;
use tidings_api::{Code, ForkPoint};
use tidings_protocol::entry::EntryKind;
use tidings_transcript::manage::{ForkOptions, SessionFile, fork_session};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{LaneId, NodeId, Session as OnDisk};

use crate::Error;

/// A copy of a session's file. It is removed on drop, unless a session uses it.
#[derive(Debug)]
pub(crate) struct ForkedFile {
    pub(crate) id: String,
    pub(crate) files: SessionFiles,
    path: Option<PathBuf>,
}

impl ForkedFile {
    /// Copies a session up to a point. Blocks on disk I/O.
    pub(crate) fn create(
        files: &SessionFiles,
        point: &ForkPoint,
        title: Option<&str>,
        now: Timestamp,
        ids: &Ids,
    ) -> Result<Self, Error> {
        let last = last_entry(&OnDisk::open(files)?, point)?;
        let options = ForkOptions { up_to: Some(&last), title };
        let forked = fork_session(&SessionFile::of(files)?, options, now, || ids.next())?;
        // From here on the file is removed if something fails.
        let mut made = ForkedFile { id: forked.id, files: files.clone(), path: Some(forked.path.clone()) };
        made.files = SessionFiles::of_file(&forked.path)?;
        Ok(made)
    }

    /// Keeps the file: a session uses it.
    pub(crate) fn keep(mut self) {
        self.path = None;
    }
}

impl Drop for ForkedFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            drop(std::fs::remove_file(path));
        }
    }
}

/// The id of the last entry before a prompt, or of the entry with a block of the answer to it.
fn last_entry(session: &OnDisk, point: &ForkPoint) -> Result<String, Error> {
    let prompt = session.by_uuid(LaneId::MAIN, &point.prompt).ok_or_else(|| {
        let message = format!("The session on disk has no prompt `{}`", point.prompt);
        Error::new(Code::NotFound, message, "it may not be written yet; fork the whole session")
    })?;
    let last = match &point.answer {
        None => session.node(prompt).parent.ok_or_else(|| {
            let hint = "start a new session instead";
            Error::new(Code::Invalid, "Nothing comes before the first prompt of a session", hint)
        })?,
        Some(text) => answer(session, prompt, text, point.skip.unwrap_or_default())?,
    };
    session.node(last).uuid.as_deref().map(str::to_owned).ok_or_else(|| {
        let hint = "fork the whole session";
        Error::new(Code::Invalid, "The messages of this session have no ids", hint)
    })
}

/// The entry after a prompt whose text begins with `text`.
fn answer(session: &OnDisk, prompt: NodeId, text: &str, skip: u64) -> Result<NodeId, Error> {
    let lane = session.lane(LaneId::MAIN).nodes.iter().copied();
    let later =
        lane.skip_while(|id| *id != prompt).filter(|id| session.node(*id).kind == EntryKind::Assistant);
    let mut left = skip;
    for id in later {
        let is_it = session.entry(id)?.as_ref().text().trim_start().starts_with(text.trim());
        match (is_it, left) {
            (true, 0) => return Ok(id),
            (true, _) => left -= 1,
            (false, _) => {}
        }
    }
    let message = "The answer to this prompt on disk has no such text";
    Err(Error::new(Code::NotFound, message, "it may not be written yet; fork the whole session"))
}
