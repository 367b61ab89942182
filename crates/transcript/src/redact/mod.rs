//! Redaction of secrets in text, so that a session can be shared.
//!
//! ```
//! use tidings_transcript::redact::Redactor;
//!
//! let mut redactor = Redactor::new();
//! let key = format!("ghp_{}", "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX");
//! let text = format!("git clone https://{key}@example.com/a\necho {key}");
//! assert_eq!(
//!     redactor.redact(&text),
//!     "git clone https://[redacted: github-token #1]@example.com/a\necho [redacted: github-token #1]"
//! );
//! assert_eq!(redactor.counts().collect::<Vec<_>>(), [("github-token", 2)]);
//! ```
//!
//! - The table of [families](FAMILIES) defines the secrets to find: keys by their prefixes, and passwords by
//!   the names that they are assigned to; others cannot be recognised.
//! - The same secret gets the same number for the lifetime of the redactor, so that a reader can follow it.
//!   Only a hash of the secret is stored.
//! - [`Redactor::redact_json`] examines every string of a JSON text, keys too, in decoded form: an escape in
//!   the middle of a secret does not hide it. Changed strings are written anew, the rest stays byte for byte.
//! - Images and other binary data are left alone.

mod families;
mod json;
mod plausible;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

pub use families::{FAMILIES, Family};

/// Replaces secrets with the names of their families.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Number assigned to each secret, by family and hash.
    numbers: HashMap<(usize, u64), u32>,
    /// Number of different secrets of a family.
    different: HashMap<usize, u32>,
    /// Number of replaced secrets of each family.
    found: Vec<u64>,
}

/// A secret found in a text.
struct Secret {
    family: usize,
    at: Range<usize>,
}

/// Compiled once for all redactors: compiling the patterns takes longer than most texts.
struct Patterns {
    /// One cheap pattern per family, all matched in one pass: most texts contain no secret and cost no more
    /// than this.
    hints: RegexSet,
    families: Vec<Regex>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    hints: RegexSet::new(FAMILIES.iter().map(|family| family.hint)).expect("a test compiles the table"),
    families: FAMILIES
        .iter()
        .map(|family| Regex::new(family.pattern).expect("a test compiles the table"))
        .collect(),
});

impl Redactor {
    /// A redactor without any secrets seen.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text with its secrets replaced.
    pub fn redact<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.without(text, find(text)).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Number of replaced secrets of each family that occurred, in the order of the table.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        FAMILIES
            .iter()
            .zip(&self.found)
            .filter(|(_, count)| **count > 0)
            .map(|(family, count)| (family.name, *count))
    }

    /// Number of replaced secrets.
    pub fn total(&self) -> u64 {
        self.found.iter().sum()
    }

    /// The text with these secrets replaced; `None` if there are none.
    fn without(&mut self, text: &str, secrets: Vec<Secret>) -> Option<String> {
        if secrets.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for Secret { family, at } in secrets {
            out.push_str(&text[from..at.start]);
            self.replace(family, &text[at.clone()], &mut out);
            from = at.end;
        }
        out.push_str(&text[from..]);
        Some(out)
    }

    fn replace(&mut self, family: usize, secret: &str, out: &mut String) {
        self.found.resize(FAMILIES.len(), 0);
        self.found[family] += 1;
        // Two secrets with one hash would get one number, which is harmless.
        let mut hasher = DefaultHasher::new();
        secret.hash(&mut hasher);
        let number = self.numbers.entry((family, hasher.finish())).or_insert_with(|| {
            let different = self.different.entry(family).or_default();
            *different += 1;
            *different
        });
        // Writing into a String cannot fail.
        let _ = write!(out, "[redacted: {} #{number}]", FAMILIES[family].name);
    }
}

/// The secrets of a text in order. Overlapping ones are merged, so that no part of them stays, and get the
/// name of the family that comes first in the table.
fn find(text: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    for family in PATTERNS.hints.matches(text) {
        for captures in PATTERNS.families[family].captures_iter(text) {
            // The text around a password is not secret: such families mark the secret as a group.
            let Some(secret) = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0)) else {
                continue;
            };
            if (FAMILIES[family].accept)(secret.as_str()) {
                found.push(Secret { family, at: secret.range() });
            }
        }
    }
    found.sort_by_key(|secret| (secret.at.start, secret.family));
    found.dedup_by(|next, before| {
        let overlaps = next.at.start < before.at.end;
        if overlaps {
            before.at.end = before.at.end.max(next.at.end);
            before.family = before.family.min(next.family);
        }
        overlaps
    });
    found
}
