//! Members of a fleet, as its admin signed them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::error::FleetError;
use crate::keys::PublicKey;
use crate::limits::{CALL_MAX, STRANGER_FOR, STRANGERS_MAX};
use crate::link::bounded;
use crate::names::Name;

use super::heartbeat::HeardAt;
use super::{Admin, Roster, RosterRecord};

/// The kind of their records.
pub(super) const MEMBER: &str = "member";

/// Purpose of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum MemberKind {
    /// It runs agents.
    Node,
    /// It only serves the sessions of others.
    Hub,
    /// A purpose of a later version.
    Other(String),
}

impl MemberKind {
    /// The purpose as a word.
    pub fn as_str(&self) -> &str {
        match self {
            MemberKind::Node => "node",
            MemberKind::Hub => "hub",
            MemberKind::Other(word) => word,
        }
    }
}

impl From<String> for MemberKind {
    fn from(word: String) -> Self {
        match word.as_str() {
            "node" => MemberKind::Node,
            "hub" => MemberKind::Hub,
            _ => MemberKind::Other(word),
        }
    }
}

impl From<MemberKind> for String {
    fn from(kind: MemberKind) -> String {
        kind.as_str().to_owned()
    }
}

/// A member of a fleet, as its admin signed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMember {
    /// Its name.
    pub node: Name,
    /// Its key.
    pub key: PublicKey,
    /// Its purpose.
    pub kind: MemberKind,
    /// Rights of its own admin token on other nodes.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Parts that a later version has added.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Roster {
    /// The key of a node, if it is a member. A node that is unknown here is waited for, and looked up in the
    /// bucket then: its membership may be on its way, or this node may have just started.
    pub async fn key_of(&self, node: &Name, wait: Duration) -> Result<Option<PublicKey>, FleetError> {
        let mut changes = self.0.changes.subscribe();
        let deadline = Instant::now() + wait;
        loop {
            changes.borrow_and_update();
            if self.record(MEMBER, node.as_str()).is_some() || self.is_stranger(node) {
                break;
            }
            let waited = tokio::time::timeout_at(deadline, changes.changed()).await;
            if !matches!(waited, Ok(Ok(()))) {
                self.look_up(node).await?;
                break;
            }
        }
        // A removed member stays removed.
        Ok(self.member(node).map(|member| member.key))
    }

    /// Reads a membership from the bucket.
    async fn look_up(&self, node: &Name) -> Result<(), FleetError> {
        let doing = "look for a member of the fleet";
        let store = self.0.link.bucket().await?;
        let found = bounded(doing, CALL_MAX, store.entry(format!("{MEMBER}.{node}"))).await?;
        if let Some(entry) = found.map_err(|error| FleetError::server(doing, error))? {
            self.take(&entry, HeardAt::Unknown);
            return Ok(());
        }
        let mut state = self.0.state.lock();
        if state.strangers.len() >= STRANGERS_MAX {
            state.strangers.clear();
        }
        state.strangers.insert(node.clone(), Instant::now());
        Ok(())
    }

    /// True if a node was searched for lately, so that invented names do not hold up readers.
    fn is_stranger(&self, node: &Name) -> bool {
        self.0.state.lock().strangers.get(node).is_some_and(|at| at.elapsed() < STRANGER_FOR)
    }

    /// A member.
    pub fn member(&self, node: &Name) -> Option<FleetMember> {
        self.record(MEMBER, node.as_str()).filter(|record| !record.removed).as_ref().and_then(member_in)
    }

    /// True if the fleet's admin has removed this node, or given its name to another one.
    pub fn is_removed(&self) -> bool {
        let identity = self.0.link.identity();
        if !self.0.state.lock().is_read {
            return false;
        }
        self.record(MEMBER, identity.node.as_str()).is_some_and(|record| {
            let is_other = |member: FleetMember| member.key != identity.key.public();
            record.removed || member_in(&record).is_some_and(is_other)
        })
    }

    /// All members, by name.
    pub fn members(&self) -> Vec<FleetMember> {
        let mut members: Vec<FleetMember> =
            self.records(MEMBER).iter().filter_map(|(_, body)| member_in(body)).collect();
        members.sort_by(|a, b| a.node.cmp(&b.node));
        members
    }

    /// Signs and stores a member. Parts of its record that this version does not know stay.
    pub async fn put_member(&self, admin: &Admin, member: &FleetMember) -> Result<Vec<u8>, FleetError> {
        let body = |before: Option<&RosterRecord>| {
            let mut member = member.clone();
            for (key, value) in before.and_then(member_in).map(|it| it.unknown).unwrap_or_default() {
                member.unknown.entry(key).or_insert(value);
            }
            serde_json::to_value(member).ok()
        };
        self.change(admin, MEMBER, member.node.as_str(), body).await
    }

    /// Removes a member: its key is refused from now on.
    pub async fn remove_member(&self, admin: &Admin, node: &Name) -> Result<(), FleetError> {
        self.put(admin, MEMBER, node.as_str(), None).await.map(drop)
    }
}

fn member_in(record: &RosterRecord) -> Option<FleetMember> {
    serde_json::from_value(record.body.clone()).ok()
}
