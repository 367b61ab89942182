//! What was said before somebody came.

use std::collections::HashSet;

use serde::Deserialize as _;
use serde_json::Value;
use tidings_protocol::api::Snapshot;
use tidings_protocol::ui::UiMessage;

/// How much of it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The end of the conversation.
    End,
    /// The turn that is under way.
    Turn,
    /// The turn that was over last.
    LastTurn,
}

/// An event, and what it says if this version knows it.
pub(super) struct Event {
    pub(super) json: Value,
    pub(super) says: Option<UiMessage>,
}

/// The events of a snapshot that are shown. How things stand is always among them: what waits for an answer, the model.
pub(super) fn events(snapshot: &mut Snapshot, extent: Extent) -> Vec<Event> {
    let events = std::mem::take(&mut snapshot.events).into_iter();
    let mut events: Vec<Event> =
        events.map(|json| Event { says: UiMessage::deserialize(&json).ok(), json }).collect();
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
        at > from || event.says.as_ref().is_some_and(|says| stands(says, &open))
    });
    events
}

/// Where turns are over.
fn ends(events: &[Event]) -> impl DoubleEndedIterator<Item = usize> {
    let is_end = |event: &Event| matches!(event.says, Some(UiMessage::Complete { .. }));
    events.iter().enumerate().filter(move |(_, event)| is_end(event)).map(|(at, _)| at)
}

/// Where the last turn begins. One that was broken off has no end; what only tells how things stand is no turn.
fn last_turn(events: &[Event]) -> usize {
    let is_turn = |event: &Event| {
        matches!(
            event.says,
            Some(
                UiMessage::UserPrompt(_)
                    | UiMessage::TextChunk { .. }
                    | UiMessage::ToolExecuting { .. }
                    | UiMessage::TurnResult(_)
            )
        )
    };
    let after = |end: Option<usize>| end.map_or(0, |end| end + 1);
    let last = after(ends(events).next_back());
    if events[last..].iter().any(is_turn) { last } else { after(ends(events).rev().nth(1)) }
}

/// Whether an event tells how things stand, however long ago it was.
fn stands(event: &UiMessage, open: &HashSet<&str>) -> bool {
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

    fn event(word: &str) -> Event {
        let turn_id = TurnId::new_assistant_turn(1);
        let says = match word {
            "end" => UiMessage::Complete { session_id: 1, turn_id, stop_reason: StopReason::EndTurn },
            "state" => UiMessage::System { session_id: None, message: String::new() },
            _ => UserPrompt::new(1, word).into(),
        };
        Event { json: Value::Null, says: Some(says) }
    }

    #[test]
    fn the_last_turn_is_what_was_said_last_whether_or_not_it_came_to_an_end() {
        for (words, from) in [
            ("", 0),
            ("a", 0),
            ("a end", 0),
            ("a end b end", 2),
            ("a end b end state", 2),
            ("a end b", 2),
            ("a end state b c end state", 2),
        ] {
            let events: Vec<Event> = words.split_whitespace().map(event).collect();
            assert_eq!(last_turn(&events), from, "{words}");
        }
    }
}
