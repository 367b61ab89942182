//! The process of a pooled conversation while a caller uses it.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::client::Client;

/// The process of a pooled conversation, which is not parked while this is held.
///
/// A clone of the [`Client`] inside does not count: its session ends when the conversation is parked.
#[derive(Debug)]
#[must_use = "the conversation may be parked once this is dropped"]
pub struct Lease {
    client: Client,
    count: Arc<AtomicUsize>,
    idle: Arc<Notify>,
}

impl Lease {
    pub(super) fn new(client: Client, count: &Arc<AtomicUsize>, idle: &Arc<Notify>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Lease { client, count: Arc::clone(count), idle: Arc::clone(idle) }
    }
}

impl Deref for Lease {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
        // The idle time starts here, and a waiting conversation may take the process slot.
        self.client.touch();
        self.idle.notify_waiters();
    }
}
