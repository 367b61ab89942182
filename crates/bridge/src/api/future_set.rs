//! A set of futures that are awaited together.

use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

/// A set of futures; the first one that completes is returned first.
pub(crate) struct FutureSet<T>(FuturesUnordered<BoxFuture<'static, T>>);

impl<T: Send + 'static> FutureSet<T> {
    pub(crate) fn new() -> Self {
        let all = FuturesUnordered::<BoxFuture<'static, T>>::new();
        // `FuturesUnordered` wakes itself and yields after it has polled as many futures as it holds. With a
        // single future that would cost a second poll per event; this one is never ready and is polled only
        // once.
        all.push(Box::pin(std::future::pending()));
        FutureSet(all)
    }

    pub(crate) fn push(&self, future: impl Future<Output = T> + Send + 'static) {
        self.0.push(Box::pin(future));
    }

    /// Waits for the next future that completes. Cancel safe.
    pub(crate) async fn next(&mut self) -> T {
        match self.0.next().await {
            Some(output) => output,
            None => std::future::pending().await,
        }
    }

    /// The number of futures that have not completed.
    pub(crate) fn len(&self) -> usize {
        self.0.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Wake, Waker};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A socket with one subscription is woken once per event, without a second poll that finds nothing.
    #[test]
    fn a_single_future_wakes_once() {
        let mut future_set = FutureSet::<()>::new();
        let inner: Arc<Mutex<Option<Waker>>> = Arc::default();
        let kept = Arc::clone(&inner);
        future_set.push(poll_fn(move |context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        }));
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut look = || pin!(future_set.next()).poll(&mut Context::from_waker(&waker)).is_pending();
        // The first poll of each future.
        while {
            let before = count.0.load(Ordering::Relaxed);
            assert!(look());
            count.0.load(Ordering::Relaxed) > before
        } {}
        for wakes in 1..5 {
            let before = count.0.load(Ordering::Relaxed);
            inner.lock().unwrap().take().unwrap().wake();
            assert!(look());
            assert_eq!(count.0.load(Ordering::Relaxed) - before, 1, "wake {wakes}");
        }
        assert_eq!(future_set.len(), 1);
    }
}
