//! Spare processes, started ahead of demand.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidings_base::backoff::Backoff;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::TransportFactory;
use crate::client::Client;
use crate::limits::{SPARE_RETRY_MAX, SPARE_RETRY_MIN};
use crate::options::Options;

/// The spares of a pool. When this is dropped they are closed, and no more are started.
pub(super) struct Spares {
    list: Arc<SpareList>,
    stop: CancellationToken,
    /// Cancelled once the task that starts spares has ended.
    stopped: CancellationToken,
    _stop_on_drop: DropGuard,
}

#[derive(Default)]
struct SpareList {
    ready: Mutex<VecDeque<Client>>,
    /// Notified when a spare was taken or has died.
    gone: Notify,
}

impl Spares {
    /// Keeps `wanted` processes ready, from now on.
    pub(super) fn start(transports: TransportFactory, options: Options, wanted: usize) -> Self {
        let (stop, stopped) = (CancellationToken::new(), CancellationToken::new());
        let list = Arc::<SpareList>::default();
        let keeper = replenish(Arc::clone(&list), transports, options, wanted);
        let (stopping, ends) = (stop.clone(), stopped.clone().drop_guard());
        drop(tokio::spawn(async move {
            // A spare that is being started when the pool is dropped is dropped with this future, and
            // ends.
            stopping.run_until_cancelled(Box::pin(keeper)).await;
            drop(ends);
        }));
        Spares { list, _stop_on_drop: stop.clone().drop_guard(), stop, stopped }
    }

    /// Takes a spare that is ready and alive, if there is one.
    pub(super) fn take(&self) -> Option<Client> {
        let mut ready = self.list.ready();
        let taken = std::iter::from_fn(|| ready.pop_front()).find(|spare| !spare.is_closed());
        drop(ready);
        self.list.gone.notify_one();
        taken
    }

    pub(super) fn ready(&self) -> usize {
        self.list.ready().iter().filter(|spare| !spare.is_closed()).count()
    }

    /// Closes all spares and starts no more.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.stopped.cancelled().await;
        let spares = std::mem::take(&mut *self.list.ready());
        for spare in spares {
            if let Err(error) = spare.close().await {
                tracing::debug!(%error, "a spare exited with an error");
            }
        }
    }
}

impl SpareList {
    fn ready(&self) -> MutexGuard<'_, VecDeque<Client>> {
        self.ready.lock()
    }
}

/// Replaces missing spares, one at a time: starting is expensive, and may compete with other work.
async fn replenish(list: Arc<SpareList>, transports: TransportFactory, options: Options, wanted: usize) {
    let mut backoff = Backoff::new(SPARE_RETRY_MIN, SPARE_RETRY_MAX);
    loop {
        list.ready().retain(|spare| !spare.is_closed());
        if list.ready().len() >= wanted {
            list.gone.notified().await;
            continue;
        }
        match Client::connect_over(transports(), options.clone()).await {
            Ok(spare) => {
                backoff.reset();
                drop(tokio::spawn(watch(spare.guest(), Arc::downgrade(&list))));
                list.ready().push_back(spare);
            }
            Err(error) => {
                tracing::warn!(%error, "failed to start a spare");
                tokio::time::sleep(backoff.pause()).await;
            }
        }
    }
}

/// Notifies the pool when an unused spare has died.
async fn watch(spare: Client, list: std::sync::Weak<SpareList>) {
    drop(spare.ended().await);
    if let Some(list) = list.upgrade() {
        list.gone.notify_one();
    }
}
