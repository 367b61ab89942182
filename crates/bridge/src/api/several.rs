//! Several things that are waited for at once.

use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

/// Futures, any of which may be the next to end.
pub(crate) struct Several<T>(FuturesUnordered<BoxFuture<'static, T>>);

impl<T: Send + 'static> Several<T> {
    pub(crate) fn new() -> Self {
        let all = FuturesUnordered::<BoxFuture<'static, T>>::new();
        // After it has looked at as many futures as there are, the library asks to be called once more, so that others
        // get their turn. With a single one that would be after each look; this one is never looked at again.
        all.push(Box::pin(std::future::pending()));
        Several(all)
    }

    pub(crate) fn push(&self, future: impl Future<Output = T> + Send + 'static) {
        self.0.push(Box::pin(future));
    }

    /// What the next one gives that ends. It may be dropped while it waits, and nothing is lost.
    pub(crate) async fn next(&mut self) -> T {
        match self.0.next().await {
            Some(output) => output,
            None => std::future::pending().await,
        }
    }

    /// How many have not ended.
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

    /// One session that is watched wakes its socket once for each event, and not a second time to look at nothing.
    #[test]
    fn one_alone_wakes_once() {
        let mut several = Several::<()>::new();
        let inner: Arc<Mutex<Option<Waker>>> = Arc::default();
        let kept = Arc::clone(&inner);
        several.push(poll_fn(move |context| {
            *kept.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        }));
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut look = || pin!(several.next()).poll(&mut Context::from_waker(&waker)).is_pending();
        // The first look at each of them.
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
        assert_eq!(several.len(), 1);
    }
}
