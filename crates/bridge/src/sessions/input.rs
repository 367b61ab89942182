//! People say something: it is stored before it is acknowledged, and handed to the agent once.

use serde::Serialize;
use tidings_agent::UiMessage;
use tidings_protocol::api::{Accepted, Input, QueueState, QueuedInput, ServerPhase};
use tidings_protocol::ui::{PromptDropped, PromptQueued, Role, TurnId};

use super::Sessions;
use super::actor::{accepted, at_cursor};
use super::commands;
use super::entry::{Change, Entry};
use super::places::Place;
use super::prompt;
use super::settings::{Queued, Settings};
use crate::auth::capabilities;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::journal::{ClientId, Cursor, Draft, Key, Max, Novelty};
use crate::limits::{INPUT_BYTES_MAX, QUEUE_BYTES_MAX, QUEUE_MAX, TURN_MAX};

impl Sessions {
    /// Says something to a session. The same client id again gives the same answer, and is said once.
    pub async fn input(&self, caller: &Caller, name: &str, input: Input) -> Result<Accepted, Error> {
        self.require(caller, &capabilities::of_input(&input)?)?;
        let used = self.used_for(caller, name).await?;
        check_session(&input, &used.entry)?;
        check(&input)?;
        let client_id = commands::kept_if_any(caller, input.client_id.as_deref())?;
        // What was said is said, whatever may be said now.
        if let Some(id) = &client_id
            && let Some(cursor) = self.broadcast().journal().seen(&used.entry.key, id).await?
        {
            return used.entry.said_before(cursor, &input).await;
        }
        let place = self.place_for(&used.entry.key).await?;
        let accepted = used.entry.enqueue(caller, input, client_id).await?;
        {
            let mut memory = used.entry.memory();
            memory.is_held = false;
            memory.place.get_or_insert(place);
        }
        used.entry.wake.notify_one();
        Ok(accepted)
    }

    /// What waits for its turn.
    pub async fn queue(&self, name: &str) -> Result<Vec<QueuedInput>, Error> {
        let row = self.row(name).await?;
        let settings = self.settings(&row).await;
        Ok(settings.queue.iter().map(Queued::view).collect())
    }

    /// Takes back a prompt that waits.
    pub async fn cancel(&self, caller: &Caller, name: &str, id: &str) -> Result<Accepted, Error> {
        caller.require(Scope::Prompt)?;
        let entry = self.used_for(caller, name).await?.entry;
        let drop_it = |settings: &mut Settings, _: &_| {
            let found = settings.queue.iter().position(|queued| queued.id == id);
            let Some(found) = found.filter(|found| settings.queue[*found].state != QueueState::Handed) else {
                let message = format!("No prompt `{id}` waits in this session");
                return Err(Error::new(Code::NotFound, message, "it may be under way already: interrupt it"));
            };
            let queued = settings.queue.remove(found);
            let dropped = entry.dropped(&queued, format!("taken back by {}", caller.name));
            Ok(Change { event: Some(dropped), ..Change::default() })
        };
        let (_, stored) = entry.change(drop_it).await?;
        stored.map(accepted).ok_or_else(|| Error::new(Code::Internal, "Nothing was stored", ""))
    }

    /// A place for the agent of a session. Only so many run at once: the one that was not used for the longest time makes room.
    pub(super) async fn place_for(&self, key: &Key) -> Result<Place, Error> {
        loop {
            if let Some(place) = self.0.places.take(key) {
                return Ok(place);
            }
            let oldest = {
                let used = self.used();
                let idle = used.values().filter(|used| used.entry.memory().can_make_room());
                idle.min_by_key(|used| used.entry.memory().row.active).cloned()
            };
            let Some(oldest) = oldest else {
                let message = match self.0.places.count() {
                    1 => "1 agent runs, and it has something to do".to_owned(),
                    count => format!("{count} agents run, and all of them have something to do"),
                };
                return Err(Error::new(Code::TooMany, message, "stop one, or wait for one to be done")
                    .retry_after_ms(10_000));
            };
            super::end(&oldest, ServerPhase::Parked).await;
        }
    }
}

fn check_session(input: &Input, entry: &Entry) -> Result<(), Error> {
    if input.session_id.is_some_and(|id| id != entry.handle) {
        let message = "The address and `session_id` name different sessions";
        return Err(Error::new(Code::Invalid, message, "leave `session_id` out"));
    }
    Ok(())
}

/// Refuses what cannot be said in any session.
pub(super) fn check(input: &Input) -> Result<(), Error> {
    let bytes = bytes_of(&(&input.content, &input.attachments));
    if bytes > INPUT_BYTES_MAX {
        let message = format!("A prompt of {bytes} bytes is longer than {INPUT_BYTES_MAX}");
        return Err(Error::new(Code::TooLarge, message, "put long texts and large files into the folder"));
    }
    if input.turn_id.is_some_and(|turn| turn.sequence > TURN_MAX) {
        let message = format!("No session has so many turns: `turn_id` is above {TURN_MAX}");
        return Err(Error::new(Code::Invalid, message, "leave `turn_id` out, or count from the last one"));
    }
    if input.content.trim().is_empty() && input.attachments.is_empty() {
        return Err(Error::new(Code::Invalid, "The prompt is empty", "say something"));
    }
    prompt::check(&input.attachments)
}

/// The length of something as JSON, which is how it comes and how it is kept.
fn bytes_of(what: &impl Serialize) -> usize {
    serde_json::to_vec(what).map_or(usize::MAX, |bytes| bytes.len())
}

impl Entry {
    async fn enqueue(
        &self,
        caller: &Caller,
        input: Input,
        client_id: Option<ClientId>,
    ) -> Result<Accepted, Error> {
        let at = self.clock.now();
        let id = self.ids.next();
        let mut given = TurnId::new_user_turn(0);
        let queue = |settings: &mut Settings, _: &_| {
            settings.check_budget()?;
            if settings.queue.len() >= QUEUE_MAX {
                let message = format!("{QUEUE_MAX} prompts wait in this session already");
                return Err(Error::new(Code::TooMany, message, "wait for one to be done, or cancel one"));
            }
            let wanted = input.turn_id.filter(|turn| turn.role == Role::User).map_or(0, |turn| turn.sequence);
            settings.hear(&input.content);
            settings.last_turn = settings.last_turn.saturating_add(1).max(wanted);
            given = TurnId::new_user_turn(settings.last_turn);
            let mut told = PromptQueued::new(self.handle, id.as_str(), input.content.as_str(), given);
            told.by = Some(caller.name.clone());
            told.attachments = input.attachments.iter().map(|file| file.media_type.clone()).collect();
            settings.queue.push(Queued {
                id: id.clone(),
                turn_id: given,
                content: input.content.clone(),
                attachments: input.attachments.clone(),
                delivery: input.delivery,
                at: at.to_string(),
                state: QueueState::Waiting,
            });
            let bytes = bytes_of(&settings.queue);
            if bytes > QUEUE_BYTES_MAX {
                let message = format!(
                    "With this one, {bytes} bytes would wait in the session, and {QUEUE_BYTES_MAX} may"
                );
                return Err(Error::new(
                    Code::TooMany,
                    message,
                    "wait for a prompt to be done, or cancel one",
                ));
            }
            let event = Some(self.draft_of(&UiMessage::from(told), client_id));
            Ok(Change { event, ..Change::default() })
        };
        let (_, stored) = self.change(queue).await?;
        let stored = stored.ok_or_else(|| Error::new(Code::Internal, "Nothing was stored", ""))?;
        match stored.novelty {
            Novelty::New => Ok(Accepted { turn_id: Some(given), ..accepted(stored) }),
            Novelty::Seen => self.said_before(stored.cursor, &input).await,
        }
    }

    /// Takes a prompt out of the queue for good, and says why.
    pub(super) async fn drop_prompt(&self, queued: &Queued, why: String) -> Result<(), Error> {
        let event = self.dropped(queued, why);
        let drop_it = |settings: &mut Settings, _: &_| {
            let count = settings.queue.len();
            settings.queue.retain(|other| other.id != queued.id);
            // Somebody may have taken it back meanwhile.
            let event = (settings.queue.len() < count).then_some(event);
            Ok(Change { event, ..Change::default() })
        };
        self.change(drop_it).await.map(drop)
    }

    fn dropped(&self, queued: &Queued, why: String) -> Draft {
        let mut dropped = PromptDropped::new(self.handle, queued.id.as_str());
        dropped.turn_id = Some(queued.turn_id);
        dropped.reason = Some(why);
        self.draft(&dropped.into())
    }

    /// What came of a prompt when it was first sent. Another one with the same id is refused.
    async fn said_before(&self, cursor: Cursor, input: &Input) -> Result<Accepted, Error> {
        let turn_id = match self.event_at(cursor).await? {
            Some(UiMessage::PromptQueued(queued)) => {
                let attachments = input.attachments.iter().map(|file| &file.media_type);
                if queued.text != input.content || !attachments.eq(&queued.attachments) {
                    return Err(commands::used_elsewhere());
                }
                Some(queued.turn_id)
            }
            Some(_) => return Err(commands::used_elsewhere()),
            // It is too long ago.
            None => None,
        };
        Ok(Accepted { turn_id, ..at_cursor(cursor) })
    }

    /// What came of a command when it was first sent. Another one with the same id is refused.
    pub(super) async fn done_before(&self, id: &ClientId, what: &str) -> Result<Option<Accepted>, Error> {
        let remembered = self.memory().settings.done_before(id, what)?;
        if remembered.is_some() {
            return Ok(remembered);
        }
        let Some(cursor) = self.journal().seen(&self.key, id).await? else { return Ok(None) };
        match self.event_at(cursor).await? {
            Some(UiMessage::PromptQueued(_)) => Err(commands::used_elsewhere()),
            _ => Ok(Some(at_cursor(cursor))),
        }
    }

    /// The event at a place, if it is kept still.
    async fn event_at(&self, cursor: Cursor) -> Result<Option<UiMessage>, Error> {
        let before = Cursor::new(cursor.epoch, cursor.seq.saturating_sub(1));
        let page = self.journal().read(&self.key, Some(before), Max::events(1)).await?;
        let event = page.events.first().filter(|event| event.cursor == cursor);
        Ok(event.and_then(|event| serde_json::from_slice(&event.body).ok()))
    }
}
