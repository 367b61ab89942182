//! Recent results of commands with an id, for clients that repeat a command whose response was lost.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tidings_api::{Code, NewDevice};
use tidings_sessions::Error;
use tidings_sessions::secret::Fingerprint;

use crate::limits::DEVICE_REPEATS_MAX;

/// Recent results by command id. They contain secrets, so they are kept briefly and never on disk.
#[derive(Debug)]
pub(super) struct RecentResults<T> {
    kept_for: Duration,
    made: Mutex<VecDeque<RecentResult<T>>>,
}

#[derive(Debug)]
struct RecentResult<T> {
    id: String,
    what: String,
    at: Instant,
    gave: T,
}

impl<T: Clone> RecentResults<T> {
    /// Keeps results for this time.
    pub(super) fn new(kept_for: Duration) -> Self {
        RecentResults { kept_for, made: Mutex::default() }
    }

    /// Runs a command once per id; a repetition returns the first result. Another command with the same id is
    /// refused.
    pub(super) fn once(
        &self,
        id: &str,
        wanted: NewDevice,
        make: impl FnOnce(NewDevice) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let what = serde_json::to_string(&wanted).unwrap_or_default();
        let what = Fingerprint::of(&what).to_string();
        // Held while the command runs, so that two concurrent repetitions run it once.
        let mut all = self.made.lock();
        all.retain(|made| made.at.elapsed() < self.kept_for);
        if let Some(made) = all.iter().find(|made| made.id == id) {
            if made.what != what {
                let message = "The id of this command was used for another command";
                return Err(Error::new(Code::Conflict, message, "use a new id for each command"));
            }
            return Ok(made.gave.clone());
        }
        let gave = make(wanted)?;
        if all.len() >= DEVICE_REPEATS_MAX {
            all.pop_front();
        }
        all.push_back(RecentResult { id: id.to_owned(), what, at: Instant::now(), gave: gave.clone() });
        Ok(gave)
    }
}
