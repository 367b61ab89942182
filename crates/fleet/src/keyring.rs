//! Keys with which a fleet encrypts. A new one replaces the last when a member is removed; earlier ones stay,
//! for what is stored already.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::RwLock;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use tokio::sync::watch;

use crate::error::{ErrorKind, FleetError};
use crate::key_text::{bytes_of, invalid, random};
use crate::limits::FLEET_KEYS_MAX;

const PLAIN: u8 = 0;
const ENCRYPTED: u8 = 1;

/// A key with which all nodes of a fleet encrypt what the NATS server stores and forwards.
#[derive(Clone)]
pub struct FleetSecret([u8; 32]);

/// The keys of a fleet, each with its generation.
pub struct Keyring {
    /// The newest is the last; empty if the fleet does not encrypt.
    keys: RwLock<Vec<(u64, FleetSecret)>>,
    /// The generation that the fleet's admin has announced.
    announced: AtomicU64,
    changes: watch::Sender<u64>,
}

impl FleetSecret {
    /// A new secret.
    pub fn generate() -> Result<Self, FleetError> {
        random().map(FleetSecret)
    }

    /// Reads the text of [`to_text`](Self::to_text).
    pub fn parse(text: &str) -> Result<Self, FleetError> {
        bytes_of(text).map(FleetSecret)
    }

    /// The secret as text.
    pub fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        FleetSecret(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn seal(&self, bound_to: &[u8], payload: &[u8]) -> Result<Vec<u8>, FleetError> {
        // Random nonces of 96 bits: a fleet may seal 2^32 messages before a repetition becomes likely.
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut sealed = payload.to_vec();
        let aad = Aad::from(bound_to);
        self.key()?
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .map_err(|_| FleetError::new(ErrorKind::TooLarge, "A message is too long to be encrypted", ""))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// The payload of [`seal`](Self::seal); none if it has another key.
    pub(crate) fn open(&self, bound_to: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut opened = sealed.to_vec();
        let length = self.key().ok()?.open_in_place(nonce, Aad::from(bound_to), &mut opened).ok()?.len();
        opened.truncate(length);
        Some(opened)
    }

    fn key(&self) -> Result<LessSafeKey, FleetError> {
        let key =
            UnboundKey::new(&CHACHA20_POLY1305, &self.0).map_err(|_| invalid("Not a key of a fleet"))?;
        Ok(LessSafeKey::new(key))
    }
}

impl Keyring {
    /// A ring with the keys of the first generations, the newest last; an empty one does not encrypt.
    pub fn new(secrets: Vec<FleetSecret>) -> Self {
        Keyring::of((0..).zip(secrets).collect())
    }

    /// A ring with keys of these generations, the newest last.
    pub fn of(keys: Vec<(u64, FleetSecret)>) -> Self {
        let announced = AtomicU64::new(keys.last().map_or(0, |(generation, _)| *generation));
        Keyring { keys: RwLock::new(keys), announced, changes: watch::Sender::new(0) }
    }

    /// The newest key; none if the fleet does not encrypt.
    pub fn newest(&self) -> Option<FleetSecret> {
        self.keys.read().last().map(|(_, secret)| secret.clone())
    }

    /// The generation of the newest key; none if the fleet does not encrypt.
    pub fn generation(&self) -> Option<u64> {
        self.keys.read().last().map(|(generation, _)| *generation)
    }

    /// All keys with their generations, the newest last.
    pub fn all(&self) -> Vec<(u64, FleetSecret)> {
        self.keys.read().clone()
    }

    /// Adds a key of a later generation.
    pub fn add(&self, generation: u64, secret: FleetSecret) {
        let mut keys = self.keys.write();
        if keys.last().is_some_and(|(newest, _)| *newest < generation) {
            keys.push((generation, secret));
            let surplus = keys.len().saturating_sub(FLEET_KEYS_MAX);
            keys.drain(..surplus);
        }
        drop(keys);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Notes the generation that the fleet's admin has announced. Nothing is encrypted with an earlier one.
    pub(crate) fn announce(&self, generation: u64) {
        if self.announced.fetch_max(generation, Ordering::AcqRel) < generation {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    /// True while this node waits for a key that was announced.
    pub fn is_waiting(&self) -> bool {
        self.generation().is_some_and(|newest| newest < self.announced.load(Ordering::Acquire))
    }

    /// Changes when a key is added or announced.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn encrypt(&self, bound_to: &[u8], payload: &[u8]) -> Result<Vec<u8>, FleetError> {
        if self.is_waiting() {
            let message = "This server waits for the new key of the fleet";
            return Err(FleetError::new(ErrorKind::Server, message, "the first server of the fleet has it"));
        }
        let Some(newest) = self.newest() else { return Ok([&[PLAIN], payload].concat()) };
        Ok([&[ENCRYPTED], newest.seal(bound_to, payload)?.as_slice()].concat())
    }

    pub(crate) fn decrypt(&self, bound_to: &[u8], sealed: &[u8]) -> Result<Vec<u8>, FleetError> {
        let refused = |why: &str, kind: ErrorKind| {
            let hint = "all nodes of a fleet need the same fleet key";
            FleetError::new(kind, format!("A message cannot be read: {why}"), hint)
        };
        let keys = self.keys.read();
        match sealed.split_first() {
            None => Err(refused("it is empty", ErrorKind::Refused)),
            Some((&PLAIN, rest)) if keys.is_empty() => Ok(rest.to_vec()),
            Some((&PLAIN, _)) => Err(refused("it is not encrypted", ErrorKind::Refused)),
            Some((&ENCRYPTED, rest)) if !keys.is_empty() => {
                let opened = keys.iter().rev().find_map(|(_, secret)| secret.open(bound_to, rest));
                opened.ok_or_else(|| refused("it has another key", ErrorKind::UnknownKey))
            }
            Some(_) => Err(refused("it is encrypted", ErrorKind::Refused)),
        }
    }
}

impl fmt::Debug for FleetSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetSecret(…)")
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("generation", &self.generation()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_a_new_key_is_used_at_once_and_earlier_ones_still_read() {
        let ring = Keyring::new(vec![FleetSecret::generate().unwrap()]);
        let before = ring.encrypt(b"a", b"one").unwrap();
        let removed = Keyring::of(ring.all());
        ring.announce(1);
        assert!(ring.encrypt(b"a", b"two").is_err(), "nothing is written with the old key any more");
        ring.add(1, FleetSecret::generate().unwrap());
        let after = ring.encrypt(b"a", b"two").unwrap();
        assert_eq!(ring.decrypt(b"a", &before).unwrap(), b"one");
        assert_eq!(ring.decrypt(b"a", &after).unwrap(), b"two");
        assert!(ring.decrypt(b"b", &after).is_err());
        assert_eq!(removed.decrypt(b"a", &after).unwrap_err().kind(), ErrorKind::UnknownKey);
    }
}
