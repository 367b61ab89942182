//! The task of one session: it starts the agent, hands it prompts one after the other, and ends it when it is
//! unused.

use std::sync::Arc;

use tidings_agent::UiMessage;
use tidings_api::{Accepted, Code, CommandRequest, Delivery, QueueState, ServerPhase, SessionCommand};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::backends::{Backend, PromptOutcome};
#[cfg(unix)]
use crate::hosts::FoundHost;
use crate::limits::RETRY_WHEN_FULL;
use crate::live_session::{Change, LiveSession};
use crate::running::prompt::prompt;
use crate::running::turn_time::TurnTime;
use crate::settings::{Queued, SessionSettings};
use crate::{Config, Error};

/// Commands accepted by a session's actor.
pub(crate) enum ActorCommand {
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

pub(crate) struct Actor {
    pub(crate) entry: Arc<LiveSession>,
    pub(crate) config: Arc<Config>,
    pub(crate) commands: mpsc::Receiver<ActorCommand>,
    /// Time of the last activity.
    pub(crate) used: Instant,
    /// The turn that is under way.
    pub(crate) turn: Option<TurnTime>,
}

impl Actor {
    /// Runs until all handles on the session are dropped.
    pub(crate) async fn run(mut self) {
        loop {
            self.yield_to_second_writer().await;
            self.restore_mode().await;
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
                let adopted = Box::pin(self.adopt(&found)).await;
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
        if let Err(refused) = queued.check_way(agent.text_way()) {
            return self.drop_refused(queued, &refused).await;
        }
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

    /// Removes a prompt that this agent would interpret, and tells its subscribers.
    pub(crate) async fn drop_refused(&self, queued: &Queued, refused: &Error) -> Result<(), Error> {
        self.entry.drop_prompt(queued, error_text(refused)).await?;
        self.report_error(format!("A prompt was not sent. {}", error_text(refused))).await;
        Ok(())
    }

    /// Returns the agent for a command that is not a prompt.
    pub(crate) async fn idle_agent(&mut self) -> Result<Arc<dyn Backend>, Error> {
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
    pub(crate) async fn end(&mut self, phase: ServerPhase) {
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
    pub(crate) async fn report_error(&self, message: String) {
        let event = UiMessage::Error { message, session_id: Some(self.entry.handle) };
        if let Err(error) = self.entry.append_event(&event, None).await {
            tracing::warn!(session = %self.entry.key, %error, "failed to store an error event");
        }
    }
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
