//! Names of events, their durability, and the merging of deltas.

use tidings_protocol::ui::{Lane, TurnId, TurnStarted, UiMessage};

fn chunk(text: &str, turn: u64) -> UiMessage {
    let turn_id = TurnId::new_assistant_turn(turn);
    UiMessage::TextChunk { text: text.to_owned(), session_id: 1, turn_id }
}

#[test]
fn the_name_of_an_event_is_the_key_of_its_json() {
    let events = [chunk("a", 1), UiMessage::Error { message: String::new(), session_id: None }];
    for event in events {
        let json = serde_json::to_value(&event).unwrap();
        let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, [event.name()]);
    }
}

#[test]
fn deltas_of_one_text_are_merged_and_others_are_not() {
    let mut text = chunk("one ", 1);
    assert!(text.append(&chunk("two", 1), 7));
    assert_eq!(text, chunk("one two", 1));
    assert!(!text.append(&chunk("!", 1), 7), "too long");
    assert!(!text.append(&chunk("!", 2), 100), "another turn");
    assert_eq!(text, chunk("one two", 1));
}

#[test]
fn an_event_of_a_sub_agent_is_as_durable_as_the_event_inside() {
    let lane = |event: UiMessage| UiMessage::from(Lane::new(1, "toolu_1", Box::new(event)));
    assert!(chunk("one", 1).is_delta());
    assert!(lane(chunk("one", 1)).is_delta());
    assert!(lane(lane(chunk("one", 1))).is_delta());
    assert!(!lane(chunk("one", 1)).is_mergeable(), "the structure around it is not merged");
    assert!(!lane(TurnStarted::new(1, TurnId::new_assistant_turn(1)).into()).is_delta());
}
