//! The task of one session: it starts the agent, hands it prompts one after the other, and ends it when it is
//! unused.

use std::path::Path;
use std::sync::Arc;

use tidings::Options;
use tidings::transport::Transport;
use tidings_agent::{AgentSession, Command, Setup, UiMessage};
use tidings_protocol::api::{Accepted, CommandRequest, Delivery, QueueState, ServerPhase, SessionCommand};
use tidings_protocol::ui::{SessionPhase, SessionStateChanged, SettingsChanged};
use tidings_transcript::running::{self, RunningCli};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::auth::paths;
use crate::error::{Code, Error};
#[cfg(unix)]
use crate::hosts::FoundHost;
use crate::journal::{ClientId, Cursor, Session};
use crate::limits::{COMMAND_WAIT, FULL_COMMAND_WAIT, NAME_BYTES_MAX, RETRY_WHEN_FULL};
use crate::sessions::backends::{AcpAgent, Backend, ClaudeCode, PromptOutcome, Setting, refusal_of_agent};
use crate::sessions::entry::{Change, Entry};
use crate::sessions::observed::StartingAgent;
use crate::sessions::running::prompt::prompt;
use crate::sessions::running::sink::{EventSource, JournalSink};
use crate::sessions::running::turn_time::TurnTime;
use crate::sessions::settings::{Launch, Queued, SessionSettings};
use crate::sessions::starting::launch;
use crate::sessions::{Config, works_when_full};

/// Commands accepted by a session's actor.
pub(in crate::sessions) enum ActorCommand {
    /// A command of a client, its digest, and the channel for its result.
    Command(SessionCommand, CommandRequest, String, oneshot::Sender<Result<Accepted, Error>>),
    /// Adopts an agent that is running under a host. Replies with true if that worked.
    #[cfg(unix)]
    Adopt(FoundHost, oneshot::Sender<bool>),
    /// Detaches from the agent, which keeps running.
    #[cfg(unix)]
    Detach(oneshot::Sender<()>),
    /// Starts the agent without a prompt.
    Start,
    /// Ends the agent; the session is in this phase afterwards.
    End(ServerPhase, oneshot::Sender<()>),
}

pub(in crate::sessions) struct Actor {
    pub(in crate::sessions) entry: Arc<Entry>,
    pub(in crate::sessions) config: Arc<Config>,
    pub(in crate::sessions) commands: mpsc::Receiver<ActorCommand>,
    /// Time of the last activity.
    pub(in crate::sessions) used: Instant,
    /// The turn that is under way.
    pub(in crate::sessions) turn: Option<TurnTime>,
}

impl Actor {
    /// Runs until all handles on the session are dropped.
    pub(in crate::sessions) async fn run(mut self) {
        loop {
            self.yield_to_second_writer().await;
            self.deliver().await;
            self.entry.memory().free_slot();
            let stop_turn_at = self.turn_deadline();
            let park_at = self.config.park_after.map(|after| self.used + after);
            let can_park = {
                let memory = self.entry.memory();
                memory.agent.is_some() && !memory.is_busy() && memory.closing.is_none()
            };
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.handle_command(command).await,
                    None => break,
                },
                () = self.entry.wake.notified() => {}
                () = at(park_at), if can_park => {
                    // Background work may end without an event; the check is repeated after the same time.
                    if self.entry.memory().is_at_rest() {
                        self.end(ServerPhase::Parked).await;
                        continue;
                    }
                }
                () = at(stop_turn_at), if stop_turn_at.is_some() => self.end_over_budget().await,
            }
            self.used = Instant::now();
        }
        // Detached agents belong to the next server; do not stop them. And without an agent the session may
        // be deleted by now.
        let is_ours = {
            let memory = self.entry.memory();
            !memory.is_detached && memory.agent.is_some()
        };
        if is_ours {
            self.end(ServerPhase::Parked).await;
        }
    }

    async fn handle_command(&mut self, command: ActorCommand) {
        match command {
            ActorCommand::Command(command, request, what, reply) => {
                // The caller may be gone.
                drop(reply.send(self.command_once(command, request, what).await));
            }
            #[cfg(unix)]
            ActorCommand::Adopt(found, reply) => {
                let adopted = self.adopt(&found).await;
                if let Err(error) = &adopted {
                    tracing::warn!(session = %self.entry.key, %error, "failed to adopt a running agent");
                }
                let _ = reply.send(adopted.is_ok());
            }
            #[cfg(unix)]
            ActorCommand::Detach(reply) => {
                self.detach();
                let _ = reply.send(());
            }
            // Its failure is an event of the session.
            ActorCommand::Start => drop(self.idle_agent().await),
            ActorCommand::End(phase, reply) => {
                self.end(phase).await;
                let _ = reply.send(());
            }
        }
    }

    /// Hands the agent the prompts that it can take now.
    async fn deliver(&mut self) {
        let mut refusal = None;
        while let Some(queued) = self.next() {
            let done = match self.check_sendable(&queued) {
                Ok(()) => self.hand_over(&queued).await,
                // It would be refused the next time, too, and the prompts behind it would never be sent.
                Err(refused) => {
                    let dropped = self.entry.drop_prompt(&queued, error_text(&refused)).await;
                    refusal = Some(refused);
                    dropped
                }
            };
            if let Err(error) = done {
                tracing::warn!(session = %self.entry.key, %error, "failed to deliver a prompt");
                if self.entry.journal().is_full() {
                    // The prompt is stored and stays in the queue.
                    self.wake_later();
                } else {
                    self.fail(&error).await;
                }
                break;
            }
        }
        if let Some(refusal) = refusal {
            self.report_error(format!("A prompt was not sent. {}", error_text(&refusal))).await;
        }
    }

    /// Wakes the actor later, to retry what found no room on the disk.
    fn wake_later(&self) {
        let entry = Arc::downgrade(&self.entry);
        drop(tokio::spawn(async move {
            tokio::time::sleep(RETRY_WHEN_FULL).await;
            if let Some(entry) = entry.upgrade() {
                entry.wake.notify_one();
            }
        }));
    }

    fn next(&self) -> Option<Queued> {
        self.entry.memory().next().cloned()
    }

    /// Checks that the prompt can be sent: the budget may be used up since it was accepted.
    fn check_sendable(&self, queued: &Queued) -> Result<(), Error> {
        self.entry.memory().check_budget_for(queued)?;
        prompt(queued).map(drop)
    }

    async fn hand_over(&mut self, queued: &Queued) -> Result<(), Error> {
        let agent = self.agent().await?;
        if queued.delivery == Delivery::Interrupt && self.entry.memory().is_turn_open {
            // Fails if the turn has ended by itself.
            drop(agent.interrupt().await);
        }
        // Marked as handed over before it is: after a crash its state is uncertain, and it is never sent
        // twice.
        let handed = |settings: &mut SessionSettings, _: &_| {
            for found in settings.queue.iter_mut().filter(|found| found.id == queued.id) {
                found.state = QueueState::Handed;
            }
            Ok(Change { phase: Some(ServerPhase::Running), ..Change::default() })
        };
        self.entry.change(handed).await?;
        match agent.prompt(queued).await? {
            PromptOutcome::Handed => Ok(()),
            PromptOutcome::NotNow => {
                let hint = "send the prompt again";
                Err(Error::new(Code::Conflict, "The agent cannot take a prompt now", hint))
            }
        }
    }

    /// Returns the agent, and starts one if none runs.
    async fn agent(&mut self) -> Result<Arc<dyn Backend>, Error> {
        if let Some(agent) = self.entry.agent().filter(|agent| !agent.is_closed()) {
            return Ok(agent);
        }
        // From here on no process is observed, until the agent runs or has failed to start.
        let _starting = StartingAgent::begin(&self.entry)?;
        self.check_only_writer().await?;
        self.check_folders()?;
        self.entry.hold_slot();
        self.lock_cli_session()?;
        self.entry.note_files_before_agent().await;
        let cwd = self.entry.memory().row.cwd.clone();
        let untrusted = launch::is_untrusted(cwd, &self.config).await?;
        self.check_trusted(untrusted)?;
        let starting = |settings: &mut SessionSettings, _: &Session| {
            settings.fail(None);
            settings.untrusted = untrusted;
            Ok(Change { phase: Some(ServerPhase::Starting), ..Change::default() })
        };
        self.entry.change(starting).await?;
        let (options, setup) = self.plan()?;
        #[cfg(unix)]
        let (carrier, setup) = self.hosted(setup)?;
        #[cfg(not(unix))]
        let carrier = {
            let config = self.launch_config()?;
            (config.carrier)(&config)
        };
        self.run_agent(carrier, options, setup).await
    }

    /// Refuses an agent in a folder that is not allowed any more, or was replaced since the session was
    /// created.
    pub(in crate::sessions) fn check_folders(&self) -> Result<(), Error> {
        let memory = self.entry.memory();
        let folders = memory.settings.launch.add_dirs.iter().chain([&memory.row.cwd]);
        folders.map(Path::new).try_for_each(|folder| paths::unchanged(&self.config.roots, folder))
    }

    /// Refuses to start an agent for a CLI session that a process outside of this server holds: the CLI
    /// itself locks nothing.
    async fn check_only_writer(&self) -> Result<(), Error> {
        let cli_session = {
            let memory = self.entry.memory();
            launch::cli_session_of(&memory.row, &memory.settings.launch).map(str::to_owned)
        };
        let (Some(id), Some(config_dir)) = (cli_session, self.entry.config_dir.clone()) else {
            return Ok(());
        };
        let listed =
            tokio::task::spawn_blocking(move || running::list(&config_dir)).await.unwrap_or_default();
        let is_it = |process: &&RunningCli| {
            process.session_id == id && process.entrypoint.as_deref() != Some(launch::ENTRYPOINT)
        };
        let Some(process) = listed.iter().find(is_it) else { return Ok(()) };
        let message = format!("Another Claude Code process ({}) has this session open", process.pid);
        Err(Error::new(Code::Conflict, message, "close it, and try again"))
    }

    /// Locks the CLI session: only one agent may write it, whatever the journal says.
    pub(in crate::sessions) fn lock_cli_session(&self) -> Result<(), Error> {
        let memory = self.entry.memory();
        let Some(id) = launch::cli_session_of(&memory.row, &memory.settings.launch) else { return Ok(()) };
        self.entry.slots.lock_cli_session(&self.entry.key, id).map_err(|other| {
            let message = format!("The session `{other}` uses the same session of the agent at this moment");
            Error::new(Code::Conflict, message, "use that one, or stop it")
        })
    }

    /// The configuration with which the agent of this session is started.
    pub(in crate::sessions) fn launch_config(&self) -> Result<Arc<Config>, Error> {
        let backend = self.entry.memory().settings.launch.backend.clone();
        self.config.for_backend(backend.as_deref())
    }

    /// Refuses another agent in a folder that is not trusted: unlike Claude Code, it cannot be told to leave
    /// the folder's own settings and commands out.
    fn check_trusted(&self, untrusted: bool) -> Result<(), Error> {
        let backend = self.entry.memory().settings.launch.backend.clone();
        let Some(name) = backend.filter(|_| untrusted) else { return Ok(()) };
        let message = format!("The folder has commands of its own, and `{name}` would run them");
        Err(Error::new(Code::Forbidden, message, "review the folder and trust it first"))
    }

    /// Options for starting or adopting the agent.
    pub(in crate::sessions) fn plan(&self) -> Result<(Options, Setup), Error> {
        let mut setup = self.entry.setup(&self.config);
        let memory = self.entry.memory();
        let config = self.config.for_backend(memory.settings.launch.backend.as_deref())?;
        let options = launch::options(&memory.row, &memory.settings, &config)?;
        (setup.fold.user_turns, setup.fold.agent_turns) =
            (memory.settings.turns_sent(), memory.settings.last_answer);
        Ok((options, setup))
    }

    pub(in crate::sessions) async fn run_agent(
        &mut self,
        carrier: Box<dyn Transport>,
        options: Options,
        setup: Setup,
    ) -> Result<Arc<dyn Backend>, Error> {
        let sink = JournalSink(Arc::clone(&self.entry), EventSource::Output);
        let started = AgentSession::start_over(carrier, options, setup, Box::new(sink)).await;
        #[cfg(unix)]
        if started.is_err() {
            // A host that failed to start its agent has removed itself.
            self.entry.memory().host = None;
        }
        let agent = started.map_err(|error| self.explained(error.into()))?;
        let backend_name = self.entry.memory().settings.launch.backend.clone();
        let backend: Arc<dyn Backend> = match backend_name {
            Some(name) => Arc::new(AcpAgent::new(&name, agent.clone())),
            None => Arc::new(ClaudeCode(agent.clone())),
        };
        self.entry.memory().agent = Some(Arc::clone(&backend));
        #[cfg(unix)]
        crate::sessions::surviving::health::watch(&self.entry);
        if self.entry.memory().settings.launch.keep_frames {
            crate::sessions::running::frames::keep(&self.entry, &agent);
        }
        Ok(backend)
    }

    /// An error of another agent, in its own words.
    fn explained(&self, error: Error) -> Error {
        let backend = self.entry.memory().settings.launch.backend.clone();
        backend.map_or(error.clone(), |name| refusal_of_agent(&name, error))
    }

    /// Returns the agent for a command that is not a prompt.
    pub(in crate::sessions) async fn idle_agent(&mut self) -> Result<Arc<dyn Backend>, Error> {
        let agent = match self.agent().await {
            Ok(agent) => agent,
            Err(error) => {
                self.fail(&error).await;
                return Err(error);
            }
        };
        if self.entry.memory().phase() == ServerPhase::Starting {
            let idle = |_: &mut SessionSettings, _: &_| {
                Ok(Change { phase: Some(ServerPhase::Idle), ..Change::default() })
            };
            self.entry.change(idle).await?;
        }
        Ok(agent)
    }

    async fn fail(&self, error: &Error) {
        self.entry.memory().is_held = true;
        let text = error_text(error);
        let handle = self.entry.handle;
        let event = UiMessage::Error { message: text.clone(), session_id: Some(handle) };
        let draft = self.entry.draft(&event);
        let failed = |settings: &mut SessionSettings, _: &_| {
            settings.fail(Some(&text));
            settings.mark_handed_uncertain();
            Ok(Change { phase: Some(ServerPhase::Failed), event: Some(draft), ..Change::default() })
        };
        if let Err(error) = self.entry.change(failed).await {
            tracing::error!(session = %self.entry.key, %error, "failed to store the failure of a session");
        }
    }

    /// Ends the agent. Its last events are stored before this returns.
    pub(in crate::sessions) async fn end(&mut self, phase: ServerPhase) {
        self.turn = None;
        let agent = {
            let mut memory = self.entry.memory();
            memory.closing = memory.agent.is_some().then_some(phase);
            memory.agent.clone()
        };
        if let Some(agent) = agent {
            agent.close().await;
            let mut memory = self.entry.memory();
            let closing = memory.closing;
            memory.forget_agent();
            if self.entry.journal().is_full() {
                // The event of the end waits for room, and sets the phase then.
                memory.closing = closing;
            }
            #[cfg(unix)]
            if let Some(host) = memory.host.take() {
                host.clear();
            }
            return;
        }
        let at_rest = |_: &mut SessionSettings, _: &_| Ok(Change { phase: Some(phase), ..Change::default() });
        if self.entry.memory().phase() != phase
            && let Err(error) = self.entry.change(at_rest).await
        {
            tracing::warn!(session = %self.entry.key, %error, "failed to store the end of a session");
        }
    }

    /// Deadline at which the session's wall-time budget is used up.
    fn turn_deadline(&mut self) -> Option<Instant> {
        let memory = self.entry.memory();
        let is_open = memory.is_turn_open && memory.agent.is_some();
        let begins = || TurnTime::new(Instant::now(), memory.settings.turns_ms);
        self.turn = is_open.then(|| self.turn.unwrap_or_else(begins));
        self.turn?.is_up_at(memory.settings.budget.max_seconds?)
    }

    async fn end_over_budget(&mut self) {
        let message = "The wall-time budget of this session is used up".to_owned();
        let event = UiMessage::Error { message, session_id: Some(self.entry.handle) };
        let draft = self.entry.draft(&event);
        // A turn that is cut off does not report its duration, and queued prompts would get the same time
        // again.
        let taken_ms = self.turn.map_or(0, |turn| turn.taken_ms(Instant::now()));
        let count = |settings: &mut SessionSettings, _: &_| {
            settings.turns_ms = settings.turns_ms.max(taken_ms);
            Ok(Change { event: Some(draft), ..Change::default() })
        };
        if let Err(error) = self.entry.change(count).await {
            tracing::warn!(session = %self.entry.key, %error, "failed to store that the wall-time budget is used up");
        }
        self.end(ServerPhase::Stopped).await;
    }

    /// Publishes an error event.
    async fn report_error(&self, message: String) {
        let event = UiMessage::Error { message, session_id: Some(self.entry.handle) };
        if let Err(error) = self.entry.append_event(&event, None).await {
            tracing::warn!(session = %self.entry.key, %error, "failed to store an error event");
        }
    }

    /// Runs a command, unless it was run before: a repeated command waits until the first is done.
    async fn command_once(
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
                if let Some(agent) = self.entry.agent() {
                    agent.set(Setting::Mode(&mode)).await?;
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

    pub(in crate::sessions) fn at_head(&self) -> Accepted {
        at_cursor(self.entry.memory().row.head)
    }
}

pub(in crate::sessions) fn accepted(stored: crate::journal::Stored) -> Accepted {
    at_cursor(stored.cursor)
}

pub(in crate::sessions) fn at_cursor(cursor: Cursor) -> Accepted {
    Accepted { turn_id: None, seq: cursor.seq, cursor: cursor.to_string(), rewind: None }
}

pub(in crate::sessions) fn missing(field: &str) -> Error {
    Error::new(
        Code::Invalid,
        format!("`{field}` is missing"),
        "the API reference lists the commands and their fields",
    )
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

/// The error and its hint as one text.
fn error_text(error: &Error) -> String {
    if error.hint().is_empty() { error.to_string() } else { format!("{error}: {}", error.hint()) }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
