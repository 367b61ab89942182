//! Sessions whose files grow although no process describes itself as their writer: it runs in a container
//! that shares the folder, or is an earlier version of Claude Code. They are shown, and nothing else.
//!
//! The operating system reports the files that change; no folder is searched.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use parking_lot::MutexGuard;
use serde::Deserialize;
use tidings_api::SessionOrigin;
use tidings_journal::limits::TEXT_BYTES_MAX;
use tidings_transcript::running::RunningCli;

use super::{ObservedProcess, Sessions};
use crate::Error;
use crate::limits::{GROWING_ENTRY_AGE_MAX, GROWING_FILES_MAX, GROWING_FOR, GROWING_TAIL_BYTES, WRITER_LATE};
use crate::starting::launch::ENTRYPOINT;

/// Session files that were seen to grow, and whose writers are not known.
#[derive(Debug, Default)]
pub(super) struct GrowingFiles {
    seen: HashMap<String, GrowingFile>,
    /// Sessions whose process has ended: the last entries may be reported after that.
    ended: HashMap<String, Instant>,
}

#[derive(Debug, Clone)]
struct GrowingFile {
    main: PathBuf,
    since: Instant,
}

impl GrowingFiles {
    /// Notes that a file has grown.
    fn note(&mut self, session: &str, main: PathBuf, now: Instant) {
        self.ended.retain(|_, at| now.saturating_duration_since(*at) < WRITER_LATE);
        if !self.ended.contains_key(session) && self.seen.len() < GROWING_FILES_MAX {
            self.seen.entry(session.to_owned()).or_insert(GrowingFile { main, since: now });
        }
    }

    /// Notes that the process of a session has ended.
    pub(super) fn note_ended(&mut self, session: &str) {
        self.seen.remove(session);
        self.ended.insert(session.to_owned(), Instant::now());
    }

    /// Takes the files whose writers had the time to describe themselves.
    fn take_due(&mut self, now: Instant) -> Vec<(String, PathBuf)> {
        let is_due =
            |_: &String, file: &mut GrowingFile| now.saturating_duration_since(file.since) >= GROWING_FOR;
        let mut due: Vec<_> = self.seen.extract_if(is_due).collect();
        due.sort_by_key(|(_, file)| file.since);
        due.into_iter().map(|(session, file)| (session, file.main)).collect()
    }
}

/// The session that a changed file belongs to, and its main file.
pub(super) fn session_of(projects: &Path, changed: &Path) -> Option<(String, PathBuf)> {
    let mut parts = changed.strip_prefix(projects).ok()?.components();
    let (folder, name) = (parts.next()?, parts.next()?);
    let name = Path::new(name.as_os_str());
    let is_session = name.extension() == Some(OsStr::new("jsonl")) || parts.next().is_some();
    let session = name.file_stem()?.to_str()?;
    let main = projects.join(folder).join(format!("{session}.jsonl"));
    (is_session && uuid::Uuid::parse_str(session).is_ok()).then(|| (session.to_owned(), main))
}

/// The newest entry of a session file that says where and by which program it was written.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct WriterEntry {
    timestamp: Timestamp,
    cwd: PathBuf,
    #[serde(default)]
    entrypoint: Option<String>,
}

impl WriterEntry {
    /// Reads the end of a file.
    fn read(main: &Path) -> Option<Self> {
        // Nothing but a file is opened: a pipe would block.
        if !main.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut file = fs::File::open(main).ok()?;
        let bytes = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(bytes.saturating_sub(GROWING_TAIL_BYTES))).ok()?;
        let mut tail = Vec::new();
        file.take(GROWING_TAIL_BYTES).read_to_end(&mut tail).ok()?;
        tail.rsplit(|byte| *byte == b'\n').find_map(|line| serde_json::from_slice(line).ok())
    }

    /// True if it was written a moment ago, and not by an agent of a server. Restored and synchronised files
    /// have old entries.
    fn is_news(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.timestamp).unsigned_abs();
        age <= GROWING_ENTRY_AGE_MAX && self.entrypoint.as_deref() != Some(ENTRYPOINT)
    }
}

impl ObservedProcess {
    /// True if only the file of the session is known, and no process.
    pub(super) fn is_file_only(&self) -> bool {
        self.running.pid == 0
    }

    /// Notes that the file has grown.
    pub(super) fn note_growth(&self) {
        self.state.lock().grown_at = Some(Instant::now());
    }

    /// True if the file has not grown for so long that the session counts as left.
    pub(super) fn is_settled(&self, after: Duration) -> bool {
        self.state.lock().grown_at.is_none_or(|grown| grown.elapsed() >= after)
    }
}

impl Sessions {
    /// Notes that a file of a session has changed whose process is not known.
    pub(super) fn note_growing(&self, session: &str, main: PathBuf) {
        self.growing().note(session, main, Instant::now());
    }

    /// Notes that this server writes to a session file itself, or that its agent did so at its end: such a
    /// file does not count as one that an unknown process writes.
    pub fn note_own_writes(&self, session: &str) {
        self.growing().note_ended(session);
    }

    /// Shows the sessions whose files grow without a known process.
    pub(super) async fn look_for_growing_files(&self, config_dir: &Path) -> Result<(), Error> {
        let due = self.growing().take_due(Instant::now());
        for (session, main) in due {
            let is_full =
                self.observed().values().filter(|known| known.is_file_only()).count() >= GROWING_FILES_MAX;
            if is_full || self.observed().contains_key(&session) {
                continue;
            }
            let read = tokio::task::spawn_blocking(move || WriterEntry::read(&main)).await;
            let Some(writer) = read.ok().flatten().filter(|found| found.is_news(self.config().clock.now()))
            else {
                continue;
            };
            let process = RunningCli::unknown(&session, writer.cwd, writer.entrypoint);
            let Some(cwd) = self.folder_of_file(&process.cwd) else { continue };
            let _appearing = self.0.observed.appearing.write().await;
            let row = self.row_of(&process, &cwd).await?;
            let used = self.active_session(&row.key).await?;
            let is_free = {
                let memory = used.entry.memory();
                // The last entries of this server's own agent may be reported after its end.
                let is_ours = memory.settings.origin == SessionOrigin::Server;
                !is_ours && !memory.has_agent() && memory.observed.is_none()
            };
            if is_free {
                self.start_observing((&process, None), &used, config_dir).await?;
            }
        }
        Ok(())
    }

    /// The folder of a session. That of a container need not exist here, and is then a mere name: nothing
    /// runs in it, and a server that is limited to folders does not show it.
    fn folder_of_file(&self, cwd: &Path) -> Option<String> {
        if cwd.exists() || !self.config().roots.is_empty() {
            return self.observable_folder(cwd);
        }
        let name = cwd.to_str().filter(|name| name.len() <= TEXT_BYTES_MAX && !name.contains('\0'))?;
        let is_plain = cwd.is_absolute() && cwd.components().all(|part| part.as_os_str() != "..");
        (is_plain && !self.is_ignored(cwd)).then(|| name.to_owned())
    }

    pub(super) fn growing(&self) -> MutexGuard<'_, GrowingFiles> {
        self.0.observed.growing.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a001";

    #[test]
    fn a_changed_file_names_its_session() {
        let projects = Path::new("/c/projects");
        let session_of = |path: &str| session_of(projects, &projects.join(path));
        let main = projects.join(format!("-p/{SESSION}.jsonl"));
        for path in [format!("-p/{SESSION}.jsonl"), format!("-p/{SESSION}/subagents/agent-1.jsonl")] {
            assert_eq!(session_of(&path), Some((SESSION.to_owned(), main.clone())), "{path}");
        }
        for path in [
            "-p".to_owned(),
            format!("-p/{SESSION}"),
            "-p/notes.jsonl".to_owned(),
            format!("{SESSION}.jsonl"),
        ] {
            assert_eq!(session_of(&path), None, "{path}");
        }
    }

    #[test]
    fn a_writer_has_time_to_describe_itself_and_the_last_entries_of_an_ended_one_do_not_count() {
        let (mut growing, begin) = (GrowingFiles::default(), Instant::now());
        growing.note("a", PathBuf::from("/a"), begin);
        growing.note("b", PathBuf::from("/b"), begin);
        growing.note_ended("b");
        growing.note("b", PathBuf::from("/b"), Instant::now());
        assert_eq!(growing.take_due(begin), []);
        growing.note("a", PathBuf::from("/a"), begin + GROWING_FOR);
        assert_eq!(growing.take_due(begin + GROWING_FOR), [("a".to_owned(), PathBuf::from("/a"))]);
        assert_eq!(growing.take_due(begin + 2 * GROWING_FOR), []);
    }

    #[test]
    fn old_entries_and_those_of_servers_are_no_news() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let now: Timestamp = "2026-01-01T00:00:30Z".parse().unwrap();
        let is_news = |timestamp: &str, entrypoint: &str| {
            let entry = format!(r#"{{"timestamp":"{timestamp}","cwd":"/p","entrypoint":"{entrypoint}"}}"#);
            fs::write(&path, format!("{{\"cut\n{entry}\n{{\"type\":\"last-prompt\"}}\n{{\"half")).unwrap();
            WriterEntry::read(&path).unwrap().is_news(now)
        };
        assert!(is_news("2026-01-01T00:00:00Z", "cli"));
        assert!(!is_news("2025-12-31T00:00:00Z", "cli"), "it was copied here");
        assert!(!is_news("2026-01-01T00:00:00Z", ENTRYPOINT), "an agent of a server wrote it");
        assert_eq!(WriterEntry::read(folder.path()), None);
    }
}
