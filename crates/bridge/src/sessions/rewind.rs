//! Files are put back to how they were before a prompt.

use tidings_agent::UiMessage;
use tidings_protocol::api::{Accepted, CommandRequest, Rewound};

use super::actor::{Actor, accepted, missing};
use crate::error::{Code, Error};
use crate::journal::ClientId;

impl Actor {
    /// A dry run only answers: it changes nothing, so there is nothing to tell others of.
    pub(super) async fn rewind(
        &mut self,
        request: CommandRequest,
        client_id: Option<ClientId>,
    ) -> Result<Accepted, Error> {
        let prompt = request.prompt.ok_or_else(|| missing("prompt"))?;
        let agent = self.idle_agent().await?;
        let reply = if request.dry_run {
            agent.client().preview_rewind(&prompt).await?
        } else {
            agent.client().rewind_files(&prompt).await?
        };
        if !reply.can_rewind {
            let why = reply.error.unwrap_or_else(|| "the agent does not say why".to_owned());
            return Err(Error::new(Code::Conflict, format!("Files cannot be put back: {why}"), ""));
        }
        let rewound = Rewound {
            files: reply.files_changed.unwrap_or_default(),
            insertions: reply.insertions,
            deletions: reply.deletions,
            skipped_links: reply.skipped_links,
        };
        let done = if request.dry_run {
            self.here()
        } else {
            let message = "Files were put back to how they were before an earlier prompt.".to_owned();
            let event = UiMessage::Display { content: message, session_id: self.entry.handle };
            accepted(self.entry.say(&event, client_id).await?)
        };
        Ok(Accepted { rewind: Some(rewound), ..done })
    }
}
