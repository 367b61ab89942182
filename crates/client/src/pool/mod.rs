mod lease;
mod session;
mod spares;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

pub use lease::Lease;
pub use session::PooledSession;

use self::session::Slot;
use self::spares::Spares;
use crate::client::Client;
use crate::error::Error;
use crate::options::Options;
use crate::transport::{Process, Transport};

/// Processes that are ready before anybody asks, and conversations that wait on disk while nobody uses them.
///
/// Starting Claude Code takes seconds. A pool keeps a few *spares*: started and initialised with the same options, and
/// handed out at once. A spare that was handed out, or has died, is replaced in the background.
///
/// A conversation of a pool is a [`PooledSession`]. When nothing happens in it for a while it is *parked*: its process is
/// closed, and the next prompt resumes it from its session file, with the options of the pool. What was changed on the
/// way (such as the model or the permission mode) is not in that file and has to be set again. An agent or a command in
/// the background would end with the process, so a conversation that has one keeps it until that is over.
///
/// ```no_run
/// use tidings::{Options, Pool, PoolLimits};
///
/// # async fn run() -> Result<(), tidings::Error> {
/// let pool = Pool::new(Options::new().model("haiku"), PoolLimits::default())?;
/// let session = pool.session();
/// let end = session.send("What is the capital of France?").await?.finish().await?;
/// println!("{}", end.text());
/// // An hour later the process is long gone, and the conversation is not.
/// session.send("And of Italy?").await?.finish().await?;
/// # Ok(())
/// # }
/// ```
///
/// The CLI has an alpha protocol by which a process is started first and gets its options later (`--await-claim` and
/// `claim_session`). It may change any day and gives little when the options are known ahead, so it is not used here.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

/// How much a pool may hold.
///
/// ```
/// let limits = tidings::PoolLimits::default().spares(2).live_max(16);
/// # assert_eq!((limits.spares, limits.live_max), (2, 16));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct PoolLimits {
    /// Processes that are kept ready.
    pub spares: usize,
    /// Conversations that may have a process at once. One more parks the one that was used longest ago; if all are busy,
    /// or have something in the background, it waits.
    pub live_max: usize,
    /// A conversation in which nothing happens for this long is parked; never, if there is none.
    pub park_after: Option<Duration>,
}

impl Default for PoolLimits {
    /// One spare, eight conversations with a process, parked after ten minutes.
    fn default() -> Self {
        PoolLimits { spares: 1, live_max: 8, park_after: Some(Duration::from_secs(600)) }
    }
}

impl PoolLimits {
    /// With so many processes that are kept ready.
    pub fn spares(mut self, spares: usize) -> Self {
        self.spares = spares;
        self
    }

    /// With so many conversations that may have a process at once.
    pub fn live_max(mut self, live_max: usize) -> Self {
        self.live_max = live_max;
        self
    }

    /// With conversations that are parked after this time; `None` for never.
    pub fn park_after(mut self, park_after: Option<Duration>) -> Self {
        self.park_after = park_after;
        self
    }
}

pub(super) type Carriers = Arc<dyn Fn() -> Box<dyn Transport> + Send + Sync>;

pub(super) struct Inner {
    options: Options,
    carriers: Carriers,
    spares: Spares,
    park_after: Option<Duration>,
    /// One permit for each conversation with a process.
    live: Arc<Semaphore>,
    /// Told when a conversation has become idle, so that whoever waits for its place can park it.
    idle: Arc<Notify>,
    slots: Mutex<Vec<Weak<Slot>>>,
    /// Counts uses, which tells which was longest ago without a clock.
    uses: AtomicU64,
}

impl Pool {
    /// A pool of processes on this machine. The first spares are started at once, in the background.
    ///
    /// It fails if the options are wrong, or name one conversation, which many cannot share. It must be called inside a
    /// tokio runtime.
    pub fn new(options: Options, limits: PoolLimits) -> Result<Self, Error> {
        Pool::over(|| Box::new(Process::new()), options, limits)
    }

    /// The same over any carrier: the function makes one for each process.
    pub fn over(
        carrier: impl Fn() -> Box<dyn Transport> + Send + Sync + 'static,
        options: Options,
        limits: PoolLimits,
    ) -> Result<Self, Error> {
        options.check_shared()?;
        drop(options.plan()?);
        if limits.live_max == 0 || limits.live_max > Semaphore::MAX_PERMITS {
            let message = "A pool must allow at least one conversation a process";
            return Err(Error::invalid(message, "raise `PoolLimits::live_max`"));
        }
        let carriers: Carriers = Arc::new(carrier);
        let inner = Inner {
            spares: Spares::start(Arc::clone(&carriers), options.clone(), limits.spares),
            options,
            carriers,
            park_after: limits.park_after,
            live: Arc::new(Semaphore::new(limits.live_max)),
            idle: Arc::new(Notify::new()),
            slots: Mutex::default(),
            uses: AtomicU64::new(0),
        };
        Ok(Pool { inner: Arc::new(inner) })
    }

    /// A session of its own: a spare if there is one, else a process that is started now. The pool does not park it, and
    /// it does not count towards [`PoolLimits::live_max`].
    pub async fn client(&self) -> Result<Client, Error> {
        self.inner.fresh().await
    }

    /// A new conversation, which has no process before its first prompt.
    pub fn session(&self) -> PooledSession {
        PooledSession::new(&self.inner, None)
    }

    /// An old conversation, by its id; it is taken up with its first prompt.
    pub fn resume(&self, session_id: impl Into<String>) -> PooledSession {
        PooledSession::new(&self.inner, Some(session_id.into()))
    }

    /// How many spares are ready.
    pub fn spares(&self) -> usize {
        self.inner.spares.ready()
    }

    /// How many conversations of the pool have a process.
    pub fn live(&self) -> usize {
        self.inner.slots().iter().filter(|slot| slot.is_live()).count()
    }

    /// Ends all spares and parks all conversations that nobody is at, and waits until their processes are gone.
    ///
    /// No spare is started any more. Conversations can still be used, each with a process that is started for it.
    pub async fn close(&self) {
        self.inner.spares.close().await;
        for slot in self.inner.slots() {
            slot.park().await;
        }
    }
}

impl Inner {
    /// A process without a conversation.
    async fn fresh(&self) -> Result<Client, Error> {
        match self.spares.take() {
            Some(client) => Ok(client),
            None => Client::connect_over((self.carriers)(), self.options.clone()).await,
        }
    }

    /// A process that goes on with a conversation.
    async fn resumed(&self, session_id: &str) -> Result<Client, Error> {
        Client::connect_over((self.carriers)(), self.options.clone().resume(session_id)).await
    }

    /// The right to one more process. If there is none left, the conversation that was used longest ago gives its up.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        loop {
            let waiting = Arc::clone(&self.live).acquire_owned();
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // From here on no call is missed.
            idle.as_mut().enable();
            if let Ok(permit) = Arc::clone(&self.live).try_acquire_owned() {
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
                permit = waiting => return permit.map_err(|_| Error::closed()),
                () = idle => {}
            }
        }
    }

    fn slots(&self) -> Vec<Arc<Slot>> {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().filter_map(Weak::upgrade).collect()
    }

    fn add(&self, slot: &Arc<Slot>) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
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
