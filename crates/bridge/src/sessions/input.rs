//! People say something: it is stored before it is acknowledged, and handed to the agent once.

use tidings_agent::UiMessage;
use tidings_protocol::api::{Accepted, Input, QueueState, QueuedInput, ServerPhase};
use tidings_protocol::ui::{PromptDropped, PromptQueued, Role, TurnId};

use super::actor::accepted;
use super::entry::{Change, Entry};
use super::settings::{Queued, Settings};
use super::{Sessions, Used};
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::journal::{ClientId, Cursor, Max, Stored};
use crate::limits::{PROMPT_BYTES_MAX, QUEUE_MAX, TURN_MAX};

impl Sessions {
    /// Says something to a session. The same client id again gives the same answer, and is said once.
    pub async fn input(&self, caller: &Caller, name: &str, input: Input) -> Result<Accepted, Error> {
        caller.require(Scope::Prompt)?;
        let used = self.used_for(caller, name).await?;
        check(&input, &used.entry)?;
        self.make_room(&used).await?;
        let accepted = used.entry.enqueue(caller, input).await?;
        used.entry.memory().is_held = false;
        used.entry.wake.notify_one();
        Ok(accepted)
    }

    /// What waits for its turn.
    pub async fn queue(&self, name: &str) -> Result<Vec<QueuedInput>, Error> {
        let row = self.row(name).await?;
        let settings = match self.used().get(&row.key) {
            Some(used) => used.entry.memory().settings.clone(),
            None => Settings::parse(&row.settings),
        };
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
            let mut dropped = PromptDropped::new(entry.handle, queued.id);
            dropped.turn_id = Some(queued.turn_id);
            dropped.reason = Some(format!("taken back by {}", caller.name));
            Ok(Change { event: Some(entry.draft(&dropped.into())), ..Change::default() })
        };
        let (_, stored) = entry.change(drop_it).await?;
        stored.map(accepted).ok_or_else(|| Error::new(Code::Internal, "Nothing was stored", ""))
    }

    /// Only so many agents run at once: the one that was not used for the longest time makes room.
    async fn make_room(&self, wanted: &Used) -> Result<(), Error> {
        if wanted.entry.agent().is_some() {
            return Ok(());
        }
        let live: Vec<Used> =
            self.used().values().filter(|used| used.entry.agent().is_some()).cloned().collect();
        if live.len() < self.config().live_max {
            return Ok(());
        }
        let idle = live.iter().filter(|used| !used.entry.memory().is_busy());
        let Some(oldest) = idle.min_by_key(|used| used.entry.memory().row.active) else {
            let message = format!("{} agents run, and all of them have something to do", live.len());
            return Err(Error::new(Code::TooMany, message, "stop one, or wait for one to be done")
                .retry_after_ms(10_000));
        };
        super::end(oldest, ServerPhase::Parked).await;
        Ok(())
    }
}

fn check(input: &Input, entry: &Entry) -> Result<(), Error> {
    if input.session_id.is_some_and(|id| id != entry.handle) {
        let message = "The address and `session_id` name different sessions";
        return Err(Error::new(Code::Invalid, message, "leave `session_id` out"));
    }
    let bytes = input.content.len() + input.attachments.iter().map(|file| file.data.len()).sum::<usize>();
    if bytes > PROMPT_BYTES_MAX {
        let message = format!("A prompt of {bytes} bytes is longer than {PROMPT_BYTES_MAX}");
        return Err(Error::new(Code::TooLarge, message, "put long texts into a file of the folder"));
    }
    if input.turn_id.is_some_and(|turn| turn.sequence > TURN_MAX) {
        let message = format!("No session has so many turns: `turn_id` is above {TURN_MAX}");
        return Err(Error::new(Code::Invalid, message, "leave `turn_id` out, or count from the last one"));
    }
    if input.content.trim().is_empty() && input.attachments.is_empty() {
        return Err(Error::new(Code::Invalid, "The prompt is empty", "say something"));
    }
    Ok(())
}

impl Entry {
    async fn enqueue(&self, caller: &Caller, input: Input) -> Result<Accepted, Error> {
        let client_id = input.client_id.as_deref().map(ClientId::new).transpose()?;
        let at = self.clock.now();
        let id = self.ids.next();
        let mut given = TurnId::new_user_turn(0);
        let queue = |settings: &mut Settings, _: &_| {
            if let Some(why) = settings.exhausted() {
                return Err(Error::new(Code::BudgetExhausted, why, "give the session a larger budget"));
            }
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
                content: input.content,
                attachments: input.attachments,
                delivery: input.delivery,
                at: at.to_string(),
                state: QueueState::Waiting,
            });
            let event = Some(self.draft_of(&UiMessage::from(told), client_id));
            Ok(Change { event, ..Change::default() })
        };
        let (_, stored) = self.change(queue).await?;
        let stored = stored.ok_or_else(|| Error::new(Code::Internal, "Nothing was stored", ""))?;
        let turn_id = match stored.novelty {
            crate::journal::Novelty::New => Some(given),
            crate::journal::Novelty::Seen => self.turn_at(stored).await?,
        };
        Ok(Accepted { turn_id, ..accepted(stored) })
    }

    /// The turn that a prompt was given when it was first sent.
    async fn turn_at(&self, stored: Stored) -> Result<Option<TurnId>, Error> {
        let Cursor { epoch, seq } = stored.cursor;
        let before = Cursor::new(epoch, seq.saturating_sub(1));
        let page = self.journal().read(&self.key, Some(before), Max::events(1)).await?;
        let event = page.events.first().filter(|event| event.cursor == stored.cursor);
        Ok(event.and_then(|event| match serde_json::from_slice(&event.body).ok()? {
            UiMessage::PromptQueued(queued) => Some(queued.turn_id),
            _ => None,
        }))
    }
}
