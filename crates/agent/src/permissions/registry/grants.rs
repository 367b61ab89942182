//! The grants of sessions.

use std::collections::HashMap;

use jiff::Timestamp;

use super::PermissionRegistry;
use crate::limits::GRANTS_MAX;
use crate::permissions::grant::is_open_to_patterns;
use crate::permissions::{Ask, Grant, Script};

impl PermissionRegistry {
    /// Adds a grant to a session. A grant with the same id is replaced; the oldest is dropped if there are
    /// too many.
    pub fn add_grant(&self, session_id: i64, grant: Grant) {
        self.0.lock().grants.add(session_id, grant);
    }

    /// Revokes a grant, and returns it.
    pub fn revoke_grant(&self, session_id: i64, id: &str) -> Option<Grant> {
        self.0.lock().grants.revoke(session_id, id)
    }

    /// The unexpired grants of a session, oldest first.
    pub fn grants(&self, session_id: i64, now: Timestamp) -> Vec<Grant> {
        self.0.lock().grants.of(session_id).iter().filter(|grant| grant.is_live(now)).cloned().collect()
    }

    /// Revokes all grants of a session.
    pub fn clear_grants(&self, session_id: i64) {
        self.0.lock().grants.clear(session_id);
    }

    /// The id of the grant that allows the request; if several allow it together, the first.
    pub fn find_satisfying(&self, ask: &Ask, now: Timestamp) -> Option<String> {
        self.0.lock().grants.satisfying(ask, now)
    }
}

#[derive(Debug, Default)]
pub(super) struct Grants(HashMap<i64, Vec<Grant>>);

impl Grants {
    pub(super) fn add(&mut self, session_id: i64, grant: Grant) {
        let grants = self.0.entry(session_id).or_default();
        grants.retain(|other| other.id != grant.id);
        if grants.len() >= GRANTS_MAX {
            grants.remove(0);
        }
        grants.push(grant);
    }

    fn revoke(&mut self, session_id: i64, id: &str) -> Option<Grant> {
        let grants = self.0.get_mut(&session_id)?;
        let at = grants.iter().position(|grant| grant.id == id)?;
        Some(grants.remove(at))
    }

    fn of(&self, session_id: i64) -> &[Grant] {
        self.0.get(&session_id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn clear(&mut self, session_id: i64) {
        self.0.remove(&session_id);
    }

    /// The grant that covers the request, or the first of the grants that together cover all commands of a
    /// script.
    pub(super) fn satisfying(&self, ask: &Ask, now: Timestamp) -> Option<String> {
        let live: Vec<&Grant> =
            self.of(ask.key.session_id).iter().filter(|grant| grant.is_live(now)).collect();
        if let Some(grant) = live.iter().find(|grant| grant.covers(ask)) {
            return Some(grant.id.clone());
        }
        let is_open =
            |script: &&Script| !script.is_opaque() && !ask.is_protected() && is_open_to_patterns(ask, script);
        let script = ask.script.as_ref().filter(is_open)?;
        let mut first = None;
        for command in script.commands() {
            let grant = live.iter().find(|grant| grant.covers_command(command, ask.request.level))?;
            first.get_or_insert(&grant.id);
        }
        first.cloned()
    }
}
