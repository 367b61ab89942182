//! Commands of clients, such as Compact and Stop.

use tidings_protocol::api::{Accepted, CommandRequest, SessionCommand};
use tokio::sync::oneshot;

use crate::auth::capabilities;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::sessions::Sessions;
use crate::sessions::backends::capability_of;
use crate::sessions::running::actor::ActorCommand;
use crate::sessions::running::command_ids;

/// True for commands that run although nothing can be stored: they end something, and are safe without a
/// record.
pub(crate) fn works_when_full(command: SessionCommand) -> bool {
    matches!(command, SessionCommand::Interrupt | SessionCommand::Stop)
}

impl Sessions {
    /// Runs a command.
    pub async fn command(
        &self,
        caller: &Caller,
        name: &str,
        command: SessionCommand,
        mut request: CommandRequest,
    ) -> Result<Accepted, Error> {
        if let Some(accepted) = self.at_owner(caller, name, command.as_str(), &request).await? {
            return Ok(accepted);
        }
        if command == SessionCommand::TakeOver {
            // It ends a process of the user's, and uses none of the fields.
            caller.require(Scope::Always)?;
        } else {
            self.require(caller, &capabilities::of_command(&request)?)?;
        }
        let used = self.active_for(caller, name).await?;
        if command == SessionCommand::Interrupt
            && let Some(accepted) = self.interrupt_typed(&used.entry).await?
        {
            return Ok(accepted);
        }
        if command != SessionCommand::TakeOver {
            used.entry.check_offered(capability_of(command))?;
        }
        let client_id = command_ids::optional_stored_id(caller, request.client_id.as_deref())?;
        let what =
            command_ids::digest(&(command.as_str(), &CommandRequest { client_id: None, ..request.clone() }));
        // A repeated command returns its first result, even if no agent slot is free now.
        if let Some(id) = &client_id
            && let Some(before) = used.entry.done_before(id, &what).await?
        {
            return Ok(before);
        }
        request.client_id = client_id.as_ref().map(ToString::to_string);
        let _slot = match command {
            SessionCommand::Compact | SessionCommand::Clear | SessionCommand::Rewind => {
                Some(self.slot_for(&used.entry.key).await?)
            }
            SessionCommand::TakeOver => Some(self.end_in_terminal(&used.entry).await?),
            SessionCommand::Interrupt
            | SessionCommand::Mode
            | SessionCommand::Model
            | SessionCommand::Stop => None,
        };
        if !matches!(command, SessionCommand::Mode | SessionCommand::Model) {
            used.entry.cancel_continuing().await?;
        }
        let (reply, done) = oneshot::channel();
        let wanted = request.clone();
        drop(used.commands.send(ActorCommand::Command(command, request, what, reply)).await);
        let accepted = done.await.map_err(|_| gone(name))??;
        if command == SessionCommand::Mode {
            self.audit_settings(caller, used.entry.key.as_str(), &wanted).await;
        }
        Ok(accepted)
    }
}

fn gone(name: &str) -> Error {
    Error::new(Code::Gone, format!("The session `{name}` is being removed"), "")
}
