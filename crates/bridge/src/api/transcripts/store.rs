//! Access to sessions on disk: folders, cache, index, and the number of concurrent readers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use parking_lot::{Mutex, MutexGuard};
use tidings_agent::Clock;
use tidings_api::Code;
use tidings_sessions::archive::Archive;
use tidings_sessions::starting::import::sees_session;
use tidings_sessions::{Caller, Error};
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::Ledger;
use tidings_transcript::index::Index;
use tidings_transcript::roots::{Roots, SessionFiles, SessionScan};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::limits::{TRANSCRIPT_JOBS_MAX, TRANSCRIPT_WAIT};

/// Sessions on disk. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Transcripts(Arc<TranscriptStore>);

/// The folders and caches that a job on a blocking thread uses.
#[derive(Debug)]
pub(in crate::api) struct TranscriptStore {
    roots: Vec<PathBuf>,
    /// The folder of the caches and the index.
    cache_folder: Option<PathBuf>,
    clock: Clock,
    zone: TimeZone,
    cache: Mutex<Option<Cache>>,
    /// True while a background thread reads all sessions to fill the cache.
    is_counting: AtomicBool,
    jobs: Arc<Semaphore>,
}

impl Transcripts {
    /// Sessions under these configuration folders, such as `~/.claude`. `zone` is the time zone of days,
    /// unless a request names another one.
    pub fn new(roots: Vec<PathBuf>, cache_folder: Option<PathBuf>, clock: Clock, zone: TimeZone) -> Self {
        Transcripts(Arc::new(TranscriptStore {
            roots,
            cache_folder,
            clock,
            zone,
            cache: Mutex::new(None),
            is_counting: AtomicBool::new(false),
            jobs: Arc::new(Semaphore::new(TRANSCRIPT_JOBS_MAX)),
        }))
    }

    /// Runs a job on a blocking thread.
    pub(in crate::api) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Arc<TranscriptStore>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let shared = Arc::clone(&self.0);
        let jobs = Arc::clone(&self.0.jobs);
        let Ok(Ok(permit)) = timeout(TRANSCRIPT_WAIT, jobs.acquire_owned()).await else {
            let message = "Too many requests are reading sessions";
            return Err(Error::new(Code::TooMany, message, "try again in a moment").retry_after_ms(1000));
        };
        let job = tokio::task::spawn_blocking(move || {
            // Held until the job is done, even if its client has disconnected.
            let _permit = permit;
            job(&shared)
        });
        job.await
            .map_err(|error| Error::new(Code::Internal, format!("Reading sessions failed: {error}"), ""))?
    }
}

impl Default for Transcripts {
    /// No sessions.
    fn default() -> Self {
        Transcripts::new(Vec::new(), None, Clock::system(), TimeZone::UTC)
    }
}

impl TranscriptStore {
    /// The configuration folders that exist. A machine on which Claude Code never ran has no sessions, which
    /// is not an error.
    pub(super) fn roots(&self) -> Roots {
        Roots::new(self.roots.iter().filter(|root| root.is_dir()).cloned())
    }

    /// The configuration folder whose settings contain the retention of sessions.
    pub(super) fn settings(&self) -> Option<PathBuf> {
        self.roots().paths().first().cloned()
    }

    /// All sessions that the caller may see.
    pub(super) fn sessions(&self, caller: &Caller) -> Result<SessionScan, Error> {
        let mut found = self.roots().scan()?;
        if !caller.folders.is_empty() {
            let seen: Vec<bool> =
                found.sessions.iter().map(|session| sees_session(caller, session)).collect();
            let mut seen = seen.into_iter();
            found.sessions.retain(|_| seen.next().unwrap_or_default());
        }
        Ok(found)
    }

    /// Finds one session by its full id.
    pub(super) fn session(&self, caller: &Caller, id: &str) -> Result<SessionFiles, Error> {
        let found = self.roots().scan_some(|known, _| known == id)?;
        let mut fitting = found.sessions.into_iter().filter(|session| session.id == id);
        fitting.next().filter(|session| sees_session(caller, session)).ok_or_else(|| {
            let hint = "list the transcripts; the CLI deletes old ones";
            Error::new(Code::NotFound, format!("No session on disk has the id `{id}`"), hint)
        })
    }

    /// Finds one session by its full id: on disk, or else in the archive.
    pub(super) fn session_or_copy(
        &self,
        archive: Option<&Archive>,
        caller: &Caller,
        id: &str,
    ) -> Result<FoundSession, Error> {
        let on_disk = self.session(caller, id).map(|files| FoundSession { files, is_archived: false });
        match (on_disk, archive) {
            (Err(error), Some(archive)) if error.code() == Code::NotFound => {
                let copy = archive.open(caller, id, self.now());
                match copy {
                    Ok(files) => Ok(FoundSession { files, is_archived: true }),
                    Err(missing) if missing.code() == Code::NotFound => Err(error),
                    Err(failed) => Err(failed),
                }
            }
            (found, _) => found,
        }
    }

    /// Locks the cache of facts about files. The lock keeps other jobs from reading the same files at the
    /// same time.
    pub(super) fn cache(&self) -> Cached<'_> {
        self.opened(self.cache.lock())
    }

    /// Locks the cache if it is free; `None` while another job fills it.
    pub(super) fn cache_if_free(&self) -> Option<Cached<'_>> {
        self.cache.try_lock().map(|cache| self.opened(cache))
    }

    fn opened<'a>(&self, mut cache: MutexGuard<'a, Option<Cache>>) -> Cached<'a> {
        let path = self.cache_folder.as_ref().map(|folder| folder.join("sessions.cache"));
        cache.get_or_insert_with(|| path.map_or_else(Cache::none, |path| Cache::open(&path)));
        Cached(cache)
    }

    /// The full-text index, if it was built.
    pub(super) fn index(&self) -> Option<Index> {
        let path = self.cache_folder.as_ref()?.join("index.sqlite");
        Index::open(&path).ok().flatten()
    }

    /// Fills the cost cache on a background thread, unless one is running already.
    pub(super) fn count_in_background(self: &Arc<Self>) {
        if self.is_counting.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(self);
        let reader = std::thread::Builder::new().name("transcripts".to_owned());
        let count = move || {
            if let Ok(found) = shared.roots().scan() {
                shared.cache().with(|cache| Ledger::read(&found, cache, &|_| {}));
            }
            shared.is_counting.store(false, Ordering::Release);
        };
        if reader.spawn(count).is_err() {
            self.is_counting.store(false, Ordering::Release);
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The current time in the requested time zone.
    pub(super) fn now_in(&self, zone: Option<&str>) -> Result<Zoned, Error> {
        let zone = match zone {
            None => self.zone.clone(),
            Some(name) => TimeZone::get(name).map_err(|_| {
                let hint = "use a name of the tz database, such as Europe/Berlin, or UTC";
                Error::new(Code::Invalid, format!("Unknown time zone `{name}`"), hint)
            })?,
        };
        Ok(self.now().to_zoned(zone))
    }
}

/// A session that was found by its id.
pub(super) struct FoundSession {
    pub(super) files: SessionFiles,
    /// True if only a copy in the archive is left.
    pub(super) is_archived: bool,
}

/// The locked cache, for one job.
pub(super) struct Cached<'a>(MutexGuard<'a, Option<Cache>>);

impl Cached<'_> {
    /// Runs a job with the cache, and saves the cache afterwards.
    pub(super) fn with<T>(mut self, job: impl FnOnce(&mut Cache) -> T) -> T {
        let mut none = Cache::none();
        let cache = self.0.as_mut().unwrap_or(&mut none);
        let done = job(cache);
        if let Err(error) = cache.save() {
            // The only consequence is that the next start is slower.
            tracing::warn!("{error}");
        }
        done
    }
}
