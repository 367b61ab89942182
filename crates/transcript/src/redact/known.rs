//! Secrets that were found, to replace them wherever else they occur.

use std::collections::HashMap;
use std::fmt;

use super::encodings::{base64_cores, escaped, unescaped};
use super::find::Secret;
use super::hash_of;
use super::plausible::is_distinctive;

/// Number of bytes by which texts are looked up: every searched text is at least as long.
const START_BYTES: usize = 8;

/// Number of bits of the filter in front of the table.
const FILTER_BITS: usize = 1 << 16;

/// Maximum number of searched texts. A session has a few dozen secrets; a dump of random keys has no end.
const NEEDLES_MAX: usize = 50_000;

/// Maximum length of a secret that is searched as a whole; longer ones are key blocks, which have lines.
const SECRET_BYTES_MAX: usize = 4096;

/// Minimum length of a line of a key block that is searched by itself.
const LINE_BYTES_MIN: usize = 32;

/// Secrets shorter than this are not replaced inside of longer words.
const INNER_BYTES_MIN: usize = 12;

/// Shortest secret that is replaced where the text before it is the same.
const SHORT_BYTES_MIN: usize = 3;

/// Maximum length of the base64 text around an encoded secret.
const RUN_BYTES_MAX: usize = 4096;

/// Secrets found so far. Adding one costs no more than its length, and a search reads a text once however
/// many there are.
#[derive(Default)]
pub(super) struct KnownSecrets {
    /// The searched texts by their first bytes.
    by_start: HashMap<u64, Vec<Needle>>,
    /// One bit per hash of the first bytes, as most positions of a text match none.
    filter: Vec<u64>,
    count: usize,
}

/// A text to search for.
struct Needle {
    text: Box<str>,
    family: usize,
    hash: u64,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The secret itself, or another spelling of it.
    Spelling,
    /// A short secret with the text before it, which has this number of bytes.
    AfterContext(usize),
    /// Part of a base64 text that contains the secret.
    Base64,
}

impl KnownSecrets {
    /// Adds a secret of a text.
    pub(super) fn add(&mut self, text: &str, secret: &Secret) {
        let value = &text[secret.at.clone()];
        if value.len() > SECRET_BYTES_MAX || value.contains('\n') || value.contains("\\n") {
            let lines = value.split('\n').flat_map(|line| line.split("\\n"));
            for line in lines.map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN && is_body(line)) {
                self.insert(line, secret.family, hash_of(line), Form::Spelling);
            }
            return;
        }
        let hash = secret.hash.unwrap_or_else(|| hash_of(value));
        if !is_distinctive(value) {
            self.add_short(text, secret, hash);
            return;
        }
        if !self.insert(value, secret.family, hash, Form::Spelling) {
            return;
        }
        let plain = unescaped(value);
        if plain != value && is_distinctive(&plain) {
            self.insert(&plain, secret.family, hash, Form::Spelling);
        }
        for spelling in escaped(&plain) {
            self.insert(&spelling, secret.family, hash, Form::Spelling);
        }
        for core in base64_cores(&plain) {
            self.insert(&core, secret.family, hash, Form::Base64);
        }
    }

    /// Adds a secret that may also be an everyday word. It is one only after the same text: a password in the
    /// lines of a file is also one where these lines are joined to a title.
    fn add_short(&mut self, text: &str, secret: &Secret, hash: u64) {
        let value = &text[secret.at.clone()];
        let line = text[..secret.at.start].rsplit('\n').next().unwrap_or_default();
        let mut from = line.len().saturating_sub(START_BYTES);
        while !line.is_char_boundary(from) {
            from += 1;
        }
        let context = &line[from..];
        if value.len() >= SHORT_BYTES_MIN && context.trim().len() >= SHORT_BYTES_MIN {
            let joined = format!("{context}{value}");
            self.insert(&joined, secret.family, hash, Form::AfterContext(context.len()));
        }
    }

    /// Returns false if the text is known already or too short.
    fn insert(&mut self, text: &str, family: usize, hash: u64, form: Form) -> bool {
        let Some(start) = start_of(text.as_bytes()).filter(|_| self.count < NEEDLES_MAX) else {
            return false;
        };
        let needles = self.by_start.entry(start).or_default();
        if let Some(same) = needles.iter_mut().find(|needle| *needle.text == *text) {
            same.family = same.family.min(family);
            return false;
        }
        // The longest text is found first.
        let at = needles.partition_point(|needle| needle.text.len() > text.len());
        needles.insert(at, Needle { text: text.into(), family, hash, form });
        self.count += 1;
        self.filter.resize(FILTER_BITS / 64, 0);
        let bit = bit_of(start);
        self.filter[bit / 64] |= 1 << (bit % 64);
        true
    }

    /// Returns true if a text contains none of the secrets.
    pub(super) fn is_absent(&self, text: &str) -> bool {
        self.next(text, 0).is_none()
    }

    /// Adds the occurrences of all known secrets in a text.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Secret>) {
        let mut at = 0;
        while let Some(secret) = self.next(text, at) {
            at = secret.at.end;
            found.push(secret);
        }
    }

    /// The next occurrence from `at` on.
    fn next(&self, text: &str, from: usize) -> Option<Secret> {
        if self.count == 0 {
            return None;
        }
        let bytes = text.as_bytes();
        for (offset, window) in bytes.get(from..)?.windows(START_BYTES).enumerate() {
            let Some(start) = start_of(window) else { continue };
            let bit = bit_of(start);
            if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
                continue;
            }
            let at = from + offset;
            let needles = self.by_start.get(&start).map_or(&[][..], Vec::as_slice);
            if let Some(secret) = needles.iter().find_map(|needle| needle.occurs(text, at)) {
                // The base64 text around a secret may begin before the position.
                return Some(secret);
            }
        }
        None
    }
}

impl Needle {
    /// The occurrence of this text at a position, if it is one.
    fn occurs(&self, text: &str, at: usize) -> Option<Secret> {
        let rest = &text.as_bytes()[at..];
        let is_whole = rest.starts_with(self.text.as_bytes());
        // A title may end in the middle of a secret.
        let is_cut = self.form == Form::Spelling
            && rest.len() <= self.text.len() + "…".len()
            && is_beginning(&text[at..], &self.text);
        if !is_whole && !is_cut {
            return None;
        }
        let end = if is_whole { at + self.text.len() } else { text.len() };
        let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        let is_inner = is_word(bytes.get(end)) || at.checked_sub(1).is_some_and(|at| is_word(bytes.get(at)));
        let at = match self.form {
            Form::Spelling if is_whole && self.text.len() < INNER_BYTES_MIN && is_inner => return None,
            Form::Spelling => at..end,
            Form::AfterContext(_) if is_word(bytes.get(end)) => return None,
            Form::AfterContext(context) => at + context..end,
            Form::Base64 => base64_run(bytes, at, end),
        };
        Some(Secret { family: self.family, at, hash: Some(self.hash) })
    }
}

/// The number of secrets only: a log must not contain them.
impl fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KnownSecrets").field("count", &self.count).finish_non_exhaustive()
    }
}

fn start_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.first_chunk::<START_BYTES>()?))
}

/// The upper bits of a product depend on all bits of its factors.
fn bit_of(start: u64) -> usize {
    (start.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize
}

/// Returns true if the text, without marks for a cut, is the beginning of the secret.
fn is_beginning(text: &str, secret: &str) -> bool {
    let head = text.trim_end_matches('…');
    head.len() >= START_BYTES && secret.starts_with(head)
}

/// Returns true for a line of a key block, as opposed to its first and last line and its headers.
fn is_body(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte))
        && !line.starts_with("-----")
}

/// The base64 text around a part of it.
fn base64_run(bytes: &[u8], start: usize, end: usize) -> std::ops::Range<usize> {
    let is_digit = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/_-".contains(byte);
    let before = bytes[..start].iter().rev().take(RUN_BYTES_MAX).take_while(is_digit).count();
    let digits = bytes[end..].iter().take(RUN_BYTES_MAX).take_while(is_digit).count();
    let after = digits + bytes[end + digits..].iter().take(2).take_while(|byte| **byte == b'=').count();
    start - before..end + after
}
