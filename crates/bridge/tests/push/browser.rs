//! A push service on this machine, and a browser behind it: it checks who signs, and decrypts what comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use ring::{aead, hkdf, signature};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::test_server::in_time;

/// A message as the service worker gets it, and the headers that it came with.
pub(crate) struct ReceivedPush {
    pub(crate) headers: HeaderMap,
    pub(crate) message: Value,
    /// The claims of the signature.
    pub(crate) claims: Value,
}

/// The browser of a device.
pub(crate) struct Browser {
    secret: p256::SecretKey,
    auth: [u8; 16],
    address: String,
    raw: mpsc::Receiver<(HeaderMap, Vec<u8>)>,
    status: Arc<AtomicU16>,
}

impl Browser {
    /// A browser, with a key that is made from a number.
    pub(crate) async fn start(number: u8) -> Browser {
        let (sent, raw) = mpsc::channel(4096);
        let status = Arc::new(AtomicU16::new(201));
        let answer = Arc::clone(&status);
        let take = move |request: Request| {
            let (sent, answer) = (sent.clone(), Arc::clone(&answer));
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap().to_vec();
                sent.send((parts.headers, body)).await.unwrap();
                let status = StatusCode::from_u16(answer.load(Ordering::Relaxed)).unwrap();
                let response: Response = match status {
                    StatusCode::TOO_MANY_REQUESTS => (status, [(header::RETRY_AFTER, "120")]).into_response(),
                    StatusCode::FOUND => {
                        (status, [(header::LOCATION, "http://127.0.0.1:1/")]).into_response()
                    }
                    status => status.into_response(),
                };
                response
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(take)).await });
        let secret = p256::SecretKey::from_slice(&[number; 32]).unwrap();
        Browser { secret, auth: [number; 16], address, raw, status }
    }

    /// The status with which the push service answers from now on.
    pub(crate) fn answer_with(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }

    fn public(&self) -> Vec<u8> {
        self.secret.public_key().to_sec1_point(false).as_bytes().to_vec()
    }

    /// The subscription, as the page sends it.
    pub(crate) fn subscription(&self) -> Value {
        json!({
            "endpoint": format!("{}/send/abc", self.address),
            "expirationTime": null,
            "keys": {"p256dh": BASE64.encode(self.public()), "auth": BASE64.encode(self.auth)},
        })
    }

    pub(crate) async fn next(&mut self) -> ReceivedPush {
        let (headers, body) = in_time(self.raw.recv()).await.unwrap();
        self.open(headers, &body)
    }

    /// The next message of a type, after others.
    pub(crate) async fn next_of(&mut self, kind: &str) -> ReceivedPush {
        loop {
            let received = self.next().await;
            if received.message["type"] == kind {
                return received;
            }
        }
    }

    /// A message that has come already.
    pub(crate) fn try_next(&mut self) -> Option<ReceivedPush> {
        let (headers, body) = self.raw.try_recv().ok()?;
        Some(self.open(headers, &body))
    }

    fn open(&self, headers: HeaderMap, body: &[u8]) -> ReceivedPush {
        let message = self.decrypt(body);
        let claims = verify(headers[header::AUTHORIZATION].to_str().unwrap(), &self.address);
        assert_eq!(headers[header::CONTENT_ENCODING], "aes128gcm");
        let topic = headers["topic"].to_str().unwrap();
        assert!(
            topic.len() <= 32 && headers.contains_key("ttl") && headers.contains_key("urgency"),
            "{headers:?}"
        );
        ReceivedPush { headers, message: serde_json::from_slice(&message).unwrap(), claims }
    }

    /// Decrypts a message, as RFC 8291 and RFC 8188 say.
    fn decrypt(&self, body: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(16);
        let (size, rest) = rest.split_at(4);
        assert!(u32::from_be_bytes(size.try_into().unwrap()) as usize >= rest.len());
        assert!(body.len() <= 4096, "{}", body.len());
        let (server, sealed) = rest[1..].split_at(usize::from(rest[0]));
        let server_key = p256::PublicKey::from_sec1_bytes(server).unwrap();
        let shared = p256::ecdh::diffie_hellman(self.secret.to_nonzero_scalar(), server_key.as_affine());
        let combined = hkdf::Salt::new(hkdf::HKDF_SHA256, &self.auth).extract(shared.raw_secret_bytes());
        let public = self.public();
        let input: [u8; 32] = expand(&combined, &[b"WebPush: info\0", &public, server]);
        let record = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(&input);
        let key: [u8; 16] = expand(&record, &[b"Content-Encoding: aes128gcm\0"]);
        let nonce: [u8; 12] = expand(&record, &[b"Content-Encoding: nonce\0"]);
        let key = aead::LessSafeKey::new(aead::UnboundKey::new(&aead::AES_128_GCM, &key).unwrap());
        let mut sealed = sealed.to_vec();
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        let plain = key.open_in_place(nonce, aead::Aad::empty(), &mut sealed).unwrap();
        let end = plain.iter().rposition(|byte| *byte != 0).unwrap();
        assert_eq!(plain[end], 2, "the mark of the last record");
        plain[..end].to_vec()
    }
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const N: usize>(from: &hkdf::Prk, info: &[&[u8]]) -> [u8; N] {
    let mut bytes = [0; N];
    from.expand(info, Length(N)).unwrap().fill(&mut bytes).unwrap();
    bytes
}

/// Verifies the signature of the server, as RFC 8292 says. Returns its claims.
fn verify(authorization: &str, origin: &str) -> Value {
    let fields = authorization.strip_prefix("vapid ").unwrap();
    let field = |name: &str| {
        let mut fields = fields.split(',').map(str::trim);
        fields.find_map(|field| field.strip_prefix(name)).unwrap().to_owned()
    };
    let (token, key) = (field("t="), BASE64.decode(field("k=")).unwrap());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let key = signature::UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, key);
    key.verify(signed.as_bytes(), &BASE64.decode(signature).unwrap()).unwrap();
    let (head, claims) = signed.split_once('.').unwrap();
    let part = |text: &str| serde_json::from_slice::<Value>(&BASE64.decode(text).unwrap()).unwrap();
    assert_eq!(part(head)["alg"], "ES256");
    let claims = part(claims);
    assert_eq!(claims["aud"], origin, "the origin with its port");
    let subject = claims["sub"].as_str().unwrap();
    assert!(subject.starts_with("mailto:") || subject.starts_with("https://"), "{claims}");
    claims
}
