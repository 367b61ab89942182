//! Options of wrappers, to find the command that a wrapper runs.

use super::{Word, WordKind};

/// The options of a program, as needed to find its operands.
pub(super) struct Options {
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options with a value, in the same word or in the next one.
    pub(super) valued: &'static str,
    /// Long options without a value, or with one behind a `=`.
    pub(super) long: &'static [&'static str],
    /// Long options whose value may be the next word.
    pub(super) long_valued: &'static [&'static str],
}

impl Options {
    /// The number of leading words that are options; `None` if one of them is unknown or dynamic.
    pub(super) fn skip(&self, words: &[Word]) -> Option<usize> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.kind != WordKind::Static {
                return None;
            }
            if word.text == "--" {
                return Some(at + 1);
            }
            at += if let Some(long) = word.text.strip_prefix("--") {
                self.long_option(long)?
            } else {
                match word.text.strip_prefix('-') {
                    Some(letters) if !letters.is_empty() => self.letters(letters)?,
                    _ => return Some(at),
                }
            };
        }
        Some(at.min(words.len()))
    }

    /// The number of words that a long option takes.
    fn long_option(&self, text: &str) -> Option<usize> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if self.long_valued.contains(&name) {
            return Some(if value.is_some() { 1 } else { 2 });
        }
        self.long.contains(&name).then_some(1)
    }

    /// The number of words that a group of short options takes.
    fn letters(&self, letters: &str) -> Option<usize> {
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                return Some(if at + letter.len_utf8() == letters.len() { 2 } else { 1 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}
