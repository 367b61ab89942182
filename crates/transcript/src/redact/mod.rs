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
//! - A secret that was found once is replaced everywhere, also where no name stands beside it and where it is
//!   encoded for JSON, XML, a URL or in base64. [`Redactor::learn`] and [`Redactor::learn_json`] collect the
//!   secrets of a document before its first part is written. Short and everyday words are replaced only where
//!   the text before them is the same.
//! - The same secret gets the same number for the lifetime of the redactor, so that a reader can follow it.
//! - [`Redactor::redact_json`] examines every string of a JSON text, keys too, in decoded form: an escape in
//!   the middle of a secret does not hide it. Changed strings are written anew, the rest stays byte for byte.
//! - Images and other binary data are left alone.

mod encodings;
mod families;
mod find;
mod json;
mod known;
mod plausible;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

pub use families::{FAMILIES, Family};
use find::{Secret, find, merge};
use known::KnownSecrets;

/// Replaces secrets with the names of their families.
#[derive(Debug, Default)]
pub struct Redactor {
    /// Number assigned to each secret, by family and hash.
    numbers: HashMap<(usize, u64), u32>,
    /// Number of different secrets of a family.
    different: HashMap<usize, u32>,
    /// Number of replaced secrets of each family.
    found: Vec<u64>,
    /// Secrets found so far, which are replaced wherever they occur.
    known: KnownSecrets,
}

impl Redactor {
    /// A redactor without any secrets seen.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text with its secrets replaced.
    pub fn redact<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let secrets = self.secrets(text);
        self.without(text, secrets).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Collects the secrets of a text, so that they are replaced in every text from now on.
    pub fn learn(&mut self, text: &str) {
        for secret in find(text) {
            self.known.add(text, &secret);
        }
    }

    /// Names of all families that are looked for, in alphabetical order.
    pub fn looked_for() -> impl Iterator<Item = &'static str> {
        FAMILIES.iter().map(|family| family.name).collect::<BTreeSet<_>>().into_iter()
    }

    /// Number of replaced secrets of each family that occurred, in the order of the table.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let mut counts: Vec<(&'static str, u64)> = Vec::new();
        // Several families of the table share a name.
        for (family, count) in FAMILIES.iter().zip(&self.found).filter(|(_, count)| **count > 0) {
            match counts.iter_mut().find(|(name, _)| *name == family.name) {
                Some((_, total)) => *total += count,
                None => counts.push((family.name, *count)),
            }
        }
        counts.into_iter()
    }

    /// Number of replaced secrets.
    pub fn total(&self) -> u64 {
        self.found.iter().sum()
    }

    /// The secrets of a text, including those that other texts revealed.
    fn secrets(&mut self, text: &str) -> Vec<Secret> {
        let mut secrets = find(text);
        for secret in &secrets {
            self.known.add(text, secret);
        }
        self.known.find(text, &mut secrets);
        merge(secrets)
    }

    /// The text with these secrets replaced; `None` if there are none.
    fn without(&mut self, text: &str, secrets: Vec<Secret>) -> Option<String> {
        if secrets.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for Secret { family, at, hash } in secrets {
            out.push_str(&text[from..at.start]);
            self.replace(family, hash.unwrap_or_else(|| hash_of(&text[at.clone()])), &mut out);
            from = at.end;
        }
        out.push_str(&text[from..]);
        Some(out)
    }

    fn replace(&mut self, family: usize, hash: u64, out: &mut String) {
        self.found.resize(FAMILIES.len(), 0);
        self.found[family] += 1;
        // Several families of the table share a name, and a number identifies a secret of that name.
        let name = FAMILIES[family].name;
        let family = FAMILIES.iter().position(|family| family.name == name).unwrap_or(family);
        // Two secrets with one hash would get one number, which is harmless.
        let number = self.numbers.entry((family, hash)).or_insert_with(|| {
            let different = self.different.entry(family).or_default();
            *different += 1;
            *different
        });
        // Writing into a String cannot fail.
        let _ = write!(out, "[redacted: {name} #{number}]");
    }
}

fn hash_of(secret: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    secret.hash(&mut hasher);
    hasher.finish()
}
