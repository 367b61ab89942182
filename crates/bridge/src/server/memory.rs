//! Gives memory back to the system after a load. The only `unsafe` of the crate.
//!
//! The allocator of glibc keeps what was freed between two blocks that are in use, so a server that once had
//! a thousand subscribers would stay as large as it was then.

use tidings_sessions::Sessions;
use tokio::time::{Instant, interval};
use tokio_util::sync::CancellationToken;

use crate::limits::{MEMORY_QUIET, MEMORY_RETURN_INTERVAL};

/// Gives memory back when the server has become quiet, and now and then while it is busy.
pub(super) async fn give_back(sessions: Sessions, stopping: CancellationToken) {
    let mut ticks = interval(MEMORY_QUIET);
    let activity = || {
        let broadcast = sessions.broadcast();
        (broadcast.publisher().published(), broadcast.publisher().subscription_count())
    };
    let (mut before, mut given_back) = (activity(), (activity(), Instant::now()));
    while stopping.run_until_cancelled(ticks.tick()).await.is_some() {
        let now = activity();
        let is_quiet = now == before;
        before = now;
        let is_late = given_back.1.elapsed() >= MEMORY_RETURN_INTERVAL;
        if now != given_back.0 && (is_quiet || is_late) {
            given_back = (now, Instant::now());
            // It may take some milliseconds.
            if tokio::task::spawn_blocking(trim).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe function of a dependency asks the allocator for this")]
fn trim() {
    // SAFETY: the function may be called at any time and from any thread; it touches only free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators give memory back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}
