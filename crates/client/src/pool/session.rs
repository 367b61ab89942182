//! A pooled conversation.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::Mutex;

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
    /// The id to resume by; `None` before the first turn. Locked while a process is started or ended for this
    /// conversation.
    session_id: Mutex<Option<String>>,
    process: parking_lot::Mutex<Option<Client>>,
    /// The number of leases: while there are any, the conversation is not parked.
    leases: Arc<AtomicUsize>,
    used: AtomicU64,
}

impl PooledSession {
    pub(super) fn new(pool: &Arc<PoolInner>, session_id: Option<String>) -> Self {
        let slot = Arc::new(Slot {
            session_id: Mutex::new(session_id),
            process: parking_lot::Mutex::default(),
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
        let mut session_id = self.slot.session_id.lock().await;
        self.slot.used.store(self.pool.next_use(), Ordering::Relaxed);
        if let Some(client) = self.slot.process() {
            return Ok(Lease::new(client, &self.slot.leases, &self.pool.idle));
        }
        self.slot.release(&mut session_id);
        let permit = self.pool.permit().await?;
        let client = match &*session_id {
            Some(id) => self.pool.resumed(id, permit).await?,
            None => self.pool.fresh(Some(permit)).await?,
        };
        let lease = Lease::new(client.clone(), &self.slot.leases, &self.pool.idle);
        let watched = watch(client.guest(), Arc::downgrade(&self.slot), Arc::downgrade(&self.pool));
        drop(tokio::spawn(watched));
        *self.slot.process.lock() = Some(client);
        Ok(lease)
    }

    /// The id of the conversation; `None` before its first turn.
    pub async fn session_id(&self) -> Option<String> {
        let session_id = self.slot.session_id.lock().await;
        let process = self.slot.process.lock().clone();
        process.and_then(|process| process.session_id()).or_else(|| session_id.clone())
    }

    /// True if it has a process.
    pub fn is_live(&self) -> bool {
        self.slot.process().is_some()
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

    /// The process, if it runs.
    fn process(&self) -> Option<Client> {
        self.process.lock().clone().filter(|process| !process.is_closed())
    }

    /// Closes the process if it is idle.
    pub(super) async fn park(&self) -> bool {
        // A holder of the lock is about to use the process.
        let Ok(mut session_id) = self.session_id.try_lock() else { return false };
        let Some(process) = self.process.lock().clone() else { return false };
        if self.leases.load(Ordering::Acquire) > 0 || !(process.is_closed() || process.is_at_rest()) {
            return false;
        }
        tracing::debug!(session = process.session_id(), "parking a conversation");
        if let Err(error) = process.close().await {
            tracing::debug!(%error, "a parked conversation exited with an error");
        }
        self.release(&mut session_id);
        true
    }

    /// Closes the process, whatever it does.
    pub(super) async fn close(&self) {
        let mut session_id = self.session_id.lock().await;
        let Some(process) = self.process.lock().clone() else { return };
        if let Err(error) = process.close().await {
            tracing::debug!(%error, "a conversation of a closed pool exited with an error");
        }
        self.release(&mut session_id);
    }

    /// Stores the session id for resuming, and drops the process.
    fn release(&self, session_id: &mut Option<String>) {
        let process = self.process.lock().take();
        if let Some(id) = process.and_then(|process| process.session_id()) {
            *session_id = Some(id);
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
