//! The limit of processes of a pool.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// The permits of a pool: one for each process of a conversation.
pub(super) struct ProcessLimit {
    permits: Arc<Semaphore>,
    max: u32,
    /// Shared with each permit that was handed out.
    used: Arc<()>,
}

/// The permission to run one process. The session keeps it until its process is gone, whatever becomes of its
/// handles.
#[derive(Debug)]
pub(crate) struct ProcessPermit {
    _permit: OwnedSemaphorePermit,
    _used: Arc<()>,
}

impl ProcessLimit {
    /// A limit of `max` processes; `None` for a number that is no limit.
    pub(super) fn new(max: usize) -> Option<Self> {
        let count = u32::try_from(max).ok().filter(|max| *max > 0)?;
        (max <= Semaphore::MAX_PERMITS).then(|| ProcessLimit {
            permits: Arc::new(Semaphore::new(max)),
            max: count,
            used: Arc::default(),
        })
    }

    /// Waits for a permit, in the order of arrival.
    pub(super) async fn permit(&self) -> Result<ProcessPermit, Error> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::closed())?;
        Ok(self.hand_out(permit))
    }

    /// A permit, if one is left.
    pub(super) fn permit_now(&self) -> Option<ProcessPermit> {
        Some(self.hand_out(Arc::clone(&self.permits).try_acquire_owned().ok()?))
    }

    /// The number of permits that are in use.
    pub(super) fn used(&self) -> usize {
        Arc::strong_count(&self.used) - 1
    }

    /// Waits until no permit is in use. Later requests for permits wait behind this.
    pub(super) async fn wait_until_unused(&self) {
        drop(self.permits.acquire_many(self.max).await);
    }

    fn hand_out(&self, permit: OwnedSemaphorePermit) -> ProcessPermit {
        ProcessPermit { _permit: permit, _used: Arc::clone(&self.used) }
    }
}
