//! Slots for connections: which of them get in, which are refused, and which are closed.
//!
//! Connections that never authenticate displace each other, so that clients with a credential get in. A
//! displaced connection is not closed at once: its next request is answered with the time after which to come
//! again.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Bounds;
use crate::auth::Peer;
use crate::http::{Connection, ConnectionSlot};

/// Slots for connections. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    in_use: Arc<Mutex<SlotsInUse>>,
    pub(super) bounds: Bounds,
}

#[derive(Debug, Default)]
struct SlotsInUse {
    /// Connections without the refused ones.
    total: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Connections that have not authenticated, by age.
    unauthenticated: BTreeMap<u64, Arc<SlotState>>,
    /// Refused connections, by age.
    refused: BTreeMap<u64, Arc<SlotState>>,
    next: u64,
}

/// The state of one connection.
#[derive(Debug)]
struct SlotState {
    /// Its number; older connections have lower ones.
    id: u64,
    address: IpAddr,
    since: Instant,
    is_authenticated: AtomicBool,
    /// Changed only while the slots are locked.
    is_refused: AtomicBool,
    /// Ends the connection.
    close: CancellationToken,
}

/// The slot of one connection, returned when it ends.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Slots,
    state: Arc<SlotState>,
}

impl Slots {
    pub(super) fn new(bounds: Bounds) -> Self {
        Slots { in_use: Arc::default(), bounds }
    }

    /// A slot for a new connection, which is refused if there is no room.
    pub(super) fn acquire(&self, peer: Peer) -> Slot {
        let address = peer.group();
        let mut in_use = self.in_use.lock();
        in_use.make_room(address, &self.bounds);
        let state = Arc::new(SlotState {
            id: in_use.next,
            address,
            since: Instant::now(),
            is_authenticated: AtomicBool::new(false),
            is_refused: AtomicBool::new(false),
            close: CancellationToken::new(),
        });
        in_use.next += 1;
        if in_use.is_full(address, &self.bounds) {
            tracing::warn!(%peer, total = in_use.total, own = in_use.own(address), "too many connections");
            in_use.refuse(&state, &self.bounds);
        } else {
            in_use.unauthenticated.insert(state.id, Arc::clone(&state));
            in_use.count(address);
        }
        Slot { slots: self.clone(), state }
    }
}

impl SlotsInUse {
    fn own(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).copied().unwrap_or_default()
    }

    fn is_full(&self, address: IpAddr, bounds: &Bounds) -> bool {
        self.total >= bounds.connections || self.own(address) >= bounds.address_connections
    }

    fn count(&mut self, address: IpAddr) {
        self.total += 1;
        *self.by_address.entry(address).or_default() += 1;
    }

    fn uncount(&mut self, address: IpAddr) {
        self.total -= 1;
        if let Some(own) = self.by_address.get_mut(&address) {
            *own -= 1;
            if *own == 0 {
                self.by_address.remove(&address);
            }
        }
    }

    /// Makes room for one more connection by refusing the oldest that has not authenticated. While there is
    /// room for all, only a connection that had its time for a first request is refused: clients that come at
    /// once are accepted together, and authenticate one after the other.
    fn make_room(&mut self, address: IpAddr, bounds: &Bounds) {
        let had_time = |state: &&Arc<SlotState>| state.since.elapsed() >= bounds.first_request_time;
        let own = self.unauthenticated.values().filter(|state| state.address == address);
        let oldest = if self.own(address) >= bounds.address_connections {
            own.clone().next()
        } else if own.clone().count() >= bounds.address_unauthenticated {
            own.clone().next().filter(had_time)
        } else if self.total >= bounds.connections {
            self.unauthenticated.values().next()
        } else if self.unauthenticated.len() >= bounds.unauthenticated {
            self.unauthenticated.values().next().filter(had_time)
        } else {
            None
        };
        if let Some(state) = oldest.map(Arc::clone) {
            self.unauthenticated.remove(&state.id);
            self.uncount(state.address);
            self.refuse(&state, bounds);
        }
    }

    /// Refuses a connection that has no room, and closes the oldest one if too many are refused.
    fn refuse(&mut self, state: &Arc<SlotState>, bounds: &Bounds) {
        state.is_refused.store(true, Ordering::Relaxed);
        self.refused.insert(state.id, Arc::clone(state));
        if self.refused.len() > bounds.refused
            && let Some((_, oldest)) = self.refused.pop_first()
        {
            oldest.close.cancel();
        }
    }

    fn release(&mut self, state: &SlotState) {
        self.unauthenticated.remove(&state.id);
        if state.is_refused.load(Ordering::Relaxed) {
            self.refused.remove(&state.id);
        } else {
            self.uncount(state.address);
        }
    }

    /// Keeps a connection that has authenticated, also if it was refused while its request was under way.
    fn authenticate(&mut self, state: &SlotState) {
        self.unauthenticated.remove(&state.id);
        if self.refused.remove(&state.id).is_some() {
            state.is_refused.store(false, Ordering::Relaxed);
            self.count(state.address);
        }
    }
}

impl Slot {
    pub(super) fn bounds(&self) -> Bounds {
        self.slots.bounds
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.state.is_authenticated.load(Ordering::Relaxed)
    }

    /// Cancelled when the connection must end.
    pub(super) fn closed(&self) -> CancellationToken {
        self.state.close.clone()
    }

    /// The connection as its requests see it.
    pub(super) fn connection(&self) -> Connection {
        let slot = RequestSlot { in_use: Arc::clone(&self.slots.in_use), state: Arc::clone(&self.state) };
        Connection::new(Arc::new(slot))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.in_use.lock().release(&self.state);
    }
}

/// A slot as the requests of its connection see it. The first credential ends its time as an unauthenticated
/// one.
struct RequestSlot {
    in_use: Arc<Mutex<SlotsInUse>>,
    state: Arc<SlotState>,
}

impl ConnectionSlot for RequestSlot {
    fn authenticate(&self) {
        if !self.state.is_authenticated.swap(true, Ordering::Relaxed) {
            self.in_use.lock().authenticate(&self.state);
        }
    }

    fn is_refused(&self) -> bool {
        self.state.is_refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn peer(last: u8) -> Peer {
        Peer::Tcp { remote: ([10, 0, 0, last], 1).into(), local: ([10, 0, 0, 1], 7717).into() }
    }

    fn refused(slots: &[Slot]) -> Vec<bool> {
        slots.iter().map(|slot| slot.connection().is_refused()).collect()
    }

    fn authenticated(slots: &Slots, last: u8) -> Slot {
        let slot = slots.acquire(peer(last));
        slot.connection().authenticate();
        slot
    }

    #[test]
    fn t12_one_address_does_not_take_all_the_room() {
        let bounds = Bounds { connections: 5, address_connections: 3, ..Bounds::default() };
        let slots = Slots::new(bounds);
        let mut known: Vec<Slot> = (0..3).map(|_| authenticated(&slots, 2)).collect();
        known.push(slots.acquire(peer(2)));
        assert_eq!(refused(&known), [false, false, false, true], "one more from the same address");
        known.extend((3..5).map(|_| authenticated(&slots, 3)));
        assert!(slots.acquire(peer(4)).connection().is_refused(), "one more at all");
        drop(known);
        assert!(!slots.acquire(peer(4)).connection().is_refused());
        let in_use = slots.in_use.lock();
        assert_eq!((in_use.total, in_use.by_address.len(), in_use.refused.len()), (0, 0, 0));
    }

    #[test]
    fn k7_connections_without_a_credential_make_room_for_others_and_not_those_with_one() {
        let bounds = Bounds {
            address_unauthenticated: 3,
            address_connections: 10,
            first_request_time: Duration::ZERO,
            ..Bounds::default()
        };
        let slots = Slots::new(bounds);
        let (known, other) = (authenticated(&slots, 2), slots.acquire(peer(3)));
        let unauthenticated: Vec<Slot> = (0..5).map(|_| slots.acquire(peer(2))).collect();
        assert_eq!(refused(&unauthenticated), [true, true, false, false, false]);
        assert_eq!(refused(&[known, other]), [false, false]);
    }

    #[test]
    fn k30_connections_that_come_at_once_are_not_refused_before_there_is_no_room() {
        let bounds = Bounds { address_unauthenticated: 3, address_connections: 6, ..Bounds::default() };
        let slots = Slots::new(bounds);
        let mut at_once: Vec<Slot> = (0..6).map(|_| slots.acquire(peer(2))).collect();
        assert_eq!(refused(&at_once), [false; 6], "they have not had time for a request");
        at_once[0].connection().authenticate();
        at_once.push(slots.acquire(peer(2)));
        assert_eq!(refused(&at_once), [false, true, false, false, false, false, false], "the oldest without");
    }

    #[test]
    fn k30_a_refused_connection_that_authenticates_stays() {
        let bounds = Bounds { address_connections: 1, refused: 1, ..Bounds::default() };
        let slots = Slots::new(bounds);
        let first = slots.acquire(peer(2));
        let second = slots.acquire(peer(2));
        assert!(
            first.connection().is_refused() && !first.closed().is_cancelled(),
            "it may still be answered"
        );
        // Its request was under way.
        first.connection().authenticate();
        assert!(!first.connection().is_refused());
        let third = slots.acquire(peer(2));
        let fourth = slots.acquire(peer(2));
        assert!(
            second.closed().is_cancelled() || third.closed().is_cancelled(),
            "refused ones are bounded too"
        );
        assert!(!first.closed().is_cancelled());
        drop((first, second, third, fourth));
        let in_use = slots.in_use.lock();
        assert_eq!((in_use.total, in_use.by_address.len(), in_use.refused.len()), (0, 0, 0));
    }
}
