//! How far the agent's output is stored with its events, so that none of them is stored twice.
//!
//! What comes of one frame is stored together with where the frame ends, if it goes in one step. If it takes several, a crash can
//! fall between them: then the frame is read again, and each event of it has an id that the journal knows.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};
use tidings_agent::UiMessage;

use super::changes::changes_the_row;
use crate::journal::{ClientId, Draft};

/// What is put on the events that come of one step.
#[derive(Debug)]
pub(super) struct Marks {
    end: Option<u64>,
    last: usize,
    /// What the ids begin with, where events need some.
    prefix: Option<String>,
    /// How often the same event was there.
    seen: HashMap<String, u32>,
}

impl Marks {
    /// `end` is how far the agent's output is stored once these events are.
    pub(super) fn of(events: &[UiMessage], end: Option<u64>) -> Self {
        let is_split = events.len() > 1 && events.iter().any(goes_alone);
        // A question or a prompt may be told again after a crash, and not at the same place of the output.
        let prefix = events.iter().find_map(named);
        let prefix = prefix.or_else(|| end.filter(|_| is_split).map(|end| format!("out:{end}")));
        Marks { end, last: events.len().saturating_sub(1), prefix, seen: HashMap::new() }
    }

    pub(super) fn mark(&mut self, mut draft: Draft, place: usize) -> Draft {
        draft.host_offset = self.end.filter(|_| place == self.last);
        if let Some(prefix) = &self.prefix {
            let digest = Sha256::digest(&draft.body);
            let word =
                format!("{:x}", digest[..12].iter().fold(0_u128, |word, byte| word << 8 | u128::from(*byte)));
            let count = self.seen.entry(word.clone()).or_default();
            *count += 1;
            // It is short and made of letters, digits and signs, as an id is.
            draft.client_id = ClientId::new(format!("{prefix}:{word}:{count}")).ok();
        }
        draft
    }
}

/// Whether an event is stored in a step of its own.
fn goes_alone(event: &UiMessage) -> bool {
    let asks = matches!(
        event,
        UiMessage::PermissionDetails(_)
            | UiMessage::QuestionDetails(_)
            | UiMessage::PermissionResolved(_)
            | UiMessage::InteractionResolved(_)
    );
    asks || changes_the_row(event)
}

fn named(event: &UiMessage) -> Option<String> {
    match event {
        UiMessage::UserPrompt(prompt) => prompt.uuid.as_ref().map(|uuid| format!("prompt:{uuid}")),
        UiMessage::PermissionDetails(details) => Some(format!("ask:{}", details.tool_use_id)),
        UiMessage::QuestionDetails(details) => Some(format!("ask:{}", details.tool_use_id)),
        _ => None,
    }
}
