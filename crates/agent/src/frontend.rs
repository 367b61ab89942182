//! Many sessions behind one front end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
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

/// Sessions by number, with shared registries for the requests of all of them.
///
/// A session starts with the first input for its number, or with [`Agent::open`] if it has options of its
/// own.
#[derive(Clone)]
pub struct Agent {
    options: Options,
    transports: Arc<dyn Fn() -> Box<dyn Transport> + Send + Sync>,
    permissions: PermissionRegistry,
    questions: UserInteractionRegistry,
    sessions: Arc<Mutex<BTreeMap<i64, AgentSession>>>,
}

impl Agent {
    /// Creates an agent whose sessions start with these options.
    pub fn new(options: Options) -> Self {
        Agent {
            options,
            transports: Arc::new(|| Box::new(Process::new())),
            permissions: PermissionRegistry::default(),
            questions: UserInteractionRegistry::default(),
            sessions: Arc::default(),
        }
    }

    /// Replaces the processes on this machine by other transports.
    #[must_use]
    pub fn over<T: Transport + 'static>(mut self, transport: impl Fn() -> T + Send + Sync + 'static) -> Self {
        self.transports = Arc::new(move || Box::new(transport()));
        self
    }

    /// The registry in which permission requests wait for an answer.
    pub fn permissions(&self) -> &PermissionRegistry {
        &self.permissions
    }

    /// The registry in which questions to the user wait for an answer.
    pub fn questions(&self) -> &UserInteractionRegistry {
        &self.questions
    }

    /// A running session.
    pub fn session(&self, handle: i64) -> Option<AgentSession> {
        self.sessions().get(&handle).cloned()
    }

    /// The handles of the running sessions.
    pub fn handles(&self) -> Vec<i64> {
        self.sessions().keys().copied().collect()
    }

    /// Starts a session with options of its own. A running session with the same handle is closed first.
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
        // Close the old session before the new one starts: their events and requests carry the same handle.
        self.close(handle).await;
        let session = AgentSession::start_over((self.transports)(), options, setup, sink).await?;
        // Another call may have started a session with this handle in the meantime.
        let previous = self.sessions().insert(handle, session.clone());
        if let Some(previous) = previous {
            previous.close().await;
        }
        Ok(session)
    }

    /// Ends a session and forgets its open requests and grants.
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
        self.sessions.lock()
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("sessions", &self.handles()).finish_non_exhaustive()
    }
}

/// Runs an agent between a source of input and a sink for events, until the source ends.
///
/// The policy sees every request first. A request that it does not decide goes to the sink as an event, and
/// waits in the agent's registries.
/// Errors are events as well. Input for one session is handled in order, independently of other sessions.
///
/// ```no_run
/// use tidings::Options;
/// use tidings_agent::policy::Interactive;
/// use tidings_agent::{Agent, ChannelEventSink, ChannelInputSource, run_with_frontend};
/// use tidings_agent::{ControllerInputPayload, TurnId};
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
    let sink_state = loop {
        let input = tokio::select! {
            biased;
            // A worker ends early only if its sink is closed.
            Some(_) = workers.join_next() => break SinkState::Closed,
            input = source.recv() => input,
        };
        let Some(input) = input else { break SinkState::Open };
        let handle = session_of(&input);
        let queue = queues.entry(handle).or_insert_with(|| {
            let (queue, inputs) = mpsc::channel(INPUTS_WAITING_MAX);
            let worker =
                Worker { handle, agent: agent.clone(), policy: Arc::clone(&policy), sink: sink.clone_box() };
            workers.spawn(worker.run(inputs));
            queue
        });
        if let Err(TrySendError::Full(_)) = queue.try_send(input)
            && report(&sink, handle, &too_many_inputs(handle)).await.is_err()
        {
            break SinkState::Closed;
        }
    };
    // The workers handle what is queued and then end their sessions.
    drop(queues);
    match sink_state {
        SinkState::Open => while workers.join_next().await.is_some() {},
        SinkState::Closed => workers.shutdown().await,
    }
    for handle in agent.handles() {
        agent.remove(handle).await;
    }
}

/// Tells if the sink still takes events.
enum SinkState {
    Open,
    Closed,
}

/// Handles the input of one session, in order.
/// Each session has its own worker, so that a session that starts or answers slowly does not delay the
/// others.
struct Worker {
    handle: i64,
    agent: Agent,
    policy: Arc<dyn PermissionPolicy>,
    sink: Box<dyn EventSink>,
}

impl Worker {
    /// Runs until the input ends and then ends the session, or until the sink is closed.
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

fn too_many_inputs(handle: i64) -> Error {
    Error::new(
        tidings::ErrorKind::Invalid,
        format!("Too many inputs are queued for session {handle}"),
        "wait until it has started",
    )
}

fn no_session(handle: i64) -> Error {
    Error::new(
        tidings::ErrorKind::NoSession,
        format!("There is no session {handle}"),
        "send it a message first",
    )
}
