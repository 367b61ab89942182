//! Units: consecutive events of a session that are published together, under one signature.
//!
//! A unit is one message, or several in an atomic batch if it is long. The claim in the header of each
//! message names the range of events and the hash of the whole unit, and the node signs it: one message is
//! enough to know how far a session was published, and all of them to trust the events.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tidings_base::hex::hex;

use crate::error::{ErrorKind, FleetError};
use crate::keys::{Identity, PublicKey, sha256};
use crate::limits::{PART_BYTES_MAX, PARTS_MAX, UNIT_EVENTS_MAX};
use crate::names::{Name, session_token};

const PURPOSE: &str = "unit";

/// Consecutive events of a session, and its row after them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unit {
    /// The key of the session.
    pub session: String,
    /// The epoch of the events.
    pub epoch: u64,
    /// The number of the first event; without events, the number of the next one.
    pub first: u64,
    /// True if earlier units are void: readers drop the events that they have.
    pub restart: bool,
    /// Epochs that ended, each with its last surviving number.
    pub past: Vec<(u64, u64)>,
    /// The events, numbered from `first`.
    pub events: Vec<UnitEvent>,
    /// The session's row after the last event, as bytes that are opaque here.
    pub row: Option<Bytes>,
    /// True if the session was deleted.
    pub deleted: bool,
}

/// An event in a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitEvent {
    /// Microseconds since the Unix epoch.
    pub at_us: i64,
    /// True if it survives a loss of power at its owner.
    pub durable: bool,
    /// Its kind.
    pub kind: String,
    /// Id of the command that caused it.
    pub client_id: Option<String>,
    /// Its body.
    pub body: Bytes,
}

impl Unit {
    /// The number of the last event.
    pub fn last(&self) -> u64 {
        (self.first + self.events.len() as u64).saturating_sub(1)
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    session: String,
    epoch: String,
    first: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    restart: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    past: Vec<(String, u64)>,
    /// Length of the row, which follows the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    events: Vec<EventHead>,
}

#[derive(Serialize, Deserialize)]
struct EventHead {
    at: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    durable: bool,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    len: usize,
}

/// The signed claim of a message: a range of events, and the hash of their unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) epoch: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The hash of the row that readers have after the unit; of nothing if they have none.
    pub(crate) row: u64,
    /// The number in the stream of the session's message before this unit: a copy that is published later
    /// does not follow it.
    pub(crate) after: u64,
    pub(crate) part: usize,
    pub(crate) parts: usize,
    hash: [u8; 32],
    signature: Vec<u8>,
}

/// The hash of a row that stands for the end of a deleted session.
pub(crate) const ENDED: u64 = u64::MAX;

/// A unit as messages: the header of each, and its payload.
pub(crate) struct Encoded {
    pub(crate) parts: Vec<(String, Bytes)>,
}

/// Encodes, encrypts and signs a unit. `row` is the hash of the row that readers have after it.
pub(crate) fn encode(identity: &Identity, unit: &Unit, row: u64, after: u64) -> Result<Encoded, FleetError> {
    let head = Head {
        session: unit.session.clone(),
        epoch: epoch_text(unit.epoch),
        first: unit.first,
        restart: unit.restart,
        deleted: unit.deleted,
        past: unit.past.iter().map(|(epoch, last)| (epoch_text(*epoch), *last)).collect(),
        row: unit.row.as_ref().map(Bytes::len),
        events: unit.events.iter().map(EventHead::of).collect(),
    };
    let head = serde_json::to_vec(&head).map_err(|_| damaged("it cannot be written"))?;
    let bodies: usize = unit.events.iter().map(|event| event.body.len()).sum();
    let mut payload = Vec::with_capacity(4 + head.len() + bodies);
    let length = u32::try_from(head.len()).map_err(|_| damaged("its head is too long"))?;
    payload.extend_from_slice(&length.to_be_bytes());
    payload.extend_from_slice(&head);
    unit.events.iter().for_each(|event| payload.extend_from_slice(&event.body));
    payload.extend_from_slice(unit.row.as_deref().unwrap_or_default());
    let payload = Bytes::from(identity.encrypt(PURPOSE, &payload)?);
    let parts = payload.len().div_ceil(PART_BYTES_MAX).max(1);
    if parts > PARTS_MAX {
        return Err(FleetError::new(ErrorKind::TooLarge, "An event is too long for the fleet", ""));
    }
    let token = session_token(&unit.session);
    let mut claim = Claim {
        epoch: unit.epoch,
        first: unit.first,
        last: unit.last(),
        row,
        after,
        part: 0,
        parts,
        hash: sha256(&payload),
        signature: Vec::new(),
    };
    claim.signature = claim.sign(identity, &token);
    let parts = (0..parts).map(|part| {
        let (from, to) = (part * PART_BYTES_MAX, payload.len().min((part + 1) * PART_BYTES_MAX));
        (Claim { part, ..claim.clone() }.to_string(), payload.slice(from..to))
    });
    Ok(Encoded { parts: parts.collect() })
}

/// Decodes a unit whose claim was verified.
pub(crate) fn decode(identity: &Identity, claim: &Claim, payload: &[u8]) -> Result<Unit, FleetError> {
    if sha256(payload) != claim.hash {
        return Err(damaged("it is not what was signed"));
    }
    let payload = Bytes::from(identity.decrypt(PURPOSE, payload)?);
    let cut = |from: usize, length: usize| {
        let to = from.checked_add(length).filter(|to| *to <= payload.len());
        to.map(|to| payload.slice(from..to)).ok_or_else(|| damaged("it is too short"))
    };
    let length = cut(0, 4)?.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
    let head: Head = serde_json::from_slice(&cut(4, length)?).map_err(|error| damaged(&error.to_string()))?;
    if head.events.len() > UNIT_EVENTS_MAX {
        return Err(damaged("it has too many events"));
    }
    let mut offset = 4 + length;
    let mut events = Vec::with_capacity(head.events.len());
    for event in head.events {
        let body = cut(offset, event.len)?;
        offset += event.len;
        let EventHead { at, durable, kind, id, .. } = event;
        events.push(UnitEvent { at_us: at, durable, kind, client_id: id, body });
    }
    let row = head.row.map(|length| cut(offset, length)).transpose()?;
    let past: Option<Vec<(u64, u64)>> =
        head.past.iter().map(|(epoch, last)| Some((epoch_of(epoch)?, *last))).collect();
    let unit = Unit {
        session: head.session,
        epoch: epoch_of(&head.epoch).ok_or_else(|| damaged("its epoch"))?,
        first: head.first,
        restart: head.restart,
        past: past.ok_or_else(|| damaged("an earlier epoch"))?,
        events,
        row,
        deleted: head.deleted,
    };
    if (unit.epoch, unit.first, unit.last()) != (claim.epoch, claim.first, claim.last) {
        return Err(damaged("its events are not those of its claim"));
    }
    Ok(unit)
}

impl Claim {
    fn fields(&self) -> [Vec<u8>; 7] {
        let number = |number: u64| number.to_be_bytes().to_vec();
        let parts = self.parts as u64;
        [
            number(self.epoch),
            number(self.first),
            number(self.last),
            number(self.row),
            number(self.after),
            number(parts),
            self.hash.to_vec(),
        ]
    }

    fn sign(&self, identity: &Identity, token: &str) -> Vec<u8> {
        let own = self.fields();
        let fields = Claim::all(&identity.fleet, &identity.node, token, &own);
        identity.key.sign(PURPOSE, &fields).to_vec()
    }

    /// Checks that a node has signed the claim for a session.
    pub(crate) fn verify(
        &self,
        fleet: &Name,
        node: &Name,
        token: &str,
        key: &PublicKey,
    ) -> Result<(), FleetError> {
        let own = self.fields();
        key.verify(PURPOSE, &Claim::all(fleet, node, token, &own), &self.signature)
    }

    fn all<'a>(fleet: &'a Name, node: &'a Name, token: &'a str, own: &'a [Vec<u8>]) -> Vec<&'a [u8]> {
        let names = [fleet.as_str().as_bytes(), node.as_str().as_bytes(), token.as_bytes()];
        names.into_iter().chain(own.iter().map(Vec::as_slice)).collect()
    }

    /// True for the parts of one unit.
    pub(crate) fn is_same_unit(&self, other: &Claim) -> bool {
        self.hash == other.hash && self.signature == other.signature
    }

    pub(crate) fn parse(text: &str) -> Option<Claim> {
        let mut words = text.split(' ');
        if words.next()? != "1" {
            return None;
        }
        let mut word = || words.next();
        let epoch = epoch_of(word()?)?;
        let (first, last) = (word()?.parse().ok()?, word()?.parse().ok()?);
        let row = epoch_of(word()?)?;
        let after = word()?.parse().ok()?;
        let (part, parts) = (word()?.parse().ok()?, word()?.parse().ok()?);
        let hash = URL_SAFE_NO_PAD.decode(word()?).ok()?.try_into().ok()?;
        let signature = URL_SAFE_NO_PAD.decode(word()?).ok()?;
        let is_whole = part < parts && parts <= PARTS_MAX && words.next().is_none();
        is_whole.then_some(Claim { epoch, first, last, row, after, part, parts, hash, signature })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Claim { epoch, first, last, row, after, part, parts, hash, signature } = self;
        let (epoch, row) = (epoch_text(*epoch), epoch_text(*row));
        let (hash, signature) = (URL_SAFE_NO_PAD.encode(hash), URL_SAFE_NO_PAD.encode(signature));
        write!(f, "1 {epoch} {first} {last} {row} {after} {part} {parts} {hash} {signature}")
    }
}

impl EventHead {
    fn of(event: &UnitEvent) -> Self {
        EventHead {
            at: event.at_us,
            durable: event.durable,
            kind: event.kind.clone(),
            id: event.client_id.clone(),
            len: event.body.len(),
        }
    }
}

fn epoch_text(epoch: u64) -> String {
    hex(&epoch.to_be_bytes())
}

fn epoch_of(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

fn damaged(why: &str) -> FleetError {
    let hint = "the node may have another version";
    FleetError::new(ErrorKind::Refused, format!("A unit of events cannot be read: {why}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::{FleetSecret, Keyring};
    use crate::keys::SigningKey;

    fn identity(secret: bool) -> Identity {
        let (key, admin) = (SigningKey::generate().unwrap(), SigningKey::generate().unwrap().public());
        let secrets = Keyring::new(secret.then(|| FleetSecret::generate().unwrap()).into_iter().collect());
        Identity { fleet: Name::new("f").unwrap(), node: Name::new("n").unwrap(), key, admin, secrets }
    }

    fn event(body: Vec<u8>) -> UnitEvent {
        UnitEvent {
            at_us: -1,
            durable: true,
            kind: "a b".into(),
            client_id: Some("c".into()),
            body: body.into(),
        }
    }

    fn sample(events: Vec<UnitEvent>) -> Unit {
        Unit {
            session: "s 1".into(),
            epoch: u64::MAX,
            first: 7,
            restart: true,
            past: vec![(3, 5)],
            events,
            row: Some(Bytes::from_static(b"{}")),
            deleted: false,
        }
    }

    #[test]
    fn a_unit_comes_back_byte_for_byte_in_one_part_or_many() {
        let long = vec![0xff; PART_BYTES_MAX * 2 + 9];
        for (secret, events) in [
            (false, Vec::new()),
            (false, vec![event(Vec::new()), event((0..=255).collect())]),
            (true, vec![event(b"x".to_vec()), event(long)]),
        ] {
            let one = identity(secret);
            let unit = sample(events);
            let encoded = encode(&one, &unit, 9, 4).unwrap();
            let claims: Vec<Claim> =
                encoded.parts.iter().map(|(claim, _)| Claim::parse(claim).unwrap()).collect();
            let token = session_token(&unit.session);
            for claim in &claims {
                claim.verify(&one.fleet, &one.node, &token, &one.key.public()).unwrap();
                assert!(claim.is_same_unit(&claims[0]));
                assert_eq!((claim.row, claim.after, claim.parts), (9, 4, claims.len()));
            }
            let payload: Vec<u8> = encoded.parts.iter().flat_map(|(_, part)| part.to_vec()).collect();
            assert_eq!(decode(&one, &claims[0], &payload).unwrap(), unit);
            let mut changed = payload.clone();
            changed[payload.len() / 2] ^= 1;
            assert_eq!(decode(&one, &claims[0], &changed).unwrap_err().kind(), ErrorKind::Refused);
        }
    }

    #[test]
    fn a_claim_holds_for_its_session_node_and_range_only() {
        let one = identity(false);
        let unit = sample(vec![event(b"x".to_vec())]);
        let claim = Claim::parse(&encode(&one, &unit, 0, 0).unwrap().parts[0].0).unwrap();
        let (token, key) = (session_token("s 1"), one.key.public());
        claim.verify(&one.fleet, &one.node, &token, &key).unwrap();
        let other = Name::new("other").unwrap();
        assert!(claim.verify(&one.fleet, &other, &token, &key).is_err());
        assert!(claim.verify(&other, &one.node, &token, &key).is_err());
        assert!(claim.verify(&one.fleet, &one.node, &session_token("s 2"), &key).is_err());
        let later = Claim { last: claim.last + 1, ..claim.clone() };
        assert!(later.verify(&one.fleet, &one.node, &token, &key).is_err());
        for text in ["", "1", "2 a", "1 0000000000000000 1 1 0000000000000000 0 1 1 a b"] {
            assert!(Claim::parse(text).is_none(), "{text}");
        }
    }
}
