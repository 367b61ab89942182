//! Sessions that run, as their clients see them.
//!
//! The folders are parts of a session's life: `starting`, `running`, `requests`, `surviving`, `reading`, and
//! `observed` for sessions that people start themselves. `backends` has the seam to its agent, `entry` and
//! `settings` have its state.
//!
//! Each session has a task of its own around an agent. Events of the agent are stored in the journal before
//! they are published, and input of users is stored before it is acknowledged.

mod audit_settings;
mod backends;
mod config;
mod entry;
pub(crate) mod observed;
mod projects;
pub(crate) mod reading;
pub(crate) mod remote;
mod requests;
pub(crate) mod running;
mod settings;
pub(crate) mod starting;
mod surviving;
mod view;
pub(crate) mod worktree;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, MutexGuard};
use tidings_protocol::api::{
    Accepted, AnswerResult, BatchAnswer, BatchAnswered, CommandRequest, Notice, PatchSession,
    PendingPermission, PendingQuestion, PermissionAnswer, QuestionAnswer, ServerPhase, SessionCommand,
    SessionView, Subscribed, Verdict,
};
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot};
use tokio::time::Instant;

pub use config::{AgentProgram, Carrier, Config, Observe, Real};
pub(crate) use projects::{Projects, project_folder};
pub(crate) use remote::replica_settings;
pub(crate) use requests::asks::outcome_name;
pub(crate) use starting::create::first_input_id;

use self::backends::capability_of;
use self::entry::{Change, Entry};
use self::observed::ObservedProcesses;
use self::requests::asks::{PendingRequest, pending_request};
use self::running::actor::{Actor, ActorCommand};
use self::settings::SessionSettings;
use self::starting::agent_slots::AgentSlots;
use self::starting::agents::OtherAgents;
use self::starting::claude::ClaudeFacts;
use self::view::PendingCounts;
use crate::auth::capabilities::{self, Bypass, Need};
use crate::broadcast::{Broadcast, SubscribeOptions, Subscription};
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::journal::{self, Handle, Key, SessionName};
use crate::limits::{ACTOR_QUEUE_MAX, DRAIN_WAIT, LIST_MAX, NOTICES_MAX, SNAPSHOTS_AT_ONCE};

/// Treatment of the session file when its session is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transcript {
    /// It stays.
    #[default]
    Keep,
    /// It is deleted too.
    Delete,
}

/// True for commands that run although nothing can be stored: they end something, and are safe without a
/// record.
pub(crate) fn works_when_full(command: SessionCommand) -> bool {
    matches!(command, SessionCommand::Interrupt | SessionCommand::Stop)
}

/// The sessions of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Sessions(Arc<SessionsInner>);

#[derive(Debug)]
struct SessionsInner {
    broadcast: Broadcast,
    config: Arc<Config>,
    notices: broadcast::Sender<Arc<Notice>>,
    /// Sessions that were used since the server started.
    active: Mutex<HashMap<Key, ActiveSession>>,
    /// Serializes opening, so that no session is opened twice.
    opening: tokio::sync::Mutex<Admission>,
    /// Serializes imports, so that no CLI session is imported twice.
    importing: tokio::sync::Mutex<()>,
    slots: AgentSlots,
    /// Limits the snapshots that are made at once.
    snapshots: Arc<Semaphore>,
    claude: ClaudeFacts,
    others: OtherAgents,
    observed: ObservedProcesses,
    projects: Arc<Projects>,
    /// Other servers of the fleet, if there is one.
    remote: OnceLock<Arc<dyn remote::Remote>>,
}

/// State of the server: sessions may be opened, or not any more.
#[derive(Debug, Default, PartialEq, Eq)]
enum Admission {
    #[default]
    Open,
    Closed,
}

/// Time at which a newly opened session gets its queued prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deliver {
    Now,
    /// After its agent was found or is known to be gone.
    Later,
}

/// A session in use: its state, and the channel to its actor.
#[derive(Debug, Clone)]
struct ActiveSession {
    entry: Arc<Entry>,
    commands: mpsc::Sender<ActorCommand>,
}

impl Sessions {
    /// Opens the sessions of a journal. First, work that an earlier server left undone is settled: open
    /// requests that cannot be answered any more are lost, and turns that were under way are interrupted.
    pub async fn open(broadcast: Broadcast, config: Config) -> Result<Sessions, Error> {
        let slots = AgentSlots::new(config.live_max);
        let sessions = Sessions(Arc::new(SessionsInner {
            broadcast,
            config: Arc::new(config),
            notices: broadcast::Sender::new(NOTICES_MAX),
            active: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            importing: tokio::sync::Mutex::default(),
            slots,
            snapshots: Arc::new(Semaphore::new(SNAPSHOTS_AT_ONCE)),
            claude: ClaudeFacts::default(),
            others: OtherAgents::default(),
            observed: ObservedProcesses::default(),
            projects: Arc::default(),
            remote: OnceLock::new(),
        }));
        sessions.recover().await?;
        requests::abandoned::watch(&sessions);
        surviving::after_limit::watch(&sessions);
        observed::watch(&sessions).await;
        Ok(sessions)
    }

    /// The broadcast that publishes the events.
    pub fn broadcast(&self) -> &Broadcast {
        &self.0.broadcast
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// Sessions in the order of their handles, those above `after`.
    pub async fn list(&self, after: Option<Handle>, max: usize) -> Result<Vec<SessionView>, Error> {
        let _whole = self.0.observed.wait_for_appearing().await;
        let rows = self.0.broadcast.journal().sessions(after, max.min(LIST_MAX)).await?;
        Ok(rows.iter().map(|row| self.view(row)).collect())
    }

    /// Number of sessions in each phase, and number of open asks.
    pub(crate) async fn counts(&self) -> Result<(BTreeMap<&'static str, u64>, u64), Error> {
        let journal::Counts { sessions, open_asks, .. } = self.0.broadcast.journal().counts().await?;
        let mut phases = BTreeMap::new();
        for (state, count) in sessions {
            // In the words of the list of sessions.
            *phases.entry(view::phase_name(view::phase(&state))).or_default() += count;
        }
        Ok((phases, open_asks))
    }

    /// Returns a session by handle or key.
    pub async fn find(&self, name: &str) -> Result<SessionView, Error> {
        let _whole = self.0.observed.wait_for_appearing().await;
        let row = self.row(name).await?;
        let used = self.active().get(&row.key).cloned();
        if let Some(used) = used {
            used.entry.wait_for_change().await;
        }
        Ok(self.view(&row))
    }

    /// Changes settings of a session: its title, labels, budget or policy, or what it does after a limit.
    pub async fn patch(
        &self,
        caller: &Caller,
        name: &str,
        patch: PatchSession,
    ) -> Result<SessionView, Error> {
        caller.require(Scope::Prompt)?;
        let bypass = Bypass::from_setting(self.config().allow_bypass);
        let used = self.active_for(caller, name).await?;
        let wanted = patch.clone();
        let client_id = running::commands::optional_stored_id(caller, patch.client_id.as_deref())?;
        let what = running::commands::digest(&("patch", &PatchSession { client_id: None, ..patch.clone() }));
        let change = |settings: &mut SessionSettings, row: &journal::Session| {
            if let Some(id) = &client_id {
                if settings.done_before(id, &what)?.is_some() {
                    return Ok(Change::default());
                }
                settings.remember(id, what, row.head.seq, row.head.to_string());
            }
            let needs = capabilities::of_patch(&patch, settings.launch.policy, &settings.budget)?;
            capabilities::require(caller, bypass, &needs)?;
            Ok(settings.apply(patch, self.config().clock.now()))
        };
        let view = used.entry.change(change).await?.0;
        self.audit_settings(caller, &view.key, &wanted).await;
        // The turn that is under way may have more time now, or less.
        used.entry.wake.notify_one();
        Ok(view)
    }

    /// Removes a session and its events, and its file if requested.
    pub async fn delete(&self, caller: &Caller, name: &str, transcript: Transcript) -> Result<(), Error> {
        caller.require(Scope::Admin)?;
        let used = self.active_for(caller, name).await?;
        if transcript == Transcript::Delete {
            // A process outside of this server may still write the file.
            used.entry.check_hosted()?;
        }
        end(&used, ServerPhase::Stopped).await;
        let (ids, is_demo) = {
            let memory = used.entry.memory();
            (memory.row.cli_sessions.clone(), memory.settings.launch.demo)
        };
        for id in &ids {
            self.note_own_writes(id);
        }
        self.active().remove(&used.entry.key);
        self.0.broadcast.journal().delete(&used.entry.key).await?;
        let (key, handle) = (used.entry.key.to_string(), used.entry.handle);
        used.entry.notify(Notice::Deleted { key, handle });
        if let (Transcript::Delete, Some(folder)) = (transcript, self.0.config.config_dir(is_demo)) {
            let on_disk = tidings::Sessions::under(folder);
            for id in ids {
                match on_disk.delete(&id).await {
                    Ok(_) => {}
                    Err(error) if error.kind() == tidings::ErrorKind::NoSession => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

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
        let client_id = running::commands::optional_stored_id(caller, request.client_id.as_deref())?;
        let what = running::commands::digest(&(
            command.as_str(),
            &CommandRequest { client_id: None, ..request.clone() },
        ));
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

    /// Pending permission requests of one session, or of all.
    pub async fn permissions(&self, name: Option<&str>) -> Result<Vec<PendingPermission>, Error> {
        let shown = self.waiting(name).await?;
        Ok(shown
            .into_iter()
            .filter_map(|shown| match shown {
                PendingRequest::Permission(permission) => Some(permission),
                PendingRequest::Question(_) => None,
            })
            .collect())
    }

    /// Pending questions of one session, or of all.
    pub async fn questions(&self, name: Option<&str>) -> Result<Vec<PendingQuestion>, Error> {
        let shown = self.waiting(name).await?;
        Ok(shown
            .into_iter()
            .filter_map(|shown| match shown {
                PendingRequest::Question(question) => Some(question),
                PendingRequest::Permission(_) => None,
            })
            .collect())
    }

    /// Answers a permission request. The first answer counts.
    pub async fn answer_permission(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        answer: PermissionAnswer,
    ) -> Result<AnswerResult, Error> {
        let path = format!("permissions/{tool_use_id}");
        if let Some(answered) = self.at_owner(caller, name, &path, &answer).await? {
            return Ok(answered);
        }
        self.active_for(caller, name).await?.entry.answer_permission(caller, tool_use_id, answer).await
    }

    /// Answers the permission requests of a batch.
    pub async fn answer_batch(
        &self,
        caller: &Caller,
        name: &str,
        batch_id: &str,
        answer: BatchAnswer,
    ) -> Result<BatchAnswered, Error> {
        let path = format!("permission-batches/{batch_id}");
        if let Some(answered) = self.at_owner(caller, name, &path, &answer).await? {
            return Ok(answered);
        }
        self.active_for(caller, name).await?.entry.answer_batch(caller, batch_id, answer).await
    }

    /// Answers questions. The first answer counts.
    pub async fn answer_question(
        &self,
        caller: &Caller,
        name: &str,
        tool_use_id: &str,
        answer: QuestionAnswer,
    ) -> Result<AnswerResult, Error> {
        let path = format!("questions/{tool_use_id}");
        if let Some(answered) = self.at_owner(caller, name, &path, &answer).await? {
            return Ok(answered);
        }
        self.active_for(caller, name).await?.entry.answer_question(caller, tool_use_id, answer).await
    }

    /// Subscribes to a session: its current state, then its events.
    ///
    /// Each event's body is one `UiMessage` of the dialect `native` as JSON, and its kind is the name of the
    /// variant. Events of the kind `frame` are lines of the CLI, for the dialect `frames` only.
    pub async fn subscribe(
        &self,
        name: &str,
        watch: SubscribeOptions,
    ) -> Result<(Subscribed, Subscription), Error> {
        let key = self.row(name).await?.key;
        let subscribed = self.subscribe_behind(&key, watch).await?;
        let handle = view::number(subscribed.session.handle);
        let (mut pending_permissions, mut pending_questions) = (Vec::new(), Vec::new());
        for ask in &subscribed.pending {
            match pending_request(ask, handle) {
                Some(PendingRequest::Permission(permission)) => pending_permissions.push(permission),
                Some(PendingRequest::Question(question)) => pending_questions.push(question),
                None => {}
            }
        }
        let state = self.view(&subscribed.session);
        let response = Subscribed {
            verdict: match subscribed.verdict {
                journal::Verdict::Ok => Verdict::Ok,
                journal::Verdict::Gap => Verdict::Gap,
                journal::Verdict::Reset => Verdict::Reset,
            },
            from: subscribed.from.to_string(),
            head: subscribed.head.to_string(),
            pending_permissions,
            pending_questions,
            state,
        };
        Ok((response, subscribed.events))
    }

    /// Notices of all sessions. A receiver that is too slow misses some, and gets `Lagged`.
    pub fn notices(&self) -> broadcast::Receiver<Arc<Notice>> {
        self.0.notices.subscribe()
    }

    /// Sends a notice to all receivers, if there are any.
    pub(crate) fn notify(&self, notice: Notice) {
        drop(self.0.notices.send(Arc::new(notice)));
    }

    /// The view of a row.
    pub(crate) fn view_of_row(&self, row: &journal::Session) -> SessionView {
        self.view(row)
    }

    /// The projects of this server's folders.
    pub(crate) fn projects(&self) -> &Projects {
        &self.0.projects
    }

    /// Notifies clients of a session whose view has changed.
    pub(crate) async fn notify_of_session(&self, key: &str) {
        if let Ok(row) = self.row(key).await {
            self.notify(Notice::Session { session: self.view(&row) });
        }
    }

    /// Number of agents that run now.
    pub(crate) fn running_agents(&self) -> usize {
        self.active().values().filter(|used| used.entry.agent().is_some()).count()
    }

    /// Ends all agents, or detaches from them if hosts keep them. Nothing is started afterwards.
    pub async fn drain(&self) {
        *self.0.opening.lock().await = Admission::Closed;
        let used: Vec<ActiveSession> = self.active().drain().map(|(_, used)| used).collect();
        #[cfg(unix)]
        if self.0.config.hosts.as_ref().is_some_and(|hosts| !hosts.lease().is_zero()) {
            let ends = used.iter().map(detach);
            return drop(tokio::time::timeout(DRAIN_WAIT, futures_util::future::join_all(ends)).await);
        }
        let ends = used.iter().map(|used| end(used, ServerPhase::Parked));
        // Agents that do not end in time end with the process.
        drop(tokio::time::timeout(DRAIN_WAIT, futures_util::future::join_all(ends)).await);
    }

    async fn waiting(&self, name: Option<&str>) -> Result<Vec<PendingRequest>, Error> {
        let journal = self.0.broadcast.journal();
        let row = match name {
            Some(name) => Some(self.row(name).await?),
            None => None,
        };
        let asks = journal.asks(row.as_ref().map(|row| &row.key)).await?;
        let mut handles = HashMap::new();
        let mut found = Vec::new();
        for ask in &asks {
            if !handles.contains_key(&ask.session) {
                let row = journal.session(&SessionName::Key(ask.session.clone())).await?;
                handles.insert(ask.session.clone(), view::number(row.handle));
            }
            let handle = handles.get(&ask.session).copied().unwrap_or_default();
            found.extend(pending_request(ask, handle));
        }
        Ok(found)
    }

    /// The view of a session that was not used since the server started.
    fn view_without_agent(&self, row: &journal::Session) -> SessionView {
        let view = SessionSettings::parse(&row.settings).view(row, PendingCounts::default());
        if view.node.is_none() { self.0.projects.add_to(view) } else { view }
    }

    fn view(&self, row: &journal::Session) -> SessionView {
        let used = self.active().get(&row.key).cloned();
        let view = used.map_or_else(|| self.view_without_agent(row), |used| used.entry.view_of(row));
        self.with_reach(view)
    }

    async fn settings(&self, row: &journal::Session) -> SessionSettings {
        let used = self.active().get(&row.key).cloned();
        match used {
            Some(used) => used.entry.settings().await,
            None => SessionSettings::parse(&row.settings),
        }
    }

    async fn row(&self, name: &str) -> Result<journal::Session, Error> {
        let name = match name.parse() {
            Ok(number) => SessionName::Handle(Handle::new(number)),
            Err(_) => SessionName::Key(Key::new(name)?),
        };
        Ok(self.0.broadcast.journal().session(&name).await?)
    }

    /// Returns the session in use; opens it first if necessary.
    async fn active_for(&self, caller: &Caller, name: &str) -> Result<ActiveSession, Error> {
        let row = self.row(name).await?;
        check_folder(caller, &row.cwd)?;
        if let Some(node) = &row.node {
            return Err(remote::belongs_to(node));
        }
        let used = self.active_session(&row.key).await?;
        let continued_on = used.entry.memory().settings.continued_on.clone();
        match continued_on {
            Some(node) => Err(remote::continued_on(&node)),
            None => Ok(used),
        }
    }

    /// The same without a caller.
    async fn active_session(&self, key: &Key) -> Result<ActiveSession, Error> {
        if let Some(used) = self.active().get(key) {
            return Ok(used.clone());
        }
        let opening = self.0.opening.lock().await;
        if *opening == Admission::Closed {
            return Err(Error::new(Code::Unavailable, "The server is stopping", "try again in a moment")
                .retry_after_ms(2000));
        }
        // Another caller may have been faster.
        if let Some(used) = self.active().get(key) {
            return Ok(used.clone());
        }
        self.activate(key, Deliver::Now).await
    }

    /// Opens a session: claims it and starts its actor.
    async fn activate(&self, key: &Key, deliver: Deliver) -> Result<ActiveSession, Error> {
        let journal = self.0.broadcast.journal();
        let fence = journal.claim(key).await?;
        let row = journal.session(&SessionName::Key(key.clone())).await?;
        let config = Arc::clone(&self.0.config);
        let entry = Arc::new(Entry::new(
            row,
            fence,
            self.0.broadcast.clone(),
            &config,
            self.0.slots.clone(),
            self.0.notices.clone(),
            Arc::clone(&self.0.projects),
        ));
        entry.memory().is_held = deliver == Deliver::Later;
        let (commands, inbox) = mpsc::channel(ACTOR_QUEUE_MAX);
        let actor =
            Actor { entry: Arc::clone(&entry), config, commands: inbox, used: Instant::now(), turn: None };
        drop(tokio::spawn(actor.run()));
        let used = ActiveSession { entry, commands };
        self.active().insert(key.clone(), used.clone());
        Ok(used)
    }

    /// Refuses a request if its caller lacks a capability.
    fn require(&self, caller: &Caller, needs: &[Need]) -> Result<(), Error> {
        capabilities::require(caller, Bypass::from_setting(self.config().allow_bypass), needs)
    }

    fn active(&self) -> MutexGuard<'_, HashMap<Key, ActiveSession>> {
        self.0.active.lock()
    }
}

/// Detaches from the agent of a session, which keeps running.
#[cfg(unix)]
async fn detach(used: &ActiveSession) {
    let (reply, done) = oneshot::channel();
    if used.commands.send(ActorCommand::Detach(reply)).await.is_ok() {
        drop(done.await);
    }
}

/// Ends the agent of a session, and waits until it has ended.
async fn end(used: &ActiveSession, phase: ServerPhase) {
    let (reply, done) = oneshot::channel();
    if used.commands.send(ActorCommand::End(phase, reply)).await.is_ok() {
        drop(done.await);
    }
}

/// Refuses folders that the credential is not limited to.
fn check_folder(caller: &Caller, folder: &str) -> Result<(), Error> {
    if caller.sees(folder) {
        return Ok(());
    }
    let message = format!("`{}` may not use sessions in `{folder}`", caller.name);
    Err(Error::new(Code::Forbidden, message, "pair the device again with more folders"))
}

fn gone(name: &str) -> Error {
    Error::new(Code::Gone, format!("The session `{name}` is being removed"), "")
}
