//! Leases of sessions whose node is lost: at most one other node continues a session.
//!
//! A lease is a key of the bucket that only its first writer can create, signed by the node that holds it.
//! The lost node reads it when it comes back, and leaves the session alone from then on.

use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, FleetError};
use crate::limits::{CALL_MAX, RECORDS_MAX};
use crate::link::bounded;
use crate::names::{Name, session_token};

use super::{MemberKind, Roster, unreadable};

/// The kind of their keys, and the purpose of their signatures.
pub(super) const LEASE: &str = "lease";

/// The right of a node to continue a session of another node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RosterLease {
    /// The key of the session.
    pub session: String,
    /// The node that had it.
    pub from: Name,
    /// The node that continues it.
    pub holder: Name,
}

impl Roster {
    /// Takes the lease of a session for this node. A node that has it already gets it again; of several nodes
    /// at once, one gets it.
    pub async fn claim(&self, session: &str, from: &Name) -> Result<RosterLease, FleetError> {
        let doing = "take the lease of a session";
        let identity = self.0.link.identity();
        let lease =
            RosterLease { session: session.to_owned(), from: from.clone(), holder: identity.node.clone() };
        let store = self.0.link.bucket().await?;
        let token = session_token(session);
        let key = format!("{LEASE}.{token}");
        let found = bounded(doing, CALL_MAX, store.entry(key.clone())).await?;
        let found = found.map_err(|error| FleetError::server(doing, error))?;
        let held = found.as_ref().and_then(|entry| self.take_lease(&token, &entry.value).ok());
        if let Some(held) = held {
            return if held.holder == lease.holder { Ok(held) } else { Err(is_held(&held)) };
        }
        let value = serde_json::to_vec(&lease).unwrap_or_default();
        let holder = lease.holder.as_str();
        let sealed = identity.seal(&identity.key, LEASE, &[token.as_bytes(), holder.as_bytes()], &value)?;
        let sealed = [holder.as_bytes(), b"\n", &sealed].concat();
        let revision = found.map_or(0, |entry| entry.revision);
        bounded(doing, CALL_MAX, store.update(key, sealed.clone().into(), revision)).await?.map_err(
            |error| {
                let message = format!("Another server took the lease of the session first: {error}");
                FleetError::new(ErrorKind::Conflict, message, "list the sessions again")
            },
        )?;
        self.keep_lease(lease.clone(), &sealed);
        Ok(lease)
    }

    /// All leases.
    pub fn leases(&self) -> Vec<RosterLease> {
        self.0.state.lock().leases.values().cloned().collect()
    }

    /// The lease of a session, if a node continues it.
    pub fn lease(&self, session: &str) -> Option<RosterLease> {
        self.0.state.lock().leases.get(session).cloned()
    }

    /// Takes a lease from the bucket. One whose holder is not known yet waits for the next membership.
    pub(super) fn hear_lease(&self, token: &str, value: &[u8]) -> Result<(), FleetError> {
        let holder =
            value.split(|byte| *byte == b'\n').next().and_then(|name| std::str::from_utf8(name).ok());
        let holder = Name::new(holder.unwrap_or_default())?;
        if self.record("member", holder.as_str()).is_none() {
            self.wait_for_member(&format!("{LEASE}.{token}"), value);
            return Ok(());
        }
        self.take_lease(token, value).map(drop)
    }

    /// Reads a lease that a member has signed, and keeps it. The first one of a session counts.
    fn take_lease(&self, token: &str, value: &[u8]) -> Result<RosterLease, FleetError> {
        let at = value.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
        let (holder, sealed) = (&value[..at], &value[at + 1..]);
        let name = Name::new(std::str::from_utf8(holder).map_err(|_| unreadable())?)?;
        let refused = |why: &str| FleetError::new(ErrorKind::Refused, why, "");
        let member = self.member(&name).filter(|member| member.kind == MemberKind::Node);
        let member = member.ok_or_else(|| refused("The holder of a lease is not a node of the fleet"))?;
        let identity = self.0.link.identity();
        let lease = identity.open(&member.key, LEASE, &[token.as_bytes(), holder], sealed)?;
        let lease: RosterLease = serde_json::from_slice(&lease).map_err(|_| unreadable())?;
        if lease.holder != name || session_token(&lease.session) != token {
            return Err(refused("A lease names another holder or session than its key"));
        }
        Ok(self.keep_lease(lease, value))
    }

    fn keep_lease(&self, lease: RosterLease, value: &[u8]) -> RosterLease {
        let mut state = self.0.state.lock();
        if let Some(known) = state.leases.get(&lease.session) {
            return known.clone();
        }
        if state.leases.len() < RECORDS_MAX {
            state.leases.insert(lease.session.clone(), lease.clone());
            state.values.keep(&format!("{LEASE}.{}", session_token(&lease.session)), value);
        }
        drop(state);
        self.note_change();
        lease
    }
}

fn is_held(lease: &RosterLease) -> FleetError {
    let message = format!("The session is continued on `{}`", lease.holder);
    FleetError::new(ErrorKind::Conflict, message, "use it there")
}
