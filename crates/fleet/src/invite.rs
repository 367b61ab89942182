//! Joining a fleet with a one-time code.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use ring::hmac;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::{ErrorKind, FleetError};
use crate::key_exchange::{self, JoinReply, KeyRequest};
use crate::key_text::{random, random_name};
use crate::keyring::FleetSecret;
use crate::keys::PublicKey;
use crate::limits::{CALL_MAX, INVITE_LIFETIME};
use crate::link::{FleetLink, bounded};
use crate::names::{Name, joins};
use crate::roster::{Admin, FleetMember, MemberKind, Roster};

/// An invitation to a fleet, for one node. Its text is a secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct Invite {
    /// Addresses of the NATS servers.
    pub url: String,
    /// The fleet.
    pub fleet: Name,
    /// The key of its admin.
    pub admin: PublicKey,
    id: String,
    secret: String,
    /// The key of the fleet, if payloads are encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fleet_secret: Option<String>,
    /// The generation of that key.
    #[serde(default)]
    generation: u64,
    /// Earlier keys with their generations, for what is stored already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    old_secrets: Vec<(u64, String)>,
}

/// A request to join.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinRequest {
    id: String,
    /// The name that the node wants.
    pub node: Name,
    /// The key that it has made.
    pub key: PublicKey,
    proof: String,
}

/// Redeems invitations, on the node that has the admin's key. Handles are cheap to clone.
#[derive(Clone)]
pub struct JoinService(Arc<JoinInner>);

struct JoinInner {
    link: FleetLink,
    roster: Roster,
    admin: Admin,
    invites: Mutex<HashMap<String, OpenInvite>>,
}

struct OpenInvite {
    secret: String,
    kind: MemberKind,
    scopes: Vec<String>,
    until: Instant,
}

impl Invite {
    /// Reads the code of [`code`](Self::code).
    pub fn parse(code: &str) -> Result<Self, FleetError> {
        let bytes = URL_SAFE_NO_PAD.decode(code.trim()).ok();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| {
            let hint = "copy all of it; `tidings fleet invite` makes another";
            FleetError::new(ErrorKind::Invalid, "Not an invitation to a fleet", hint)
        })
    }

    /// The code as text.
    pub fn code(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// The keys of the fleet with their generations, the newest last; none if payloads are not encrypted.
    pub fn fleet_keys(&self) -> Result<Vec<(u64, FleetSecret)>, FleetError> {
        let newest = self.fleet_secret.as_ref().map(|secret| (self.generation, secret));
        let old = self.old_secrets.iter().map(|(generation, secret)| (*generation, secret));
        old.chain(newest).map(|(generation, secret)| Ok((generation, FleetSecret::parse(secret)?))).collect()
    }
}

impl JoinService {
    /// A service with the key of the admin.
    pub fn new(link: FleetLink, roster: Roster, admin: Admin) -> Self {
        JoinService(Arc::new(JoinInner { link, roster, admin, invites: Mutex::default() }))
    }

    /// The admin's key.
    pub fn admin(&self) -> &Admin {
        &self.0.admin
    }

    /// Makes an invitation for one node.
    pub fn invite(&self, url: &str, kind: MemberKind, scopes: Vec<String>) -> Result<Invite, FleetError> {
        let identity = self.0.link.identity();
        let mut keys: Vec<(u64, String)> = identity
            .secrets
            .all()
            .into_iter()
            .map(|(generation, secret)| (generation, secret.to_text()))
            .collect();
        let newest = keys.pop();
        let (id, secret) = (random_name()?, URL_SAFE_NO_PAD.encode(random::<32>()?));
        let until = Instant::now() + INVITE_LIFETIME;
        let mut invites = self.0.invites.lock();
        invites.retain(|_, invite| invite.until > Instant::now());
        invites.insert(id.clone(), OpenInvite { secret: secret.clone(), kind, scopes, until });
        Ok(Invite {
            url: url.to_owned(),
            fleet: identity.fleet.clone(),
            admin: identity.admin,
            id,
            secret,
            generation: newest.as_ref().map_or(0, |(generation, _)| *generation),
            fleet_secret: newest.map(|(_, secret)| secret),
            old_secrets: keys,
        })
    }

    /// Redeems invitations, and writes damaged records of the fleet again, until it is stopped.
    pub async fn run(&self, stop: CancellationToken) {
        let serve = async {
            loop {
                self.0.link.connected().await;
                if let Err(error) = Box::pin(self.serve_once()).await {
                    tracing::debug!(%error, "redeeming invitations is interrupted");
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::select! {
            () = serve => {}
            () = Box::pin(self.0.roster.restore(&self.0.admin)) => {}
            () = stop.cancelled() => {}
        }
    }

    async fn serve_once(&self) -> Result<(), FleetError> {
        let doing = "wait for nodes that join";
        let client = self.0.link.client();
        let subject = joins(&self.0.link.identity().fleet);
        let requests = bounded(doing, CALL_MAX, client.subscribe(subject)).await?;
        let mut requests = requests.map_err(|error| FleetError::server(doing, error))?;
        while let Some(message) = requests.next().await {
            let Some(inbox) = message.reply.clone() else { continue };
            let reply = match self.answer(&message.payload).await {
                Ok(reply) => reply,
                Err(error) => {
                    tracing::warn!(%error, "a node gets neither a membership nor a key of the fleet");
                    JoinReply::Refused(error.to_string())
                }
            };
            let reply = serde_json::to_vec(&reply).unwrap_or_default();
            let sent = bounded(doing, CALL_MAX, client.publish(inbox, reply.into())).await?;
            sent.map_err(|error| FleetError::server(doing, error))?;
        }
        Err(FleetError::disconnected())
    }

    async fn answer(&self, request: &[u8]) -> Result<JoinReply, FleetError> {
        let JoinInner { link, roster, admin, .. } = &*self.0;
        if let Ok(request) = serde_json::from_slice::<KeyRequest>(request) {
            return key_exchange::answer(link.identity(), &admin.0, roster, &request).map(JoinReply::Key);
        }
        self.redeem(request).await.map(|sealed| JoinReply::Member(URL_SAFE_NO_PAD.encode(sealed)))
    }

    async fn redeem(&self, request: &[u8]) -> Result<Vec<u8>, FleetError> {
        let refused = |why: &str| FleetError::new(ErrorKind::Refused, why, "ask for another invitation");
        let request: JoinRequest =
            serde_json::from_slice(request).map_err(|_| refused("The request cannot be read"))?;
        let unknown = || refused("The invitation is unknown, used or expired");
        let (kind, scopes) = {
            let mut invites = self.0.invites.lock();
            let invite = invites.get(&request.id).filter(|invite| invite.until > Instant::now());
            let invite = invite.ok_or_else(unknown)?;
            let proof = URL_SAFE_NO_PAD.decode(&request.proof).unwrap_or_default();
            let text = request.text(&self.0.link.identity().fleet);
            hmac::verify(&proof_key(&invite.secret), text.as_bytes(), &proof).map_err(|_| unknown())?;
            // It is used from here on, whatever happens next.
            let invite = invites.remove(&request.id).ok_or_else(unknown)?;
            (invite.kind, invite.scopes)
        };
        if self.0.roster.member(&request.node).is_some_and(|member| member.key != request.key) {
            return Err(refused("There is a node of this name"));
        }
        let unknown = serde_json::Map::new();
        let member = FleetMember { node: request.node, key: request.key, kind, scopes, unknown };
        tracing::info!(node = %member.node, "a node joins the fleet");
        self.0.roster.put_member(&self.0.admin, &member).await
    }
}

impl JoinRequest {
    fn text(&self, fleet: &Name) -> String {
        format!("tidings-fleet-join\n{fleet}\n{}\n{}\n{}", self.id, self.node, self.key)
    }
}

/// Redeems an invitation for the node of a connection.
pub async fn join(link: &FleetLink, roster: &Roster, invite: &Invite) -> Result<FleetMember, FleetError> {
    let doing = "join the fleet";
    let identity = link.identity();
    let (node, key) = (identity.node.clone(), identity.key.public());
    let mut request = JoinRequest { id: invite.id.clone(), node, key, proof: String::new() };
    let proof = hmac::sign(&proof_key(&invite.secret), request.text(&invite.fleet).as_bytes());
    request.proof = URL_SAFE_NO_PAD.encode(proof.as_ref());
    let body = serde_json::to_vec(&request).unwrap_or_default();
    let answer =
        bounded(doing, CALL_MAX * 2, link.client().request(joins(&invite.fleet), body.into())).await?;
    let answer = answer.map_err(|error| {
        let hint = "the node that made the invitation must be running";
        FleetError::new(ErrorKind::NoNode, format!("No server answers the invitation: {error}"), hint)
    })?;
    let reply: JoinReply = serde_json::from_slice(&answer.payload)
        .map_err(|error| FleetError::server("read the answer to an invitation", error))?;
    let sealed = match reply {
        JoinReply::Member(sealed) => URL_SAFE_NO_PAD.decode(sealed).unwrap_or_default(),
        JoinReply::Key(_) => Vec::new(),
        JoinReply::Refused(why) => {
            return Err(FleetError::new(ErrorKind::Refused, why, "ask for another invitation"));
        }
    };
    let record = roster.accept("member", request.node.as_str(), &sealed)?;
    serde_json::from_value(record.body)
        .map_err(|_| FleetError::new(ErrorKind::Refused, "The membership cannot be read", ""))
}

fn proof_key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

impl fmt::Debug for Invite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invite").field("fleet", &self.fleet).finish_non_exhaustive()
    }
}

impl fmt::Debug for JoinService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinService").field("admin", &self.0.admin).finish_non_exhaustive()
    }
}
