//! Signatures by which the receiver of a webhook authenticates the sender.

use ring::hmac;
use tidings_base::hex::hex;

/// The signature of a body and a timestamp, as header value.
pub(super) fn signature(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let mut signed = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    for part in [timestamp.to_string().as_bytes(), b".", body] {
        signed.update(part);
    }
    format!("sha256={}", hex(signed.sign().as_ref()))
}
