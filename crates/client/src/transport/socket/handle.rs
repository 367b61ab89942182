use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tidings_protocol::Frame;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind};
use crate::host::wire::{CliState, FromHost, Hello, Message, ToHost};
use crate::limits::{HOST_ANSWER, HOST_LINES_AHEAD, HOST_REPLIES_MAX};
use crate::transport::Incoming;

/// What can be said to the host of a session besides what a session says. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct HostHandle(Arc<Shared>);

/// How a host and its CLI do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// The CLI runs, or waits for something.
    Running,
    /// Somebody has stopped the CLI with a signal.
    Stopped,
    /// The CLI has ended.
    Ended,
    /// The host did not answer in time: somebody has stopped it, or the machine is at its limit.
    Silent,
    /// There is no host any more, or no way to it.
    Gone,
}

/// What the parts of one connection share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) hello: OnceLock<Hello>,
    pub(super) open: OnceLock<Vec<Frame>>,
    pub(super) messages: OnceLock<mpsc::Sender<Outbound>>,
    /// Up to where everything is stored.
    pub(super) acknowledged: watch::Sender<u64>,
    /// Those who asked which processes there are, which is answered in order.
    waiting: Mutex<VecDeque<oneshot::Sender<FromHost>>>,
    /// What the host last said of its CLI when it was asked how things stand.
    pong: watch::Sender<CliState>,
    /// Whether it was asked and has not answered: one question is enough for all who want to know.
    is_asked: AtomicBool,
    /// How many messages have come.
    pub(super) heard: AtomicU64,
    /// Whether something has come that nobody has taken yet.
    pub(super) is_behind: AtomicBool,
    /// How many lines the host may be behind.
    pub(super) credit: Semaphore,
    pub(super) detached: CancellationToken,
    /// Nothing comes from the host any more.
    ended: CancellationToken,
    /// Kept after letting go, so that the session falls silent and does not end.
    pub(super) silence: Mutex<Option<mpsc::Sender<Incoming>>>,
}

/// A message on its way, and who wants to know that it has gone.
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
            is_asked: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            is_behind: AtomicBool::new(false),
            credit: Semaphore::new(HOST_LINES_AHEAD),
            detached: CancellationToken::new(),
            ended: CancellationToken::new(),
            silence: Mutex::default(),
        }
    }
}

impl HostHandle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        HostHandle(shared)
    }

    /// How the host stood when the session was joined; none before.
    pub fn hello(&self) -> Option<&Hello> {
        self.0.hello.get()
    }

    /// The questions of the CLI that were open when the session was joined.
    pub fn open_questions(&self) -> &[Frame] {
        self.0.open.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Everything up to here is stored, and the host may forget it. A lower place than before changes nothing.
    pub fn ack(&self, offset: u64) {
        self.0.acknowledge(offset);
    }

    /// Lets go of the session: the CLI goes on, and the host waits for somebody else for as long as its lease says.
    ///
    /// The session falls silent here. Closing it afterwards ends nothing but the handle.
    pub fn detach(&self) {
        self.0.detached.cancel();
    }

    /// Nothing more is wanted of the host. It ends the CLI if that still runs, and removes what it kept.
    pub fn release(&self) {
        let _ = self.0.say(ToHost::Bye);
    }

    /// The processes that there are: the CLI first, if it lives, then everything that it started.
    pub async fn pids(&self) -> Result<Vec<u32>, Error> {
        match self.0.ask(ToHost::Pids, HOST_ANSWER).await {
            Some(FromHost::Pids { pids }) => Ok(pids),
            _ => Err(Error::new(ErrorKind::Closed, "There is no way to the host any more", "")),
        }
    }

    /// Asks how the host and its CLI do.
    pub async fn health(&self, within: Duration) -> Health {
        let heard = self.0.heard.load(Ordering::Relaxed);
        match self.0.ping(within).await {
            Some(CliState::Stopped) => Health::Stopped,
            Some(CliState::Ended) => Health::Ended,
            Some(_) => Health::Running,
            None if self.0.ended.is_cancelled() => Health::Gone,
            // The answer comes behind what the CLI wrote. If that is slow, it is not the host that is.
            None if self.0.has_heard_since(heard) => Health::Running,
            None => Health::Silent,
        }
    }
}

impl Shared {
    /// Says something without waiting. Whether it will be heard: a host that is gone needs no words, and one that takes none has
    /// enough to do.
    pub(super) fn say(&self, head: ToHost) -> bool {
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

    async fn ask(&self, head: ToHost, within: Duration) -> Option<FromHost> {
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if waiting.len() >= HOST_REPLIES_MAX / 2 {
                return None;
            }
            if !self.say(head) {
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
        if !self.is_asked.swap(true, Ordering::Relaxed) && !self.say(ToHost::Ping) {
            self.is_asked.store(false, Ordering::Relaxed);
        }
        tokio::select! {
            answered = tokio::time::timeout(within, pong.changed()) => answered.ok()?.ok()?,
            () = self.ended.cancelled() => return None,
        }
        Some(*pong.borrow())
    }

    fn has_heard_since(&self, heard: u64) -> bool {
        self.is_behind.load(Ordering::Relaxed) || self.heard.load(Ordering::Relaxed) != heard
    }

    /// The host has said how things stand.
    pub(super) fn ponged(&self, cli: CliState) {
        self.is_asked.store(false, Ordering::Relaxed);
        self.pong.send_replace(cli);
    }

    /// An answer has come; it belongs to who asked first.
    pub(super) fn answered(&self, answer: FromHost) {
        let asker = self.waiting().pop_front();
        if let Some(asker) = asker {
            // Whoever asked may have left.
            drop(asker.send(answer));
        }
    }

    /// No answer comes any more.
    pub(super) fn end(&self) {
        self.ended.cancel();
        self.waiting().clear();
        self.credit.close();
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<FromHost>>> {
        // Nothing here panics while it holds the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn silence(&self) -> MutexGuard<'_, Option<mpsc::Sender<Incoming>>> {
        self.silence.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
