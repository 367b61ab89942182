//! The set of trigrams in a text, as hashed bits.
//!
//! A text can only occur where all its trigrams do. That holds for parts of words, punctuation and every
//! script, unlike an index of words.

use std::borrow::Cow;

use memchr::memmem;

use crate::limits::TRIGRAMS_ASKED_MAX;
use crate::search::Case;

/// Bits of a signature: 64 Ki.
pub(super) const BITS: usize = 1 << 16;

/// Bytes of a signature.
const BYTES: usize = BITS / 8;

const WORDS: usize = BITS / 64;

/// The trigrams of some text.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    words: Box<[u64; WORDS]>,
    set: u32,
}

impl Signature {
    pub(super) fn new() -> Self {
        Signature { words: Box::new([0; WORDS]), set: 0 }
    }

    /// Decodes a stored signature.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut signature = Signature::new();
        if bytes.len() != BYTES {
            return None;
        }
        for (word, bytes) in signature.words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        signature.set = signature.words.iter().map(|word| word.count_ones()).sum();
        Some(signature)
    }

    /// The stored form.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Number of bits that are set.
    pub(super) fn set(&self) -> u32 {
        self.set
    }

    /// The bits that are set.
    pub(super) fn buckets(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.checked_sub(1)?;
                Some(at * 64 + bit)
            })
        })
    }

    /// Adds the trigrams of a text.
    pub(super) fn add(&mut self, text: &str) {
        let text = folded(text);
        let [first, second, rest @ ..] = text.as_bytes() else { return };
        let mut trigram = with(with(0, *first), *second);
        let mut set = 0;
        // Most bytes of a large index pass through here: no branches, no checks.
        for byte in rest {
            trigram = with(trigram, *byte);
            let bucket = bucket(trigram);
            let word = &mut self.words[usize::from(bucket >> 6)];
            let bit = bucket & 63;
            set += 1 - (*word >> bit & 1);
            *word |= 1 << bit;
        }
        self.set += u32::try_from(set).unwrap_or(u32::MAX);
    }

    pub(super) fn has_all(&self, buckets: &[usize]) -> bool {
        buckets.iter().all(|bucket| self.words[bucket / 64] >> (bucket % 64) & 1 == 1)
    }
}

/// The bits that are set wherever a text occurs; none if it is too short.
pub(super) fn buckets(text: &str, case: Case) -> Vec<usize> {
    let text = folded(text);
    let mut buckets: Vec<usize> = text
        .as_bytes()
        .windows(3)
        // Only ASCII letters are folded in the index, so others cannot be used when case is ignored.
        .filter(|trigram| case == Case::Sensitive || trigram.is_ascii())
        .map(|trigram| bucket(trigram.iter().fold(0, |all, byte| with(all, *byte))).into())
        .collect();
    buckets.sort_unstable();
    buckets.dedup();
    // An even sample, since the hash has mixed them.
    let step = buckets.len().div_ceil(TRIGRAMS_ASKED_MAX).max(1);
    buckets.into_iter().step_by(step).collect()
}

/// The trigram after one more byte.
#[inline]
fn with(trigram: u32, byte: u8) -> u32 {
    trigram << 8 | u32::from(byte.to_ascii_lowercase())
}

/// The bit of a trigram.
#[inline]
fn bucket(trigram: u32) -> u16 {
    const PRIME: u32 = 0x9e37_79b1;
    ((trigram & 0x00ff_ffff).wrapping_mul(PRIME) >> 16) as u16
}

/// Replaces the only two letters outside ASCII that equal an ASCII letter when case is ignored.
fn folded(text: &str) -> Cow<'_, str> {
    const KELVIN: &str = "\u{212a}";
    const LONG_S: &str = "\u{17f}";
    let has = |letter: &str| memmem::find(text.as_bytes(), letter.as_bytes()).is_some();
    if text.is_ascii() || !(has(KELVIN) || has(LONG_S)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(KELVIN, "k").replace(LONG_S, "s"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_part_of_a_text_is_in_its_signature(text in "\\PC{0,60}", from in 0usize..60, len in 0usize..60) {
            let part: String = text.chars().skip(from).take(len).collect();
            let mut signature = Signature::new();
            signature.add(&text);
            prop_assert!(signature.has_all(&buckets(&part, Case::Sensitive)));
            for other in [part.to_uppercase(), part.to_lowercase()] {
                let found = regex::RegexBuilder::new(&regex::escape(&other)).case_insensitive(true).build().unwrap();
                if found.is_match(&text) {
                    prop_assert!(signature.has_all(&buckets(&other, Case::Ignore)));
                }
            }
            let stored = Signature::of_bytes(&signature.to_bytes()).unwrap();
            prop_assert_eq!(stored.set(), signature.set());
            prop_assert_eq!(stored.buckets().count(), usize::try_from(signature.set()).unwrap());
            prop_assert!(signature.has_all(&stored.buckets().collect::<Vec<_>>()));
        }
    }

    #[test]
    fn what_is_not_there_is_seldom_found() {
        let mut signature = Signature::new();
        signature.add("The quick brown fox jumps over the lazy dog");
        assert!(signature.has_all(&buckets("ick bro", Case::Sensitive)));
        assert!(!signature.has_all(&buckets("zebrafinch", Case::Sensitive)));
        assert!(buckets("ab", Case::Sensitive).is_empty());
        assert_eq!(buckets(&"abcdefghij".repeat(100), Case::Sensitive).len(), 10);
    }
}
