//! Samples of all events on the UI wire.
//!
//! The file has at least one line per event. Tests of the translators, in other crates, read it too.

use serde_json::{Value, json};
use tidings_protocol::ui::*;

const TURN: TurnId = TurnId::new_assistant_turn(2);
const SAMPLES: &str = include_str!("fixtures/ui/events.ndjson");

fn samples() -> impl Iterator<Item = (&'static str, UiMessage)> {
    SAMPLES.lines().map(|line| (line, serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))))
}

#[test]
fn every_event_has_a_sample_that_round_trips_under_its_name_and_names_its_session() {
    let mut missing = UiMessage::NAMES.to_vec();
    for (line, event) in samples() {
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
        assert!(line.starts_with(&format!(r#"{{"{}":"#, event.name())), "{line}");
        assert_eq!(event.session_id(), Some(1), "{line}");
        assert_eq!(UiMessage::facts_of(event.name()), Some(event.facts()), "{line}");
        assert_ne!(event.is_native(), event.is_seed(), "{line}");
        assert!(event.is_seed() || !line.contains("null"), "an absent field is left out: {line}");
        missing.retain(|name| *name != event.name());
    }
    assert_eq!(missing, [""; 0], "add a line to tests/fixtures/ui/events.ndjson");
    assert_eq!(UiMessage::facts_of("Newer"), None);
}

#[test]
fn the_original_events_are_the_first_twelve_and_no_more() {
    let original: Vec<&str> = samples().filter(|(_, event)| event.is_seed()).map(|(_, e)| e.name()).collect();
    let names = &UiMessage::NAMES[..12];
    assert!(names.iter().all(|name| original.contains(name)), "{original:?}");
    assert!(original.iter().all(|name| names.contains(name)), "{original:?}");
}

#[test]
fn what_has_a_default_may_be_absent_when_read() {
    for (_, event) in samples().filter(|(_, event)| event.is_native()) {
        let Value::Object(tagged) = serde_json::to_value(&event).unwrap() else { panic!() };
        for (name, body) in tagged {
            let Value::Object(mut body) = body else { panic!("{name}") };
            body.retain(|_, value| !matches!(value, Value::Array(items) if items.is_empty()));
            body.retain(|_, value| *value != json!(false) || name == "TurnResult");
            let read: UiMessage = serde_json::from_value(json!({ &name: body })).unwrap();
            assert_eq!(read, event);
        }
    }
}

#[test]
fn a_lane_holds_any_event() {
    let inner = UiMessage::TextChunk { text: "Found it".to_owned(), session_id: 1, turn_id: TURN };
    let lane: UiMessage = Lane::new(1, "toolu_1", Box::new(inner)).into();
    assert_eq!(
        serde_json::to_string(&lane).unwrap(),
        r#"{"Lane":{"session_id":1,"agent_id":"toolu_1","event":{"TextChunk":{"text":"Found it","session_id":1,"turn_id":{"role":"Assistant","sequence":2}}}}}"#
    );
}
