//! Keys: who signed a message, and who may read it.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::hmac;
use ring::signature::{ED25519, ED25519_PUBLIC_KEY_LEN, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use tidings_base::hex::hex;

use crate::error::{ErrorKind, FleetError};
use crate::key_text::{bytes_of, invalid, random};
use crate::keyring::{FleetSecret, Keyring};
use crate::names::Name;

const SIGNATURE_BYTES: usize = 64;

/// The public key of a node or of a fleet's admin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey([u8; ED25519_PUBLIC_KEY_LEN]);

/// A key that signs, for a node or for a fleet's admin.
pub struct SigningKey {
    pair: Ed25519KeyPair,
    seed: [u8; 32],
}

/// A node of a fleet, with its keys.
#[derive(Debug)]
pub struct Identity {
    /// The fleet.
    pub fleet: Name,
    /// The node.
    pub node: Name,
    /// The node's own key.
    pub key: SigningKey,
    /// The public key of the fleet's admin, who signs members and devices.
    pub admin: PublicKey,
    /// The keys of the fleet; without one, payloads are signed and not encrypted.
    pub secrets: Keyring,
}

impl SigningKey {
    /// A new key from the system's random numbers.
    pub fn generate() -> Result<Self, FleetError> {
        SigningKey::from_seed(random()?)
    }

    /// The key of a seed.
    pub fn from_seed(seed: [u8; 32]) -> Result<Self, FleetError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| invalid("Not a seed of a key"))?;
        Ok(SigningKey { pair, seed })
    }

    /// Reads the text of [`to_text`](Self::to_text).
    pub fn parse(text: &str) -> Result<Self, FleetError> {
        SigningKey::from_seed(bytes_of(text)?)
    }

    /// The secret as text.
    pub fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.seed)
    }

    /// The public part.
    pub fn public(&self) -> PublicKey {
        let mut key = [0; ED25519_PUBLIC_KEY_LEN];
        key.copy_from_slice(self.pair.public_key().as_ref());
        PublicKey(key)
    }

    /// Signs a purpose and its fields.
    pub(crate) fn sign(&self, purpose: &str, fields: &[&[u8]]) -> [u8; SIGNATURE_BYTES] {
        let mut signature = [0; SIGNATURE_BYTES];
        signature.copy_from_slice(self.pair.sign(&signed(purpose, fields)).as_ref());
        signature
    }
}

impl PublicKey {
    pub(crate) fn verify(&self, purpose: &str, fields: &[&[u8]], signature: &[u8]) -> Result<(), FleetError> {
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        key.verify(&signed(purpose, fields), signature).map_err(|_| {
            let hint = "another node wrote it, or the key of the node was replaced";
            FleetError::new(ErrorKind::Refused, "A signature does not match", hint)
        })
    }
}

impl Identity {
    /// Encrypts a payload, if the fleet has a secret. `purpose` keeps it from being used elsewhere.
    pub(crate) fn encrypt(&self, purpose: &str, payload: &[u8]) -> Result<Vec<u8>, FleetError> {
        self.secrets.encrypt(&self.bound_to(purpose), payload)
    }

    /// The payload of [`encrypt`](Self::encrypt).
    pub(crate) fn decrypt(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, FleetError> {
        self.secrets.decrypt(&self.bound_to(purpose), sealed)
    }

    /// The name of a secret in the shared state. In a fleet with an encryption key, the secret cannot be
    /// found by trying without that key.
    pub(crate) fn token(&self, purpose: &str, secret: &[u8]) -> String {
        let newest = self.secrets.newest();
        let key = newest.as_ref().map_or(&[][..], FleetSecret::bytes);
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        let tag = hmac::sign(&key, &signed(purpose, &[self.fleet.as_str().as_bytes(), secret]));
        hex(&tag.as_ref()[..16])
    }

    /// The bytes that bind an encrypted payload to its purpose.
    fn bound_to(&self, purpose: &str) -> Vec<u8> {
        signed(purpose, &[self.fleet.as_str().as_bytes()])
    }

    /// Encrypts and signs a payload, as one message.
    pub(crate) fn seal(
        &self,
        key: &SigningKey,
        purpose: &str,
        fields: &[&[u8]],
        payload: &[u8],
    ) -> Result<Vec<u8>, FleetError> {
        let mut message = self.encrypt(purpose, payload)?;
        let signature = key.sign(purpose, &self.all_fields(fields, &message));
        message.extend_from_slice(&signature);
        Ok(message)
    }

    /// The payload of [`seal`](Self::seal).
    pub(crate) fn open(
        &self,
        key: &PublicKey,
        purpose: &str,
        fields: &[&[u8]],
        message: &[u8],
    ) -> Result<Vec<u8>, FleetError> {
        let length = message.len().checked_sub(SIGNATURE_BYTES);
        let length = length.ok_or_else(|| invalid("A message is too short for a signature"))?;
        let (sealed, signature) = message.split_at(length);
        key.verify(purpose, &self.all_fields(fields, sealed), signature)?;
        self.decrypt(purpose, sealed)
    }

    fn all_fields<'a>(&'a self, fields: &[&'a [u8]], sealed: &'a [u8]) -> Vec<&'a [u8]> {
        let mut all = vec![self.fleet.as_str().as_bytes()];
        all.extend_from_slice(fields);
        all.push(sealed);
        all
    }
}

/// The bytes that are signed: every field with its length, so that no two lists of fields are the same bytes.
/// Long fields are hashed.
fn signed(purpose: &str, fields: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"tidings-fleet-1".to_vec();
    for field in [purpose.as_bytes()].iter().chain(fields) {
        bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
        if field.len() > 64 {
            bytes.extend_from_slice(digest(&SHA256, field).as_ref());
        } else {
            bytes.extend_from_slice(field);
        }
    }
    bytes
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        bytes_of(text).map(PublicKey)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = FleetError;

    fn try_from(text: String) -> Result<Self, FleetError> {
        text.parse()
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        key.to_string()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(secret: Option<FleetSecret>) -> Identity {
        let secrets = Keyring::new(secret.into_iter().collect());
        let key = SigningKey::generate().unwrap();
        let admin = SigningKey::generate().unwrap().public();
        Identity { fleet: Name::new("f").unwrap(), node: Name::new("n").unwrap(), key, admin, secrets }
    }

    #[test]
    fn a_sealed_message_opens_for_its_purpose_and_its_fields_only() {
        for secret in [None, Some(FleetSecret::generate().unwrap())] {
            let one = identity(secret);
            let public = one.key.public();
            let sealed = one.seal(&one.key, "beat", &[b"a"], b"hello").unwrap();
            assert_eq!(one.open(&public, "beat", &[b"a"], &sealed).unwrap(), b"hello");
            assert!(one.open(&public, "command", &[b"a"], &sealed).is_err());
            assert!(one.open(&public, "beat", &[b"b"], &sealed).is_err());
            assert!(one.open(&SigningKey::generate().unwrap().public(), "beat", &[b"a"], &sealed).is_err());
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert!(one.open(&public, "beat", &[b"a"], &changed).is_err(), "{at}");
            }
            for length in 0..sealed.len() {
                assert!(one.open(&public, "beat", &[b"a"], &sealed[..length]).is_err(), "{length}");
            }
        }
    }

    #[test]
    fn an_encrypted_message_hides_its_payload_and_needs_the_key() {
        let one = identity(Some(FleetSecret::generate().unwrap()));
        let sealed = one.seal(&one.key, "unit", &[], b"a secret word").unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        let other = identity(Some(FleetSecret::generate().unwrap()));
        assert!(other.open(&one.key.public(), "unit", &[], &sealed).is_err());
        // A fleet with a key refuses messages without encryption.
        let plain = identity(None);
        let sealed = plain.seal(&plain.key, "unit", &[], b"plain").unwrap();
        assert!(one.open(&plain.key.public(), "unit", &[], &sealed).is_err());
    }

    #[test]
    fn keys_are_read_back_from_their_text() {
        let key = SigningKey::generate().unwrap();
        assert_eq!(SigningKey::parse(&key.to_text()).unwrap().public(), key.public());
        assert_eq!(key.public().to_string().parse::<PublicKey>().unwrap(), key.public());
        assert!("short".parse::<PublicKey>().is_err());
    }
}
