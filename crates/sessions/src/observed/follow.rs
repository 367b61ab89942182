//! The files of an observed session as events.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tidings_agent::session::Observation;
use tidings_transcript::follow::{Change, Follow};
use tidings_transcript::reader::Content;
use tidings_transcript::roots::Roots;
use tidings_transcript::session::call_of_agent;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::cost::ObservedCost;
use super::rejections::Rejections;
use super::{IDLE, ObservedProcess};
use crate::limits::{
    CALLS_BYTES_MAX, FOLLOW_EVERY, FOLLOW_IDLE_EVERY, FOLLOW_PAUSE, FOLLOWED_BYTES_MAX,
    FOLLOWED_LINES_WAITING, IDLE_AFTER,
};
use crate::live_session::{Change as RowChange, LiveSession};
use crate::settings::SessionSettings;
use crate::starting::launch::ENTRYPOINT;

/// Bits of a position that are the offset in its file; the rest is the number of the file.
const OFFSET_BITS: u32 = 48;

/// The number of a file, and the offset in it.
pub(super) fn split(position: u64) -> (usize, u64) {
    let index = usize::try_from(position >> OFFSET_BITS).unwrap_or(usize::MAX);
    (index, position & ((1 << OFFSET_BITS) - 1))
}

fn join(index: usize, offset: u64) -> u64 {
    u64::try_from(index).unwrap_or_default() << OFFSET_BITS | offset
}

/// The entries that the journal has already, when a session is observed for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Those up to the stored positions.
    UpToPositions,
    /// All that are in the files now: this server ran the agent before.
    All,
}

/// A line of one of the files.
struct FollowedLine {
    bytes: Vec<u8>,
    /// The sub-agent and the call that started it.
    agent: Option<(String, String)>,
    offset: u64,
    end: u64,
    /// The length of the file when the line was read.
    file_bytes: u64,
}

/// Follows the files of a session until its process is over.
pub(super) async fn follow(
    process: Arc<ObservedProcess>,
    entry: Arc<LiveSession>,
    cli_session: String,
    config_dir: PathBuf,
    known: Known,
) {
    let mut files = SessionReader { config_dir, cli_session, follow: None };
    let mut last = None;
    let mut is_first = true;
    let mut last_news = Instant::now();
    let mut is_ended = false;
    let mut was_busy = false;
    let mut authors = Authors::default();
    let mut was_ours = false;
    let mut told_dialog = None;
    let mut cost = ObservedCost::default();
    let mut rejections = Rejections::default();
    loop {
        // Asked before the files are read: the last entries of a process are written before it ends. So is
        // the time: the server may be stopped for a while in between.
        let (state, looked_at) = (process.state(), Instant::now());
        let (lines, mut read) = mpsc::channel(FOLLOWED_LINES_WAITING);
        let reading = tokio::task::spawn_blocking(move || {
            files.read(&lines);
            files
        });
        let mut has_news = false;
        while let Some(line) = read.recv().await {
            has_news = true;
            let (index, stored) = entry.followed_file(line.agent.as_ref().map_or("", |(id, _)| id.as_str()));
            let position = join(index, line.end);
            let is_old = line.offset.saturating_add(FOLLOWED_BYTES_MAX) < line.file_bytes;
            let is_ours = authors.note(line.agent.as_ref().map_or("", |(id, _)| id.as_str()), &line.bytes);
            let is_stored = line.end <= stored || is_ours || (is_first && (known == Known::All || is_old));
            if is_stored {
                drop(entry.note_followed(position));
            }
            if !is_ours {
                cost.add(&line.bytes, is_stored);
            }
            let file = line.agent.as_ref().map_or("", |(id, _)| id.as_str());
            rejections.note(file, &line.bytes, &process.sent);
            if line.offset.saturating_add(CALLS_BYTES_MAX) >= line.file_bytes {
                process.calls().read(Some(file).filter(|id| !id.is_empty()), &line.bytes);
            }
            if let Some(id) = message_id(&line.bytes) {
                entry.leave_message(&id).await;
            }
            if line.agent.is_none() {
                if let Some(mode) = permission_mode(&line.bytes) {
                    process.note_mode(&mode);
                }
                // Files of our agents do not mark the ends of their turns.
                if was_ours && !is_ours {
                    process.session.observe(Observation::StoredTurnEnded).await;
                }
                was_ours = is_ours;
            }
            let agent = line.agent.map(|(_, call)| call);
            let observation = Observation::Entry { line: line.bytes, agent, position, is_stored };
            if !process.session.observe(observation).await {
                return;
            }
            last = Some(position);
        }
        let Ok(back) = reading.await else { return };
        files = back;
        if std::mem::take(&mut was_ours) {
            process.session.observe(Observation::StoredTurnEnded).await;
        }
        cost.store(&entry).await;
        if is_first {
            is_first = false;
            process.session.observe(Observation::CaughtUp).await;
        }
        let is_busy = state.status.as_deref() == Some("busy");
        if is_busy && !was_busy {
            process.session.observe(Observation::Busy).await;
            is_ended = false;
        }
        was_busy = is_busy;
        // Files of some versions do not mark the end of a turn. The last entries come after the status.
        if has_news {
            (last_news, is_ended) = (Instant::now(), false);
        }
        let quiet_for = looked_at.saturating_duration_since(last_news);
        let is_idle = state.status.as_deref() == Some(IDLE) && quiet_for >= IDLE_AFTER;
        if let (true, false, Some(position)) = (is_idle, is_ended, last) {
            is_ended = true;
            process.session.observe(Observation::Idle { position }).await;
        }
        let waits_for = process.look_at_dialog(&entry);
        if waits_for != told_dialog {
            told_dialog.clone_from(&waits_for);
            process.session.observe(Observation::Dialog(waits_for)).await;
        }
        if state.is_over {
            process.session.observe(Observation::Ended).await;
            process.session.finished().await;
            return entry.stop_observing(&process).await;
        }
        tokio::time::sleep(FOLLOW_PAUSE).await;
        // A session without a known process was found by a report of the system, so reports come here.
        let is_quiet = (is_idle || process.is_file_only()) && quiet_for >= 2 * IDLE_AFTER;
        let pause = if is_quiet { FOLLOW_IDLE_EVERY } else { FOLLOW_EVERY };
        tokio::select! {
            () = process.changed.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// The programs that wrote the last entry of each file. An agent of this server may have written the file
/// before, and its events are stored.
#[derive(Debug, Default)]
struct Authors(HashMap<String, bool>);

impl Authors {
    /// Returns true if an agent of this server wrote an entry. Entries that do not name a program come after
    /// one that does.
    fn note(&mut self, file: &str, line: &[u8]) -> bool {
        const KEY: &[u8] = b"\"entrypoint\":\"";
        #[derive(serde::Deserialize)]
        struct Author {
            entrypoint: Option<String>,
        }
        let has_key = line.windows(KEY.len()).any(|part| part == KEY);
        let author = || serde_json::from_slice::<Author>(line).ok()?.entrypoint;
        match has_key.then(author).flatten() {
            Some(author) => {
                let is_ours = author == ENTRYPOINT;
                self.0.insert(file.to_owned(), is_ours);
                is_ours
            }
            None => self.0.get(file).copied().unwrap_or_default(),
        }
    }
}

/// An entry that contains a word, as JSON.
pub(super) fn entry_with(line: &[u8], word: &[u8]) -> Option<Value> {
    let has_word = line.windows(word.len()).any(|part| part == word);
    has_word.then(|| serde_json::from_slice(line).ok()).flatten()
}

/// The permission mode that an entry names: that of a prompt, or a change of the mode.
fn permission_mode(line: &[u8]) -> Option<String> {
    let entry = entry_with(line, b"\"permissionMode\"")?;
    entry["permissionMode"].as_str().map(str::to_owned)
}

/// The id of an entry with a message that came from another session.
fn message_id(line: &[u8]) -> Option<String> {
    let entry = entry_with(line, b"\"msg_id\"")?;
    let is_message = entry["type"] == "user" && entry["origin"]["kind"] == "peer";
    entry["origin"]["msg_id"].as_str().filter(|_| is_message).map(str::to_owned)
}

struct SessionReader {
    config_dir: PathBuf,
    cli_session: String,
    follow: Option<Follow>,
}

impl SessionReader {
    /// Sends the lines that were written since the last time.
    fn read(&mut self, lines: &mpsc::Sender<FollowedLine>) {
        if self.follow.is_none() {
            // The file exists after the first prompt.
            let found = Roots::new([self.config_dir.clone()]).find(&self.cli_session).ok();
            self.follow =
                found.and_then(|found| found.main).map(|main| Follow::session_from_start(main.path));
        }
        let Some(follow) = &mut self.follow else { return };
        let looked = follow.look(&mut |news| {
            let Change::Line(line) = &news.change else { return ControlFlow::Continue(()) };
            if !matches!(line.content, Content::Entry(_)) {
                return ControlFlow::Continue(());
            }
            let call = |id: &str| call_of_agent(news.path).unwrap_or_else(|| id.to_owned());
            let line = FollowedLine {
                bytes: line.bytes.to_vec(),
                agent: news.agent.map(|id| (id.to_owned(), call(id))),
                offset: line.place.offset,
                end: line.place.offset + line.place.bytes,
                file_bytes: file_bytes(news.path),
            };
            match lines.blocking_send(line) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        if let Err(error) = looked {
            tracing::warn!(session = self.cli_session, %error, "failed to read a session file");
        }
    }
}

fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

impl LiveSession {
    /// Forgets the process after its end.
    async fn stop_observing(&self, process: &Arc<ObservedProcess>) {
        self.drop_typed().await;
        {
            let mut memory = self.memory();
            // Another process may hold the session by now.
            if !memory.observed.as_ref().is_some_and(|observed| Arc::ptr_eq(observed, process)) {
                return;
            }
            memory.observed = None;
        }
        let ended = |settings: &mut SessionSettings, _: &_| {
            settings.is_observed = false;
            Ok(RowChange::default())
        };
        if let Err(error) = self.change(ended).await {
            tracing::warn!(session = %self.key, %error, "failed to store the end of an observed session");
        }
        self.wake.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_another_session_is_found_in_the_file() {
        let line =
            br#"{"type":"user","isMeta":true,"origin":{"kind":"peer","from":"unknown","msg_id":"m-1"}}"#;
        assert_eq!(message_id(line).as_deref(), Some("m-1"));
        let quoted = br#"{"type":"user","message":{"content":"\"msg_id\""},"origin":{"kind":"human"}}"#;
        assert_eq!(message_id(quoted), None);
    }

    #[test]
    fn entries_of_our_agents_are_told_from_others() {
        let mut authors = Authors::default();
        let ours = br#"{"type":"user","toolUseResult":{"entrypoint":"x"},"entrypoint":"tidings"}"#;
        let theirs = br#"{"type":"user","message":{"entrypoint":"tidings"},"entrypoint":"cli"}"#;
        let plain = br#"{"type":"last-prompt"}"#;
        assert!(!authors.note("", plain));
        assert!(authors.note("", ours) && authors.note("", plain) && !authors.note("agent", plain));
        assert!(!authors.note("", theirs) && !authors.note("", plain));
    }

    #[test]
    fn a_position_is_a_file_and_an_offset() {
        assert_eq!(split(join(0, 17)), (0, 17));
        assert_eq!(split(join(3, (1 << OFFSET_BITS) - 1)), (3, (1 << OFFSET_BITS) - 1));
    }
}
