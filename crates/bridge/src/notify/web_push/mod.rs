//! Web Push: messages to the browsers of devices, which show them also while the page is closed.

mod address;
mod encrypt;
mod keys;
mod vapid;

use std::error::Error as StdError;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tidings_api::{Code, PushMessage, PushSubscription, Scopes};
use tidings_sessions::{Caller, Error};

pub(super) use self::address::Reach;
pub use self::keys::PushKeys;

use self::address::NotPublic;
use super::attempt::{Attempt, FailureKind};
use crate::http::http_client;
use crate::inbox::Millis;
use crate::limits::{NOTIFY_CONNECT_WAIT, NOTIFY_WAIT, PUSH_LIFETIME};

/// Sends messages to push services.
#[derive(Debug)]
pub(super) struct PushSender {
    keys: PushKeys,
    client: Client,
    reach: Reach,
}

/// The subscription of a device.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PushEndpoint {
    /// The id of the device.
    pub(super) device: String,
    /// The name of the device.
    pub(super) name: String,
    /// The scopes of the device.
    pub(super) scopes: Scopes,
    /// The folders that the device is limited to.
    pub(super) folders: Vec<String>,
    pub(super) created: Millis,
    endpoint: String,
    p256dh: String,
    auth: String,
}

/// The urgency of a message, which decides whether a sleeping phone is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    High,
    Normal,
}

impl PushSender {
    pub(super) fn new(keys: PushKeys, reach: Reach) -> Result<Self, Error> {
        let client = http_client()
            .redirect(Policy::none())
            .timeout(NOTIFY_WAIT)
            .connect_timeout(NOTIFY_CONNECT_WAIT)
            .dns_resolver(reach)
            .build()
            .map_err(|error| Error::new(Code::Internal, format!("No messages can be sent: {error}"), ""))?;
        Ok(PushSender { keys, client, reach })
    }

    pub(super) fn keys(&self) -> &PushKeys {
        &self.keys
    }

    /// Checks the subscription of a caller's browser.
    pub(super) fn subscription(
        &self,
        caller: &Caller,
        wanted: PushSubscription,
        now: Millis,
    ) -> Result<PushEndpoint, Error> {
        let Some(device) = &caller.device else {
            let hint = "pair this browser with `tidings pair`";
            return Err(Error::new(Code::Forbidden, "Only a paired device can be notified", hint));
        };
        let wrong = |message: String| {
            Err(Error::new(Code::Invalid, message, "send the subscription as the browser returned it"))
        };
        if wanted.endpoint.len() > ENDPOINT_BYTES_MAX {
            return wrong("The address of the push service is too long".to_owned());
        }
        if let Err(why) = self.reach.check(&wanted.endpoint) {
            return wrong(format!("The address of the push service {why}"));
        }
        let subscription = PushEndpoint {
            device: device.clone(),
            name: caller.name.clone(),
            scopes: caller.scopes,
            folders: caller.folders.clone(),
            created: now,
            endpoint: wanted.endpoint,
            p256dh: wanted.keys.p256dh,
            auth: wanted.keys.auth,
        };
        let is_usable = subscription
            .browser_keys()
            .is_some_and(|(public, auth)| encrypt::encrypt(b"{}", &public, &auth).is_some());
        if !is_usable {
            return wrong("The keys of the subscription are invalid".to_owned());
        }
        Ok(subscription)
    }

    /// Sends a message.
    pub(super) async fn send(
        &self,
        to: &PushEndpoint,
        message: &PushMessage,
        urgency: Urgency,
        page: Option<&str>,
        now: Millis,
    ) -> Attempt {
        let Ok(url) = self.reach.check(&to.endpoint) else {
            return Attempt::failed(FailureKind::Address, "the address of the push service is not allowed");
        };
        let sealed = serde_json::to_vec(message).ok().and_then(|message| {
            let (public, auth) = to.browser_keys()?;
            encrypt::encrypt(&message, &public, &auth)
        });
        let signed = vapid::authorization(&self.keys, &url, page, now / 1000);
        let (Some(sealed), Some(signed)) = (sealed, signed) else {
            return Attempt::failed(FailureKind::Encrypt, "the message cannot be encrypted");
        };
        let request = self
            .client
            .post(url)
            .header(AUTHORIZATION, signed)
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", PUSH_LIFETIME.as_secs())
            .header("urgency", urgency.as_str())
            .header("topic", topic(message))
            .body(sealed);
        match request.send().await {
            Ok(response) => Attempt::of_response(&response, &[StatusCode::NOT_FOUND, StatusCode::GONE]),
            Err(error) if is_not_public(&error) => {
                Attempt::failed(FailureKind::Address, "the push service has an address that is not public")
            }
            Err(error) => Attempt::of_error(error),
        }
    }
}

/// The longest address of a push service.
const ENDPOINT_BYTES_MAX: usize = 2000;

impl PushEndpoint {
    /// The host of the push service. The rest of its address is a secret.
    pub(super) fn host(&self) -> String {
        Url::parse(&self.endpoint).ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default()
    }

    pub(super) fn caller(&self) -> Caller {
        Caller {
            name: self.name.clone(),
            device: Some(self.device.clone()),
            scopes: self.scopes,
            folders: self.folders.clone(),
        }
    }

    fn browser_keys(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok();
        let (public, auth) = (bytes(&self.p256dh)?, bytes(&self.auth)?);
        (public.len() == encrypt::POINT_BYTES && auth.len() == 16).then_some((public, auth))
    }
}

impl fmt::Debug for PushEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushEndpoint").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Urgency {
    fn as_str(self) -> &'static str {
        match self {
            Urgency::High => "high",
            Urgency::Normal => "normal",
        }
    }
}

/// The topic of a message: one that was not delivered yet is replaced by the next one with the same topic.
fn topic(message: &PushMessage) -> String {
    let tag = match message {
        PushMessage::Notify { tag, .. } | PushMessage::Test { tag, .. } => tag.as_str(),
        // It must not be lost, so it replaces the notification that it closes.
        PushMessage::Withdraw { tags, .. } => tags.first().map_or("withdraw", String::as_str),
    };
    let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(tag.as_bytes()));
    digest.chars().take(32).collect()
}

fn is_not_public(error: &reqwest::Error) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if error.downcast_ref::<NotPublic>().is_some() {
            return true;
        }
        source = error.source();
    }
    false
}
