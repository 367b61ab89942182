//! The signature by which a push service recognizes this server, as in RFC 8292.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reqwest::Url;
use serde_json::json;

use super::keys::PushKeys;
use crate::limits::PUSH_SIGNATURE_VALID;

/// The contact for push services, if the server has no address of its own.
const NOBODY: &str = "mailto:nobody@example.org";

/// The value of the header `Authorization`.
pub(super) fn authorization(
    keys: &PushKeys,
    endpoint: &Url,
    page: Option<&str>,
    now_s: i64,
) -> Option<String> {
    let valid = i64::try_from(PUSH_SIGNATURE_VALID.as_secs()).ok()?;
    let contact = page.filter(|page| page.starts_with("https://")).unwrap_or(NOBODY);
    let claims = json!({
        "aud": endpoint.origin().ascii_serialization(),
        "exp": now_s.saturating_add(valid),
        "sub": contact,
    });
    let head = BASE64.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
    let signed = format!("{head}.{}", BASE64.encode(claims.to_string()));
    let signature = BASE64.encode(keys.sign(signed.as_bytes())?);
    Some(format!("vapid t={signed}.{signature}, k={}", keys.public()))
}
