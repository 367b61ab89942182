//! A handle to the agent host of a session: health, acknowledgements and detaching.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidings_protocol::Frame;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind};
use crate::host::wire::{CliState, FromHost, Hello, Message, ToHost};
use crate::limits::{HOST_ANSWER, HOST_LINES_AHEAD, HOST_REPLIES_MAX};

/// A handle to the host of a session, for operations besides those of the session. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HostHandle(Arc<Shared>);

/// The health of a host and its CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// The CLI runs, or waits for something.
    Running,
    /// The CLI is stopped by a signal.
    Stopped,
    /// The CLI has ended.
    Ended,
    /// The host did not answer in time: it is stopped by a signal, or the machine is overloaded.
    Silent,
    /// The host has ended, or cannot be reached.
    Gone,
}

/// The shared state of one connection.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) hello: OnceLock<Hello>,
    pub(super) open: OnceLock<Vec<Frame>>,
    pub(super) messages: OnceLock<mpsc::Sender<Outbound>>,
    /// The offset up to which all output is stored.
    pub(super) acknowledged: watch::Sender<u64>,
    /// Callers that requested process ids; replies arrive in order.
    waiting: Mutex<VecDeque<oneshot::Sender<FromHost>>>,
    /// The CLI's state in the last pong of the host.
    pong: watch::Sender<CliState>,
    /// True while a ping is unanswered: one ping serves all callers.
    is_pinged: AtomicBool,
    /// The number of received messages.
    pub(super) received: AtomicU64,
    /// True while a received message is not yet processed.
    pub(super) is_behind: AtomicBool,
    /// The number of lines that may be unconfirmed by the host.
    pub(super) credit: Semaphore,
    pub(super) detached: CancellationToken,
    /// Cancelled when the connection has ended.
    ended: CancellationToken,
    /// Cancelled when the session ends its input after it was detached: until then it stays open without
    /// events.
    pub(super) left: CancellationToken,
}

/// A message to send, with a sender that is notified when it is written.
#[derive(Debug)]
pub(super) struct Outbound {
    pub(super) message: Message<ToHost>,
    pub(super) sent: Option<oneshot::Sender<()>>,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            hello: OnceLock::new(),
            open: OnceLock::new(),
            messages: OnceLock::new(),
            acknowledged: watch::Sender::new(0),
            waiting: Mutex::default(),
            pong: watch::Sender::new(CliState::Unknown),
            is_pinged: AtomicBool::new(false),
            received: AtomicU64::new(0),
            is_behind: AtomicBool::new(false),
            credit: Semaphore::new(HOST_LINES_AHEAD),
            detached: CancellationToken::new(),
            ended: CancellationToken::new(),
            left: CancellationToken::new(),
        }
    }
}

impl HostHandle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        HostHandle(shared)
    }

    /// The host's greeting of the connection; `None` before.
    pub fn hello(&self) -> Option<&Hello> {
        self.0.hello.get()
    }

    /// The CLI's requests that were open when the connection was made.
    pub fn open_questions(&self) -> &[Frame] {
        self.0.open.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Acknowledges that all output up to this offset is stored, so that the host may remove it. A lower
    /// offset than before has no effect.
    pub fn ack(&self, offset: u64) {
        self.0.acknowledge(offset);
    }

    /// Detaches from the session: the CLI goes on, and the host waits for another bridge for the duration of
    /// its lease.
    ///
    /// No more events arrive here. Closing the session afterwards only drops the handle.
    pub fn detach(&self) {
        self.0.detached.cancel();
    }

    /// Releases the host. It stops the CLI if that still runs, and removes its folder.
    pub fn release(&self) {
        let _ = self.0.queue(ToHost::Bye);
    }

    /// The process ids: the CLI first, if it lives, then everything that it started.
    pub async fn pids(&self) -> Result<Vec<u32>, Error> {
        match self.0.request(ToHost::Pids, HOST_ANSWER).await {
            Some(FromHost::Pids { pids }) => Ok(pids),
            _ => Err(Error::new(ErrorKind::Closed, "The connection to the host has ended", "")),
        }
    }

    /// Checks the health of the host and its CLI.
    pub async fn health(&self, within: Duration) -> Health {
        let received = self.0.received.load(Ordering::Relaxed);
        match self.0.ping(within).await {
            Some(CliState::Stopped) => Health::Stopped,
            Some(CliState::Ended) => Health::Ended,
            Some(_) => Health::Running,
            None if self.0.ended.is_cancelled() => Health::Gone,
            // The pong is queued behind output of the CLI. If that is slow, the host is still healthy.
            None if self.0.has_received_since(received) => Health::Running,
            None => Health::Silent,
        }
    }
}

impl Shared {
    /// Queues a message without waiting. Returns `false` if it will not be sent: the host is gone, or the
    /// queue is full.
    pub(super) fn queue(&self, head: ToHost) -> bool {
        let outbound = Outbound { message: Message::new(head), sent: None };
        self.messages.get().is_some_and(|messages| messages.try_send(outbound).is_ok())
    }

    pub(super) fn acknowledge(&self, offset: u64) {
        self.acknowledged.send_if_modified(|highest| {
            let higher = offset > *highest;
            *highest = offset.max(*highest);
            higher
        });
    }

    async fn request(&self, head: ToHost, within: Duration) -> Option<FromHost> {
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if waiting.len() >= HOST_REPLIES_MAX / 2 {
                return None;
            }
            if !self.queue(head) {
                return None;
            }
            waiting.push_back(sender);
        }
        tokio::select! {
            answer = tokio::time::timeout(within, answer) => answer.ok()?.ok(),
            () = self.ended.cancelled() => None,
        }
    }

    async fn ping(&self, within: Duration) -> Option<CliState> {
        let mut pong = self.pong.subscribe();
        if !self.is_pinged.swap(true, Ordering::Relaxed) && !self.queue(ToHost::Ping) {
            self.is_pinged.store(false, Ordering::Relaxed);
        }
        tokio::select! {
            answered = tokio::time::timeout(within, pong.changed()) => answered.ok()?.ok()?,
            () = self.ended.cancelled() => return None,
        }
        Some(*pong.borrow())
    }

    fn has_received_since(&self, received: u64) -> bool {
        self.is_behind.load(Ordering::Relaxed) || self.received.load(Ordering::Relaxed) != received
    }

    /// Completes a ping.
    pub(super) fn complete_ping(&self, cli: CliState) {
        self.is_pinged.store(false, Ordering::Relaxed);
        self.pong.send_replace(cli);
    }

    /// Passes a reply to the caller that requested first.
    pub(super) fn complete(&self, answer: FromHost) {
        let caller = self.waiting().pop_front();
        if let Some(caller) = caller {
            // The caller may have given up.
            drop(caller.send(answer));
        }
    }

    /// Fails all pending requests.
    pub(super) fn end(&self) {
        self.ended.cancel();
        self.waiting().clear();
        self.credit.close();
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<FromHost>>> {
        self.waiting.lock()
    }
}
