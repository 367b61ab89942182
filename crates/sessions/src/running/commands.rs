//! Commands of clients, such as Compact and Stop.

use tidings_agent::Command;
use tidings_api::{Accepted, Code, CommandRequest, Scope, ServerPhase, SessionCommand};
use tidings_journal::limits::NAME_BYTES_MAX;
use tidings_journal::{ClientId, Cursor, Stored};
use tidings_protocol::ui::{SessionPhase, SessionStateChanged, SettingsChanged};
use tokio::sync::oneshot;

use crate::agent_options::chosen;
use crate::backends::{Backend, Setting, capability_of};
use crate::limits::{COMMAND_WAIT, FULL_COMMAND_WAIT};
use crate::live_session::Change;
use crate::running::actor::{Actor, ActorCommand};
use crate::running::command_ids;
use crate::settings::{Launch, SessionSettings};
use crate::{Caller, Error, Sessions, capabilities};

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
        if command == SessionCommand::Option {
            self.check_option(caller, &used.entry, &request).await?;
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
            | SessionCommand::Option
            | SessionCommand::Stop => None,
        };
        if !matches!(command, SessionCommand::Mode | SessionCommand::Model | SessionCommand::Option) {
            used.entry.cancel_continuing().await?;
        }
        if command == SessionCommand::Interrupt {
            used.entry.memory().interrupted_by = Some(caller.name.clone());
        }
        let (reply, done) = oneshot::channel();
        let wanted = request.clone();
        drop(used.commands.send(ActorCommand::Command(command, request, what, reply)).await);
        let accepted = done.await.map_err(|_| gone(name))??;
        if command == SessionCommand::Mode {
            self.audit_settings(caller, used.entry.key.as_str(), &wanted).await;
        }
        if command == SessionCommand::Option {
            self.audit_option(caller, used.entry.key.as_str(), &wanted).await;
        }
        Ok(accepted)
    }
}

impl Actor {
    /// Runs a command, unless it was run before: a repeated command waits until the first is done.
    pub(crate) async fn command_once(
        &mut self,
        command: SessionCommand,
        request: CommandRequest,
        what: String,
    ) -> Result<Accepted, Error> {
        let Some(id) = request.client_id.as_deref().map(ClientId::new).transpose()? else {
            return self.command(command, request, None).await;
        };
        if let Some(before) = self.entry.done_before(&id, &what).await? {
            return Ok(before);
        }
        let accepted = self.command(command, request, Some(id.clone())).await?;
        let (seq, cursor) = (accepted.seq, accepted.cursor.clone());
        let remember = |settings: &mut SessionSettings, _: &_| {
            settings.remember(&id, what, seq, cursor);
            Ok(Change::default())
        };
        match self.entry.change(remember).await {
            // The command has run, and repeating it does no harm.
            Err(_) if works_when_full(command) && self.entry.journal().is_full() => {}
            done => drop(done?),
        }
        Ok(accepted)
    }

    async fn command(
        &mut self,
        command: SessionCommand,
        request: CommandRequest,
        client_id: Option<ClientId>,
    ) -> Result<Accepted, Error> {
        let handle = self.entry.handle;
        match command {
            SessionCommand::Interrupt => match self.entry.agent() {
                Some(agent) => self.complete(&*agent, Command::Interrupt).await,
                None => Ok(self.at_head()),
            },
            SessionCommand::Compact => {
                let agent = self.idle_agent().await?;
                self.complete(&*agent, Command::Compact).await
            }
            SessionCommand::Clear => {
                let agent = self.idle_agent().await?;
                self.complete(&*agent, Command::Clear).await
            }
            SessionCommand::TakeOver => self.idle_agent().await.map(|_| self.at_head()),
            SessionCommand::Stop => {
                if request.if_idle {
                    self.entry.memory().check_idle()?;
                }
                self.end(ServerPhase::Stopped).await;
                let event = SessionStateChanged::new(handle, SessionPhase::Ended);
                match self.entry.append_event(&event.into(), client_id).await {
                    // The agent has ended; its end is stored when there is room.
                    Err(_) if self.entry.journal().is_full() => Ok(self.at_head()),
                    stored => stored.map(accepted),
                }
            }
            SessionCommand::Mode => {
                let mode = request.mode.ok_or_else(|| missing("mode"))?;
                // The agent may report the mode before it confirms it.
                let before = self.entry.memory().mode.choose(Some(mode.clone()));
                if let Some(agent) = self.entry.agent()
                    && let Err(error) = agent.set(Setting::Mode(&mode)).await
                {
                    self.entry.memory().mode.choose(before);
                    return Err(error);
                }
                let mut event = SettingsChanged::new(handle);
                event.permission_mode = Some(mode.clone());
                self.settle(event, client_id, |launch| launch.permission_mode = Some(mode)).await
            }
            SessionCommand::Model => {
                check_model(request.model.as_deref())?;
                if let Some(agent) = self.entry.agent() {
                    agent.set(Setting::Model(request.model.as_deref())).await?;
                }
                let mut event = SettingsChanged::new(handle);
                event.model.clone_from(&request.model);
                self.settle(event, client_id, |launch| launch.model = request.model).await
            }
            SessionCommand::Option => {
                let (id, value) = chosen(&request)?;
                let agent = self.entry.agent().ok_or_else(no_agent)?;
                agent.set(Setting::Option { id, value }).await?;
                let mut event = SettingsChanged::new(handle);
                event.options = Some([(id.to_owned(), value.to_owned())].into());
                self.settle(event, client_id, |launch| launch.keep_option(id.to_owned(), value.to_owned()))
                    .await
            }
            SessionCommand::Rewind => self.rewind(request, client_id).await,
        }
    }

    async fn settle(
        &self,
        event: SettingsChanged,
        client_id: Option<ClientId>,
        set: impl FnOnce(&mut Launch),
    ) -> Result<Accepted, Error> {
        let draft = self.entry.draft_of(&event.into(), client_id);
        let (_, stored) = self
            .entry
            .change(|settings, _| {
                set(&mut settings.launch);
                Ok(Change { event: Some(draft), ..Change::default() })
            })
            .await?;
        Ok(stored.map_or_else(|| self.at_head(), accepted))
    }

    /// Runs a command of the agent, and waits for the event of its completion.
    async fn complete(&self, agent: &dyn Backend, command: Command) -> Result<Accepted, Error> {
        // Compacting takes a while; the caller does not wait for it.
        if command != Command::Interrupt {
            agent.run(command).await?;
            return Ok(self.at_head());
        }
        let end = self.entry.memory().commands.wait(command.to_string());
        if self.entry.journal().is_full() {
            // The agent's answer is queued behind events that wait for room. Sending the command is enough.
            return match tokio::time::timeout(FULL_COMMAND_WAIT, agent.run(command)).await {
                Ok(sent) => sent.map(|()| self.at_head()),
                Err(_) => Ok(self.at_head()),
            };
        }
        agent.run(command).await?;
        match tokio::time::timeout(COMMAND_WAIT, end).await {
            Ok(Ok(cursor)) => Ok(at_cursor(cursor)),
            _ => Ok(self.at_head()),
        }
    }

    pub(crate) fn at_head(&self) -> Accepted {
        at_cursor(self.entry.memory().row.head)
    }
}

/// True for commands that run although nothing can be stored: they end something, and are safe without a
/// record.
fn works_when_full(command: SessionCommand) -> bool {
    matches!(command, SessionCommand::Interrupt | SessionCommand::Stop)
}

pub(crate) fn accepted(stored: Stored) -> Accepted {
    at_cursor(stored.cursor)
}

pub(crate) fn at_cursor(cursor: Cursor) -> Accepted {
    Accepted { turn_id: None, seq: cursor.seq, cursor: cursor.to_string(), rewind: None }
}

pub(crate) fn missing(field: &str) -> Error {
    Error::new(
        Code::Invalid,
        format!("`{field}` is missing"),
        "the API reference lists the commands and their fields",
    )
}

/// The agent ended after the command was checked.
fn no_agent() -> Error {
    let hint = "the next prompt starts it; its options can be set then";
    Error::new(Code::Conflict, "The agent of this session does not run", hint)
}

/// Checks the name of a model. It is stored with the session; the agent knows which models exist.
fn check_model(model: Option<&str>) -> Result<(), Error> {
    if model.is_some_and(|model| model.trim().is_empty()) {
        let hint = "leave `model` out for the default, or see /v1/models for the available ones";
        return Err(Error::new(Code::Invalid, "The name of the model is empty", hint));
    }
    if model.is_none_or(|model| model.len() <= NAME_BYTES_MAX) {
        return Ok(());
    }
    Err(Error::new(
        Code::Invalid,
        "The name of the model is too long",
        "see /v1/models for the available ones",
    ))
}

fn gone(name: &str) -> Error {
    Error::new(Code::Gone, format!("The session `{name}` is being removed"), "")
}
