//! Writing sessions into a store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings_protocol::Frame;
use tidings_protocol::json::{Json, Raw};

use super::{SessionKey, SessionStore};
use crate::client::{Event, Subscriber};
use crate::error::{Error, ErrorKind};
use crate::limits::{STORE_PAUSES, STORE_TIMEOUT};

/// Appends the lines of session files to a store, as Claude Code sends them with
/// [`Options::mirror_session`](crate::Options::mirror_session).
#[derive(Clone)]
#[must_use]
pub struct SessionMirror {
    store: Arc<dyn SessionStore>,
    projects: PathBuf,
}

impl SessionMirror {
    /// A mirror of the session files in the folder `projects` of Claude Code's configuration folder.
    pub fn new(store: Arc<dyn SessionStore>, projects: impl Into<PathBuf>) -> Self {
        SessionMirror { store, projects: projects.into() }
    }

    /// Appends every mirrored line until the session ends. Take the subscriber from
    /// [`Client::follow`](crate::Client::follow), which waits for a slow store.
    ///
    /// A failure does not stop it; the last one is returned at the end. [`import_session`] adds what is
    /// missing then.
    ///
    /// [`import_session`]: super::import_session
    pub async fn run(self, mut frames: Subscriber) -> Result<(), Error> {
        let mut failed = Ok(());
        while let Some(event) = frames.next().await {
            let Event::Frame { frame, .. } = event else { continue };
            if let Err(error) = self.append(&frame).await {
                tracing::warn!(%error, "failed to mirror a session");
                failed = Err(error);
            }
        }
        failed
    }

    /// Appends the lines of a frame; other frames than `transcript_mirror` have none. An append that fails is
    /// tried three times.
    pub async fn append(&self, frame: &Frame) -> Result<(), Error> {
        let frame = frame.as_ref();
        if frame.name() != "transcript_mirror" {
            return Ok(());
        }
        let file = frame.get("filePath").and_then(Raw::text).map(|file| file.get().into_owned());
        let entries: Vec<Json> =
            frame.get("entries").into_iter().flat_map(Raw::items).map(Raw::to_json).collect();
        if entries.is_empty() {
            return Ok(());
        }
        let file = file.unwrap_or_default();
        let Some(key) = SessionKey::of_file(Path::new(&file), &self.projects) else {
            let message = format!("Not a session file below `{}`: `{file}`", self.projects.display());
            let hint = "give the mirror the folder `projects` of the agent's CLAUDE_CONFIG_DIR";
            return Err(Error::new(ErrorKind::Invalid, message, hint));
        };
        let mut pauses = STORE_PAUSES.into_iter();
        loop {
            let append = tokio::time::timeout(STORE_TIMEOUT, self.store.append(&key, &entries));
            let failed = match append.await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error,
                // It may still happen.
                Err(_) => {
                    let message = format!("The store did not append within {STORE_TIMEOUT:?}");
                    return Err(Error::new(ErrorKind::Timeout, message, "import the session later"));
                }
            };
            match pauses.next() {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(failed),
            }
        }
    }
}

impl fmt::Debug for SessionMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionMirror").field("projects", &self.projects).finish_non_exhaustive()
    }
}
