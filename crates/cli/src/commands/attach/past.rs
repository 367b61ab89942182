//! Past events of a session, from its snapshot.

use std::collections::HashSet;

use serde::Deserialize as _;
use serde_json::Value;
use tidings_api::Snapshot;
use tidings_protocol::ui::UiMessage;

/// Range of past events to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The end of the conversation.
    End,
    /// The current turn.
    Turn,
    /// The last turn that ended.
    LastTurn,
}

/// A past event as JSON, and decoded if this version knows its type.
pub(super) struct PastEvent {
    pub(super) json: Value,
    pub(super) decoded: Option<UiMessage>,
}

/// Takes the events out of a snapshot.
pub(super) fn decode(snapshot: &mut Snapshot) -> Vec<PastEvent> {
    let events = std::mem::take(&mut snapshot.events).into_iter();
    events.map(|json| PastEvent { decoded: UiMessage::deserialize(&json).ok(), json }).collect()
}

/// True if the last turn has ended and no other one has begun.
pub(super) fn is_between_turns(events: &[PastEvent]) -> bool {
    ends(events).next_back().is_some_and(|end| !events[end + 1..].iter().any(is_turn))
}

/// Selects the events to show. Events that describe the current state, such as pending requests and the
/// model, are always included.
pub(super) fn select(mut events: Vec<PastEvent>, snapshot: &Snapshot, extent: Extent) -> Vec<PastEvent> {
    let from = match extent {
        Extent::End => return events,
        Extent::Turn => ends(&events).last().map_or(0, |end| end + 1),
        Extent::LastTurn => last_turn(&events),
    };
    let permissions = snapshot.pending_permissions.iter().map(|ask| ask.tool_use_id.as_str());
    let questions = snapshot.pending_questions.iter().map(|ask| ask.tool_use_id.as_str());
    let open: HashSet<&str> = permissions.chain(questions).collect();
    let mut at = 0;
    events.retain(|event| {
        at += 1;
        at > from || event.decoded.as_ref().is_some_and(|event| is_state(event, &open))
    });
    events
}

/// Indices of the events that end a turn.
fn ends(events: &[PastEvent]) -> impl DoubleEndedIterator<Item = usize> {
    let is_end = |event: &PastEvent| matches!(event.decoded, Some(UiMessage::Complete { .. }));
    events.iter().enumerate().filter(move |(_, event)| is_end(event)).map(|(at, _)| at)
}

/// Index at which the last turn begins. An aborted turn has no end event, and events that only describe the
/// state are not a turn.
fn last_turn(events: &[PastEvent]) -> usize {
    let after = |end: Option<usize>| end.map_or(0, |end| end + 1);
    let last = after(ends(events).next_back());
    if events[last..].iter().any(is_turn) { last } else { after(ends(events).rev().nth(1)) }
}

/// True if an event is part of a turn.
fn is_turn(event: &PastEvent) -> bool {
    matches!(
        event.decoded,
        Some(
            UiMessage::UserPrompt(_)
                | UiMessage::TurnStarted(_)
                | UiMessage::TextChunk { .. }
                | UiMessage::ToolExecuting { .. }
                | UiMessage::TurnResult(_)
        )
    )
}

/// True if an event describes the current state, however old it is.
fn is_state(event: &UiMessage, open: &HashSet<&str>) -> bool {
    match event {
        UiMessage::SessionStarted(_) | UiMessage::SettingsChanged(_) => true,
        UiMessage::PermissionDetails(details) => open.contains(details.tool_use_id.as_str()),
        UiMessage::QuestionDetails(details) => open.contains(details.tool_use_id.as_str()),
        UiMessage::PermissionRequired { tool_use_id, .. }
        | UiMessage::UserInteractionRequired { tool_use_id, .. } => open.contains(tool_use_id.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use tidings_protocol::ui::{StopReason, TurnId, UserPrompt};

    use super::*;

    fn event(word: &str) -> PastEvent {
        let turn_id = TurnId::new_assistant_turn(1);
        let decoded = match word {
            "end" => UiMessage::Complete { session_id: 1, turn_id, stop_reason: StopReason::EndTurn },
            "state" => UiMessage::System { session_id: None, message: String::new() },
            _ => UserPrompt::new(1, word).into(),
        };
        PastEvent { json: Value::Null, decoded: Some(decoded) }
    }

    #[test]
    fn the_last_turn_is_found_whether_or_not_it_has_ended() {
        for (words, from) in [
            ("", 0),
            ("a", 0),
            ("a end", 0),
            ("a end b end", 2),
            ("a end b end state", 2),
            ("a end b", 2),
            ("a end state b c end state", 2),
        ] {
            let events: Vec<PastEvent> = words.split_whitespace().map(event).collect();
            assert_eq!(last_turn(&events), from, "{words}");
        }
    }

    #[test]
    fn a_turn_that_has_ended_is_over_before_the_state_of_its_session_says_so() {
        for (words, is_between) in
            [("", false), ("a", false), ("a end", true), ("a end state", true), ("a end state b", false)]
        {
            let events: Vec<PastEvent> = words.split_whitespace().map(event).collect();
            assert_eq!(is_between_turns(&events), is_between, "{words}");
        }
    }
}
