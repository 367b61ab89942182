//! One session that somebody uses: what is known of it, and the one way to change it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings::Ids;
use tidings_agent::{AgentSession, Clock, PermissionRegistry, UiMessage, UserInteractionRegistry};
use tidings_protocol::api::{Delivery, Notice, QueueState, ServerPhase, SessionView};
use tokio::sync::{Notify, broadcast};

use super::Config;
use super::places::{Place, Places};
use super::policy::Judged;
use super::settings::{Queued, Settings};
use super::view::{self, Waiting};
use super::waiters::Waiters;
use crate::auth::trust::Trust;
use crate::broadcast::Broadcast;
use crate::error::Error;
#[cfg(unix)]
use crate::hosts::Hosted;
use crate::journal::{
    Class, ClientId, Draft, Fence, Journal, Key, Kind, Novelty, Session, SessionChange, Stored,
};

/// One session that somebody uses.
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) handle: i64,
    pub(super) fence: Fence,
    pub(super) broadcast: Broadcast,
    pub(super) clock: Clock,
    pub(super) ids: Ids,
    pub(super) trust: Option<Trust>,
    pub(super) places: Places,
    pub(super) permissions: PermissionRegistry,
    pub(super) questions: UserInteractionRegistry,
    /// What the policy has looked at.
    pub(super) judged: Arc<Judged>,
    /// Something may be there to be delivered.
    pub(super) wake: Notify,
    /// One answer after the other: what the journal says first is what the agent hears.
    pub(super) answers: tokio::sync::Mutex<()>,
    /// One change after the other, so that the row has what the memory has.
    changes: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
    notices: broadcast::Sender<Arc<Notice>>,
}

/// What is known of a session.
pub(super) struct Memory {
    pub(super) row: Session,
    pub(super) settings: Settings,
    /// The agent, while one runs.
    pub(super) agent: Option<AgentSession>,
    /// The place that the agent has, or will have.
    pub(super) place: Option<Place>,
    /// The host that keeps the agent, if one does.
    #[cfg(unix)]
    pub(super) host: Option<Hosted>,
    /// Why the agent does not answer, while it does not.
    pub(super) stalled: Option<String>,
    /// The session was let go of: what comes now is not for us to store.
    pub(super) is_detached: bool,
    /// What the session will be when the agent that is being ended has ended.
    pub(super) closing: Option<ServerPhase>,
    /// Whether nothing is delivered until somebody says something: the agent could not be started.
    pub(super) is_held: bool,
    /// Whether a turn is under way.
    pub(super) is_turn_open: bool,
    pub(super) permissions: BTreeSet<String>,
    pub(super) questions: BTreeSet<String>,
    /// Those who wait for the end of a command.
    pub(super) commands: Waiters,
    /// What the agent says at the moment; the end of it.
    pub(super) said: String,
}

/// What changes with a session's row.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) phase: Option<ServerPhase>,
    pub(super) cli_session: Option<String>,
    pub(super) title: Option<String>,
    pub(super) labels: Option<BTreeMap<String, String>>,
    pub(super) event: Option<Draft>,
}

impl Entry {
    pub(super) fn new(
        row: Session,
        fence: Fence,
        broadcast: Broadcast,
        config: &Config,
        places: Places,
        notices: broadcast::Sender<Arc<Notice>>,
    ) -> Self {
        let settings = Settings::parse(&row.settings);
        Entry {
            key: row.key.clone(),
            handle: view::number(row.handle),
            fence,
            broadcast,
            clock: config.clock.clone(),
            ids: config.ids.clone(),
            trust: config.trust.clone(),
            places,
            permissions: PermissionRegistry::default(),
            questions: UserInteractionRegistry::default(),
            judged: Arc::default(),
            wake: Notify::new(),
            answers: tokio::sync::Mutex::default(),
            changes: tokio::sync::Mutex::default(),
            memory: Mutex::new(Memory {
                row,
                settings,
                agent: None,
                place: None,
                #[cfg(unix)]
                host: None,
                stalled: None,
                is_detached: false,
                closing: None,
                is_held: false,
                is_turn_open: false,
                permissions: BTreeSet::new(),
                questions: BTreeSet::new(),
                commands: Waiters::default(),
                said: String::new(),
            }),
            notices,
        }
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        // Each change is done before the lock is let go.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn journal(&self) -> &Arc<dyn Journal> {
        self.broadcast.journal()
    }

    pub(super) fn agent(&self) -> Option<AgentSession> {
        self.memory().agent.clone()
    }

    /// Has a place for the agent that is about to be there.
    pub(super) fn hold_place(&self) {
        self.memory().place.get_or_insert_with(|| self.places.insist(&self.key));
    }

    pub(super) fn view(&self) -> SessionView {
        self.memory().view()
    }

    /// The same with what the row says now.
    pub(super) fn view_of(&self, row: &Session) -> SessionView {
        self.memory().view_of(row)
    }

    /// Changes what is known of the session: `edit` is given the settings, and says what else changes. All of it is stored
    /// with the event that tells of it, or none is; an event whose client id was seen changes nothing.
    pub(super) async fn change(
        &self,
        edit: impl FnOnce(&mut Settings, &Session) -> Result<Change, Error>,
    ) -> Result<(SessionView, Option<Stored>), Error> {
        let _turn = self.changes.lock().await;
        let (mut settings, row) = {
            let memory = self.memory();
            (memory.settings.clone(), memory.row.clone())
        };
        let Change { phase, cli_session, title, labels, event } = edit(&mut settings, &row)?;
        let change = SessionChange {
            title,
            labels,
            cli_session,
            state: phase.map(|phase| view::word(phase).to_owned()),
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
        self.tell(Notice::Session { session: view.clone() });
        Ok((view, changed.event))
    }

    /// What is known of the session. Whoever has seen an event finds here what came of it: those who watch are told while a
    /// change is being made, so that is waited for.
    pub(super) async fn settings(&self) -> Settings {
        let _turn = self.changes.lock().await;
        self.memory().settings.clone()
    }

    /// Tells those who watch no session in particular; there may be none.
    pub(super) fn tell(&self, notice: Notice) {
        drop(self.notices.send(Arc::new(notice)));
    }

    /// A place in the agent's output, in the offsets that the journal keeps for the session. There is none without a host.
    pub(super) fn place(&self, end: Option<u64>) -> Option<u64> {
        #[cfg(unix)]
        return self.memory().host.as_ref().and_then(|host| Some(host.base + end?));
        #[cfg(not(unix))]
        None.or(end).filter(|_| false)
    }

    /// An event to be stored.
    pub(super) fn draft(&self, event: &UiMessage) -> Draft {
        draft(event, self.clock.now())
    }

    /// The same as the command of a client.
    pub(super) fn draft_of(&self, event: &UiMessage, client_id: Option<ClientId>) -> Draft {
        let draft = Draft { class: Class::Durable, ..self.draft(event) };
        match client_id {
            Some(id) => draft.with_client_id(id),
            None => draft,
        }
    }

    /// Stores an event of the server's own.
    pub(super) async fn say(&self, event: &UiMessage, client_id: Option<ClientId>) -> Result<Stored, Error> {
        let draft = self.draft_of(event, client_id);
        let stored = self.journal().append(&self.key, self.fence, vec![draft]).await?;
        stored.first().copied().ok_or_else(|| {
            Error::new(crate::Code::Internal, "The journal stored an event and does not say where", "")
        })
    }
}

impl Memory {
    pub(super) fn view(&self) -> SessionView {
        self.view_of(&self.row)
    }

    fn view_of(&self, row: &Session) -> SessionView {
        // The end of an agent is told while it is still being cleared away.
        let runs = self.agent.is_some() && view::has_agent(view::phase(&row.state));
        let stalled = self.stalled.clone().filter(|_| runs);
        let untrusted = self.settings.untrusted && runs;
        SessionView { stalled, untrusted, ..view::view(row, &self.settings, self.waiting()) }
    }

    fn waiting(&self) -> Waiting {
        Waiting { permissions: self.permissions.len() as u64, questions: self.questions.len() as u64 }
    }

    pub(super) fn phase(&self) -> ServerPhase {
        view::phase(&self.row.state)
    }

    /// The prompt that can be handed to the agent now.
    pub(super) fn next(&self) -> Option<&Queued> {
        if self.is_held || self.is_detached || self.closing.is_some() {
            return None;
        }
        let mut waiting = self.settings.queue.iter().filter(|queued| queued.state == QueueState::Waiting);
        if self.is_busy() {
            return waiting.find(|queued| queued.delivery != Delivery::Queue);
        }
        waiting.next()
    }

    /// Refuses a prompt if what is left of the budget is too little for it.
    pub(super) fn check_budget_for(&self, queued: &Queued) -> Result<(), Error> {
        // What interrupts a turn ends it, and begins another one.
        let has_turn = self.is_turn_open || self.settings.has_handed();
        let ends_a_turn = has_turn && queued.delivery == Delivery::Interrupt;
        self.settings.check_budget_after(ends_a_turn.into())
    }

    /// The agent is gone, and its place is free, unless another agent is needed at once.
    pub(super) fn agent_is_gone(&mut self) {
        self.agent = None;
        self.closing = None;
        self.leave_place();
    }

    /// Leaves the place if there is neither an agent nor anything to start one for.
    pub(super) fn leave_place(&mut self) {
        if self.agent.is_none() && self.next().is_none() {
            self.place = None;
        }
    }

    /// Whether the agent could make room for another one.
    pub(super) fn can_make_room(&self) -> bool {
        self.is_at_rest() && self.next().is_none()
    }

    /// Whether the agent can be ended and nothing is missed: a build or a server that it has started would end with it.
    pub(super) fn is_at_rest(&self) -> bool {
        let rests = |agent: &AgentSession| !agent.client().works_in_background();
        !self.is_busy() && self.closing.is_none() && self.agent.as_ref().is_some_and(rests)
    }

    /// Whether the agent has something to do.
    pub(super) fn is_busy(&self) -> bool {
        self.is_turn_open
            || self.settings.has_handed()
            || matches!(self.phase(), ServerPhase::Running | ServerPhase::NeedsYou)
    }
}

/// An event to be stored. Pieces that the final message repeats may be lost with the power.
pub(super) fn draft(event: &UiMessage, at: jiff::Timestamp) -> Draft {
    let body = serde_json::to_vec(event).unwrap_or_default();
    Draft::new(class(event), at, kind(&body), body)
}

fn class(event: &UiMessage) -> Class {
    match event {
        UiMessage::TextChunk { .. }
        | UiMessage::TokenUpdate { .. }
        | UiMessage::Thinking(_)
        | UiMessage::ToolPreparing(_)
        | UiMessage::ToolProgress(_)
        | UiMessage::SubAgentProgressed(_)
        | UiMessage::Progress(_) => Class::Delta,
        UiMessage::Lane(lane) => class(&lane.event),
        _ => Class::Durable,
    }
}

/// The name of the variant, which is the one key of the object.
fn kind(body: &[u8]) -> Kind {
    let name = body.split(|byte| *byte == b'"').nth(1).and_then(|name| std::str::from_utf8(name).ok());
    name.and_then(|name| Kind::new(name).ok()).unwrap_or_else(|| Kind::fixed("event"))
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("key", &self.key).finish_non_exhaustive()
    }
}
