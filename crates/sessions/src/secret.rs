//! Secrets: generation, comparison, and fingerprints for storage.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use tidings_api::Code;
use tidings_base::hex::hex;

use crate::Error;

/// A source of random bytes.
#[derive(Clone)]
pub struct Random(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) -> Result<(), Error> + Send + Sync;

/// The prefix of credentials, by which people and secret scanners recognize them.
const PREFIX: &str = "tidings_";

/// The length of a token: 256 bits.
const TOKEN_BYTES: usize = 32;

/// Letters and digits of pairing codes, which users may have to type: no two look alike.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKMNPQRSTVWXYZ0123456789";

/// The length of a pairing code: fifty bits, with five guesses allowed.
const CODE_LENGTH: usize = 10;

/// A secret. `Debug` hides it; only [`Secret::reveal`] returns it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// The SHA-256 of a secret, which is stored instead of the secret.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint([u8; 32]);

impl Random {
    /// The random generator of the system.
    pub fn system() -> Self {
        let source = ring::rand::SystemRandom::new();
        Random::from_fn(move |bytes| {
            ring::rand::SecureRandom::fill(&source, bytes).map_err(|_| {
                Error::new(
                    Code::Internal,
                    "The system has no random numbers yet",
                    "wait until it has started",
                )
            })
        })
    }

    /// Random bytes from a function, for reproducible tests.
    pub fn from_fn(fill: impl Fn(&mut [u8]) -> Result<(), Error> + Send + Sync + 'static) -> Self {
        Random(Arc::new(fill))
    }

    /// A new credential.
    pub fn token(&self) -> Result<Secret, Error> {
        Ok(Secret(format!("{PREFIX}{}", hex(&self.bytes::<TOKEN_BYTES>()?))))
    }

    /// A new pairing code, in two groups.
    pub fn code(&self) -> Result<Secret, Error> {
        let letter = |byte: &u8| char::from(CODE_LETTERS[usize::from(byte % 32)]);
        let letters: String = self.bytes::<CODE_LENGTH>()?.iter().map(letter).collect();
        let (first, second) = letters.split_at(CODE_LENGTH / 2);
        Ok(Secret(format!("{first}-{second}")))
    }

    /// A short random name, which is not secret.
    pub fn name(&self) -> Result<String, Error> {
        Ok(hex(&self.bytes::<6>()?))
    }

    fn bytes<const N: usize>(&self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        (self.0)(&mut bytes)?;
        Ok(bytes)
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}

impl Secret {
    /// A secret with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The secret as text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Fingerprint {
    /// The fingerprint of a secret.
    pub fn of(secret: &str) -> Self {
        Fingerprint(Sha256::digest(secret.as_bytes()).into())
    }

    /// The fingerprint of a code, independent of case, separators and look-alike letters.
    pub fn of_code(typed: &str) -> Self {
        let plain = typed.chars().filter(char::is_ascii_alphanumeric).map(|c| match c.to_ascii_uppercase() {
            'I' | 'L' => '1',
            'O' => '0',
            'U' => 'V',
            c => c,
        });
        Fingerprint::of(&plain.collect::<String>())
    }

    /// The fingerprint that is written in hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Fingerprint(bytes))
    }

    /// The hash itself.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compares in constant time.
    pub fn same(&self, other: &Fingerprint) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// True if a text has the form of a credential.
pub fn is_token(text: &str) -> bool {
    let digits = text.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == 2 * TOKEN_BYTES && Fingerprint::parse(digits).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_codes_are_long_enough_and_differ() {
        let random = Random::system();
        let (a, b) = (random.token().unwrap(), random.token().unwrap());
        assert_eq!(a.reveal().len(), PREFIX.len() + 64);
        assert_ne!(a, b);
        let code = random.code().unwrap();
        assert_eq!(code.reveal().len(), CODE_LENGTH + 1);
        assert!(CODE_LETTERS.len().ilog2() as usize * CODE_LENGTH >= 40);
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        assert_eq!(format!("{:?}", Secret::new("abc")), "Secret(…)");
    }

    #[test]
    fn a_code_is_the_same_however_it_is_typed() {
        let code = Fingerprint::of_code("ABCDE-V1029");
        for typed in ["abcde-v1029", "ABCDE V1029", "abcdeul0 29", " abcde–vio29 "] {
            assert!(bool::from(code.same(&Fingerprint::of_code(typed))), "{typed}");
        }
        assert!(!bool::from(code.same(&Fingerprint::of_code("ABCDE-V1028"))));
    }

    #[test]
    fn a_fingerprint_is_read_as_it_was_written() {
        let print = Fingerprint::of("a");
        let again = Fingerprint::parse(&print.to_string()).unwrap();
        assert!(bool::from(print.same(&again)));
        for wrong in ["", "00", "zz", &"g".repeat(64), &"é".repeat(32)] {
            assert!(Fingerprint::parse(wrong).is_none(), "{wrong}");
        }
    }
}
