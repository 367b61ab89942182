//! Rewind: restores files to their state before a prompt.

use tidings_agent::UiMessage;
use tidings_protocol::api::{Accepted, CommandRequest, Rewound};

use crate::error::{Code, Error};
use crate::journal::ClientId;
use crate::sessions::running::actor::{Actor, accepted, missing};

impl Actor {
    /// Rewinds files. A dry run changes nothing, so it appends no event.
    pub(in crate::sessions) async fn rewind(
        &mut self,
        request: CommandRequest,
        client_id: Option<ClientId>,
    ) -> Result<Accepted, Error> {
        let prompt = request.prompt.ok_or_else(|| missing("prompt"))?;
        let agent = self.idle_agent().await?;
        let reply = if request.dry_run {
            agent.client().preview_rewind(&prompt).await
        } else {
            agent.client().rewind_files(&prompt).await
        };
        let reply = match reply {
            Ok(reply) => reply,
            // The agent has no such prompt, or stores no files; a retry fails in the same way.
            Err(error) if error.kind() == tidings::ErrorKind::Control => {
                return Err(refused(&error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        if !reply.can_rewind {
            return Err(refused(reply.error.as_deref().unwrap_or("the agent gives no reason")));
        }
        let rewound = Rewound {
            files: reply.files_changed.unwrap_or_default(),
            insertions: reply.insertions,
            deletions: reply.deletions,
            skipped_links: reply.skipped_links,
        };
        let done = if request.dry_run {
            self.at_head()
        } else {
            let message = "Files were rewound to their state before an earlier prompt.".to_owned();
            let event = UiMessage::Display { content: message, session_id: self.entry.handle };
            accepted(self.entry.append_event(&event, client_id).await?)
        };
        Ok(Accepted { rewind: Some(rewound), ..done })
    }
}

fn refused(why: &str) -> Error {
    let hint = "send the `uuid` of a prompt of this session, which is in its event `UserPrompt`";
    Error::new(Code::Conflict, format!("Failed to rewind files: {why}"), hint)
}
