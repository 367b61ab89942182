//! Many sessions behind one front end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings::transport::{Process, Transport};
use tidings::{Error, Options};
use tidings_protocol::ui::UiMessage;

use crate::permissions::PermissionRegistry;
use crate::policy::PermissionPolicy;
use crate::questions::UserInteractionRegistry;
use crate::session::{AgentSession, Setup};
use crate::sink::EventSink;
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
/// agent's registries. Everything that goes wrong is an event as well.
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
    while let Some(input) = source.recv().await {
        let (handle, done) = match input {
            FrontendInput::Message(payload) => {
                let handle = payload.session_id;
                let session = match agent.session(handle).filter(|session| !session.client().is_closed()) {
                    Some(session) => Ok(session),
                    None => {
                        agent.open(handle, agent.options.clone(), Arc::clone(&policy), sink.clone_box()).await
                    }
                };
                let done = match session {
                    Ok(session) => session.input(payload).await.map(drop),
                    Err(error) => Err(error),
                };
                (handle, done)
            }
            FrontendInput::Command { session_id, command } => {
                let done = match agent.session(session_id) {
                    Some(session) => session.command(command).await,
                    None => Err(no_session(session_id)),
                };
                if command == Command::Shutdown {
                    agent.remove(session_id).await;
                }
                (session_id, done)
            }
        };
        if let Err(error) = done {
            let message = if error.hint().is_empty() {
                error.to_string()
            } else {
                format!("{error}: {}", error.hint())
            };
            if sink.send_async(UiMessage::Error { message, session_id: Some(handle) }).await.is_err() {
                break;
            }
        }
    }
    for handle in agent.handles() {
        agent.remove(handle).await;
    }
}

fn no_session(handle: i64) -> Error {
    Error::new(
        tidings::ErrorKind::NoSession,
        format!("There is no session {handle}"),
        "say something to it first",
    )
}
