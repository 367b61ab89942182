//! The way of a fleet's new key to a member: from the node with the admin's key, and readable by no other.
//!
//! Both sides make a key pair for this one exchange and sign its public part, so that neither the NATS
//! server nor a removed member, who still has the last key of the fleet, can read the new one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::rand::SystemRandom;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, FleetError};
use crate::keyring::FleetSecret;
use crate::keys::{Identity, SigningKey, sha256};
use crate::limits::CALL_MAX;
use crate::link::{FleetLink, bounded};
use crate::names::{Name, joins};
use crate::roster::Roster;

const REQUEST: &str = "key-request";
const REPLY: &str = "key-reply";

/// A member's request for the newest key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeyRequest {
    key_for: Name,
    /// The public part of the key pair of this exchange.
    public: String,
    signature: String,
}

/// The answer to it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeyReply {
    public: String,
    sealed: String,
    signature: String,
}

/// An answer of the service that members join with and ask for keys.
#[derive(Serialize, Deserialize)]
pub(crate) enum JoinReply {
    /// The signed membership.
    Member(String),
    /// The newest key of the fleet.
    Key(KeyReply),
    Refused(String),
}

#[derive(Serialize, Deserialize)]
struct NewKey {
    generation: u64,
    secret: String,
}

/// Asks the node with the admin's key for the newest key of the fleet, and adds it to the ring.
pub async fn fetch_key(link: &FleetLink) -> Result<(u64, FleetSecret), FleetError> {
    let doing = "ask for the new key of the fleet";
    let identity = link.identity();
    link.check()?;
    let pair = EphemeralPair::new()?;
    let public = pair.public.clone();
    let signature = identity.key.sign(REQUEST, &fields(&identity.fleet, &identity.node, &[&public]));
    let request = KeyRequest {
        key_for: identity.node.clone(),
        public: URL_SAFE_NO_PAD.encode(&public),
        signature: URL_SAFE_NO_PAD.encode(signature),
    };
    let body = serde_json::to_vec(&request).unwrap_or_default();
    let answer = bounded(doing, CALL_MAX, link.client().request(joins(&identity.fleet), body.into())).await?;
    let answer = answer.map_err(|error| FleetError::server(doing, error))?;
    let reply: JoinReply = serde_json::from_slice(&answer.payload)
        .map_err(|error| FleetError::server("read the answer to a request for a key", error))?;
    let reply = match reply {
        JoinReply::Key(reply) => reply,
        JoinReply::Refused(why) => return Err(refused(&why)),
        JoinReply::Member(_) => return Err(refused("The answer has no key")),
    };
    let (theirs, sealed) = (decoded(&reply.public), decoded(&reply.sealed));
    let signed = fields(&identity.fleet, &identity.node, &[&public, &theirs, &sealed]);
    identity.admin.verify(REPLY, &signed, &decoded(&reply.signature))?;
    let opened = pair.agree(&theirs)?.open(REPLY.as_bytes(), &sealed);
    let opened = opened.ok_or_else(|| refused("The new key cannot be read"))?;
    let new: NewKey = serde_json::from_slice(&opened).map_err(|_| refused("The new key cannot be read"))?;
    Ok((new.generation, FleetSecret::parse(&new.secret)?))
}

/// Answers the request of a member.
pub(crate) fn answer(
    identity: &Identity,
    admin: &SigningKey,
    roster: &Roster,
    request: &KeyRequest,
) -> Result<KeyReply, FleetError> {
    let member = roster.member(&request.key_for).ok_or_else(|| {
        let message = format!("`{}` is not a member of the fleet: it was removed", request.key_for);
        FleetError::new(ErrorKind::Refused, message, "")
    })?;
    let theirs = decoded(&request.public);
    let signed = fields(&identity.fleet, &member.node, &[&theirs]);
    member.key.verify(REQUEST, &signed, &decoded(&request.signature))?;
    let newest = identity.secrets.all().pop();
    let (generation, secret) = newest.ok_or_else(|| refused("The fleet does not encrypt"))?;
    let new = serde_json::to_vec(&NewKey { generation, secret: secret.to_text() }).unwrap_or_default();
    let pair = EphemeralPair::new()?;
    let public = pair.public.clone();
    let sealed = pair.agree(&theirs)?.seal(REPLY.as_bytes(), &new)?;
    let signature = admin.sign(REPLY, &fields(&identity.fleet, &member.node, &[&theirs, &public, &sealed]));
    Ok(KeyReply {
        public: URL_SAFE_NO_PAD.encode(public),
        sealed: URL_SAFE_NO_PAD.encode(sealed),
        signature: URL_SAFE_NO_PAD.encode(signature),
    })
}

/// A key pair that is used for one exchange.
struct EphemeralPair {
    private: EphemeralPrivateKey,
    public: Vec<u8>,
}

impl EphemeralPair {
    fn new() -> Result<Self, FleetError> {
        let failed = |_| FleetError::new(ErrorKind::Local, "The system has no random numbers", "");
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).map_err(failed)?;
        let public = private.compute_public_key().map_err(failed)?.as_ref().to_vec();
        Ok(EphemeralPair { private, public })
    }

    /// The key that only the two sides know.
    fn agree(self, theirs: &[u8]) -> Result<FleetSecret, FleetError> {
        let agreed = agree_ephemeral(self.private, &UnparsedPublicKey::new(&X25519, theirs), |shared| {
            FleetSecret::from_bytes(sha256(&[b"tidings-fleet-key", shared].concat()))
        });
        agreed.map_err(|_| refused("The other side of an exchange of keys is invalid"))
    }
}

fn fields<'a>(fleet: &'a Name, node: &'a Name, parts: &[&'a [u8]]) -> Vec<&'a [u8]> {
    [fleet.as_str().as_bytes(), node.as_str().as_bytes()].into_iter().chain(parts.iter().copied()).collect()
}

fn decoded(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap_or_default()
}

fn refused(why: &str) -> FleetError {
    FleetError::new(ErrorKind::Refused, why, "ask on the first server of the fleet")
}
