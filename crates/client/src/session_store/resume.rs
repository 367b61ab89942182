//! Resuming a session of a store.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::files::blocking;
use super::stored::{Transcripts, WrittenSession};
use super::{SessionMirror, SessionStore, StoredSessions, login, storage_error};
use crate::Options;
use crate::error::{Error, ErrorKind};

/// A session of a store that is about to be resumed, in a configuration folder of its own. The folder has the
/// login of the user and is removed when this is dropped, so keep it until the session is closed.
#[must_use]
pub struct ResumedSession {
    options: Options,
    store: Arc<dyn SessionStore>,
    files: WrittenSession,
}

impl StoredSessions {
    /// Prepares to resume a session with these options, to which its files and its mirror are added.
    ///
    /// Its configuration folder has the user's login and settings. A login is not refreshed there, since the
    /// new one would be lost; on macOS, where it is in the keychain, set `CLAUDE_CODE_OAUTH_TOKEN` or an API
    /// key.
    ///
    /// ```no_run
    /// use tidings::session_store::StoredSessions;
    /// use tidings::{Client, Options};
    ///
    /// # async fn run(sessions: StoredSessions, id: &str) -> Result<(), tidings::Error> {
    /// let resumed = sessions.resume(id, Options::new()).await?;
    /// let client = Client::connect(resumed.options()).await?;
    /// let mirror = resumed.mirror();
    /// let mirrored = tokio::spawn(mirror.run(client.follow()));
    /// println!("{}", client.send("Where were we?").await?.finish().await?.text());
    /// client.close().await?;
    /// mirrored.await.expect("it does not panic")?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn resume(&self, id: &str, options: Options) -> Result<ResumedSession, Error> {
        let Some((files, _)) = self.written(id, Transcripts::All).await? else {
            let message = format!("The store has no session `{id}` of this project");
            return Err(Error::new(ErrorKind::NoSession, message, "`StoredSessions::list` returns the ids"));
        };
        let config = self.config.clone().or_else(crate::find::config_folder);
        let files = blocking(move || {
            if let Some(config) = config {
                login::copy(&config, files.path())
                    .map_err(|source| storage_error("Failed to copy the login for a session", source))?;
            }
            Ok(files)
        })
        .await?;
        let options = options
            .cwd(&self.folder)
            .resume(id)
            .mirror_session()
            .env("CLAUDE_CONFIG_DIR", files.path().to_string_lossy());
        Ok(ResumedSession { options, store: Arc::clone(&self.store), files })
    }
}

impl ResumedSession {
    /// The options for [`Client::connect`](crate::Client::connect).
    pub fn options(&self) -> Options {
        self.options.clone()
    }

    /// Appends what follows to the store that the session comes from.
    pub fn mirror(&self) -> SessionMirror {
        SessionMirror::new(Arc::clone(&self.store), self.projects())
    }

    /// The folder in which Claude Code finds the session.
    pub fn projects(&self) -> PathBuf {
        self.files.path().join("projects")
    }
}

impl fmt::Debug for ResumedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumedSession").field("files", &self.files).finish_non_exhaustive()
    }
}
