//! Our own data in the `_meta` field of messages.

use serde_json::{Map, Value};

/// The key of our data in `_meta`.
pub const META: &str = "tidings";

/// Our data in the `_meta` of a message's parameters or result.
pub fn meta_of<'a>(params: &'a Value, key: &str) -> Option<&'a Value> {
    params.get("_meta")?.get(META)?.get(key)
}

/// A `_meta` with one value of ours.
pub(crate) fn meta(key: &str, value: impl Into<Value>) -> Map<String, Value> {
    let ours = Map::from_iter([(key.to_owned(), value.into())]);
    Map::from_iter([(META.to_owned(), Value::Object(ours))])
}

/// Adds a value of ours to a `_meta`.
pub(crate) fn add(meta: &mut Option<Map<String, Value>>, key: &str, value: impl Into<Value>) {
    let ours = meta.get_or_insert_default().entry(META).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(ours) = ours {
        ours.insert(key.to_owned(), value.into());
    }
}
