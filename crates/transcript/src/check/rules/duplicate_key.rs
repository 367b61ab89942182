//! Rule: a key occurs in an object once.

use tidings_protocol::json::Text;

use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("duplicate-key");

/// A key occurs in an object once. We use the last value, as JavaScript does; other readers may use the
/// first.
#[derive(Debug)]
pub(super) struct DuplicateKey;

impl Check for DuplicateKey {
    fn entry(&mut self, seen: &CheckedEntry<'_>, _: &File<'_>, found: &mut Findings) {
        let mut keys = repeated(seen.members.iter().map(|(key, _)| *key));
        if let Some(message) = seen.get("message") {
            let inside = repeated(message.members().map(|(key, _)| key));
            keys.extend(inside.into_iter().map(|key| format!("message.{key}")));
        }
        for key in keys {
            found.about(RULE, Severity::Warning, seen, format!("The key `{key}` occurs more than once"));
        }
    }
}

/// Objects have a few dozen keys, so sorting them costs less than hashing.
fn repeated<'a>(keys: impl Iterator<Item = Text<'a>>) -> Vec<String> {
    let mut keys: Vec<_> = keys.map(Text::get).collect();
    keys.sort_unstable();
    let mut twice: Vec<String> =
        keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone().into_owned()).collect();
    twice.dedup();
    twice
}
