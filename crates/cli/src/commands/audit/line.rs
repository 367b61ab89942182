//! A line of an exported audit log, read strictly.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use tidings_journal::AuditEntry;

/// Keys that lines of earlier versions do not have.
const NEWER: [&str; 2] = ["scope", "changed"];

/// Reads a line. Fails if it is not an entry at all.
pub(super) fn read(line: &str) -> serde_json::Result<AuditEntry> {
    // Of duplicate keys the last counts here; `has_server_keys` finds them.
    serde_json::from_str::<Value>(line).and_then(serde_json::from_value)
}

/// True if a line has the keys that a server writes, in its order and each once. Hashes and seals cover the
/// values of these keys only, so another key could be added to a line unnoticed.
pub(super) fn has_server_keys(line: &str, entry: &AuditEntry) -> bool {
    let (Ok(Keys(found)), Ok(Keys(written))) = (
        serde_json::from_str(line),
        serde_json::to_string(entry).and_then(|line| serde_json::from_str(&line)),
    ) else {
        return false;
    };
    let mut found = found.iter().peekable();
    for key in &written {
        if found.next_if_eq(&key).is_none() && !NEWER.contains(&key.as_str()) {
            return false;
        }
    }
    found.next().is_none()
}

/// The keys of an object, in their order.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, IgnoredAny)) = map.next_entry()? {
            keys.push(key);
        }
        Ok(Keys(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"number":1,"at_us":0,"who":"ada","device":null,"session":"s","ask":"a","decision":"allowed","rule":null,"scope":null,"digest":"d","changed":null,"latency_ms":3,"hash":"00"}"#;

    fn is_server_line(line: &str) -> bool {
        has_server_keys(line, &read(line).unwrap())
    }

    #[test]
    fn k32_a_line_has_the_keys_that_servers_write_and_no_others() {
        assert!(is_server_line(LINE));
        assert!(is_server_line(&LINE.replace(r#""scope":null,"#, "").replace(r#""changed":null,"#, "")));
        assert!(is_server_line(&LINE.replace(':', ": ")), "white space has no meaning");
        for (from, to) in [
            (r#""number":1"#, r#""note":"x","number":1"#),
            (r#""hash":"00""#, r#""hash":"00","note":"x""#),
            (r#""hash":"00""#, r#""hash":"00","who":"ada""#),
            (r#""who":"ada""#, r#""who":"eve","who":"ada""#),
            (r#""who":"ada""#, r#""who":"ada","Who":"eve""#),
            (r#""device":null,"#, ""),
            (r#""number":1,"at_us":0"#, r#""at_us":0,"number":1"#),
        ] {
            let changed = LINE.replace(from, to);
            assert_ne!(changed, LINE);
            assert!(!is_server_line(&changed), "{changed}");
        }
    }
}
