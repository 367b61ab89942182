//! Facts about events: their treatment by the journal, the inbox and clients.

use super::UiMessage;

/// Facts about one kind of event. Each row of the table of events states all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are columns of a table, and independent")]
pub struct EventFacts {
    /// Its durability.
    pub durability: Durability,
    /// Its treatment in a snapshot.
    pub snapshot: SnapshotRole,
    /// True if it changes facts about the session, and not only its conversation: its id, title, state,
    /// settings, queue or totals.
    pub changes_session: bool,
    /// True if it may concern users who are not subscribed to the session, and is passed to the inbox.
    pub inbox: bool,
    /// True if messages to a phone depend on it.
    pub phone: bool,
    /// True if an editor's view of the conversation depends on it. Requests reach an editor separately.
    pub editor: bool,
}

/// Durability of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It must survive a loss of power.
    Durable,
    /// A later event repeats or replaces it. It may be lost with the power.
    Delta,
    /// A delta that [`UiMessage::append`] can merge with the next one.
    MergeableDelta,
    /// That of the event inside it.
    OfInner,
}

/// Treatment of an event in a snapshot.
///
/// `Omitted`, `Kept`, `Item` and `Latest` need no code for the event; each of the others is code for a few
/// events that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotRole {
    /// It is left out.
    Omitted,
    /// It is kept. Text before and after it is one block.
    Kept,
    /// It is kept, and ends the block of text before it.
    Item,
    /// Only the latest of its kind is kept.
    Latest,
    /// It is kept; what it repeats or ends is removed from the ones before.
    Status,
    /// A delta of a text, joined with the ones before.
    Text,
    /// The end of a text.
    TextEnd,
    /// A retraction; the retracted content is left out.
    Retraction,
    /// An event of a tool call.
    Call,
    /// An event of a permission request or a question; details of settled ones are left out.
    Request,
    /// An event of a prompt.
    Prompt,
    /// An event of a sub-agent.
    SubAgent,
    /// An event of a background task.
    Task,
    /// The end of a turn.
    TurnEnd,
    /// That of the event inside it.
    Inner,
}

impl UiMessage {
    /// True for events that a later event repeats or replaces, such as a delta of a text. They may be lost
    /// with the power.
    pub fn is_delta(&self) -> bool {
        match self.facts().durability {
            Durability::Durable => false,
            Durability::Delta | Durability::MergeableDelta => true,
            Durability::OfInner => matches!(self, Self::Lane(lane) if lane.event.is_delta()),
        }
    }

    /// True for deltas that [`append`](Self::append) can merge.
    pub fn is_mergeable(&self) -> bool {
        self.facts().durability == Durability::MergeableDelta
    }

    /// Appends the next delta of the same text, up to a length in bytes. Returns false if it is not one, or
    /// is too long.
    pub fn append(&mut self, next: &UiMessage, bytes_max: usize) -> bool {
        let (text, more) = match (self, next) {
            (
                Self::TextChunk { text, session_id, turn_id },
                Self::TextChunk { text: more, session_id: next_session, turn_id: next_turn },
            ) if session_id == next_session && turn_id == next_turn => (text, more),
            (Self::Thinking(delta), Self::Thinking(next))
                if delta.session_id == next.session_id && delta.turn_id == next.turn_id =>
            {
                (&mut delta.text, &next.text)
            }
            _ => return false,
        };
        if text.len() + more.len() > bytes_max {
            return false;
        }
        text.push_str(more);
        true
    }

    /// True for events that change facts about the session, and not only its conversation: its id, title,
    /// state, settings, queue or totals.
    pub fn changes_session(&self) -> bool {
        self.facts().changes_session
    }
}
