//! Changes of single values in a line. Everything else stays byte for byte.

use std::ops::Range;

use tidings_protocol::entry::EntryRef;
use tidings_protocol::json::{Raw, write_string};

use super::orphans;

/// New values for keys of one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) parent: Option<NewParent>,
    pub(super) logical_parent: Option<String>,
    pub(super) leaf: Option<String>,
    /// Ids of missing calls: their results become text.
    pub(super) lost_calls: Vec<Box<str>>,
}

/// The new parent of an entry.
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
        let results = self.results_without_calls(entry);
        changes.extend(results.into_iter().map(|block| (range_of(entry, block), orphans::as_text(block))));
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

    /// The blocks of an entry that become text. If some results of one id have calls, those are the first.
    pub(super) fn results_without_calls<'a>(&self, entry: &EntryRef<'a>) -> Vec<Raw<'a>> {
        let mut wanted: Vec<&str> = self.lost_calls.iter().map(|id| &**id).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut blocks = orphans::results(entry);
        blocks.reverse();
        blocks.retain(|(id, _)| {
            let at = wanted.iter().position(|wanted| **wanted == **id);
            at.map(|at| wanted.swap_remove(at)).is_some()
        });
        blocks.into_iter().map(|(_, block)| block).collect()
    }
}

/// Range of a key's value; of duplicate keys the last counts.
fn place_of(entry: &EntryRef<'_>, key: &str) -> Option<Range<usize>> {
    entry.get(key).map(|value| range_of(entry, value))
}

/// Range of a part within its entry.
fn range_of(entry: &EntryRef<'_>, part: Raw<'_>) -> Range<usize> {
    let start = part.as_str().as_ptr() as usize - entry.raw().as_ptr() as usize;
    start..start + part.as_str().len()
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
