//! The key of an API response, under which it is counted once.

use std::hash::{BuildHasherDefault, Hasher};

use tidings_protocol::entry::EntryRef;

/// Identifies an API response: a 128-bit hash, so that a million of them collide with a chance of one in
/// 10^26.
///
/// The hash (FNV-1a) must never change, because keys are stored in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ResponseKey(pub(super) u128);

/// The kind of text that a key was made from; equal texts of different kinds are different responses.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
enum KeySource {
    MessageId = b'm',
    Uuid = b'u',
    Line = b'l',
}

impl ResponseKey {
    /// The key of an entry that carries usage under this message id.
    ///
    /// Without an id the key is the entry's own uuid, and without that the line: equal lines are copies.
    pub(super) fn of(message_id: Option<&str>, entry: &EntryRef<'_>) -> Self {
        if let Some(id) = message_id.filter(|id| !id.is_empty()) {
            return ResponseKey::of_message(id);
        }
        match entry.uuid() {
            Some(uuid) if !uuid.is_empty() => ResponseKey::of_uuid(&uuid),
            _ => ResponseKey::of_line(entry.raw()),
        }
    }

    pub(super) fn of_message(id: &str) -> Self {
        ResponseKey::hash(KeySource::MessageId, id.as_bytes())
    }

    pub(super) fn of_uuid(uuid: &str) -> Self {
        ResponseKey::hash(KeySource::Uuid, uuid.as_bytes())
    }

    /// The key of a line, without the bytes around its object.
    pub(super) fn of_line(line: &[u8]) -> Self {
        ResponseKey::hash(KeySource::Line, line)
    }

    fn hash(source: KeySource, bytes: &[u8]) -> Self {
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
        ResponseKey(bytes.iter().fold(step(BASIS, &(source as u8)), step))
    }
}

/// A map by key; keys are hashes already and need no second one.
pub(super) type KeyMap<V> = std::collections::HashMap<ResponseKey, V, BuildHasherDefault<IdentityHasher>>;

/// A hasher that uses a number as its own hash.
#[derive(Debug, Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
    fn write_u128(&mut self, number: u128) {
        self.0 = (number as u64) ^ ((number >> 64) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_what_they_are_in_caches_of_years_ago() {
        // FNV-1a 128 of "mmsg_01", computed by another program.
        let key = ResponseKey::hash(KeySource::MessageId, b"msg_01");
        assert_eq!(key, ResponseKey(0xde81_868d_6d4f_f78d_767d_fe5e_ad6a_b945));
        assert_ne!(key, ResponseKey::hash(KeySource::Uuid, b"msg_01"));
    }
}
