//! Documents that keep what their type does not know.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A typed document, with the members and values of it that this version does not know: a later version may
/// have written it. It is written back with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<T> {
    /// The part that this version knows.
    pub value: T,
    /// The document as it was read, and its known part; none if there is nothing else in it.
    read: Option<Box<(Value, Value)>>,
}

impl<T> From<T> for Kept<T> {
    fn from(value: T) -> Self {
        Kept { value, read: None }
    }
}

impl<'de, T: DeserializeOwned + Serialize> Deserialize<'de> for Kept<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Value::deserialize(deserializer)?;
        let value = T::deserialize(&document).map_err(serde::de::Error::custom)?;
        let known = serde_json::to_value(&value).map_err(serde::de::Error::custom)?;
        let read = (document != known).then(|| Box::new((document, known)));
        Ok(Kept { value, read })
    }
}

impl<T: Serialize> Serialize for Kept<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(read) = &self.read else { return self.value.serialize(serializer) };
        let now = serde_json::to_value(&self.value).map_err(serde::ser::Error::custom)?;
        let (document, known) = &**read;
        merged(document, known, now).serialize(serializer)
    }
}

/// The document with the changes of its known part. A part that did not change stays as it was read.
fn merged(document: &Value, known: &Value, now: Value) -> Value {
    if *known == now {
        return document.clone();
    }
    let (Value::Object(document), Value::Object(known)) = (document, known) else { return now };
    let Value::Object(now) = now else { return now };
    let unknown = document.iter().filter(|(key, _)| !known.contains_key(*key) && !now.contains_key(*key));
    let mut written: Map<String, Value> = unknown.map(|(key, value)| (key.clone(), value.clone())).collect();
    for (key, value) in now {
        let value = match (document.get(&key), known.get(&key)) {
            (Some(document), Some(known)) => merged(document, known, value),
            _ => value,
        };
        written.insert(key, value);
    }
    Value::Object(written)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Policy, ServerPhase, SessionOrigin, SessionView};

    fn of_a_later_version() -> Value {
        json!({
            "handle": 1, "key": "a1", "cwd": "/shop", "state": "resting", "policy": "vote", "origin": "watch",
            "capabilities": ["prompt", "sing"], "cli_session_ids": [], "created": "2026-01-01T00:00:00Z",
            "active": "2026-01-01T00:00:00Z", "cursor": "1:1", "head": 1, "floor": 1,
            "totals": {"turns": 1, "cost_usd": 0.5, "input_tokens": 1, "output_tokens": 1, "energy_wh": 3},
            "budget": {"max_turns": 4, "max_wh": 10}, "pending_permissions": 0, "pending_questions": 0,
            "queued": 0, "labels": {}, "demo": false, "mood": {"now": ["calm"]},
        })
    }

    #[test]
    fn a_row_of_a_later_version_is_read_changed_and_written_with_its_unknown_fields() {
        let mut kept: Kept<SessionView> = serde_json::from_value(of_a_later_version()).unwrap();
        assert_eq!(kept.value.state, ServerPhase::Unknown);
        assert_eq!((kept.value.policy, kept.value.origin), (Policy::Unknown, SessionOrigin::Unknown));
        assert_eq!(serde_json::to_value(&kept).unwrap(), of_a_later_version(), "nothing changed");
        kept.value.title = Some("The build".to_owned());
        kept.value.totals.turns = 2;
        kept.value.budget.max_turns = None;
        let mut expected = of_a_later_version();
        expected["title"] = json!("The build");
        expected["totals"]["turns"] = json!(2);
        expected["budget"].as_object_mut().unwrap().remove("max_turns");
        assert_eq!(serde_json::to_value(&kept).unwrap(), expected);
        kept.value.state = ServerPhase::Idle;
        expected["state"] = json!("idle");
        assert_eq!(serde_json::to_value(&kept).unwrap(), expected, "a known value replaces an unknown one");
    }

    #[test]
    fn a_document_without_anything_unknown_is_kept_once() {
        let view: SessionView = serde_json::from_value(of_a_later_version()).unwrap();
        let plain = serde_json::to_value(view).unwrap();
        let kept: Kept<SessionView> = serde_json::from_value(plain.clone()).unwrap();
        assert!(kept.read.is_none());
        assert_eq!(serde_json::to_value(&kept).unwrap(), plain);
    }
}
