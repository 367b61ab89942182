//! One running session: the agent's process, what it says as events, and what it asks.
//!
//! An [`AgentSession`] ties a [`Client`] to a [`Fold`], the registries and a policy. A task of its own
//! reads what the agent writes and hands the events to a [sink](crate::EventSink). It waits for the sink, and the agent
//! waits for it: nothing is lost, and nothing piles up.

mod announce;
mod answering;
mod asking;
mod board;
mod left;
mod notes;
mod pump;
mod status;
mod waiting;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidings::transport::{Process, Transport};
use tidings::{Client, Error, Ids, Options, Prompt};
use tidings_protocol::ui::{ControllerInputPayload, Role, TurnId};
use tokio_util::sync::CancellationToken;

pub use left::{Keep, LastWords, Left};
pub use status::SessionStatus;

use self::asking::Asking;
use self::board::Board;
use self::notes::{Note, Notes};
use crate::clock::Clock;
use crate::fold::{self, Fold, FoldOptions};
use crate::limits::{LAST_EVENTS_WAIT, NOTES_MAX};
use crate::permissions::PermissionRegistry;
use crate::policy::PermissionPolicy;
use crate::questions::UserInteractionRegistry;
use crate::sink::EventSink;
use crate::source::Command;

/// What a session is given when it starts.
#[derive(Clone)]
#[non_exhaustive]
pub struct Setup {
    /// The number that its events carry.
    pub handle: i64,
    /// Decides what it can; the rest is asked.
    pub policy: Arc<dyn PermissionPolicy>,
    /// Where questions about tools wait.
    pub permissions: PermissionRegistry,
    /// Where questions to the person wait.
    pub questions: UserInteractionRegistry,
    /// How long a question waits for an answer; for ever if there is no limit.
    pub ask_limit: Option<Duration>,
    /// Which calls are asked about together.
    pub batches: Batches,
    /// How frames become events.
    pub fold: FoldOptions,
    /// Where somebody else has left the session, if its agent has been running for a while.
    pub left: Option<Left>,
    /// Keeps what whoever goes on with the session has to know, if somebody may.
    pub keep: Option<Arc<dyn Keep>>,
    /// What time it is.
    pub clock: Clock,
    /// Where ids of prompts and batches come from.
    pub ids: Ids,
}

/// Which calls are asked about together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Batches {
    /// Those that the agent asks about at the same time.
    #[default]
    AsAsked,
    /// All calls of one message, before the agent asks about the first: whoever is away answers once. Calls that the
    /// agent's own rules would have let through are asked about as well.
    PerMessage,
}

/// A running session. Handles are cheap to clone; the session ends when the last one is dropped, or with
/// [`AgentSession::close`].
#[derive(Clone)]
pub struct AgentSession {
    client: Client,
    setup: Arc<Setup>,
    notes: Notes,
    status: Arc<status::Shared>,
    turns: Arc<AtomicU64>,
    /// Cancelled when the last event was taken.
    over: CancellationToken,
}

impl Setup {
    /// A session of that number, whose questions the policy decides.
    pub fn new(handle: i64, policy: Arc<dyn PermissionPolicy>) -> Self {
        Setup {
            handle,
            policy,
            permissions: PermissionRegistry::default(),
            questions: UserInteractionRegistry::default(),
            ask_limit: None,
            batches: Batches::default(),
            fold: FoldOptions::default(),
            left: None,
            keep: None,
            clock: Clock::default(),
            ids: Ids::default(),
        }
    }
}

impl AgentSession {
    /// Starts `claude` on this machine. Its events go to `sink`.
    ///
    /// Who answers questions is set here, over whatever the options say; partial messages are asked for, so that text
    /// comes as it is written.
    pub async fn start(options: Options, setup: Setup, sink: Box<dyn EventSink>) -> Result<Self, Error> {
        Self::start_over(Process::new(), options, setup, sink).await
    }

    /// The same over any carrier.
    pub async fn start_over(
        transport: impl Transport + 'static,
        options: Options,
        setup: Setup,
        sink: Box<dyn EventSink>,
    ) -> Result<Self, Error> {
        let fold = match &setup.left {
            Some(left) => Fold::restore(left.fold.clone(), setup.fold.clone()).map_err(|error| {
                let hint = "end the session, and resume it";
                Error::new(tidings::ErrorKind::Invalid, error.to_string(), hint)
            })?,
            None => Fold::new(setup.handle, setup.fold.clone()),
        };
        let turns = Arc::new(AtomicU64::new(setup.fold.user_turns));
        let setup = Arc::new(setup);
        let (notes, inbox) = notes::channel(NOTES_MAX);
        let asking = Arc::new(Asking::new(Arc::clone(&setup), notes.clone()));
        let options = asking.answer_for(options).include_partial_messages();
        let (client, frames) = Client::connect_and_follow(transport, options).await?;
        let status = Arc::new(status::Shared::new(setup.handle));
        let over = CancellationToken::new();
        let pump = pump::Pump {
            place: pump::Place::new(&setup, &fold),
            fold,
            frames,
            inbox,
            board: Board::new(Arc::clone(&setup)),
            sink,
            asking,
            status: Arc::clone(&status),
            client: client.guest(),
            is_over: false,
            over: over.clone().drop_guard(),
        };
        drop(tokio::spawn(pump.run()));
        Ok(AgentSession { client, setup, notes, status, turns, over })
    }

    /// The number that its events carry.
    pub fn handle(&self) -> i64 {
        self.setup.handle
    }

    /// The session as the SDK has it: every request that the agent knows.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Where its questions about tools wait.
    pub fn permissions(&self) -> &PermissionRegistry {
        &self.setup.permissions
    }

    /// Where its questions to the person wait.
    pub fn questions(&self) -> &UserInteractionRegistry {
        &self.setup.questions
    }

    /// How the session stands.
    pub fn status(&self) -> SessionStatus {
        let mut status = self.status.get();
        status.pending_permissions = self.setup.permissions.pending_for_session(self.handle()).len();
        status.pending_questions = self.setup.questions.pending_for_session(self.handle()).len();
        status
    }

    /// A person says something. The turn is the one that the payload names, or the next if another prompt has it.
    pub async fn input(&self, payload: ControllerInputPayload) -> Result<TurnId, Error> {
        let turn_id = self.claim(payload.turn_id);
        self.say(Prompt::from(payload.content.as_str()), fold::Prompt::new(payload.content), turn_id).await
    }

    /// A person says something with pictures and files in it; `told` is how it is shown.
    pub async fn prompt(&self, prompt: Prompt, told: fold::Prompt) -> Result<TurnId, Error> {
        let next = TurnId::new_user_turn(self.turns.load(Ordering::Relaxed).saturating_add(1));
        let turn_id = self.claim(told.turn_id.unwrap_or(next));
        self.say(prompt, told, turn_id).await
    }

    async fn say(&self, prompt: Prompt, mut told: fold::Prompt, turn_id: TurnId) -> Result<TurnId, Error> {
        let uuid = told.uuid.get_or_insert_with(|| self.setup.ids.next()).clone();
        told.turn_id = Some(turn_id);
        // Told first: the answer may be quicker than we are.
        self.notes.tell(Note::Prompt(told)).await;
        // The turn is followed by the pump.
        self.client.send(prompt.uuid(uuid)).await.map(|_| turn_id)
    }

    /// The number that a client claims, or the next free one.
    fn claim(&self, wanted: TurnId) -> TurnId {
        let wanted = if wanted.role == Role::User { wanted.sequence } else { 0 };
        let taken = |last: u64| Some(last.saturating_add(1).max(wanted));
        let last = self.turns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).unwrap_or_default();
        TurnId::new_user_turn(last.saturating_add(1).max(wanted))
    }

    /// Does what a person asks for besides answers. It is over when a `CommandComplete` with its name has come.
    pub async fn command(&self, command: Command) -> Result<(), Error> {
        match command {
            Command::Interrupt => drop(self.client.interrupt_and_cancel_queued().await?),
            // The agent knows these as slash commands; the fold tells when their turn is over.
            Command::Clear | Command::Compact => {
                let text = format!("/{command}");
                let mut told = fold::Prompt::new(text.clone());
                told.origin = Some(fold::COMMAND.to_owned());
                return self.prompt(Prompt::from(text), told).await.map(drop);
            }
            Command::Shutdown => {
                self.notes.tell(Note::Done(command)).await;
                self.close().await;
                return Ok(());
            }
        }
        self.notes.tell(Note::Done(command)).await;
        Ok(())
    }

    /// Ends the session, and waits until its last event was taken.
    ///
    /// It does not wait for ever: whoever takes the events may be the one who closes. What was not taken by then can
    /// still be taken afterwards.
    pub async fn close(&self) {
        // How the agent ended is told by an event.
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
