//! Processes that are started ahead of demand, and conversations that are parked while idle.

mod lease;
mod permit;
mod session;
mod spares;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::JoinSet;

pub use lease::Lease;
pub(crate) use permit::ProcessPermit;
pub use session::PooledSession;

use self::permit::ProcessLimit;
use self::session::Slot;
use self::spares::Spares;
use crate::client::{Client, check_runtime};
use crate::error::Error;
use crate::options::Options;
use crate::transport::{Process, Transport};

/// Processes that are started ahead of demand, and conversations that are parked on disk while idle.
///
/// Starting Claude Code takes seconds. A pool keeps a few *spares*: processes that are started and
/// initialised with the same options, and handed out at once. A spare that was handed out, or has died, is
/// replaced in the background.
///
/// A conversation of a pool is a [`PooledSession`]. When it is idle for a while it is *parked*: its process
/// is closed, and the next prompt resumes it from its session file, with the options of the pool. Later
/// changes (such as the model or the permission mode) are not in that file and have to be set again. A
/// background agent or command would end with the process, so a conversation that has one is not parked until
/// it has ended.
///
/// ```no_run
/// use tidings::{Options, Pool, PoolLimits};
///
/// # async fn run() -> Result<(), tidings::Error> {
/// let pool = Pool::new(Options::new().model("haiku"), PoolLimits::default())?;
/// let session = pool.session();
/// let end = session.send("What is the capital of France?").await?.finish().await?;
/// println!("{}", end.text());
/// // An hour later the process has been closed, and the conversation is resumed.
/// session.send("And of Italy?").await?.finish().await?;
/// # Ok(())
/// # }
/// ```
///
/// The CLI has an alpha protocol by which a process is started first and gets its options later
/// (`--await-claim` and `claim_session`). It may change any day and saves little when the options are known
/// ahead, so it is not used here.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<PoolInner>,
}

/// The limits of a pool.
///
/// ```
/// let limits = tidings::PoolLimits::default().spares(2).live_max(16);
/// # assert_eq!((limits.spares, limits.live_max), (2, 16));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PoolLimits {
    /// Spare processes.
    pub spares: usize,
    /// Processes of conversations that may run at once; spares come on top. One more parks the least recently
    /// used conversation; if all are busy, or have background work, it waits.
    pub live_max: usize,
    /// Idle time after which a conversation is parked; `None` for never.
    pub park_after: Option<Duration>,
}

impl Default for PoolLimits {
    /// One spare, eight conversations with a process, parked after ten minutes.
    fn default() -> Self {
        PoolLimits { spares: 1, live_max: 8, park_after: Some(Duration::from_secs(600)) }
    }
}

impl PoolLimits {
    /// Sets the number of spare processes.
    pub fn spares(mut self, spares: usize) -> Self {
        self.spares = spares;
        self
    }

    /// Sets the number of processes of conversations that may run at once.
    pub fn live_max(mut self, live_max: usize) -> Self {
        self.live_max = live_max;
        self
    }

    /// Sets the idle time after which a conversation is parked; `None` for never.
    pub fn park_after(mut self, park_after: Option<Duration>) -> Self {
        self.park_after = park_after;
        self
    }
}

pub(super) type TransportFactory = Arc<dyn Fn() -> Box<dyn Transport> + Send + Sync>;

pub(super) struct PoolInner {
    options: Options,
    transports: TransportFactory,
    spares: Spares,
    park_after: Option<Duration>,
    /// One permit for each process of a conversation.
    live: ProcessLimit,
    /// Notified when a conversation has become idle, so that a waiting one can park it.
    idle: Arc<Notify>,
    slots: Mutex<Vec<Weak<Slot>>>,
    /// A counter of uses; it orders conversations by last use without a clock.
    uses: AtomicU64,
}

impl Pool {
    /// Creates a pool of processes on this machine. The first spares are started at once, in the background.
    ///
    /// It fails if the options are invalid, or name a specific conversation, which sessions cannot share, and
    /// without a tokio runtime.
    pub fn new(options: Options, limits: PoolLimits) -> Result<Self, Error> {
        Pool::over(|| Box::new(Process::new()), options, limits)
    }

    /// Creates a pool over any transport: the function makes one for each process.
    pub fn over(
        transport: impl Fn() -> Box<dyn Transport> + Send + Sync + 'static,
        options: Options,
        limits: PoolLimits,
    ) -> Result<Self, Error> {
        check_runtime()?;
        options.check_shared()?;
        drop(options.plan()?);
        let Some(live) = ProcessLimit::new(limits.live_max) else {
            let message = format!("`PoolLimits::live_max` is not a number of processes: {}", limits.live_max);
            return Err(Error::invalid(message, "set it to at least 1"));
        };
        let transports: TransportFactory = Arc::new(transport);
        let inner = PoolInner {
            spares: Spares::start(Arc::clone(&transports), options.clone(), limits.spares),
            options,
            transports,
            park_after: limits.park_after,
            live,
            idle: Arc::new(Notify::new()),
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
        };
        Ok(Pool { inner: Arc::new(inner) })
    }

    /// A separate session: a spare if there is one, else a new process. The pool does not park it, and it
    /// does not count towards [`PoolLimits::live_max`].
    pub async fn client(&self) -> Result<Client, Error> {
        self.inner.fresh(None).await
    }

    /// A new conversation, which has no process before its first prompt.
    pub fn session(&self) -> PooledSession {
        PooledSession::new(&self.inner, None)
    }

    /// An existing conversation, by its id; it is resumed with its first prompt.
    pub fn resume(&self, session_id: impl Into<String>) -> PooledSession {
        PooledSession::new(&self.inner, Some(session_id.into()))
    }

    /// The number of spares that are ready.
    pub fn spares(&self) -> usize {
        self.inner.spares.ready()
    }

    /// The number of processes of conversations: those that are being started or ended are counted too,
    /// spares and conversations that wait for a process are not.
    pub fn live(&self) -> usize {
        self.inner.live.used()
    }

    /// Closes all spares and the processes of all conversations, and returns when they are gone: also those
    /// of conversations that were dropped before. Running turns are interrupted.
    ///
    /// No more spares are started. Conversations can still be used; a process is started for each on demand.
    pub async fn close(&self) {
        self.inner.spares.close().await;
        // Aborted with this future, and when all processes are gone.
        let mut closing = JoinSet::new();
        for slot in self.inner.slots() {
            closing.spawn(async move { slot.close().await });
        }
        self.inner.live.wait_until_unused().await;
    }
}

impl PoolInner {
    /// A process without a conversation.
    async fn fresh(&self, permit: Option<ProcessPermit>) -> Result<Client, Error> {
        let Some(client) = self.spares.take() else {
            return self.connect(self.options.clone(), permit).await;
        };
        if let Some(permit) = permit {
            client.hold(permit);
        }
        Ok(client)
    }

    /// A process that resumes a conversation.
    async fn resumed(&self, session_id: &str, permit: ProcessPermit) -> Result<Client, Error> {
        self.connect(self.options.clone().resume(session_id), Some(permit)).await
    }

    async fn connect(&self, options: Options, permit: Option<ProcessPermit>) -> Result<Client, Error> {
        Ok(Client::connect_with((self.transports)(), options, permit).await?.0)
    }

    /// A permit for one more process. If none is left, the least recently used conversation is parked.
    async fn permit(&self) -> Result<ProcessPermit, Error> {
        loop {
            let waiting = self.live.permit();
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // Notifications from here on are not missed.
            idle.as_mut().enable();
            if let Some(permit) = self.live.permit_now() {
                return Ok(permit);
            }
            let mut slots = self.slots();
            slots.sort_by_key(|slot| slot.used());
            let mut parked = false;
            for slot in slots {
                parked = slot.park().await;
                if parked {
                    break;
                }
            }
            if parked {
                continue;
            }
            tokio::select! {
                permit = waiting => return permit,
                () = idle => {}
            }
        }
    }

    fn slots(&self) -> Vec<Arc<Slot>> {
        let slots = self.slots.lock();
        slots.iter().filter_map(Weak::upgrade).collect()
    }

    fn add(&self, slot: &Arc<Slot>) {
        let mut slots = self.slots.lock();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(slot));
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("spares", &self.spares())
            .field("live", &self.live())
            .finish_non_exhaustive()
    }
}
