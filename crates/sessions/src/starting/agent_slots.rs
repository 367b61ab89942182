//! Agent slots: they limit the number of running agents, and lock CLI sessions.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidings_journal::Key;

/// The agent slots of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct AgentSlots(Arc<SlotsInner>);

#[derive(Debug)]
struct SlotsInner {
    max: usize,
    taken: Mutex<HashMap<Key, SlotState>>,
}

#[derive(Debug, Default)]
struct SlotState {
    /// Pending input to the session holds the slot, and so does its agent.
    holders: usize,
    /// The CLI session that the agent writes.
    cli_session: Option<String>,
}

/// The slot of one session, until it is dropped.
#[derive(Debug)]
pub(crate) struct AgentSlot {
    slots: AgentSlots,
    key: Key,
}

impl AgentSlots {
    pub(crate) fn new(max: usize) -> Self {
        AgentSlots(Arc::new(SlotsInner { max, taken: Mutex::default() }))
    }

    /// Takes a slot for the agent of a session, if one is free. A session that has a slot shares it.
    pub(crate) fn take(&self, key: &Key) -> Option<AgentSlot> {
        let mut taken = self.taken();
        if taken.len() >= self.0.max && !taken.contains_key(key) {
            return None;
        }
        taken.entry(key.clone()).or_default().holders += 1;
        Some(AgentSlot { slots: self.clone(), key: key.clone() })
    }

    /// Takes a slot even if none is free: for agents that outlived a server, and for those that have one
    /// already.
    pub(crate) fn take_anyway(&self, key: &Key) -> AgentSlot {
        self.taken().entry(key.clone()).or_default().holders += 1;
        AgentSlot { slots: self.clone(), key: key.clone() }
    }

    pub(crate) fn count(&self) -> usize {
        self.taken().len()
    }

    /// Locks a CLI session for the agent of a session. Fails with the key of the session that has locked it.
    pub(crate) fn lock_cli_session(&self, key: &Key, cli_session: &str) -> Result<(), Key> {
        let mut taken = self.taken();
        let is_it = |taken: &SlotState| taken.cli_session.as_deref() == Some(cli_session);
        if let Some((other, _)) = taken.iter().find(|(other, taken)| *other != key && is_it(taken)) {
            return Err(other.clone());
        }
        if let Some(slot) = taken.get_mut(key) {
            slot.cli_session = Some(cli_session.to_owned());
        }
        Ok(())
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, SlotState>> {
        self.0.taken.lock()
    }
}

impl Drop for AgentSlot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken();
        if let Some(slot) = taken.get_mut(&self.key) {
            slot.holders -= 1;
            if slot.holders == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new(name).unwrap()
    }

    #[test]
    fn a_session_has_one_slot_however_often_it_is_taken() {
        let slots = AgentSlots::new(1);
        let first = slots.take(&key("a")).unwrap();
        let second = slots.take(&key("a")).unwrap();
        assert!(slots.take(&key("b")).is_none());
        drop(first);
        assert!(slots.take(&key("b")).is_none());
        drop(second);
        assert!(slots.take(&key("b")).is_some());
        assert_eq!(slots.count(), 0);
    }

    #[test]
    fn a_cli_session_is_written_by_one_agent() {
        let slots = AgentSlots::new(2);
        let (a, _b) = (slots.take(&key("a")).unwrap(), slots.take(&key("b")).unwrap());
        assert_eq!(slots.lock_cli_session(&key("a"), "one"), Ok(()));
        assert_eq!(slots.lock_cli_session(&key("a"), "one"), Ok(()));
        assert_eq!(slots.lock_cli_session(&key("b"), "one"), Err(key("a")));
        assert_eq!(slots.lock_cli_session(&key("a"), "two"), Ok(()));
        assert_eq!(slots.lock_cli_session(&key("b"), "one"), Ok(()));
        drop(a);
        assert_eq!(slots.lock_cli_session(&key("b"), "two"), Ok(()));
    }
}
