//! Changes of single values in a line. Everything else stays byte for byte.

use std::ops::Range;

use tidings_protocol::entry::EntryRef;
use tidings_protocol::json::write_string;

/// New values for keys of one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) parent: Option<NewParent>,
    pub(super) logical_parent: Option<String>,
    pub(super) leaf: Option<String>,
}

/// What an entry follows from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NewParent {
    Nothing,
    Entry(String),
}

impl Edit {
    pub(super) fn is_empty(&self) -> bool {
        *self == Edit::default()
    }

    /// The entry with the new values.
    pub(super) fn apply(&self, entry: &EntryRef<'_>) -> Vec<u8> {
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        let mut change =
            |key, value: String| changes.extend(place_of(entry, key).map(|place| (place, value)));
        match &self.parent {
            Some(NewParent::Entry(uuid)) => change("parentUuid", quoted(uuid)),
            Some(NewParent::Nothing) => change("parentUuid", "null".to_owned()),
            None => {}
        }
        if let Some(uuid) = &self.logical_parent {
            change("logicalParentUuid", quoted(uuid));
        }
        if let Some(uuid) = &self.leaf {
            change("leafUuid", quoted(uuid));
        }
        changes.sort_by_key(|(place, _)| place.start);
        let text = entry.raw();
        let mut line = Vec::with_capacity(text.len() + 64);
        let mut at = 0;
        for (place, value) in changes {
            line.extend_from_slice(&text[at..place.start]);
            line.extend_from_slice(value.as_bytes());
            at = place.end;
        }
        line.extend_from_slice(&text[at..]);
        line
    }
}

/// Where the value of a key stands; of duplicate keys the last counts.
fn place_of(entry: &EntryRef<'_>, key: &str) -> Option<Range<usize>> {
    let value = entry.get(key)?.as_str();
    let start = value.as_ptr() as usize - entry.raw().as_ptr() as usize;
    Some(start..start + value.len())
}

fn quoted(value: &str) -> String {
    let mut text = String::new();
    write_string(value, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_values_change() {
        let line = br#" {"a":1e400, "leafUuid" : "x","parentUuid":"\u0061","uuid":"u"} "#;
        let entry = EntryRef::decode(line).unwrap();
        let edit =
            Edit { parent: Some(NewParent::Nothing), leaf: Some("é\"".to_owned()), ..Edit::default() };
        let expected = "{\"a\":1e400, \"leafUuid\" : \"é\\\"\",\"parentUuid\":null,\"uuid\":\"u\"}";
        assert_eq!(String::from_utf8(edit.apply(&entry)).unwrap(), expected);
        assert!(Edit::default().is_empty());
        assert_eq!(Edit::default().apply(&entry), entry.raw());
    }
}
