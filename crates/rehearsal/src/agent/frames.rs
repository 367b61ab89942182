//! Frames for the host, with their keys in the given order.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use super::surrogates::restore_surrogates;

/// A JSON object that keeps the order of its keys, since hosts may depend on it.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame(Vec<(String, Value)>);

impl Frame {
    /// A frame that begins with its type.
    pub(super) fn new(kind: &str) -> Self {
        Frame::default().with("type", kind)
    }

    /// A `system` frame.
    pub(super) fn system(subtype: &str) -> Self {
        Frame::new("system").with("subtype", subtype)
    }

    /// Adds a member, or replaces its value in place.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.set(key, value.into());
        self
    }

    /// Adds a member if there is a value.
    pub(super) fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds all members of a JSON object.
    pub(super) fn merged(mut self, members: &serde_json::Map<String, Value>) -> Self {
        for (key, value) in members {
            self.set(key, value.clone());
        }
        self
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// True if the frame has this name: `assistant`, `system/init`, …
    pub(super) fn is(&self, kind: &str) -> bool {
        self.get("type").and_then(Value::as_str) == Some(kind)
    }

    /// The frame as one line, without the line feed.
    pub(super) fn line(&self) -> String {
        restore_surrogates(serde_json::to_string(self).unwrap_or_default())
    }

    fn set(&mut self, key: &str, value: Value) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some(member) => member.1 = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Members of a JSON object; empty for any other value.
pub(super) fn members(value: &Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// A string member; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
