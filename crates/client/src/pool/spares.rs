//! Spare processes, started ahead of demand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Carriers;
use crate::client::Client;
use crate::limits::{SPARE_RETRY_MAX, SPARE_RETRY_MIN};
use crate::options::Options;

/// The spares of a pool. When this is dropped they are closed, and no more are started.
pub(super) struct Spares {
    shelf: Arc<Shelf>,
    stop: CancellationToken,
    /// Cancelled once the task that starts spares has ended.
    stopped: CancellationToken,
    _stops_it: DropGuard,
}

#[derive(Default)]
struct Shelf {
    ready: Mutex<VecDeque<Client>>,
    /// Notified when a spare was taken or has died.
    gone: Notify,
}

impl Spares {
    /// Keeps `wanted` processes ready, from now on.
    pub(super) fn start(carriers: Carriers, options: Options, wanted: usize) -> Self {
        let (stop, stopped) = (CancellationToken::new(), CancellationToken::new());
        let shelf = Arc::<Shelf>::default();
        let keeper = keep(Arc::clone(&shelf), carriers, options, wanted);
        let (told, ends) = (stop.clone(), stopped.clone().drop_guard());
        drop(tokio::spawn(async move {
            // A spare that is being started when the pool is dropped is dropped with this future, and
            // ends.
            told.run_until_cancelled(Box::pin(keeper)).await;
            drop(ends);
        }));
        Spares { shelf, _stops_it: stop.clone().drop_guard(), stop, stopped }
    }

    /// Takes a spare that is ready and alive, if there is one.
    pub(super) fn take(&self) -> Option<Client> {
        let mut ready = self.shelf.ready();
        let taken = std::iter::from_fn(|| ready.pop_front()).find(|spare| !spare.is_closed());
        drop(ready);
        self.shelf.gone.notify_one();
        taken
    }

    pub(super) fn ready(&self) -> usize {
        self.shelf.ready().iter().filter(|spare| !spare.is_closed()).count()
    }

    /// Closes all spares and starts no more.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.stopped.cancelled().await;
        let spares = std::mem::take(&mut *self.shelf.ready());
        for spare in spares {
            if let Err(error) = spare.close().await {
                tracing::debug!(%error, "a spare exited with an error");
            }
        }
    }
}

impl Shelf {
    fn ready(&self) -> MutexGuard<'_, VecDeque<Client>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Replaces missing spares, one at a time: starting is expensive, and may compete with other work.
async fn keep(shelf: Arc<Shelf>, carriers: Carriers, options: Options, wanted: usize) {
    let mut pause = SPARE_RETRY_MIN;
    loop {
        shelf.ready().retain(|spare| !spare.is_closed());
        if shelf.ready().len() >= wanted {
            shelf.gone.notified().await;
            continue;
        }
        match Client::connect_over(carriers(), options.clone()).await {
            Ok(spare) => {
                pause = SPARE_RETRY_MIN;
                drop(tokio::spawn(watch(spare.guest(), Arc::downgrade(&shelf))));
                shelf.ready().push_back(spare);
            }
            Err(error) => {
                tracing::warn!(%error, "failed to start a spare");
                tokio::time::sleep(pause).await;
                pause = longer(pause);
            }
        }
    }
}

fn longer(pause: Duration) -> Duration {
    (pause * 2).min(SPARE_RETRY_MAX)
}

/// Notifies the pool when an unused spare has died.
async fn watch(spare: Client, shelf: std::sync::Weak<Shelf>) {
    drop(spare.ended().await);
    if let Some(shelf) = shelf.upgrade() {
        shelf.gone.notify_one();
    }
}
