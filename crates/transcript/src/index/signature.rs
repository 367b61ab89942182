//! Which trigrams stand in some text, as a set of hashed bits.
//!
//! A text can only stand where all its trigrams do. That holds for any part of a word, for punctuation and for every
//! script, which an index of words could not say.

use std::borrow::Cow;

use crate::limits::TRIGRAMS_ASKED_MAX;
use crate::search::Case;

/// Bits of a signature: 64 Ki.
pub(super) const BITS: usize = 1 << 16;

/// Bytes of a signature.
pub(super) const BYTES: usize = BITS / 8;

/// The trigrams of some text.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    bits: Box<[u8]>,
    set: u32,
}

impl Signature {
    pub(super) fn new() -> Self {
        Signature { bits: vec![0; BYTES].into(), set: 0 }
    }

    /// A signature that was stored.
    pub(super) fn of_bytes(bits: Vec<u8>) -> Option<Self> {
        let set = bits.iter().map(|byte| byte.count_ones()).sum();
        (bits.len() == BYTES).then(|| Signature { bits: bits.into(), set })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bits
    }

    /// How many bits are set.
    pub(super) fn set(&self) -> u32 {
        self.set
    }

    /// Adds the trigrams of a text.
    pub(super) fn add(&mut self, text: &str) {
        let text = folded(text);
        let mut trigram = 0;
        let mut set = 0;
        for (at, byte) in text.bytes().enumerate() {
            trigram = trigram << 8 | u32::from(byte.to_ascii_lowercase());
            if at >= 2 {
                let bucket = bucket(trigram);
                let (byte, bit) = (&mut self.bits[bucket / 8], 1 << (bucket % 8));
                set += u32::from(*byte & bit == 0);
                *byte |= bit;
            }
        }
        self.set += set;
    }

    pub(super) fn has_all(&self, buckets: &[usize]) -> bool {
        buckets.iter().all(|bucket| self.bits[bucket / 8] & 1 << (bucket % 8) != 0)
    }
}

/// The bits that are set wherever a text stands; none if it is too short to tell.
pub(super) fn buckets(text: &str, case: Case) -> Vec<usize> {
    let text = folded(text);
    let mut buckets: Vec<usize> = text
        .as_bytes()
        .windows(3)
        // Only letters of ASCII are folded in the index, so that others tell nothing when case does not matter.
        .filter(|trigram| case == Case::Sensitive || trigram.is_ascii())
        .map(|trigram| {
            bucket(trigram.iter().fold(0, |all, byte| all << 8 | u32::from(byte.to_ascii_lowercase())))
        })
        .collect();
    buckets.sort_unstable();
    buckets.dedup();
    // Evenly, since the hash has mixed them.
    let step = buckets.len().div_ceil(TRIGRAMS_ASKED_MAX).max(1);
    buckets.into_iter().step_by(step).collect()
}

#[inline]
fn bucket(trigram: u32) -> usize {
    const PRIME: u32 = 0x9e37_79b1;
    usize::from(((trigram & 0x00ff_ffff).wrapping_mul(PRIME) >> 16) as u16)
}

/// The only two letters outside ASCII that are the same as one inside it when case does not matter.
fn folded(text: &str) -> Cow<'_, str> {
    const KELVIN: char = '\u{212a}';
    const LONG_S: char = '\u{17f}';
    if text.is_ascii() || !text.contains([KELVIN, LONG_S]) {
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
            prop_assert_eq!(Signature::of_bytes(signature.as_bytes().to_vec()).unwrap().set(), signature.set());
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
