//! One session in use: its state, and the one way to change it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidings::{Ids, SessionLock, SessionOwner};
use tidings_agent::{Clock, PermissionRegistry, Setup, UiMessage, UserInteractionRegistry};
use tidings_api::{Delivery, Notice, QueueState, ServerPhase, SessionView};
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{
    Class, ClientId, EventDraft, EventForms, Fence, Journal, Key, Kind, Novelty, Session, SessionChange,
    Stored,
};
use tokio::sync::{Notify, broadcast};

use super::Config;
use super::backends::{Backend, Offer};
use super::observed::{AgentClaim, ObservedProcess};
use super::projects::Projects;
use super::requests::facts;
use super::requests::policy::{self, JudgedRequests};
use super::running::mode_guard::ModeGuard;
use super::running::waiters::Waiters;
use super::settings::{FollowedFile, Queued, SessionSettings};
use super::starting::agent_slots::{AgentSlot, AgentSlots};
use super::view::{self, PendingCounts};
use crate::Error;
#[cfg(unix)]
use crate::hosts::AttachedHost;
use crate::trust::Trust;

/// One session in use.
pub(super) struct LiveSession {
    pub(super) key: Key,
    pub(super) handle: i64,
    pub(super) fence: Fence,
    pub(super) broadcast: Broadcast,
    pub(super) clock: Clock,
    pub(super) ids: Ids,
    pub(super) trust: Option<Trust>,
    /// The configuration folder of the CLI.
    pub(super) config_dir: Option<PathBuf>,
    /// The owner of the session, as its lock names it.
    pub(super) owner: SessionOwner,
    pub(super) slots: AgentSlots,
    pub(super) permissions: PermissionRegistry,
    pub(super) questions: UserInteractionRegistry,
    /// Digests of the requests that the policy has judged.
    pub(super) judged: Arc<JudgedRequests>,
    /// Notified when a prompt may be ready for delivery.
    pub(super) wake: Notify,
    /// Serializes answers, so that the agent gets the one that the journal has stored first.
    pub(super) answers: tokio::sync::Mutex<()>,
    /// Serializes changes, so that the row and the memory agree.
    changes: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
    notices: broadcast::Sender<Arc<Notice>>,
}

/// State of a session in memory.
pub(super) struct Memory {
    pub(super) row: Session,
    pub(super) settings: SessionSettings,
    projects: Arc<Projects>,
    /// The agent, while one runs.
    pub(super) agent: Option<Arc<dyn Backend>>,
    /// The agent slot of the session's agent, present or future.
    pub(super) slot: Option<AgentSlot>,
    /// The host of the agent, if it has one.
    #[cfg(unix)]
    pub(super) host: Option<AttachedHost>,
    /// The agent's process, while one runs outside of this server.
    pub(super) observed: Option<Arc<ObservedProcess>>,
    /// The permission mode that was chosen for the agent.
    pub(super) mode: ModeGuard,
    /// The agent's right to write the session.
    pub(super) claim: AgentClaim,
    /// The lock of an adopted agent whose host has none.
    pub(super) adopted_lock: Option<SessionLock>,
    /// Positions up to which the files of an observed session are stored. The next change stores them.
    pub(super) followed: Vec<FollowedFile>,
    /// Reason why the agent does not answer, while it does not.
    pub(super) stalled: Option<String>,
    /// True after the session was detached: later events are for the next server to store.
    pub(super) is_detached: bool,
    /// The phase that the session enters when its agent has ended.
    pub(super) closing: Option<ServerPhase>,
    /// True if nothing is delivered until the next input: the agent could not be started.
    pub(super) is_held: bool,
    /// True while a turn is under way.
    pub(super) is_turn_open: bool,
    /// Name of the client that interrupted the turn.
    pub(super) interrupted_by: Option<String>,
    pub(super) permissions: BTreeSet<String>,
    pub(super) questions: BTreeSet<String>,
    /// Callers that wait for the end of a command.
    pub(super) commands: Waiters,
    /// The end of the agent's current text.
    pub(super) recent_text: String,
}

/// Changes to a session's row.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) phase: Option<ServerPhase>,
    pub(super) cli_session: Option<String>,
    pub(super) title: Option<String>,
    pub(super) labels: Option<BTreeMap<String, String>>,
    pub(super) event: Option<EventDraft>,
}

impl LiveSession {
    pub(super) fn new(
        row: Session,
        fence: Fence,
        broadcast: Broadcast,
        config: &Config,
        slots: AgentSlots,
        notices: broadcast::Sender<Arc<Notice>>,
        projects: Arc<Projects>,
    ) -> Self {
        let settings = SessionSettings::parse(&row.settings);
        let followed = settings.followed.clone();
        LiveSession {
            key: row.key.clone(),
            handle: view::number(row.handle),
            fence,
            broadcast,
            clock: config.clock.clone(),
            ids: config.ids.clone(),
            trust: config.trust.clone(),
            config_dir: config.real_config_dir().map(Path::to_owned),
            owner: config.runner.owner_of(&row.key),
            slots,
            permissions: PermissionRegistry::default(),
            questions: UserInteractionRegistry::default(),
            judged: Arc::default(),
            wake: Notify::new(),
            answers: tokio::sync::Mutex::default(),
            changes: tokio::sync::Mutex::default(),
            memory: Mutex::new(Memory {
                row,
                settings,
                projects,
                agent: None,
                slot: None,
                #[cfg(unix)]
                host: None,
                observed: None,
                adopted_lock: None,
                mode: ModeGuard::default(),
                claim: AgentClaim::default(),
                followed,
                stalled: None,
                is_detached: false,
                closing: None,
                is_held: false,
                is_turn_open: false,
                interrupted_by: None,
                permissions: BTreeSet::new(),
                questions: BTreeSet::new(),
                commands: Waiters::default(),
                recent_text: String::new(),
            }),
            notices,
        }
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock()
    }

    pub(super) fn journal(&self) -> &Arc<dyn Journal> {
        self.broadcast.journal()
    }

    pub(super) fn agent(&self) -> Option<Arc<dyn Backend>> {
        self.memory().agent.clone()
    }

    /// Takes a slot for the agent that is about to start.
    pub(super) fn hold_slot(&self) {
        self.memory().slot.get_or_insert_with(|| self.slots.take_anyway(&self.key));
    }

    pub(super) fn view(&self) -> SessionView {
        self.memory().view()
    }

    /// The view with another version of the row.
    pub(super) fn view_of(&self, row: &Session) -> SessionView {
        self.memory().view_of(row)
    }

    /// Changes the session: `edit` changes the settings and returns the other changes. All of it is stored
    /// together with its event, or nothing is; an event whose client id was seen changes nothing.
    pub(super) async fn change(
        &self,
        edit: impl FnOnce(&mut SessionSettings, &Session) -> Result<Change, Error>,
    ) -> Result<(SessionView, Option<Stored>), Error> {
        let _lock = self.changes.lock().await;
        let (mut settings, row) = {
            let memory = self.memory();
            let followed = memory.followed.clone();
            (SessionSettings { followed, ..memory.settings.clone() }, memory.row.clone())
        };
        let Change { phase, cli_session, title, labels, event } = edit(&mut settings, &row)?;
        let change = SessionChange {
            title,
            labels,
            cli_session,
            state: phase.map(|phase| phase.as_str().to_owned()),
            settings: (settings != self.memory().settings).then(|| settings.text()),
            active: Some(self.clock.now()),
            event,
        };
        let changed = self.journal().update(&self.key, self.fence, change).await?;
        let view = {
            let mut memory = self.memory();
            let seen = |stored: &Stored| stored.novelty == Novelty::Seen;
            if !changed.event.as_ref().is_some_and(seen) {
                memory.settings = settings;
            }
            memory.row = changed.session;
            memory.view()
        };
        self.notify(Notice::Session { session: Box::new(view.clone()) });
        Ok((view, changed.event))
    }

    /// Waits for the end of a change that is in progress. Events are published before it, so a client that
    /// has seen an event finds its effects only afterwards.
    pub(super) async fn wait_for_change(&self) {
        drop(self.changes.lock().await);
    }

    /// The settings, with the effects of every published event.
    pub(super) async fn settings(&self) -> SessionSettings {
        self.wait_for_change().await;
        self.memory().settings.clone()
    }

    /// Sends a notice to the subscribers of all sessions, if there are any.
    pub(super) fn notify(&self, notice: Notice) {
        drop(self.notices.send(Arc::new(notice)));
    }

    /// An offset of the agent's output, as the journal counts them for the session. None without a host.
    #[cfg(unix)]
    pub(super) fn spool_offset(&self, end: Option<u64>) -> Option<u64> {
        self.memory().host.as_ref().and_then(|host| Some(host.base + end?))
    }

    /// Only agents with a host have offsets.
    #[cfg(not(unix))]
    pub(super) fn spool_offset(&self, _end: Option<u64>) -> Option<u64> {
        None
    }

    /// The parts that every agent of the session shares: its policy, its registries and the server's limits.
    pub(super) fn setup(&self, config: &Config) -> Setup {
        let wanted = policy::allowed(self.memory().settings.launch.policy, config);
        let policy = policy::policy(wanted, &self.broadcast, &self.key, &self.judged);
        let mut setup = Setup::new(self.handle, policy);
        setup.facts = facts::of(&self.memory(), config);
        setup.permissions = self.permissions.clone();
        setup.questions = self.questions.clone();
        setup.ask_limit = config.ask_limit;
        setup.batches = config.batches;
        setup.clock = config.clock.clone();
        setup.ids = config.ids.clone();
        setup
    }

    /// A draft of an event.
    pub(super) fn draft(&self, event: &UiMessage) -> EventDraft {
        draft(event, self.clock.now())
    }

    /// A durable draft, with the id of a client's command.
    pub(super) fn draft_of(&self, event: &UiMessage, client_id: Option<ClientId>) -> EventDraft {
        let draft = EventDraft { class: Class::Durable, ..self.draft(event) };
        match client_id {
            Some(id) => draft.with_client_id(id),
            None => draft,
        }
    }

    /// Stores an event that the server makes itself.
    pub(super) async fn append_event(
        &self,
        event: &UiMessage,
        client_id: Option<ClientId>,
    ) -> Result<Stored, Error> {
        let draft = self.draft_of(event, client_id);
        let stored = self.journal().append(&self.key, self.fence, vec![draft]).await?;
        stored.first().copied().ok_or_else(|| {
            Error::new(tidings_api::Code::Internal, "The journal did not return the position of an event", "")
        })
    }
}

impl Memory {
    pub(super) fn view(&self) -> SessionView {
        self.view_of(&self.row)
    }

    fn view_of(&self, row: &Session) -> SessionView {
        // The end of an agent is published while the agent is still being cleaned up.
        let runs = self.agent.is_some() && view::has_agent(view::phase(&row.state));
        let stalled = self.stalled.clone().filter(|_| runs);
        let untrusted = self.settings.untrusted && runs;
        let view = SessionView { stalled, untrusted, ..self.settings.view(row, self.pending_counts()) };
        let mut view = self.projects.add_to(view);
        if view.pending_permissions + view.pending_questions == 0 {
            view.waits_for = self.observed.as_ref().and_then(|observed| observed.waits_for());
        }
        match &self.observed {
            None if self.settings.launch.backend.is_none() || self.settings.lost_worktree() => view,
            _ => {
                let Offer { capabilities, limited } = self.offer();
                SessionView { capabilities, limited, ..view }
            }
        }
    }

    fn pending_counts(&self) -> PendingCounts {
        PendingCounts { permissions: self.permissions.len() as u64, questions: self.questions.len() as u64 }
    }

    pub(super) fn phase(&self) -> ServerPhase {
        view::phase(&self.row.state)
    }

    /// The prompt that can be handed to the agent now.
    pub(super) fn next(&self) -> Option<&Queued> {
        let is_elsewhere = self.observed.is_some() || self.claim.is_yielding;
        if self.is_held || self.is_detached || self.closing.is_some() || is_elsewhere {
            return None;
        }
        let is_next = |queued: &&Queued| queued.state == QueueState::Waiting && !queued.typed;
        let mut waiting = self.settings.queue.iter().filter(is_next);
        if self.is_busy() {
            return waiting.find(|queued| queued.delivery != Delivery::Queue);
        }
        waiting.next()
    }

    /// Refuses a prompt if the rest of the budget is too small for it.
    pub(super) fn check_budget_for(&self, queued: &Queued) -> Result<(), Error> {
        // An interrupting prompt ends the turn, and begins another one.
        let has_turn = self.is_turn_open || self.settings.has_handed();
        let ends_a_turn = has_turn && queued.delivery == Delivery::Interrupt;
        self.settings.check_budget_after(ends_a_turn.into())
    }

    /// Forgets the agent after its end, and frees its slot, unless another agent is needed at once.
    pub(super) fn forget_agent(&mut self) {
        self.agent = None;
        self.adopted_lock = None;
        self.closing = None;
        self.free_slot();
    }

    /// Frees the slot if there is neither an agent nor a prompt to start one for.
    pub(super) fn free_slot(&mut self) {
        if self.agent.is_none() && self.next().is_none() {
            self.slot = None;
        }
    }

    /// True if the agent can be ended to free its slot.
    pub(super) fn can_make_room(&self) -> bool {
        self.is_at_rest() && self.next().is_none()
    }

    /// True if the agent can be ended without loss: background processes that it has started would end with
    /// it.
    pub(super) fn is_at_rest(&self) -> bool {
        let rests = |agent: &Arc<dyn Backend>| !agent.works_in_background();
        !self.is_busy() && self.closing.is_none() && self.agent.as_ref().is_some_and(rests)
    }

    /// True if the agent is working.
    pub(super) fn is_busy(&self) -> bool {
        self.is_turn_open
            || self.settings.has_handed()
            || matches!(self.phase(), ServerPhase::Running | ServerPhase::NeedsYou)
    }
}

/// A draft of an event. Deltas that the final message repeats may be lost with the power.
pub(super) fn draft(event: &UiMessage, at: jiff::Timestamp) -> EventDraft {
    let body = serde_json::to_vec(event).unwrap_or_default();
    if !event.is_delta() {
        return EventDraft::new(Class::Durable, at, Kind::fixed(event.name()), body);
    }
    // Subscribers merge deltas; the clone is small, and spares each of them decoding it.
    let forms = EventForms::of(event.clone());
    EventDraft { forms, ..EventDraft::new(Class::Delta, at, Kind::fixed(event.name()), body) }
}

impl fmt::Debug for LiveSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveSession").field("key", &self.key).finish_non_exhaustive()
    }
}
