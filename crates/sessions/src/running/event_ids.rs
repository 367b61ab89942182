//! Ids and offsets of events, so that none of them is stored twice.
//!
//! The events of one frame are stored together with the offset of the frame's end, if they take one step. If
//! they take several, a crash can happen between them: then the frame is read again, and each of its events
//! has an id that the journal recognizes.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use tidings_agent::UiMessage;
use tidings_journal::{ClientId, EventDraft};

/// Ids and offsets for the events of one step.
#[derive(Debug)]
pub(crate) struct EventIds {
    end: Option<u64>,
    last: usize,
    /// Prefix of the ids, if the events need some.
    prefix: Option<String>,
    /// Number of occurrences of the same event.
    seen: HashMap<String, u32>,
}

impl EventIds {
    /// `end` is the offset up to which the agent's output is stored once these events are.
    pub(crate) fn of(events: &[UiMessage], end: Option<u64>) -> Self {
        let is_split = events.len() > 1 && events.iter().any(goes_alone);
        // A request or a prompt may be repeated after a crash, at another offset.
        let prefix = events.iter().find_map(named);
        let prefix = prefix.or_else(|| end.filter(|_| is_split).map(|end| format!("out:{end}")));
        EventIds { end, last: events.len().saturating_sub(1), prefix, seen: HashMap::new() }
    }

    /// `place` is the place of the entry that the events come from, which is read again after a crash.
    pub(crate) fn of_entry(events: &[UiMessage], place: Option<String>) -> Self {
        let prefix = place.or_else(|| events.iter().find_map(named));
        EventIds { end: None, last: events.len().saturating_sub(1), prefix, seen: HashMap::new() }
    }

    pub(crate) fn assign(&mut self, mut draft: EventDraft, index: usize) -> EventDraft {
        draft.host_offset = self.end.filter(|_| index == self.last);
        if let Some(prefix) = &self.prefix {
            let digest = Sha256::digest(&draft.body);
            let hash =
                format!("{:x}", digest[..12].iter().fold(0_u128, |hash, byte| hash << 8 | u128::from(*byte)));
            let count = self.seen.entry(hash.clone()).or_default();
            *count += 1;
            // The id is short and made of letters, digits and signs, so it is valid.
            draft.client_id = ClientId::new(format!("{prefix}:{hash}:{count}")).ok();
        }
        draft
    }
}

/// True if an event is stored in a step of its own.
fn goes_alone(event: &UiMessage) -> bool {
    let asks = matches!(
        event,
        UiMessage::PermissionDetails(_)
            | UiMessage::QuestionDetails(_)
            | UiMessage::PermissionResolved(_)
            | UiMessage::InteractionResolved(_)
    );
    asks || event.changes_session()
}

fn named(event: &UiMessage) -> Option<String> {
    match event {
        UiMessage::UserPrompt(prompt) => prompt.uuid.as_ref().map(|uuid| format!("prompt:{uuid}")),
        UiMessage::PermissionDetails(details) => Some(format!("ask:{}", details.tool_use_id)),
        UiMessage::QuestionDetails(details) => Some(format!("ask:{}", details.tool_use_id)),
        _ => None,
    }
}
