//! A pooled conversation.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, OwnedSemaphorePermit};

use super::PoolInner;
use super::lease::Lease;
use crate::client::{Client, Turn};
use crate::error::Error;
use crate::limits::TURN_FOLLOWS;
use crate::prompt::Prompt;

/// A conversation of a [`Pool`](super::Pool): it has a process while it is used, and is parked while idle.
///
/// If the process dies, the next prompt resumes the conversation, as after parking. Handles are cheap to
/// clone; when the last one is dropped the process ends, and the session file stays.
#[derive(Clone)]
pub struct PooledSession {
    slot: Arc<Slot>,
    pool: Arc<PoolInner>,
}

pub(super) struct Slot {
    /// Locked while a process is started or ended for this conversation.
    state: Mutex<SlotState>,
    /// The number of leases: while there are any, the conversation is not parked.
    leases: Arc<AtomicUsize>,
    used: AtomicU64,
}

#[derive(Default)]
struct SlotState {
    live: Option<LiveProcess>,
    /// The id to resume by; `None` before the first turn.
    session_id: Option<String>,
}

struct LiveProcess {
    client: Client,
    _permit: OwnedSemaphorePermit,
}

impl PooledSession {
    pub(super) fn new(pool: &Arc<PoolInner>, session_id: Option<String>) -> Self {
        let slot = Arc::new(Slot {
            state: Mutex::new(SlotState { live: None, session_id }),
            leases: Arc::default(),
            used: AtomicU64::new(pool.next_use()),
        });
        pool.add(&slot);
        PooledSession { slot, pool: Arc::clone(pool) }
    }

    /// Sends a prompt, as [`Client::send`] does. If there is no process, a spare is taken or a process
    /// started first.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<Turn, Error> {
        self.client().await?.send(prompt).await
    }

    /// The process, for everything else that a [`Client`] can do. The conversation is not parked while this
    /// is held.
    pub async fn client(&self) -> Result<Lease, Error> {
        let mut state = self.slot.state.lock().await;
        self.slot.used.store(self.pool.next_use(), Ordering::Relaxed);
        if let Some(live) = state.live.as_ref().filter(|live| !live.client.is_closed()) {
            return Ok(Lease::new(live.client.clone(), &self.slot.leases, &self.pool.idle));
        }
        state.release();
        let permit = self.pool.permit().await?;
        let client = match &state.session_id {
            Some(id) => self.pool.resumed(id).await?,
            None => self.pool.fresh().await?,
        };
        let lease = Lease::new(client.clone(), &self.slot.leases, &self.pool.idle);
        let watched = watch(client.guest(), Arc::downgrade(&self.slot), Arc::downgrade(&self.pool));
        drop(tokio::spawn(watched));
        state.live = Some(LiveProcess { client, _permit: permit });
        Ok(lease)
    }

    /// The id of the conversation; `None` before its first turn.
    pub async fn session_id(&self) -> Option<String> {
        let state = self.slot.state.lock().await;
        let named = state.live.as_ref().and_then(|live| live.client.session_id());
        named.or_else(|| state.session_id.clone())
    }

    /// True if it has a process.
    pub fn is_live(&self) -> bool {
        self.slot.is_live()
    }

    /// Closes the process now, if no turn and no background work runs, and waits until it is gone. Returns
    /// `false` if it still runs.
    pub async fn park(&self) -> bool {
        self.slot.park().await
    }
}

impl Slot {
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// True if the slot has a process, or is locked because it is about to get or lose one.
    pub(super) fn is_live(&self) -> bool {
        self.state.try_lock().map_or(true, |state| state.live.is_some())
    }

    /// Closes the process if it is idle.
    pub(super) async fn park(&self) -> bool {
        // A holder of the lock is about to use the process.
        let Ok(mut state) = self.state.try_lock() else { return false };
        let Some(live) = &state.live else { return false };
        if self.leases.load(Ordering::Acquire) > 0 || !(live.client.is_closed() || live.client.is_at_rest()) {
            return false;
        }
        tracing::debug!(session = live.client.session_id(), "parking a conversation");
        // The permit is kept until the process is gone: the limit counts running processes.
        if let Err(error) = live.client.close().await {
            tracing::debug!(%error, "a parked conversation exited with an error");
        }
        state.release();
        true
    }
}

impl SlotState {
    /// Stores the session id for resuming, and drops the process.
    fn release(&mut self) {
        if let Some(id) = self.live.take().and_then(|live| live.client.session_id()) {
            self.session_id = Some(id);
        }
    }
}

/// Parks a conversation after it was idle for a while, and notifies a waiting one.
async fn watch(client: Client, slot: Weak<Slot>, pool: Weak<PoolInner>) {
    let Some((park_after, idle)) = pool.upgrade().map(|pool| (pool.park_after, Arc::clone(&pool.idle)))
    else {
        return;
    };
    let mut changes = client.changes();
    let mut turn_may_follow = false;
    loop {
        changes.mark_unchanged();
        let over = client.is_closed();
        let at_rest = client.is_at_rest();
        turn_may_follow = client.works_in_background() || (turn_may_follow && at_rest);
        if !over && at_rest && turn_may_follow {
            if tokio::time::timeout(TURN_FOLLOWS, changes.changed()).await.is_ok() {
                continue;
            }
            turn_may_follow = false;
        }
        if over || at_rest {
            idle.notify_waiters();
        }
        let quiet = match park_after {
            _ if over => true,
            Some(limit) if at_rest => tokio::time::timeout(limit, changes.changed()).await.is_err(),
            _ => {
                drop(changes.changed().await);
                false
            }
        };
        let Some(slot) = slot.upgrade() else { return };
        if quiet && slot.park().await {
            return;
        }
        drop(slot);
        if over {
            return;
        }
        if quiet {
            // The conversation is in use: the next use is a change, and so is the end of the lease.
            drop(changes.changed().await);
        }
    }
}

impl fmt::Debug for PooledSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledSession").field("live", &self.is_live()).finish_non_exhaustive()
    }
}
