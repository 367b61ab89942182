//! Removal of sessions.

use tidings_api::{Notice, Scope, ServerPhase};

use super::Sessions;
use crate::{Caller, Error};

/// Treatment of the session file when its session is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transcript {
    /// It stays.
    #[default]
    Keep,
    /// It is deleted too.
    Delete,
}

impl Sessions {
    /// Removes a session and its events, and its file if requested.
    pub async fn delete(&self, caller: &Caller, name: &str, transcript: Transcript) -> Result<(), Error> {
        caller.require(Scope::Admin)?;
        let used = self.active_for(caller, name).await?;
        if transcript == Transcript::Delete {
            // A process outside of this server may still write the file.
            used.entry.check_hosted()?;
        }
        used.end(ServerPhase::Stopped).await;
        let (ids, is_demo) = {
            let memory = used.entry.memory();
            (memory.row.cli_sessions.clone(), memory.settings.launch.demo)
        };
        for id in &ids {
            self.note_own_writes(id);
        }
        self.active().remove(&used.entry.key);
        self.0.broadcast.journal().delete(&used.entry.key).await?;
        let (key, handle) = (used.entry.key.to_string(), used.entry.handle);
        used.entry.notify(Notice::Deleted { key, handle });
        if let (Transcript::Delete, Some(folder)) = (transcript, self.0.config.config_dir(is_demo)) {
            let on_disk = tidings::Sessions::under(folder);
            for id in ids {
                match on_disk.delete(&id).await {
                    Ok(_) => {}
                    Err(error) if error.kind() == tidings::ErrorKind::NoSession => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}
