//! Recovery of sessions that an earlier server left.

#[cfg(unix)]
use std::collections::HashMap;
use std::sync::Arc;

use tidings_agent::UiMessage;
use tidings_api::ServerPhase;
#[cfg(unix)]
use tidings_journal::Fence;
use tidings_journal::limits::LIST_MAX;
use tidings_journal::{Max, Session, SessionChange, Settle, StoredRequest};
use tidings_protocol::ui::{
    InteractionResolved, PermissionResolved, RequestOutcome, Resolution, SessionPhase, SessionStateChanged,
};
#[cfg(unix)]
use tokio::sync::oneshot;

#[cfg(unix)]
use crate::active::{ActiveSession, Deliver};
#[cfg(unix)]
use crate::hosts::{FoundHost, Hosts};
use crate::limits::{FIRST_PROMPT_EVENTS_MAX, ROOM_EVERY};
use crate::live_session::{Change, LiveSession};
use crate::requests::asks::audit;
use crate::running::actor::ActorCommand;
use crate::settings::SessionSettings;
use crate::starting::agent_slots::AgentSlot;
use crate::{Error, Sessions, view};

/// Kinds of events with a prompt.
const PROMPTS: [&str; 2] = ["PromptQueued", "UserPrompt"];

impl Sessions {
    /// Adopts or settles every session that was running under an earlier server.
    pub(crate) async fn recover(&self) -> Result<(), Error> {
        #[cfg(unix)]
        let mut hosts = self.find_hosts();
        let mut waiting = Vec::new();
        let mut after = None;
        loop {
            let rows = self.broadcast().journal().sessions(after, LIST_MAX).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.handle);
            for row in rows.iter().filter(|row| row.node.is_none()) {
                if let Err(error) = self.backfill_first_prompt(row).await {
                    tracing::warn!(session = %row.key, %error, "failed to look up the first prompt of a session");
                }
            }
            for row in rows.iter().filter(|row| needs_actor(row)) {
                #[cfg(unix)]
                let hosts = hosts.remove(row.key.as_str()).unwrap_or_default();
                if !was_running(row) {
                    // An agent that was being ended must be gone before another one starts.
                    #[cfg(unix)]
                    for found in hosts {
                        self.discard(found, Fence::HIGHEST).await;
                    }
                    // Its prompts were accepted, and no client repeats them.
                    waiting.push(self.activate(&row.key, Deliver::Later).await?.entry);
                    continue;
                }
                let used = self.activate(&row.key, Deliver::Later).await?;
                #[cfg(unix)]
                let is_adopted = self.adopt_any(&used, hosts).await;
                #[cfg(not(unix))]
                let is_adopted = false;
                if !is_adopted {
                    used.entry.recover().await?;
                }
                if is_adopted || !used.entry.has_waiting() {
                    used.entry.deliver_now(None);
                } else {
                    waiting.push(used.entry);
                }
            }
        }
        #[cfg(unix)]
        self.clear_hosts(hosts);
        self.deliver_in_turn(waiting);
        Ok(())
    }

    /// Delivers prompts that an earlier server had accepted, as soon as there are slots for their agents.
    /// Running agents have theirs.
    fn deliver_in_turn(&self, waiting: Vec<Arc<LiveSession>>) {
        let shared = Arc::downgrade(&self.0);
        drop(tokio::spawn(async move {
            for entry in waiting {
                while let Some(sessions) = shared.upgrade().map(Sessions) {
                    if sessions.deliver_if_room(&entry).await {
                        break;
                    }
                    drop(sessions);
                    tokio::time::sleep(ROOM_EVERY).await;
                }
            }
        }));
    }

    /// Delivers the queue of a session, if there is a slot for its agent.
    async fn deliver_if_room(&self, entry: &LiveSession) -> bool {
        // The session may have been deleted since, and the server may be stopping.
        if !self.active().contains_key(&entry.key) {
            return true;
        }
        if !entry.has_waiting() {
            entry.deliver_now(None);
            return true;
        }
        let Ok(slot) = self.slot_for(&entry.key).await else { return false };
        entry.deliver_now(Some(slot));
        true
    }

    /// Stores the first prompt of a session, which earlier versions did not.
    async fn backfill_first_prompt(&self, row: &Session) -> Result<(), Error> {
        // Settings of a later version that cannot be parsed stay as they are.
        let Ok(mut settings) = serde_json::from_str::<SessionSettings>(&row.settings) else { return Ok(()) };
        if settings.first_prompt.is_some() || row.head.seq == 0 {
            return Ok(());
        }
        let journal = self.broadcast().journal();
        let page = journal.read(&row.key, None, Max::events(FIRST_PROMPT_EVENTS_MAX)).await?;
        for event in page.events.iter().filter(|event| PROMPTS.contains(&event.kind.as_str())) {
            match event.message().as_deref() {
                Some(UiMessage::PromptQueued(queued)) => settings.note_prompt(&queued.text),
                Some(UiMessage::UserPrompt(prompt)) if prompt.origin.is_none() => {
                    settings.note_prompt(&prompt.text);
                }
                _ => {}
            }
        }
        if settings.first_prompt.is_some() {
            let fence = journal.claim(&row.key).await?;
            let change = SessionChange { settings: Some(settings.text()), ..SessionChange::default() };
            journal.update(&row.key, fence, change).await?;
        }
        Ok(())
    }

    /// The hosts that an earlier server left, by session, alive or dead.
    ///
    /// A session can have several: the host of a server that was killed before it could start the agent stays
    /// for a moment.
    #[cfg(unix)]
    fn find_hosts(&self) -> HashMap<String, Vec<FoundHost>> {
        let found = self.config().hosts.as_ref().map(Hosts::find);
        let found = found.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to search for agent hosts");
            Vec::new()
        });
        let mut by_session: HashMap<String, Vec<FoundHost>> = HashMap::new();
        for found in found {
            by_session.entry(found.session.clone()).or_default().push(found);
        }
        by_session
    }

    /// Adopts the agent of a session, if one of the hosts has it. The other hosts end; if none has it, the
    /// unstored output of their agents is stored.
    #[cfg(unix)]
    async fn adopt_any(&self, used: &ActiveSession, hosts: Vec<FoundHost>) -> bool {
        let mut is_adopted = false;
        let mut rest = Vec::new();
        for found in hosts {
            if found.is_alive && !is_adopted && self.adopt(used, &found).await {
                is_adopted = true;
            } else {
                rest.push(found);
            }
        }
        if !is_adopted {
            self.store_last_output(&used.entry, &rest).await;
        }
        for found in rest {
            self.discard(found, used.entry.fence).await;
        }
        is_adopted
    }

    #[cfg(unix)]
    async fn discard(&self, found: FoundHost, fence: Fence) {
        if let Some(hosts) = &self.config().hosts {
            hosts.discard(found, fence).await;
        }
    }

    #[cfg(unix)]
    async fn adopt(&self, used: &ActiveSession, found: &FoundHost) -> bool {
        let (reply, adopted) = oneshot::channel();
        let is_sent = used.commands.send(ActorCommand::Adopt(found.clone(), reply)).await.is_ok();
        is_sent && adopted.await.unwrap_or(false)
    }

    /// Ends hosts of sessions that have ended or were deleted.
    #[cfg(unix)]
    fn clear_hosts(&self, rest: HashMap<String, Vec<FoundHost>>) {
        let Some(hosts) = &self.config().hosts else { return };
        for found in rest.into_values().flatten() {
            tracing::info!(session = found.session, "ending an agent that is not needed any more");
            let hosts = hosts.clone();
            // In the background: startup does not wait for these.
            drop(tokio::spawn(async move { hosts.discard(found, Fence::HIGHEST).await }));
        }
    }
}

/// True if the session has something to do without a client: prompts that wait, an agent, or a limit after
/// which it continues.
fn needs_actor(row: &Session) -> bool {
    if row.node.is_some() {
        return false;
    }
    let settings = SessionSettings::parse(&row.settings);
    if settings.continued_on.is_some() {
        return false;
    }
    settings.has_waiting() || settings.after_limit.continues_at().is_some() || was_running(row)
}

fn was_running(row: &Session) -> bool {
    use ServerPhase::{Idle, NeedsYou, Running, Starting};
    let settings = SessionSettings::parse(&row.settings);
    matches!(view::phase(&row.state), Starting | Idle | Running | NeedsYou) || settings.has_handed()
}

impl LiveSession {
    fn has_waiting(&self) -> bool {
        self.memory().settings.has_waiting()
    }

    /// Delivers prompts from now on: to the running agent, or to one that will use this slot.
    pub(crate) fn deliver_now(&self, slot: Option<AgentSlot>) {
        {
            let mut memory = self.memory();
            // At once: a session that delivers nothing frees its slot.
            memory.is_held = false;
            memory.slot = memory.slot.take().or(slot);
        }
        self.wake.notify_one();
    }

    async fn recover(&self) -> Result<(), Error> {
        for ask in self.journal().asks(Some(&self.key)).await? {
            self.settle_as_lost(&ask).await?;
        }
        let (phase, is_observed) = {
            let memory = self.memory();
            (memory.phase(), memory.settings.is_observed)
        };
        // An observed agent is not ours, and may still run. It is found in a moment.
        let is_over = phase == ServerPhase::Idle || is_observed;
        let phase = if is_over { ServerPhase::Parked } else { ServerPhase::Interrupted };
        let mut changed = SessionStateChanged::new(self.handle, SessionPhase::Ended);
        if phase == ServerPhase::Interrupted {
            let error = "The server ended during the turn; the next prompt resumes the session";
            changed.error = Some(error.to_owned());
        }
        let draft = self.draft(&changed.clone().into());
        let ended = |settings: &mut SessionSettings, _: &_| {
            settings.is_observed = false;
            settings.mark_handed_uncertain();
            settings.fail(changed.error.as_deref());
            Ok(Change { phase: Some(phase), event: Some(draft), ..Change::default() })
        };
        self.change(ended).await?;
        Ok(())
    }

    /// Settles a request as lost: its agent is gone.
    async fn settle_as_lost(&self, ask: &StoredRequest) -> Result<(), Error> {
        let event: UiMessage = match ask.kind.as_str() {
            "question" => InteractionResolved::new(self.handle, ask.id.as_str(), Resolution::Lost).into(),
            _ => PermissionResolved::new(self.handle, ask.id.as_str(), Resolution::Lost).into(),
        };
        let settle = Settle {
            outcome: RequestOutcome::Lost,
            event: self.draft(&event),
            audit: Some(audit(self, ask.id.as_str(), &event, None)),
        };
        self.journal().settle(&self.key, &ask.id, settle).await?;
        self.settled(ask.id.as_str(), "lost");
        Ok(())
    }
}
