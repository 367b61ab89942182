//! The items of the main conversation and of the lanes of sub-agents, and their retraction.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use tidings_protocol::ui::{TextEnded, TurnId, UiMessage};

use super::SnapshotBuilder;

/// The lanes of a session; the first is the main conversation.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<LaneState>,
    by_agent: HashMap<String, usize>,
}

/// One lane.
#[derive(Debug, Default)]
pub(super) struct LaneState {
    /// The sub-agent, and the session id in its events.
    pub(super) agent: Option<(String, i64)>,
    /// All items; texts and thoughts are also listed by themselves.
    pub(super) items: Vec<usize>,
    texts: Vec<usize>,
    thoughts: Vec<usize>,
}

/// The two kinds of text that a model writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Text,
    Thinking,
}

impl Lanes {
    pub(super) const MAIN: usize = 0;

    pub(super) fn of_agent(&mut self, agent_id: String, session_id: i64) -> usize {
        if let Some(at) = self.by_agent.get(&agent_id) {
            return *at;
        }
        let at = self.lanes.len();
        self.by_agent.insert(agent_id.clone(), at);
        self.lanes.push(LaneState { agent: Some((agent_id, session_id)), ..LaneState::default() });
        at
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes { lanes: vec![LaneState::default()], by_agent: HashMap::new() }
    }
}

impl Index<usize> for Lanes {
    type Output = LaneState;

    fn index(&self, at: usize) -> &LaneState {
        &self.lanes[at]
    }
}

impl IndexMut<usize> for Lanes {
    fn index_mut(&mut self, at: usize) -> &mut LaneState {
        &mut self.lanes[at]
    }
}

impl LaneState {
    fn texts_of(&mut self, kind: TextKind) -> &mut Vec<usize> {
        match kind {
            TextKind::Text => &mut self.texts,
            TextKind::Thinking => &mut self.thoughts,
        }
    }
}

impl SnapshotBuilder {
    /// Adds a delta of text or of reasoning: it joins the open block of its lane, if that is of the same
    /// turn. A prompt that is steered into the turn does not end the block.
    pub(super) fn add_delta(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let Some((kind, turn_id, text)) = text_delta(&event) else { return };
        while let Some(at) = self.lanes[lane].items.last().copied()
            && self.entries[at].event.is_none()
        {
            self.lanes[lane].items.pop();
        }
        if let Some(at) = self.lanes[lane].items.last() {
            let entry = &mut self.entries[*at];
            if entry.end.is_none()
                && let Some(last) = &mut entry.event
                && text_delta(last).is_some_and(|(other, turn, _)| other == kind && turn == turn_id)
                && let Some(last) = text_of(last)
            {
                last.push_str(text);
                entry.last_seq = seq;
                return;
            }
        }
        let at = self.entries.len();
        self.push_item(seq, lane, event);
        self.lanes[lane].texts_of(kind).push(at);
    }

    /// Ends the last text of a turn.
    pub(super) fn end_text(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let UiMessage::TextEnded(TextEnded { turn_id, .. }) = &event else { return };
        let Some(last) = self.last_text(lane, TextKind::Text, *turn_id) else { return };
        if self.entries[last].end.is_none() {
            let at = self.push(seq, lane, event);
            self.entries[last].end = Some(at);
        }
    }

    /// Retracts the end of a lane's text in a turn, and tool calls. Whatever is not found here was said
    /// earlier; the event passes on that part.
    pub(super) fn retract(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let UiMessage::Retracted(mut event) = event else { return };
        let turn_id = event.turn_id;
        event.text = self.retract_text(lane, TextKind::Text, turn_id, &event.text);
        event.thinking = self.retract_text(lane, TextKind::Thinking, turn_id, &event.thinking);
        event.tool_use_ids.retain(|id| !self.forget_call(id));
        if !(event.text.is_empty() && event.thinking.is_empty() && event.tool_use_ids.is_empty()) {
            self.push(seq, lane, event.into());
        }
    }

    /// Returns the part that remains to be retracted because it comes before everything here. Text that was
    /// never said cannot be retracted.
    fn retract_text(&mut self, lane: usize, kind: TextKind, turn_id: TurnId, void: &str) -> String {
        let mut left = void;
        let mut whole = Vec::new();
        let mut part = None;
        for at in self.lanes[lane].texts_of(kind).iter().rev() {
            let Some(event) = &self.entries[*at].event else { continue };
            let Some((_, turn, text)) = text_delta(event) else { continue };
            if turn != turn_id || left.is_empty() {
                break;
            }
            if let Some(rest) = left.strip_suffix(text) {
                left = rest;
                whole.push(*at);
            } else if let Some(kept) = text.strip_suffix(left) {
                part = Some((*at, kept.len()));
                left = "";
            } else {
                return String::new();
            }
        }
        for at in whole {
            self.forget(at);
            self.reopen(at);
        }
        if let Some((at, kept)) = part {
            if let Some(text) = self.entries[at].event.as_mut().and_then(text_of) {
                text.truncate(kept);
            }
            self.reopen(at);
        }
        left.to_owned()
    }

    /// Reopens a text after a part of it was retracted.
    fn reopen(&mut self, at: usize) {
        if let Some(end) = self.entries[at].end.take() {
            self.forget(end);
        }
    }

    fn last_text(&mut self, lane: usize, kind: TextKind, turn_id: TurnId) -> Option<usize> {
        let list = self.lanes[lane].texts_of(kind);
        while let Some(at) = list.last().copied() {
            match &self.entries[at].event {
                Some(event) => {
                    return text_delta(event).is_some_and(|(_, turn, _)| turn == turn_id).then_some(at);
                }
                None => list.pop(),
            };
        }
        None
    }
}

fn text_delta(event: &UiMessage) -> Option<(TextKind, TurnId, &str)> {
    match event {
        UiMessage::TextChunk { text, turn_id, .. } => Some((TextKind::Text, *turn_id, text)),
        UiMessage::Thinking(event) => Some((TextKind::Thinking, event.turn_id, &event.text)),
        _ => None,
    }
}

fn text_of(event: &mut UiMessage) -> Option<&mut String> {
    match event {
        UiMessage::TextChunk { text, .. } => Some(text),
        UiMessage::Thinking(event) => Some(&mut event.text),
        _ => None,
    }
}
