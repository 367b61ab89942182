//! Finds secrets by the patterns of the table.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Match, Regex, RegexSet, RegexSetBuilder};

use super::encodings::Unescaped;
use super::families::Family;
use super::plausible::{names_a_secret, nests_a_name};
use super::{FAMILIES, hash_of};

/// A secret found in a text.
#[derive(Debug)]
pub(super) struct Secret {
    pub(super) family: usize,
    pub(super) at: Range<usize>,
    /// Hash of the secret if its text at this position is another spelling of it.
    pub(super) hash: Option<u64>,
}

/// Compiled once for all redactors: compiling the patterns takes longer than most texts.
pub(super) struct Patterns {
    /// One cheap pattern per family, all matched in one pass: most texts contain no secret and cost no more
    /// than this.
    pub(super) hints: RegexSet,
    families: Vec<Pattern>,
}

struct Pattern {
    regex: Regex,
    /// Finds the secrets inside of the match, if it may hold several.
    each: Option<Regex>,
}

pub(super) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    hints: RegexSetBuilder::new(FAMILIES.iter().map(|family| family.hint.replace("(?i)", "(?i-u)")))
        .dfa_size_limit(HINTS_BYTES_MAX)
        .build()
        .expect("a test compiles the table"),
    families: FAMILIES.iter().map(Pattern::new).collect(),
});

impl Pattern {
    fn new(family: &Family) -> Self {
        let compile = |pattern| Regex::new(&ascii_boundaries(pattern)).expect("a test compiles the table");
        Pattern { regex: compile(family.pattern), each: family.each.map(compile) }
    }
}

/// The pattern with ASCII word boundaries. The fast engine gives up on other boundaries at the first letter
/// that is not ASCII, and most sessions have some.
fn ascii_boundaries(pattern: &str) -> String {
    pattern.replace(r"\b", r"(?-u:\b)")
}

/// Maximum size of the automaton of all hints. One that does not fit is built again and again, which takes
/// twenty times as long as the search.
const HINTS_BYTES_MAX: usize = 32 << 20;

/// Maximum number of times that the search resumes inside of one rejected value. Values without blanks may be
/// as long as the text, and each search reads one to its end.
const RESUMED_MAX: usize = 8;

/// Maximum number of times that a text is unescaped: JSON in a string of JSON in a command is the deepest
/// that sessions contain.
const ESCAPES_MAX: usize = 3;

/// Maximum length of a quoted secret with blanks in it.
const QUOTED_BYTES_MAX: usize = 160;

/// The secrets of a text in order, without overlaps.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    find_escaped(text, ESCAPES_MAX, &mut found);
    merge(found)
}

/// Finds the secrets of a text, and those of the text in its escaped strings: code and nested JSON contain
/// files with `\n` for the ends of their lines, and patterns need lines and quotes.
fn find_escaped(text: &str, depth: usize, found: &mut Vec<Secret>) {
    let families = PATTERNS.hints.matches(text);
    if !families.matched_any() {
        return;
    }
    for family in families {
        find_family(text, family, found);
    }
    if let Some(plain) = Unescaped::new(text).filter(|_| depth > 0) {
        let mut inner = Vec::new();
        find_escaped(&plain.text, depth - 1, &mut inner);
        for Secret { family, at, hash } in inner {
            let hash = hash.or_else(|| Some(hash_of(&plain.text[at.clone()])));
            found.push(Secret { family, at: plain.original(at), hash });
        }
    }
}

/// Sorts the secrets. Overlapping ones are merged, so that no part of them stays, and get the name of the
/// family that comes first in the table.
pub(super) fn merge(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.at.start, secret.family));
    found.dedup_by(|next, before| {
        let overlaps = next.at.start < before.at.end;
        if overlaps {
            if next.at.end > before.at.end {
                before.at.end = next.at.end;
                before.hash = None;
            } else if next.at == before.at {
                before.hash = before.hash.or(next.hash);
            }
            before.family = before.family.min(next.family);
        }
        overlaps
    });
    found
}

fn find_family(text: &str, family: usize, found: &mut Vec<Secret>) {
    let pattern = &PATTERNS.families[family];
    let (mut from, mut resumed, mut rejected_end) = (0, 0, 0);
    while let Some(captures) = pattern.regex.captures_at(text, from) {
        let (Some(whole), Some(secret)) = (captures.get(0), secret_of(&captures)) else { return };
        from = whole.end().max(whole.start() + 1);
        if let Some(each) = &pattern.each {
            for inner in each.captures_iter(secret.as_str()).filter_map(|captures| secret_of(&captures)) {
                if (FAMILIES[family].accept)(inner.as_str()) {
                    let at = secret.start() + inner.start()..secret.start() + inner.end();
                    found.push(Secret { family, at, hash: None });
                }
            }
        } else if is_secret(text, family, secret) {
            let at = if secret == whole { secret.range() } else { to_closing_quote(text, secret) };
            from = from.max(at.end);
            found.push(Secret { family, at, hash: None });
        } else if secret.start() > whole.start() {
            // A rejected value may be a name with a secret of its own: `credentials:\n  client_secret: …`.
            resumed = if secret.end() == rejected_end { resumed + 1 } else { 0 };
            rejected_end = secret.end();
            if resumed < RESUMED_MAX {
                from = secret.start();
            }
        }
        // A position inside of a character cannot be searched from.
        while !text.is_char_boundary(from) {
            from += 1;
        }
        if from > text.len() {
            return;
        }
    }
}

/// The text around a password is not secret: such families mark the secret as a group.
fn secret_of<'t>(captures: &Captures<'t>) -> Option<Match<'t>> {
    captures.iter().skip(1).flatten().next().or_else(|| captures.get(0))
}

fn is_secret(text: &str, family: usize, secret: Match<'_>) -> bool {
    let Family { name, accept, .. } = FAMILIES[family];
    let is_named = matches!(name, "password" | "assigned-secret" | "env-secret");
    let is_quoted = text[secret.end()..].starts_with(['"', '\'', '`', '\\']);
    let is_name = is_named
        && ((!is_quoted && secret.as_str().ends_with(':')) || nests_a_name(secret.as_str(), names_a_secret));
    // `token: random_hex_16()` calls a function.
    let is_call = is_named && text[secret.end()..].starts_with('(');
    !is_name && !is_call && accept(secret.as_str())
}

/// A secret that stands in quotes is all of the text in them: `"correct horse"` is one password.
fn to_closing_quote(text: &str, secret: Match<'_>) -> Range<usize> {
    let at = secret.range();
    let Some(quote) = text[..at.start].chars().next_back().filter(|before| matches!(before, '"' | '\''))
    else {
        return at;
    };
    let rest = &text.as_bytes()[at.end..text.len().min(at.end + QUOTED_BYTES_MAX)];
    match rest.iter().position(|byte| *byte == quote as u8 || matches!(byte, b'\n' | b'\\')) {
        Some(length) if rest[length] == quote as u8 => at.start..at.end + length,
        _ => at,
    }
}
