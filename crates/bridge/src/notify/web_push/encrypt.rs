//! Encryption of a message for one browser, as in RFC 8291.

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::limits::PUSH_BYTES_MAX;

/// The size of the one record of a message.
const RECORD_BYTES: u32 = 4096;

/// Messages are padded to multiples of it, so that their length tells little.
const PADDED_BYTES: usize = 512;

/// The length of an uncompressed point of P-256.
pub(super) const POINT_BYTES: usize = 65;

/// Encrypts a message for a browser with this public key and this secret. None if the key is no point of the
/// curve, or the message is too long.
pub(super) fn encrypt(message: &[u8], browser: &[u8], auth: &[u8]) -> Option<Vec<u8>> {
    if message.len() > PUSH_BYTES_MAX || browser.len() != POINT_BYTES {
        return None;
    }
    let random = SystemRandom::new();
    let mut salt = [0; 16];
    random.fill(&mut salt).ok()?;
    let own = EphemeralPrivateKey::generate(&ECDH_P256, &random).ok()?;
    let own_public = own.compute_public_key().ok()?;
    let own_public = own_public.as_ref();
    let browser_key = UnparsedPublicKey::new(&ECDH_P256, browser);
    let keys = agree_ephemeral(own, &browser_key, |shared| {
        RecordKeys::derive(shared, auth, (browser, own_public), &salt)
    });
    let keys = keys.ok()??;
    let mut record = message.to_vec();
    // The mark of the last record, and padding.
    record.push(2);
    record.resize(record.len().next_multiple_of(PADDED_BYTES), 0);
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &keys.key).ok()?);
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(keys.nonce), Aad::empty(), &mut record).ok()?;
    let mut body = salt.to_vec();
    body.extend(RECORD_BYTES.to_be_bytes());
    body.push(u8::try_from(own_public.len()).ok()?);
    body.extend_from_slice(own_public);
    body.append(&mut record);
    Some(body)
}

/// The key and the nonce of the record.
#[derive(PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
struct RecordKeys {
    key: [u8; 16],
    nonce: [u8; 12],
}

impl RecordKeys {
    fn derive(
        shared: &[u8],
        auth: &[u8],
        (browser, server): (&[u8], &[u8]),
        salt: &[u8],
    ) -> Option<RecordKeys> {
        let combined = Salt::new(HKDF_SHA256, auth).extract(shared);
        let input = expand::<32>(&combined, &[b"WebPush: info\0", browser, server])?;
        let record = Salt::new(HKDF_SHA256, salt).extract(&input);
        Some(RecordKeys {
            key: expand(&record, &[b"Content-Encoding: aes128gcm\0"])?,
            nonce: expand(&record, &[b"Content-Encoding: nonce\0"])?,
        })
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const N: usize>(from: &Prk, info: &[&[u8]]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    from.expand(info, Length(N)).ok()?.fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

    use super::*;

    /// The example of RFC 8291, appendix A.
    #[test]
    fn keys_are_derived_as_in_the_example_of_the_standard() {
        let bytes = |text: &str| BASE64.decode(text).unwrap();
        let keys = RecordKeys::derive(
            &bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"),
            &bytes("BTBZMqHH6r4Tts7J_aSIgg"),
            (
                &bytes(
                    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                ),
                &bytes(
                    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
                ),
            ),
            &bytes("DGv6ra1nlYgDCS1FRnbzlw"),
        );
        let keys = keys.unwrap();
        assert_eq!(
            (BASE64.encode(keys.key), BASE64.encode(keys.nonce)),
            ("oIhVW04MRdy2XN9CiKLxTg".into(), "4h_95klXJ5E_qnoN".into())
        );
    }

    #[test]
    fn what_is_no_key_or_too_long_is_refused() {
        assert_eq!(encrypt(b"hello", &[4; POINT_BYTES], &[0; 16]), None, "not on the curve");
        assert_eq!(encrypt(b"hello", &[4; 10], &[0; 16]), None);
        let point = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let point = point.compute_public_key().unwrap();
        assert_eq!(encrypt(&vec![0; PUSH_BYTES_MAX + 1], point.as_ref(), &[0; 16]), None);
        let longest = encrypt(&vec![0; PUSH_BYTES_MAX], point.as_ref(), &[0; 16]).unwrap();
        assert!(longest.len() <= 4096, "{}", longest.len());
    }
}
