//! Input of users: it is stored before it is acknowledged, and handed to the agent once.

use std::sync::Arc;

use serde::Serialize;
use tidings_agent::UiMessage;
use tidings_api::{Accepted, Code, INPUT_BYTES_MAX, Input, QueueState, QueuedInput, Scope, ServerPhase};
use tidings_journal::{ClientId, Cursor, EventDraft, Key, Max, Novelty};
use tidings_protocol::ui::{PromptDropped, PromptQueued, Role, TurnId};

use crate::limits::{QUEUE_BYTES_MAX, QUEUE_MAX, TURN_MAX};
use crate::live_session::{Change, LiveSession};
use crate::running::commands::{accepted, at_cursor};
use crate::running::{command_ids, prompt};
use crate::settings::{Queued, SessionSettings};
use crate::starting::agent_slots::AgentSlot;
use crate::text::{DeliveredText, Meaning};
use crate::{Caller, Error, Sessions, capabilities};

/// The sender of a prompt.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sender<'a> {
    Person(&'a Caller),
    /// The server itself, for this reason.
    Server {
        name: &'a str,
        origin: &'a str,
    },
}

impl Sender<'_> {
    fn name(&self) -> &str {
        match self {
            Sender::Person(caller) => &caller.name,
            Sender::Server { name, .. } => name,
        }
    }

    fn origin(&self) -> Option<&str> {
        match self {
            Sender::Person(_) => None,
            Sender::Server { origin, .. } => Some(origin),
        }
    }
}

impl Sessions {
    /// Sends a prompt to a session. The same client id again returns the same response, and the prompt is
    /// sent once.
    pub async fn input(&self, caller: &Caller, name: &str, input: Input) -> Result<Accepted, Error> {
        if let Some(accepted) = self.at_owner(caller, name, "input", &input).await? {
            return Ok(accepted);
        }
        self.require(caller, &capabilities::of_input(&input)?)?;
        let used = self.active_for(caller, name).await?;
        check_session(&input, &used.entry)?;
        check(&input)?;
        let typed_into = used.entry.check_typed(&input)?;
        used.entry.check_looseness(caller, self.config())?;
        let text = self.admit_text(caller, &used.entry, &input.content).await?;
        let client_id = command_ids::optional_stored_id(caller, input.client_id.as_deref())?;
        // A repeated prompt returns its first result, whatever the limits are now.
        if let Some(id) = &client_id
            && let Some(cursor) = self.broadcast().journal().seen(&used.entry.key, id).await?
        {
            return used.entry.said_before(cursor, &input).await;
        }
        if let Some(process) = typed_into {
            let accepted = used
                .entry
                .enqueue(Sender::Person(caller), input, text, client_id, PromptReceiver::Terminal)
                .await?;
            process.notify_queue();
            return Ok(accepted);
        }
        used.entry.check_free().await?;
        used.entry.drop_typed().await;
        let slot = self.slot_for(&used.entry.key).await?;
        let accepted =
            used.entry.enqueue(Sender::Person(caller), input, text, client_id, PromptReceiver::Agent).await?;
        {
            let mut memory = used.entry.memory();
            memory.is_held = false;
            memory.slot.get_or_insert(slot);
        }
        used.entry.wake.notify_one();
        Ok(accepted)
    }

    /// Prompts in the queue.
    pub async fn queue(&self, name: &str) -> Result<Vec<QueuedInput>, Error> {
        let row = self.row(name).await?;
        let settings = self.settings(&row).await;
        Ok(settings.queue.iter().map(Queued::view).collect())
    }

    /// Removes a prompt from the queue.
    pub async fn cancel(&self, caller: &Caller, name: &str, id: &str) -> Result<Accepted, Error> {
        caller.require(Scope::Prompt)?;
        let entry = self.active_for(caller, name).await?.entry;
        let drop_it = |settings: &mut SessionSettings, _: &_| {
            let found = settings.queue.iter().position(|queued| queued.id == id);
            let Some(found) = found.filter(|found| settings.queue[*found].state != QueueState::Handed) else {
                let message = format!("The queue of this session has no prompt `{id}`");
                return Err(Error::new(Code::NotFound, message, "it may be running already: interrupt it"));
            };
            let queued = settings.queue.remove(found);
            let dropped = entry.dropped(&queued, format!("cancelled by {}", caller.name));
            Ok(Change { event: Some(dropped), ..Change::default() })
        };
        let (_, stored) = entry.change(drop_it).await?;
        stored.map(accepted).ok_or_else(|| Error::new(Code::Internal, "Nothing was stored", ""))
    }

    /// Takes an agent slot for a session. The number of agents is limited: the one that is idle for the
    /// longest time is parked.
    pub(crate) async fn slot_for(&self, key: &Key) -> Result<AgentSlot, Error> {
        loop {
            if let Some(slot) = self.0.slots.take(key) {
                return Ok(slot);
            }
            let oldest = {
                let used = self.active();
                let idle = used.values().filter(|used| used.entry.memory().can_make_room());
                idle.min_by_key(|used| used.entry.memory().row.active).cloned()
            };
            let Some(oldest) = oldest else {
                let message = match self.0.slots.count() {
                    1 => "The only agent slot is in use".to_owned(),
                    count => format!("All {count} agent slots are in use"),
                };
                return Err(Error::new(Code::TooMany, message, "stop an agent, or wait until one is idle")
                    .retry_after_ms(10_000));
            };
            oldest.end(ServerPhase::Parked).await;
        }
    }
}

/// The receiver of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptReceiver {
    /// An agent of this server.
    Agent,
    /// A process that a person started, which is typed into.
    Terminal,
}

fn check_session(input: &Input, entry: &LiveSession) -> Result<(), Error> {
    if input.session_id.is_some_and(|id| id != entry.handle) {
        let message = "The address and `session_id` name different sessions";
        return Err(Error::new(Code::Invalid, message, "leave `session_id` out"));
    }
    Ok(())
}

/// Refuses input that no session can take.
pub(crate) fn check(input: &Input) -> Result<(), Error> {
    let bytes = bytes_of(&(&input.content, &input.attachments));
    if bytes > INPUT_BYTES_MAX {
        let message = format!("A prompt of {bytes} bytes is longer than {INPUT_BYTES_MAX}");
        return Err(Error::new(Code::TooLarge, message, "put long texts and large files into the folder"));
    }
    if input.turn_id.is_some_and(|turn| turn.sequence > TURN_MAX) {
        let message = format!("`turn_id` is above the limit of {TURN_MAX}");
        return Err(Error::new(Code::Invalid, message, "leave `turn_id` out, or count from the last one"));
    }
    if input.content.trim().is_empty() && input.attachments.is_empty() {
        return Err(Error::new(Code::Invalid, "The prompt is empty", "send text or an attachment"));
    }
    prompt::check(&input.attachments)
}

/// The length of a value as JSON, as it is sent and stored.
fn bytes_of(what: &impl Serialize) -> usize {
    serde_json::to_vec(what).map_or(usize::MAX, |bytes| bytes.len())
}

impl LiveSession {
    pub(crate) async fn enqueue(
        &self,
        sender: Sender<'_>,
        input: Input,
        text: DeliveredText,
        client_id: Option<ClientId>,
        receiver: PromptReceiver,
    ) -> Result<Accepted, Error> {
        let at = self.clock.now();
        let id = self.ids.next();
        let mut given = TurnId::new_user_turn(0);
        let queue = |settings: &mut SessionSettings, _: &_| {
            match sender {
                Sender::Person(_) => settings.after_limit.cancel(),
                Sender::Server { .. } => settings.after_limit.begin(at)?,
            }
            settings.check_budget()?;
            if settings.queue.len() >= QUEUE_MAX {
                let message = format!("The queue of this session has {QUEUE_MAX} prompts already");
                return Err(Error::new(Code::TooMany, message, "wait until one is done, or cancel one"));
            }
            let wanted = input.turn_id.filter(|turn| turn.role == Role::User).map_or(0, |turn| turn.sequence);
            if sender.origin().is_none() {
                settings.note_prompt(&input.content);
            }
            settings.last_turn = settings.last_turn.saturating_add(1).max(wanted);
            given = TurnId::new_user_turn(settings.last_turn);
            let mut queued = PromptQueued::new(self.handle, id.as_str(), input.content.as_str(), given);
            queued.by = Some(sender.name().to_owned());
            queued.attachments = input.attachments.iter().map(|file| file.media_type.clone()).collect();
            settings.queue.push(Queued {
                id: id.clone(),
                turn_id: given,
                content: text.text.clone(),
                attachments: input.attachments.iter().chain(&text.files).cloned().collect(),
                delivery: input.delivery,
                at: at.to_string(),
                state: QueueState::Waiting,
                typed: receiver == PromptReceiver::Terminal,
                origin: sender.origin().map(str::to_owned),
                interpreted: text.meaning == Meaning::Interpreted,
            });
            let bytes = bytes_of(&settings.queue);
            if bytes > QUEUE_BYTES_MAX {
                let message = format!(
                    "With this prompt the queue would have {bytes} bytes, and the limit is {QUEUE_BYTES_MAX}"
                );
                return Err(Error::new(Code::TooMany, message, "wait until a prompt is done, or cancel one"));
            }
            let event = Some(self.draft_of(&UiMessage::from(queued), client_id));
            Ok(Change { event, ..Change::default() })
        };
        let (_, stored) = self.change(queue).await?;
        let stored = stored.ok_or_else(|| Error::new(Code::Internal, "Nothing was stored", ""))?;
        match stored.novelty {
            Novelty::New => Ok(Accepted { turn_id: Some(given), ..accepted(stored) }),
            Novelty::Seen => self.said_before(stored.cursor, &input).await,
        }
    }

    /// Removes a prompt from the queue for good, with a reason.
    pub(crate) async fn drop_prompt(&self, queued: &Queued, why: String) -> Result<(), Error> {
        let event = self.dropped(queued, why);
        let drop_it = |settings: &mut SessionSettings, _: &_| {
            let count = settings.queue.len();
            settings.queue.retain(|other| other.id != queued.id);
            // The prompt may have been cancelled meanwhile.
            let event = (settings.queue.len() < count).then_some(event);
            Ok(Change { event, ..Change::default() })
        };
        self.change(drop_it).await.map(drop)
    }

    fn dropped(&self, queued: &Queued, why: String) -> EventDraft {
        let mut dropped = PromptDropped::new(self.handle, queued.id.as_str());
        dropped.turn_id = Some(queued.turn_id);
        dropped.reason = Some(why);
        self.draft(&dropped.into())
    }

    /// The result of a prompt that was sent before. Another one with the same id is refused.
    async fn said_before(&self, cursor: Cursor, input: &Input) -> Result<Accepted, Error> {
        let turn_id = match self.event_at(cursor).await? {
            Some(UiMessage::PromptQueued(queued)) => {
                let attachments = input.attachments.iter().map(|file| &file.media_type);
                if queued.text != input.content || !attachments.eq(&queued.attachments) {
                    return Err(command_ids::used_elsewhere());
                }
                Some(queued.turn_id)
            }
            Some(_) => return Err(command_ids::used_elsewhere()),
            // Its event was removed.
            None => None,
        };
        Ok(Accepted { turn_id, ..at_cursor(cursor) })
    }

    /// The result of a command that was sent before. Another one with the same id is refused.
    pub(crate) async fn done_before(&self, id: &ClientId, what: &str) -> Result<Option<Accepted>, Error> {
        let remembered = self.memory().settings.done_before(id, what)?;
        if remembered.is_some() {
            return Ok(remembered);
        }
        let Some(cursor) = self.journal().seen(&self.key, id).await? else { return Ok(None) };
        match self.event_at(cursor).await? {
            Some(UiMessage::PromptQueued(_)) => Err(command_ids::used_elsewhere()),
            _ => Ok(Some(at_cursor(cursor))),
        }
    }

    /// The event with a cursor, if it is still stored.
    async fn event_at(&self, cursor: Cursor) -> Result<Option<UiMessage>, Error> {
        let before = Cursor::new(cursor.epoch, cursor.seq.saturating_sub(1));
        let page = self.journal().read(&self.key, Some(before), Max::events(1)).await?;
        let event = page.events.first().filter(|event| event.cursor == cursor);
        Ok(event.and_then(|event| event.message()).map(Arc::unwrap_or_clone))
    }
}
