//! Pairing codes that every server of a fleet accepts, once.
//!
//! A code is a key of the bucket, which its maker signs. The first server that replaces it by a signed note
//! has used it. The bucket contains neither the code nor a hash that can be tried out without the fleet's
//! key. Times are those of the NATS server, as heartbeats tell them: the clocks of nodes may differ.

use std::time::Duration;

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::error::{ErrorKind, FleetError};
use crate::limits::{CALL_MAX, USED_PAIRINGS_MAX};
use crate::link::bounded;
use crate::names::Name;

use super::{FleetMember, Roster, unreadable};

/// The kind of their keys.
pub(super) const PAIR: &str = "pair";

/// Purposes of signatures, and the first word of a value.
const OFFER: &str = "offer";
const USED: &str = "used";

/// A pairing code in the shared state, by a word that stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCode {
    /// The word.
    pub token: String,
    revision: u64,
}

/// A pairing code that a server has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedCode {
    /// The word that stands for it.
    pub token: String,
    /// The server that made it.
    pub maker: FleetMember,
    /// The server that used it.
    pub user: Name,
    /// The device that it was used for.
    pub device: String,
    /// The maker's words about the new device.
    pub body: Value,
}

#[derive(Serialize, Deserialize)]
struct Offer {
    /// End of its lifetime in milliseconds since the Unix epoch, by the clock of the NATS server.
    until_ms: i64,
    body: Value,
}

#[derive(Serialize, Deserialize)]
struct Used {
    device: String,
    /// The maker's value, with its signature.
    offer: String,
}

impl Roster {
    /// Offers a pairing code to all servers. `print` is a hash of it.
    pub async fn share_code(
        &self,
        print: &[u8],
        body: &Value,
        lifetime: Duration,
    ) -> Result<SharedCode, FleetError> {
        let doing = "share a pairing code";
        let token = self.code_token(print);
        let until_ms = self.now_ms()?.saturating_add(i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX));
        let value = self.sealed(OFFER, &token, &Offer { until_ms, body: body.clone() })?;
        let store = self.0.link.bucket().await?;
        let stored = bounded(doing, CALL_MAX, store.update(key_of(&token), value, 0)).await?;
        let revision = stored.map_err(|error| FleetError::server(doing, error))?;
        Ok(SharedCode { token, revision })
    }

    /// Uses up a pairing code for a device. None if no such code can be used: it is unknown, expired or used.
    /// Of several servers at once, one uses it.
    pub async fn use_code(&self, print: &[u8], device: &str) -> Result<Option<UsedCode>, FleetError> {
        let doing = "use a pairing code";
        let token = self.code_token(print);
        let now_ms = self.now_ms()?;
        let store = self.0.link.bucket().await?;
        let Some((value, revision)) = read(&store, &token).await? else { return Ok(None) };
        if self.0.state.lock().used_codes.contains_key(&token) || !value.starts_with(OFFER.as_bytes()) {
            return Ok(None);
        }
        let (maker, offer) = match self.opened::<Offer>(OFFER, &token, &value).await {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::Refused => {
                tracing::warn!(%error, "a pairing code of the fleet is refused");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if offer.until_ms <= now_ms {
            return Ok(None);
        }
        let note = Used { device: device.to_owned(), offer: STANDARD.encode(&value) };
        let note = self.sealed(USED, &token, &note)?;
        let stored = bounded(doing, CALL_MAX, store.update(key_of(&token), note, revision)).await?;
        self.note_used(&token);
        if let Err(error) = stored {
            tracing::debug!(%error, "another server used a pairing code first");
            return Ok(None);
        }
        let user = self.0.link.identity().node.clone();
        Ok(Some(UsedCode { token, maker, user, device: device.to_owned(), body: offer.body }))
    }

    /// The use of a pairing code, as its user and its maker have signed it.
    pub async fn used_code(&self, token: &str) -> Result<Option<UsedCode>, FleetError> {
        let store = self.0.link.bucket().await?;
        let Some((value, _)) = read(&store, token).await? else { return Ok(None) };
        if !value.starts_with(USED.as_bytes()) {
            return Ok(None);
        }
        let (user, note) = self.opened::<Used>(USED, token, &value).await?;
        let offer = STANDARD.decode(&note.offer).map_err(|_| unreadable())?;
        let (maker, offer) = self.opened::<Offer>(OFFER, token, &offer).await?;
        let (token, user) = (token.to_owned(), user.node);
        Ok(Some(UsedCode { token, maker, user, device: note.device, body: offer.body }))
    }

    /// Removes a code that was not used.
    pub async fn withdraw_code(&self, code: &SharedCode) -> Result<(), FleetError> {
        let doing = "withdraw a pairing code";
        let store = self.0.link.bucket().await?;
        let removed = store.delete_expect_revision(key_of(&code.token), Some(code.revision));
        // If it was used, the note stays until its device is known to the fleet.
        drop(bounded(doing, CALL_MAX, removed).await?);
        Ok(())
    }

    /// Removes the note of a used code, once its device is known to the fleet.
    pub async fn forget_code(&self, token: &str) -> Result<(), FleetError> {
        let doing = "forget a pairing code";
        let store = self.0.link.bucket().await?;
        let removed = bounded(doing, CALL_MAX, store.delete(key_of(token))).await?;
        removed.map_err(|error| FleetError::server(doing, error))
    }

    /// Notes the use of a code, so that no node can offer it again with the maker's old signature.
    pub(super) async fn hear_code(&self, token: &str, value: &[u8]) {
        if value.starts_with(USED.as_bytes()) && self.opened::<Used>(USED, token, value).await.is_ok() {
            self.note_used(token);
        }
    }

    fn note_used(&self, token: &str) {
        let mut state = self.0.state.lock();
        if state.used_codes.len() >= USED_PAIRINGS_MAX
            && let Some(oldest) = state.used_codes.iter().min_by_key(|(_, at)| **at).map(|(it, _)| it.clone())
        {
            state.used_codes.remove(&oldest);
        }
        state.used_codes.insert(token.to_owned(), Instant::now());
    }

    /// The word that stands for a code.
    fn code_token(&self, print: &[u8]) -> String {
        self.0.link.identity().token(PAIR, print)
    }

    /// A value with the signature of this node.
    fn sealed(&self, purpose: &str, token: &str, value: &impl Serialize) -> Result<Bytes, FleetError> {
        let identity = self.0.link.identity();
        let node = identity.node.as_str();
        let value = serde_json::to_vec(value).map_err(|_| unreadable())?;
        let fields = [token.as_bytes(), node.as_bytes()];
        let sealed = identity.seal(&identity.key, &format!("{PAIR}-{purpose}"), &fields, &value)?;
        Ok([format!("{purpose} {node}\n").as_bytes(), &sealed].concat().into())
    }

    /// The value of [`sealed`](Self::sealed), and the member who signed it.
    async fn opened<T: for<'de> Deserialize<'de>>(
        &self,
        purpose: &str,
        token: &str,
        value: &[u8],
    ) -> Result<(FleetMember, T), FleetError> {
        let at = value.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
        let head = std::str::from_utf8(&value[..at]).map_err(|_| unreadable())?;
        let node =
            head.strip_prefix(purpose).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(unreadable)?;
        let name = Name::new(node).map_err(|_| unreadable())?;
        self.key_of(&name, Duration::ZERO).await?;
        let member = self.member(&name).ok_or_else(|| {
            FleetError::new(ErrorKind::Refused, "The signer of a pairing code is not a member", "")
        })?;
        let identity = self.0.link.identity();
        let fields = [token.as_bytes(), node.as_bytes()];
        let opened = identity.open(&member.key, &format!("{PAIR}-{purpose}"), &fields, &value[at + 1..])?;
        Ok((member, serde_json::from_slice(&opened).map_err(|_| unreadable())?))
    }
}

fn key_of(token: &str) -> String {
    format!("{PAIR}.{token}")
}

/// The value of a code and its revision, from the leader: another server may have just written it.
async fn read(store: &Store, token: &str) -> Result<Option<(Bytes, u64)>, FleetError> {
    let doing = "read a pairing code";
    let is_plain = |c: char| c.is_ascii_hexdigit();
    if token.is_empty() || token.len() > 64 || !token.chars().all(is_plain) {
        return Ok(None);
    }
    let subject = format!("{}{}", store.prefix, key_of(token));
    match bounded(doing, CALL_MAX, store.stream.get_last_raw_message_by_subject(&subject)).await? {
        Ok(last) if last.payload.is_empty() => Ok(None),
        Ok(last) => Ok(Some((last.payload, last.sequence))),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(FleetError::server(doing, error)),
    }
}
