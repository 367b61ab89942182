//! Changes to sessions on disk.

use std::path::PathBuf;

use jiff::Timestamp;
use tidings_transcript::manage::{self, ForkOptions};

use super::{Forked, Sessions};
use crate::error::Error;

impl Sessions {
    /// Sets the title of a session.
    pub async fn rename(&self, id: &str, title: &str) -> Result<(), Error> {
        let title = title.to_owned();
        self.run_with(id, move |session| manage::rename_session(session, &title)).await
    }

    /// Tags a session, or removes its tag; returns the tag as it was written, sanitized.
    pub async fn tag(&self, id: &str, tag: Option<&str>) -> Result<Option<String>, Error> {
        let tag = tag.map(str::to_owned);
        self.run_with(id, move |session| manage::tag_session(session, tag.as_deref())).await
    }

    /// Copies a session up to one of its messages, or all of it.
    ///
    /// [`Options::fork_session`](crate::Options::fork_session) forks a session when it is resumed.
    pub async fn fork(&self, id: &str, up_to: Option<&str>, title: Option<&str>) -> Result<Forked, Error> {
        let (up_to, title) = (up_to.map(str::to_owned), title.map(str::to_owned));
        let ids = self.ids.clone();
        self.run_with(id, move |session| {
            let fork = ForkOptions { up_to: up_to.as_deref(), title: title.as_deref() };
            manage::fork_session(session, fork, now(), || ids.next())
        })
        .await
    }

    /// Deletes a session with its sub-agents and tool results; returns the removed paths.
    pub async fn delete(&self, id: &str) -> Result<Vec<PathBuf>, Error> {
        self.run_with(id, manage::delete_session).await
    }

    /// Archives a session. Its files stay; lists mark it as archived.
    pub async fn archive(&self, id: &str) -> Result<(), Error> {
        self.run_with(id, |session| manage::archive_session(session, now())).await
    }

    /// Unarchives a session.
    pub async fn unarchive(&self, id: &str) -> Result<(), Error> {
        self.run_with(id, |session| manage::unarchive_session(session, now())).await
    }
}

/// The current time. This is the only place where the crate reads the wall clock.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
