//! Rewind: restores files to their state before a prompt.

use tidings_agent::UiMessage;
use tidings_api::{Accepted, CommandRequest};
use tidings_journal::ClientId;

use crate::Error;
use crate::running::actor::Actor;
use crate::running::commands::{accepted, missing};

impl Actor {
    /// Rewinds files. A dry run changes nothing, so it appends no event.
    pub(crate) async fn rewind(
        &mut self,
        request: CommandRequest,
        client_id: Option<ClientId>,
    ) -> Result<Accepted, Error> {
        let prompt = request.prompt.ok_or_else(|| missing("prompt"))?;
        let rewound = self.idle_agent().await?.rewind(&prompt, request.dry_run).await?;
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
