//! Selects the newest events that a budget has room for.

use tidings_protocol::ui::UiMessage;

use super::shorten::json_bytes;
use super::{ConversationSnapshot, SnapshotBudget};

/// The merged events of a session.
#[derive(Debug)]
pub(super) struct MergedEvents {
    /// The number of the first original event.
    pub(super) first_seq: Option<u64>,
    pub(super) events: Vec<MergedEvent>,
}

/// One event, or several that were merged.
#[derive(Debug)]
pub(super) struct MergedEvent {
    pub(super) seq: u64,
    /// The number of the last event that was merged into it.
    pub(super) last_seq: u64,
    /// True if it describes the current state, however old it is.
    pub(super) is_current: bool,
    pub(super) message: UiMessage,
}

/// Remaining part of a budget.
#[derive(Debug, Clone, Copy)]
struct Remaining {
    events: usize,
    bytes: usize,
}

impl Remaining {
    /// Takes room for one event, if there is any.
    fn take(&mut self, bytes: usize) -> bool {
        if self.events == 0 || self.bytes < bytes {
            return false;
        }
        self.events -= 1;
        self.bytes -= bytes;
        true
    }
}

/// Cuts off the oldest events, except for those that describe the current state.
pub(super) fn cut(merged: MergedEvents, budget: SnapshotBudget) -> ConversationSnapshot {
    let MergedEvents { first_seq, mut events } = merged;
    let bytes: Vec<usize> = events.iter().map(|event| json_bytes(&event.message) + 1).collect();
    let all = Remaining { events: budget.events_max, bytes: budget.bytes_max };
    let mut from = 0;
    let mut room = all;
    if !bytes.iter().all(|bytes| room.take(*bytes)) {
        from = cut_index(&events, first_that_fits(&events, &bytes, all));
    }
    if from == 0 {
        let events = events.into_iter().map(|event| (event.seq, event.message)).collect();
        return ConversationSnapshot { from: first_seq.unwrap_or_default(), more: false, events };
    }
    let newest = events.last().map_or(0, |event| event.last_seq);
    let tail = events.split_off(from);
    let from_seq = tail.first().map_or(newest.saturating_add(1), |event| event.seq);
    room = all;
    for bytes in &bytes[from..] {
        room.take(*bytes);
    }
    // The newest state first, in case that there is not room for all of it.
    let mut current: Vec<MergedEvent> = Vec::new();
    for (event, bytes) in events.into_iter().zip(&bytes).rev() {
        let goes_on = matches!(event.message, UiMessage::TaskChanged(_)) && event.last_seq >= from_seq;
        if (event.is_current || goes_on) && room.take(*bytes) {
            current.push(event);
        }
    }
    let events = current.into_iter().rev().chain(tail).map(|event| (event.seq, event.message)).collect();
    ConversationSnapshot { from: from_seq, more: true, events }
}

/// Index from which on events fit, besides the earlier ones that describe the current state; these get up to
/// half of the budget.
fn first_that_fits(events: &[MergedEvent], bytes: &[usize], all: Remaining) -> usize {
    let current = || events.iter().zip(bytes).filter(|(event, _)| event.is_current);
    let mut before = Remaining { events: current().count(), bytes: current().map(|(_, bytes)| bytes).sum() };
    let mut tail = Remaining { events: 0, bytes: 0 };
    let mut first = events.len();
    while let Some(next) = first.checked_sub(1) {
        tail.events += 1;
        tail.bytes += bytes[next];
        if events[next].is_current {
            before.events -= 1;
            before.bytes -= bytes[next];
        }
        let fits = tail.events + before.events.min(all.events / 2) <= all.events
            && tail.bytes + before.bytes.min(all.bytes / 2) <= all.bytes;
        // One event is always returned, however long it is: otherwise a client that pages backwards would
        // make no progress.
        if !fits && next + 1 < events.len() {
            break;
        }
        first = next;
    }
    first
}

/// Index to cut at, `first` or later: before a turn, if that is not too far, or before an item of the main
/// conversation.
fn cut_index(events: &[MergedEvent], first: usize) -> usize {
    let far = first + (events.len() - first) / 2;
    let (mut after_turn, mut at_item, mut anywhere) = (None, None, None);
    // A text that continues behind the cut would be complete in neither half.
    let mut text_until = 0;
    for (at, event) in events.iter().enumerate() {
        let is_clean = text_until < event.seq;
        if at >= first && is_clean {
            anywhere.get_or_insert(at);
            if at <= far && event.begins_item() {
                at_item.get_or_insert(at);
            }
            if at <= far && at.checked_sub(1).is_some_and(|before| events[before].ends_turn()) {
                after_turn.get_or_insert(at);
            }
        }
        text_until = text_until.max(event.text_until());
    }
    after_turn.or(at_item).or(anywhere).unwrap_or(first)
}

impl MergedEvent {
    fn ends_turn(&self) -> bool {
        matches!(self.message, UiMessage::Complete { .. })
    }

    fn begins_item(&self) -> bool {
        use UiMessage as Ui;
        matches!(self.message, Ui::UserPrompt(_) | Ui::TextChunk { .. } | Ui::ToolExecuting { .. })
    }

    /// The number of the last event that was merged into it, if it is text.
    fn text_until(&self) -> u64 {
        let event = match &self.message {
            UiMessage::Lane(lane) => &lane.event,
            event => event,
        };
        match event {
            UiMessage::TextChunk { .. } | UiMessage::Thinking(_) => self.last_seq,
            _ => 0,
        }
    }
}
