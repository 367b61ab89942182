//! Copies of sessions on disk before Claude Code deletes them.
//!
//! Claude Code deletes the files of a session that did not change for a time (`cleanupPeriodDays`, 30 days by
//! default). The server copies them to an archive in its data folder shortly before; `tidings sessions
//! archive` reads the same folder. `copies` lists, restores and removes the copies, and `unpacked` reads
//! them.

mod copies;
mod unpacked;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tidings_agent::Clock;
use tidings_api::{ArchiveRound, ArchiveWhich, Code};
use tidings_transcript::archive::{Archive as Store, Manifest};
use tidings_transcript::cleanup_period::CleanupPeriod;
use tidings_transcript::roots::{Roots, SessionFiles};
use tokio_util::sync::CancellationToken;

pub use self::unpacked::SearchExtent;

use crate::Error;
use crate::limits::{ARCHIVE_EVERY, ARCHIVE_FIRST_AFTER, ARCHIVE_MARGIN};

/// The archive of a server.
#[derive(Debug, Clone)]
pub struct Archive {
    /// The folder of the copies.
    pub folder: PathBuf,
    /// The configuration folder of the CLI.
    pub config_dir: PathBuf,
    /// The greatest size of all copies together; 0 archives nothing.
    pub bytes_max: u64,
}

impl Archive {
    /// Archives sessions that are about to be deleted, until the server stops.
    pub async fn run(self, clock: Clock, stopping: CancellationToken) {
        if self.bytes_max == 0 {
            return;
        }
        let leftovers = self.clone();
        drop(tokio::task::spawn_blocking(move || leftovers.remove_unpacked()).await);
        let mut pause = ARCHIVE_FIRST_AFTER;
        while stopping.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            let (archive, now) = (self.clone(), clock.now());
            match tokio::task::spawn_blocking(move || archive.round(now, ArchiveWhich::Due)).await {
                Ok(Ok(round)) => log(&round),
                Ok(Err(error)) => tracing::warn!(%error, "failed to archive sessions"),
                Err(error) => tracing::warn!(%error, "failed to archive sessions"),
            }
            pause = ARCHIVE_EVERY;
        }
    }

    fn store(&self) -> Store {
        Store::new(&self.folder)
    }

    /// The sessions on disk.
    fn on_disk(&self) -> Result<Vec<SessionFiles>, Error> {
        if !self.config_dir.is_dir() {
            return Ok(Vec::new());
        }
        Ok(Roots::new([&self.config_dir]).scan().map_err(|error| failed(&error))?.sessions)
    }

    /// Archives what is about to be deleted, or everything; the next to be deleted first.
    pub fn round(&self, now: Timestamp, which: ArchiveWhich) -> Result<ArchiveRound, Error> {
        let retention = CleanupPeriod::of(&self.config_dir);
        let mut due = self.on_disk()?;
        due.retain(|session| which == ArchiveWhich::All || is_due(session, retention, now.into()));
        due.sort_by_key(SessionFiles::modified);
        let (store, mut round) = (self.store(), ArchiveRound::default());
        let mut stored = store.contents().map_err(|error| failed(&error))?.sessions;
        let mut bytes: u64 = stored.iter().map(Manifest::stored_bytes).sum();
        for session in &due {
            let known = stored.iter().position(|manifest| manifest.session == session.id);
            let known = known.map(|at| stored.swap_remove(at));
            if known.as_ref().is_some_and(|known| known.modified() == session.modified()) {
                continue;
            }
            let before = known.map_or(0, |known| known.stored_bytes());
            // A copy is smaller than its session.
            if bytes.saturating_sub(before).saturating_add(session.bytes()) > self.bytes_max {
                round.left_out += 1;
                continue;
            }
            match store.keep(session, now) {
                Ok(kept) => {
                    bytes = bytes.saturating_sub(before).saturating_add(kept.stored_bytes);
                    round.archived += 1;
                    round.failed += u64::from(!kept.failed.is_empty());
                }
                Err(error) => {
                    tracing::warn!(session = session.id, %error, "failed to archive a session");
                    round.failed += 1;
                }
            }
        }
        Ok(round)
    }
}

fn log(round: &ArchiveRound) {
    if round.archived > 0 {
        tracing::info!(sessions = round.archived, "archived sessions that Claude Code will delete");
    }
    if round.left_out > 0 {
        let sessions = round.left_out;
        tracing::warn!(
            sessions,
            "the archive is full; Claude Code will delete these sessions without a copy"
        );
    }
    if round.failed > 0 {
        tracing::warn!(sessions = round.failed, "failed to archive some sessions");
    }
}

/// True if Claude Code may delete the session before a later round has had a chance to copy it.
fn is_due(session: &SessionFiles, retention: CleanupPeriod, now: SystemTime) -> bool {
    let Some(modified) = session.modified() else { return false };
    let margin = margin(retention);
    retention.until(modified).and_then(|until| until.checked_sub(margin)).is_some_and(|due| due <= now)
}

/// Time before its deletion at which a session is archived.
fn margin(retention: CleanupPeriod) -> Duration {
    // With a short period, half of it is the margin.
    let period = Duration::from_secs(retention.days.saturating_mul(24 * 60 * 60));
    ARCHIVE_MARGIN.min(period / 2)
}

fn failed(error: &tidings_transcript::Error) -> Error {
    Error::new(Code::Internal, error.to_string(), "check the data folder, and the free disk space")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Caller;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn write_session(archive: &Archive, id: &str, age: Duration, bytes: usize, now: SystemTime) {
        let project = archive.config_dir.join("projects/-home-dev-demo");
        std::fs::create_dir_all(&project).unwrap();
        let path = project.join(format!("{id}.jsonl"));
        // Random letters, so that the copy is not much smaller.
        let mut seed = 7_u64;
        let mut letter = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + u8::try_from((seed >> 33) % 26).unwrap())
        };
        let noise: String = (0..bytes).map(|_| letter()).collect();
        std::fs::write(&path, format!("{{\"type\":\"user\",\"message\":\"{noise}\"}}\n")).unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(now - age).unwrap();
    }

    fn caller() -> Caller {
        Caller::admin("test")
    }

    fn archive(folder: &std::path::Path, bytes_max: u64) -> Archive {
        Archive { folder: folder.join("archive"), config_dir: folder.join("claude"), bytes_max }
    }

    #[test]
    fn sessions_are_archived_before_they_are_deleted_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let archive = archive(folder.path(), 1 << 20);
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
        let (old, young) = ("11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555");
        write_session(&archive, old, DAY * 24, 1000, now.into());
        write_session(&archive, young, DAY * 22, 1000, now.into());
        assert_eq!(
            archive.round(now, ArchiveWhich::Due).unwrap(),
            ArchiveRound { archived: 1, ..ArchiveRound::default() }
        );
        let list = archive.list(&caller(), now).unwrap();
        assert_eq!(list.items.iter().map(|item| item.session.as_str()).collect::<Vec<_>>(), [old]);
        assert_eq!(
            archive.round(now, ArchiveWhich::Due).unwrap(),
            ArchiveRound::default(),
            "it is not copied twice"
        );

        // Claude Code deletes it.
        let path = archive.config_dir.join(format!("projects/-home-dev-demo/{old}.jsonl"));
        let before = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(archive.restore(&caller(), old).unwrap().files, 1);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(archive.restore(&caller(), "unknown").unwrap_err().code(), Code::NotFound);
    }

    #[test]
    fn the_archive_is_bounded_and_follows_the_period_of_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let archive = archive(folder.path(), 20_000);
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
        for number in 1..=4_u32 {
            let id = format!("{number}1111111-2222-4333-8444-555555555555");
            write_session(&archive, &id, DAY * (10 + number), 8000, now.into());
        }
        assert_eq!(archive.round(now, ArchiveWhich::Due).unwrap(), ArchiveRound::default(), "there is time");
        std::fs::write(archive.config_dir.join("settings.json"), r#"{"cleanupPeriodDays": 16}"#).unwrap();
        let round = archive.round(now, ArchiveWhich::Due).unwrap();
        assert!(round.left_out > 0 && round.archived > 0, "{round:?}");
        let list = archive.list(&caller(), now).unwrap();
        assert!(list.stored_bytes <= list.bytes_max, "{list:?}");
        let first = list.items.iter().any(|item| item.session.starts_with('4'));
        assert!(first, "the next to be deleted comes first: {list:?}");
    }
}
