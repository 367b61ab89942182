//! Signatures by which the receiver of a webhook authenticates the sender.

use std::fmt::Write as _;

use crate::hmac::hmac;

/// The signature of a body and a timestamp, as header value.
pub(super) fn signature(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let signed = hmac(secret.as_bytes(), &[timestamp.to_string().as_bytes(), b".", body]);
    let mut header = String::from("sha256=");
    for byte in signed {
        // Writing into a String cannot fail.
        let _ = write!(header, "{byte:02x}");
    }
    header
}
