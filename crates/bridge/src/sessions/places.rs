//! Agent slots: they limit the number of running agents, and lock CLI sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::journal::Key;

/// The agent slots of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Places(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    max: usize,
    taken: Mutex<HashMap<Key, Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    /// Pending input to the session holds the slot, and so does its agent.
    holders: usize,
    /// The CLI session that the agent writes.
    cli_session: Option<String>,
}

/// The slot of one session, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    key: Key,
}

impl Places {
    pub(super) fn new(max: usize) -> Self {
        Places(Arc::new(Shared { max, taken: Mutex::default() }))
    }

    /// Takes a slot for the agent of a session, if one is free. A session that has a slot shares it.
    pub(super) fn take(&self, key: &Key) -> Option<Place> {
        let mut taken = self.taken();
        if taken.len() >= self.0.max && !taken.contains_key(key) {
            return None;
        }
        taken.entry(key.clone()).or_default().holders += 1;
        Some(Place { places: self.clone(), key: key.clone() })
    }

    /// Takes a slot even if none is free: for agents that outlived a server, and for those that have one
    /// already.
    pub(super) fn insist(&self, key: &Key) -> Place {
        self.taken().entry(key.clone()).or_default().holders += 1;
        Place { places: self.clone(), key: key.clone() }
    }

    pub(super) fn count(&self) -> usize {
        self.taken().len()
    }

    /// Locks a CLI session for the agent of a session. Fails with the key of the session that has locked it.
    pub(super) fn lease(&self, key: &Key, cli_session: &str) -> Result<(), Key> {
        let mut taken = self.taken();
        let is_it = |taken: &Taken| taken.cli_session.as_deref() == Some(cli_session);
        if let Some((other, _)) = taken.iter().find(|(other, taken)| *other != key && is_it(taken)) {
            return Err(other.clone());
        }
        if let Some(place) = taken.get_mut(key) {
            place.cli_session = Some(cli_session.to_owned());
        }
        Ok(())
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, Taken>> {
        // The map is consistent whenever the lock is free.
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        if let Some(place) = taken.get_mut(&self.key) {
            place.holders -= 1;
            if place.holders == 0 {
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
    fn a_session_has_one_place_however_often_it_is_taken() {
        let places = Places::new(1);
        let first = places.take(&key("a")).unwrap();
        let second = places.take(&key("a")).unwrap();
        assert!(places.take(&key("b")).is_none());
        drop(first);
        assert!(places.take(&key("b")).is_none());
        drop(second);
        assert!(places.take(&key("b")).is_some());
        assert_eq!(places.count(), 0);
    }

    #[test]
    fn a_cli_session_is_written_by_one_agent() {
        let places = Places::new(2);
        let (a, _b) = (places.take(&key("a")).unwrap(), places.take(&key("b")).unwrap());
        assert_eq!(places.lease(&key("a"), "one"), Ok(()));
        assert_eq!(places.lease(&key("a"), "one"), Ok(()));
        assert_eq!(places.lease(&key("b"), "one"), Err(key("a")));
        assert_eq!(places.lease(&key("a"), "two"), Ok(()));
        assert_eq!(places.lease(&key("b"), "one"), Ok(()));
        drop(a);
        assert_eq!(places.lease(&key("b"), "two"), Ok(()));
    }
}
