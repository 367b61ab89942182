//! Secrets: where they come from, how they are compared, and what is kept of them.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::error::{Code, Error};

/// Where randomness comes from.
#[derive(Clone)]
pub struct Random(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) -> Result<(), Error> + Send + Sync;

/// Tells a credential of ours from other text, for people and for programs that look for leaked secrets.
const PREFIX: &str = "tidings_";

/// 256 bits: nobody guesses them, whatever they may try.
const TOKEN_BYTES: usize = 32;

/// Letters and digits of a code that somebody may have to type: none of them looks like another.
const CODE_LETTERS: &[u8; 32] = b"ABCDEFGHJKMNPQRSTVWXYZ0123456789";

/// Fifty bits, of which five guesses are allowed.
const CODE_LENGTH: usize = 10;

/// A secret, which shows itself only to whoever asks for it by name.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// What is kept of a secret. The secret cannot be found from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint([u8; 32]);

impl Random {
    /// The randomness of the system.
    pub fn system() -> Self {
        let source = rustls::crypto::ring::default_provider().secure_random;
        Random::from_fn(move |bytes| {
            source.fill(bytes).map_err(|_| {
                Error::new(Code::Internal, "The system has no random numbers", "wait until it has started")
            })
        })
    }

    /// Randomness from elsewhere, such as from a test that wants the same run twice.
    pub fn from_fn(fill: impl Fn(&mut [u8]) -> Result<(), Error> + Send + Sync + 'static) -> Self {
        Random(Arc::new(fill))
    }

    /// A new credential.
    pub(crate) fn token(&self) -> Result<Secret, Error> {
        Ok(Secret(format!("{PREFIX}{}", hex(&self.bytes::<TOKEN_BYTES>()?))))
    }

    /// A new one-time code, in two groups.
    pub(crate) fn code(&self) -> Result<Secret, Error> {
        let letter = |byte: &u8| char::from(CODE_LETTERS[usize::from(byte % 32)]);
        let letters: String = self.bytes::<CODE_LENGTH>()?.iter().map(letter).collect();
        let (first, second) = letters.split_at(CODE_LENGTH / 2);
        Ok(Secret(format!("{first}-{second}")))
    }

    /// A short name that is no secret.
    pub(crate) fn name(&self) -> Result<String, Error> {
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
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The secret itself, for where it is meant to go.
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
    pub(crate) fn of(secret: &str) -> Self {
        Fingerprint(Sha256::digest(secret.as_bytes()).into())
    }

    /// The fingerprint of a code, however it was typed.
    pub(crate) fn of_code(typed: &str) -> Self {
        let plain = typed.chars().filter(char::is_ascii_alphanumeric).map(|c| match c.to_ascii_uppercase() {
            'I' | 'L' => '1',
            'O' => '0',
            'U' => 'V',
            c => c,
        });
        Fingerprint::of(&plain.collect::<String>())
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Fingerprint(bytes))
    }

    /// Takes the same time whether they are alike or not.
    pub(crate) fn same(&self, other: &Fingerprint) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Whether a text has the form of a credential of ours.
pub(crate) fn is_token(text: &str) -> bool {
    let digits = text.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == 2 * TOKEN_BYTES && Fingerprint::parse(digits).is_some()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
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
