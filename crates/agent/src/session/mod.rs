//! One running session: the agent's process, its output as events, and its requests.
//!
//! An [`AgentSession`] connects a [`Client`] to a [`Fold`], the registries and a policy.
//! Its task reads the agent's output and sends events to a [sink](crate::EventSink).
//! The task waits for the sink, and the agent waits for the task: events are neither lost nor queued without
//! limit.

mod adoption;
mod announce;
mod event_task;
mod identical_calls;
mod notes;
mod observed;
mod outcomes;
mod pending_requests;
mod request_handler;
mod status;
mod user_questions;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidings::transport::{Process, Transport};
use tidings::{Client, Error, Ids, Options, Prompt};
use tidings_protocol::ui::{ControllerInputPayload, Role, TurnId};
use tokio_util::sync::CancellationToken;

pub use adoption::{Checkpoint, RemainingOutput, SnapshotStore};
pub use observed::{LOCAL_DIALOG, LocalAnswer, Observation, ObservedSession};
pub use status::SessionStatus;

use self::notes::{Note, NoteSender};
use self::pending_requests::PendingRequests;
use self::request_handler::RequestHandler;
use crate::clock::Clock;
use crate::fold::{self, Fold, FoldOptions};
use crate::limits::{LAST_EVENTS_WAIT, NOTES_MAX};
use crate::permissions::{PermissionRegistry, SessionFacts};
use crate::policy::PermissionPolicy;
use crate::questions::UserInteractionRegistry;
use crate::sink::EventSink;
use crate::source::Command;

/// Configuration of a session.
#[derive(Clone)]
#[non_exhaustive]
pub struct Setup {
    /// The number that its events carry.
    pub handle: i64,
    /// Decides the requests that it can; the others go to the user.
    pub policy: Arc<dyn PermissionPolicy>,
    /// The facts about it that the policy needs. Without a folder here, that of a driven agent is taken from
    /// its first message.
    pub facts: SessionFacts,
    /// The registry in which permission requests wait.
    pub permissions: PermissionRegistry,
    /// The registry in which questions to the user wait.
    pub questions: UserInteractionRegistry,
    /// Time that a request waits for an answer; without a limit if `None`.
    pub ask_limit: Option<Duration>,
    /// The rule that groups permission requests into batches.
    pub batches: Batches,
    /// Options for turning frames into events.
    pub fold: FoldOptions,
    /// The checkpoint to continue from, if the agent was started by another process and is adopted.
    pub checkpoint: Option<Checkpoint>,
    /// Stores snapshots from which another process can continue the session, if it may be adopted later.
    pub snapshot_store: Option<Arc<dyn SnapshotStore>>,
    /// Source of the current time.
    pub clock: Clock,
    /// Source of ids for prompts and batches.
    pub ids: Ids,
}

/// Rules that group permission requests into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Batches {
    /// Groups the calls that the agent asks about at the same time.
    #[default]
    AsAsked,
    /// Groups all calls of one message before the agent asks about the first, so that the user answers once.
    /// Calls that the agent's own rules would allow are included.
    PerMessage,
}

/// A running session. Handles are cheap to clone; the session ends when the last one is dropped, or with
/// [`AgentSession::close`].
#[derive(Clone)]
pub struct AgentSession {
    client: Client,
    setup: Arc<Setup>,
    notes: NoteSender,
    status: Arc<status::StatusCell>,
    turns: Arc<AtomicU64>,
    /// Cancelled after the sink took the last event.
    over: CancellationToken,
}

impl Setup {
    /// Creates the configuration of a session with this number and policy.
    pub fn new(handle: i64, policy: Arc<dyn PermissionPolicy>) -> Self {
        Setup {
            handle,
            policy,
            facts: SessionFacts::unknown(),
            permissions: PermissionRegistry::default(),
            questions: UserInteractionRegistry::default(),
            ask_limit: None,
            batches: Batches::default(),
            fold: FoldOptions::default(),
            checkpoint: None,
            snapshot_store: None,
            clock: Clock::default(),
            ids: Ids::default(),
        }
    }
}

impl AgentSession {
    /// Starts `claude` on this machine. Its events go to `sink`.
    ///
    /// The handlers of permission requests and elicitations are set here and replace those of the options.
    /// Partial messages are switched on, so that text comes as it is written.
    pub async fn start(options: Options, setup: Setup, sink: Box<dyn EventSink>) -> Result<Self, Error> {
        Self::start_over(Process::new(), options, setup, sink).await
    }

    /// Starts a session over any transport.
    pub async fn start_over(
        transport: impl Transport + 'static,
        options: Options,
        setup: Setup,
        sink: Box<dyn EventSink>,
    ) -> Result<Self, Error> {
        let fold = match &setup.checkpoint {
            Some(checkpoint) => {
                Fold::restore(checkpoint.fold.clone(), setup.fold.clone()).map_err(|error| {
                    let hint = "end the session, and resume it";
                    Error::new(tidings::ErrorKind::Invalid, error.to_string(), hint)
                })?
            }
            None => Fold::new(setup.handle, setup.fold.clone()),
        };
        let turns = Arc::new(AtomicU64::new(setup.fold.user_turns));
        let setup = Arc::new(setup);
        let (notes, note_receiver) = notes::channel(NOTES_MAX);
        let handler = Arc::new(RequestHandler::new(Arc::clone(&setup), notes.clone()));
        let options = handler.install(options).include_partial_messages();
        let (client, frames) = Client::connect_and_follow(transport, options).await?;
        let status = Arc::new(status::StatusCell::new(setup.handle));
        let over = CancellationToken::new();
        let task = event_task::EventTask {
            progress: event_task::OutputProgress::new(&setup, &fold),
            fold,
            frames,
            note_receiver,
            pending: PendingRequests::new(Arc::clone(&setup)),
            sink,
            handler,
            status: Arc::clone(&status),
            client: client.guest(),
            is_over: false,
            over: over.clone().drop_guard(),
        };
        drop(tokio::spawn(task.run()));
        Ok(AgentSession { client, setup, notes, status, turns, over })
    }

    /// The number that its events carry.
    pub fn handle(&self) -> i64 {
        self.setup.handle
    }

    /// The client of the session, with every request that the agent accepts.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The registry in which its permission requests wait.
    pub fn permissions(&self) -> &PermissionRegistry {
        &self.setup.permissions
    }

    /// The registry in which its questions to the user wait.
    pub fn questions(&self) -> &UserInteractionRegistry {
        &self.setup.questions
    }

    /// The current status of the session.
    pub fn status(&self) -> SessionStatus {
        let mut status = self.status.get();
        status.pending_permissions = self.setup.permissions.pending_for_session(self.handle()).len();
        status.pending_questions = self.setup.questions.pending_for_session(self.handle()).len();
        status
    }

    /// Sends a message of the user. The turn is the one that the payload names, or the next if another prompt
    /// has it.
    pub async fn input(&self, payload: ControllerInputPayload) -> Result<TurnId, Error> {
        let turn_id = self.claim(payload.turn_id);
        self.send_prompt(Prompt::from(payload.content.as_str()), fold::Prompt::new(payload.content), turn_id)
            .await
    }

    /// Sends a message of the user with images and files; `shown` is the prompt as it appears in the events.
    pub async fn prompt(&self, prompt: Prompt, shown: fold::Prompt) -> Result<TurnId, Error> {
        let next = TurnId::new_user_turn(self.turns.load(Ordering::Relaxed).saturating_add(1));
        let turn_id = self.claim(shown.turn_id.unwrap_or(next));
        self.send_prompt(prompt, shown, turn_id).await
    }

    async fn send_prompt(
        &self,
        prompt: Prompt,
        mut shown: fold::Prompt,
        turn_id: TurnId,
    ) -> Result<TurnId, Error> {
        let uuid = shown.uuid.get_or_insert_with(|| self.setup.ids.next()).clone();
        shown.turn_id = Some(turn_id);
        // Recorded before it is sent: the agent's answer may come before `send` returns.
        self.notes.send(Note::Prompt(shown)).await;
        // The event task follows the turn.
        self.client.send(prompt.uuid(uuid)).await.map(|_| turn_id)
    }

    /// Assigns the turn number that a client asks for, or the next free one.
    fn claim(&self, wanted: TurnId) -> TurnId {
        let wanted = if wanted.role == Role::User { wanted.sequence } else { 0 };
        let taken = |last: u64| Some(last.saturating_add(1).max(wanted));
        let last = self.turns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).unwrap_or_default();
        TurnId::new_user_turn(last.saturating_add(1).max(wanted))
    }

    /// Executes a command. It is finished when a `CommandComplete` event with its name has come.
    pub async fn command(&self, command: Command) -> Result<(), Error> {
        match command {
            Command::Interrupt => drop(self.client.interrupt_and_cancel_queued().await?),
            // These are slash commands of the agent; the fold reports when their turn is over.
            Command::Clear | Command::Compact => {
                let text = format!("/{command}");
                let mut shown = fold::Prompt::new(text.clone());
                shown.origin = Some(fold::COMMAND.to_owned());
                return self.prompt(Prompt::from(text), shown).await.map(drop);
            }
            Command::Shutdown => {
                self.notes.send(Note::Done(command)).await;
                self.close().await;
                return Ok(());
            }
        }
        self.notes.send(Note::Done(command)).await;
        Ok(())
    }

    /// Ends the session, and waits until the sink took its last event.
    ///
    /// The wait is limited, because the caller may be the task that takes the events.
    /// Events that were not taken by then can still be taken afterwards.
    pub async fn close(&self) {
        // An event reports how the agent ended.
        drop(self.client.close().await);
        drop(tokio::time::timeout(LAST_EVENTS_WAIT, self.over.cancelled()).await);
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("handle", &self.handle)
            .field("ask_limit", &self.ask_limit)
            .field("batches", &self.batches)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSession")
            .field("handle", &self.handle())
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
