//! Many sessions behind one front end.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings::transport::{Process, Transport};
use tidings::{Error, Options};
use tidings_protocol::ui::UiMessage;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::task::JoinSet;

use crate::limits::INPUTS_WAITING_MAX;
use crate::permissions::PermissionRegistry;
use crate::policy::PermissionPolicy;
use crate::questions::UserInteractionRegistry;
use crate::session::{AgentSession, Setup};
use crate::sink::{EventSink, SendError};
use crate::source::{Command, FrontendInput, InputSource};

/// Sessions by number, with one place for the questions of all of them.
///
/// A session starts when something is first said to its number, or with [`Agent::open`] where it has options of its own.
#[derive(Clone)]
pub struct Agent {
    options: Options,
    carriers: Arc<dyn Fn() -> Box<dyn Transport> + Send + Sync>,
    permissions: PermissionRegistry,
    questions: UserInteractionRegistry,
    sessions: Arc<Mutex<BTreeMap<i64, AgentSession>>>,
}

impl Agent {
    /// An agent whose sessions start with these options.
    pub fn new(options: Options) -> Self {
        Agent {
            options,
            carriers: Arc::new(|| Box::new(Process::new())),
            permissions: PermissionRegistry::default(),
            questions: UserInteractionRegistry::default(),
            sessions: Arc::default(),
        }
    }

    /// The same with carriers of one's own instead of processes on this machine.
    #[must_use]
    pub fn over<T: Transport + 'static>(mut self, carrier: impl Fn() -> T + Send + Sync + 'static) -> Self {
        self.carriers = Arc::new(move || Box::new(carrier()));
        self
    }

    /// Where questions about tools wait for an answer.
    pub fn permissions(&self) -> &PermissionRegistry {
        &self.permissions
    }

    /// Where questions to the person wait for an answer.
    pub fn questions(&self) -> &UserInteractionRegistry {
        &self.questions
    }

    /// A session that runs.
    pub fn session(&self, handle: i64) -> Option<AgentSession> {
        self.sessions().get(&handle).cloned()
    }

    /// The sessions that run.
    pub fn handles(&self) -> Vec<i64> {
        self.sessions().keys().copied().collect()
    }

    /// Starts a session with options of its own. One that has the number already is closed before.
    pub async fn open(
        &self,
        handle: i64,
        options: Options,
        policy: Arc<dyn PermissionPolicy>,
        sink: Box<dyn EventSink>,
    ) -> Result<AgentSession, Error> {
        let mut setup = Setup::new(handle, policy);
        setup.permissions = self.permissions.clone();
        setup.questions = self.questions.clone();
        // First the end of the one, then the beginning of the other: their events and questions have the same number.
        self.close(handle).await;
        let session = AgentSession::start_over((self.carriers)(), options, setup, sink).await?;
        // Somebody may have begun one meanwhile.
        let before = self.sessions().insert(handle, session.clone());
        if let Some(before) = before {
            before.close().await;
        }
        Ok(session)
    }

    /// Ends a session and forgets everything about it: open questions, grants.
    pub async fn remove(&self, handle: i64) {
        self.close(handle).await;
        drop(self.permissions.clear_session(handle));
        drop(self.questions.clear_session(handle));
    }

    async fn close(&self, handle: i64) {
        let session = self.sessions().remove(&handle);
        if let Some(session) = session {
            session.close().await;
        }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<i64, AgentSession>> {
        // The map is whole whenever the lock is free.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("sessions", &self.handles()).finish_non_exhaustive()
    }
}

/// Runs an agent between a source of input and a sink for events, until the source ends.
///
/// The policy sees every question first; what it does not decide goes to the sink as an event, and waits in the
/// agent's registries. Everything that goes wrong is an event as well. Input for one session is handled in order, and waits
/// for no other session.
///
/// ```no_run
/// use tidings::Options;
/// use tidings_agent::policy::Interactive;
/// use tidings_agent::{Agent, ChannelEventSink, ChannelInputSource, ControllerInputPayload, TurnId, run_with_frontend};
///
/// # async fn run() {
/// let (sink, mut events) = ChannelEventSink::new(100);
/// let (input, source) = ChannelInputSource::new(32);
/// let agent = Agent::new(Options::new());
/// tokio::spawn(run_with_frontend(agent, sink, source, Interactive));
///
/// let payload = ControllerInputPayload::data(1, "What is in this folder?", TurnId::new_user_turn(1));
/// drop(input.send(payload).await);
/// while let Some(event) = events.recv().await {
///     println!("{event:?}");
/// }
/// # }
/// ```
pub async fn run_with_frontend(
    agent: Agent,
    sink: impl EventSink + 'static,
    mut source: impl InputSource,
    policy: impl PermissionPolicy + 'static,
) {
    let policy: Arc<dyn PermissionPolicy> = Arc::new(policy);
    let mut workers = JoinSet::new();
    let mut queues: HashMap<i64, mpsc::Sender<FrontendInput>> = HashMap::new();
    let is_shown = loop {
        let input = tokio::select! {
            biased;
            // A worker ends early only if its sink is closed.
            Some(_) = workers.join_next() => break Shown::No,
            input = source.recv() => input,
        };
        let Some(input) = input else { break Shown::Yes };
        let handle = session_of(&input);
        let queue = queues.entry(handle).or_insert_with(|| {
            let (queue, inputs) = mpsc::channel(INPUTS_WAITING_MAX);
            let worker =
                Worker { handle, agent: agent.clone(), policy: Arc::clone(&policy), sink: sink.clone_box() };
            workers.spawn(worker.run(inputs));
            queue
        });
        if let Err(TrySendError::Full(_)) = queue.try_send(input)
            && report(&sink, handle, &too_many(handle)).await.is_err()
        {
            break Shown::No;
        }
    };
    // The workers handle what is queued and then end their sessions.
    drop(queues);
    match is_shown {
        Shown::Yes => while workers.join_next().await.is_some() {},
        Shown::No => workers.shutdown().await,
    }
    for handle in agent.handles() {
        agent.remove(handle).await;
    }
}

/// Whether the sink still takes events.
enum Shown {
    Yes,
    No,
}

/// Handles the input of one session, in order. Each session has its own, so that one that starts or answers slowly holds up
/// no other.
struct Worker {
    handle: i64,
    agent: Agent,
    policy: Arc<dyn PermissionPolicy>,
    sink: Box<dyn EventSink>,
}

impl Worker {
    /// Runs until no more input comes, and then ends the session; or until the sink is closed.
    async fn run(self, mut inputs: mpsc::Receiver<FrontendInput>) {
        while let Some(input) = inputs.recv().await {
            if let Err(error) = self.handle(input).await
                && report(&*self.sink, self.handle, &error).await.is_err()
            {
                return;
            }
        }
        self.agent.remove(self.handle).await;
    }

    async fn handle(&self, input: FrontendInput) -> Result<(), Error> {
        let running = self.agent.session(self.handle);
        match input {
            FrontendInput::Message(payload) => {
                let session = match running.filter(|session| !session.client().is_closed()) {
                    Some(session) => session,
                    None => self.open().await?,
                };
                session.input(payload).await.map(drop)
            }
            FrontendInput::Command { command, .. } => {
                let done = match running {
                    Some(session) => session.command(command).await,
                    None => Err(no_session(self.handle)),
                };
                if command == Command::Shutdown {
                    self.agent.remove(self.handle).await;
                }
                done
            }
        }
    }

    async fn open(&self) -> Result<AgentSession, Error> {
        let options = self.agent.options.clone();
        self.agent.open(self.handle, options, Arc::clone(&self.policy), self.sink.clone_box()).await
    }
}

fn session_of(input: &FrontendInput) -> i64 {
    match input {
        FrontendInput::Message(payload) => payload.session_id,
        FrontendInput::Command { session_id, .. } => *session_id,
    }
}

async fn report(sink: &dyn EventSink, handle: i64, error: &Error) -> Result<(), SendError> {
    let message =
        if error.hint().is_empty() { error.to_string() } else { format!("{error}: {}", error.hint()) };
    sink.send_async(UiMessage::Error { message, session_id: Some(handle) }).await
}

fn too_many(handle: i64) -> Error {
    Error::new(
        tidings::ErrorKind::Invalid,
        format!("Too many inputs wait for session {handle}"),
        "wait until it has started",
    )
}

fn no_session(handle: i64) -> Error {
    Error::new(
        tidings::ErrorKind::NoSession,
        format!("There is no session {handle}"),
        "say something to it first",
    )
}
