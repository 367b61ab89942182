//! Import of a session on disk, with its history.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tidings_agent::UiMessage;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_api::{Code, Totals};
use tidings_journal::{Class, EventDraft, Session};
use tidings_protocol::ui::{Role, SubAgentEnded, SubAgentOutcome};
use tidings_transcript::cache::Cache;
use tidings_transcript::cost::{Ledger, Money, Prices};
use tidings_transcript::list::{self, ListFilter, ListedSession};
use tidings_transcript::manage::{SessionDetailsReader, prompt_line};
use tidings_transcript::roots::{Roots, SessionFiles, SessionScan};
use tidings_transcript::session::Session as OnDisk;
use tokio::sync::mpsc;

use crate::limits::{IMPORTED_BYTES_MAX, IMPORTED_PORTION_EVENTS, IMPORTED_PORTIONS_WAITING};
use crate::live_session::{Change, LiveSession, draft};
use crate::reading::changed_inputs::ChangedInputs;
use crate::settings::{SessionSettings, last_prompt_line};
use crate::{Caller, Error};

/// The files of a session on disk that the caller may see. The id comes from a client: it is a UUID, and
/// never a path.
pub(crate) fn find(config_dir: PathBuf, caller: &Caller, id: &str) -> Result<SessionFiles, Error> {
    let id = uuid::Uuid::parse_str(id).map_err(|_| {
        Error::new(
            Code::Invalid,
            format!("`{id}` is not a session id"),
            "the ids of sessions on disk are UUIDs",
        )
    })?;
    let id = id.to_string();
    let files = Roots::new(vec![config_dir]).find(&id).map_err(|error| {
        let code = match error.kind() {
            tidings_transcript::ErrorKind::NotFound => return Error::no_session(&id),
            tidings_transcript::ErrorKind::Invalid => Code::Invalid,
            _ => Code::Internal,
        };
        Error::new(code, error.to_string(), "list the sessions on disk")
    })?;
    if sees_session(caller, &files) { Ok(files) } else { Err(Error::no_session(&id)) }
}

/// True if the caller may see a session on disk. One without a known folder is visible only to callers that
/// may see all.
pub fn sees_session(caller: &Caller, session: &SessionFiles) -> bool {
    caller.folders.is_empty()
        || listed(session).and_then(|listed| listed.cwd).is_some_and(|cwd| caller.sees(&cwd))
}

/// Facts from the beginning and the end of a session's files.
pub fn listed(session: &SessionFiles) -> Option<ListedSession> {
    list::list(std::slice::from_ref(session), &ListFilter::default()).pop().map(|(_, listed)| listed)
}

/// The way a session continues one on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// It is the same conversation: what was used so far counts as its own.
    Resumed,
    /// It is a copy, and the original has counted what was used so far.
    Forked,
}

impl LiveSession {
    /// Appends the history of a session on disk: all of it, or the newest part if it is longer than the
    /// limit. It is read and stored portion by portion.
    pub(crate) async fn import_history(
        &self,
        files: SessionFiles,
        changed: ChangedInputs,
        continuation: Continuation,
    ) -> Result<(), Error> {
        let (handle, now) = (self.handle, self.clock.now());
        let (sender, mut portions) = mpsc::channel(IMPORTED_PORTIONS_WAITING);
        let read = tokio::task::spawn_blocking(move || {
            read_history(&files, &changed, handle, now, IMPORTED_BYTES_MAX, |portion| {
                // The receiver is gone if an append has failed; that error is reported.
                sender.blocking_send(portion).is_ok()
            })
        });
        while let Some(portion) = portions.recv().await {
            self.journal().append(&self.key, self.fence, portion).await?;
        }
        let past = read.await.map_err(|_| Error::new(Code::Internal, "Failed to read a session", ""))??;
        let update = |settings: &mut SessionSettings, row: &Session| {
            settings.note_prompt(&past.first_prompt.unwrap_or_default());
            settings.last_prompt = past.last_prompt;
            settings.last_turn = settings.last_turn.max(past.last_turn);
            settings.last_answer = settings.last_answer.max(past.last_answer);
            settings.cost_told = past.recorded_usd;
            if continuation == Continuation::Resumed {
                settings.begin_with(past.used);
            }
            Ok(Change { title: past.title.filter(|_| row.title.is_none()), ..Change::default() })
        };
        self.change(update).await?;
        Ok(())
    }
}

/// Facts about the history of a session on disk.
#[derive(Debug, Default)]
struct ImportedHistory {
    title: Option<String>,
    first_prompt: Option<String>,
    last_prompt: Option<String>,
    /// Sub-agents whose end was not in the file.
    running: BTreeSet<String>,
    /// The number of the last user turn.
    last_turn: u64,
    /// The number of the agent's last turn.
    last_answer: u64,
    /// Turns and cost so far.
    used: Totals,
    /// The total cost that the agent continues from.
    recorded_usd: f64,
}

impl ImportedHistory {
    fn note(&mut self, event: &UiMessage) {
        match event {
            UiMessage::UserPrompt(prompt) => {
                if prompt.origin.is_none() {
                    self.first_prompt = self.first_prompt.take().or_else(|| prompt_line(&prompt.text));
                    self.last_prompt = last_prompt_line(&prompt.text).or(self.last_prompt.take());
                }
                let turn = prompt.turn_id.filter(|turn| turn.role == Role::User);
                self.last_turn = turn.map_or(self.last_turn, |turn| turn.sequence.max(self.last_turn));
            }
            UiMessage::TurnStarted(started) => {
                self.last_answer = started.turn_id.sequence.max(self.last_answer);
            }
            UiMessage::Complete { .. } => self.used.turns += 1,
            UiMessage::SubAgentStarted(started) => {
                self.running.insert(started.agent_id.clone());
            }
            UiMessage::SubAgentEnded(ended) => {
                self.running.remove(&ended.agent_id);
            }
            _ => {}
        }
    }
}

/// Passes the events of a session to `store` in portions, until it returns false. Events beyond `bytes_max`,
/// counted from the end, stay in the file.
fn read_history(
    files: &SessionFiles,
    changed: &ChangedInputs,
    handle: i64,
    now: jiff::Timestamp,
    bytes_max: usize,
    mut store: impl FnMut(Vec<EventDraft>) -> bool,
) -> Result<ImportedHistory, Error> {
    let wrong = |error: tidings_transcript::Error| Error::new(Code::Internal, error.to_string(), "");
    let session = OnDisk::open(files).map_err(wrong)?;
    let mut past = ImportedHistory::default();
    let all = bytes_of_events(&session, files, handle, bytes_max).map_err(wrong)?;
    let mut surplus = all.saturating_sub(bytes_max);
    let mut portion = Vec::new();
    if surplus > 0 {
        let message = "Earlier messages of this session are in its file: History shows them".to_owned();
        portion.push(draft(&UiMessage::System { message, session_id: Some(handle) }, now));
    }
    let mut last_at = now;
    let take = |events: &[UiMessage], at: Option<jiff::Timestamp>| -> Result<(), ReadEnd> {
        last_at = at.unwrap_or(now);
        for event in changed.insert(events.to_vec(), handle) {
            past.note(&event);
            // It is on disk already, so it need not be durable before it is published.
            let draft = EventDraft { class: Class::Delta, ..draft(&event, last_at) };
            if surplus > 0 {
                surplus = surplus.saturating_sub(draft.body.len());
                continue;
            }
            portion.push(draft);
            if portion.len() >= IMPORTED_PORTION_EVENTS && !store(std::mem::take(&mut portion)) {
                return Err(ReadEnd::Unwanted);
            }
        }
        Ok(())
    };
    match replay_session(&session, None, handle, FoldOptions::default(), take) {
        Ok(()) => {}
        Err(ReadEnd::Unwanted) => return Ok(past),
        Err(ReadEnd::Failed(error)) => return Err(wrong(error)),
    }
    // Nothing of the session runs any more: its file has no end of what was running when its process ended.
    for agent in &past.running {
        let ended = SubAgentEnded::new(handle, agent.as_str(), SubAgentOutcome::Stopped);
        portion.push(EventDraft { class: Class::Delta, ..draft(&ended.into(), last_at) });
    }
    if !portion.is_empty() && !store(portion) {
        return Ok(past);
    }
    let details = files.main.as_ref().and_then(|main| SessionDetailsReader::default().read(&main.path).ok());
    past.title = details.flatten().and_then(|details| details.title);
    past.used.cost_usd = own_cost(files);
    past.recorded_usd =
        session.side().cost_state.as_ref().and_then(|state| state.total_cost_usd).unwrap_or_default();
    Ok(past)
}

/// Reason for which reading a session ended early.
#[derive(Debug)]
enum ReadEnd {
    Unwanted,
    Failed(tidings_transcript::Error),
}

impl From<tidings_transcript::Error> for ReadEnd {
    fn from(error: tidings_transcript::Error) -> Self {
        ReadEnd::Failed(error)
    }
}

/// The bytes of all events of a session; zero if its files are much shorter than the limit. Events have about
/// as many bytes as the entries that they come from, and never several times as many.
fn bytes_of_events(
    session: &OnDisk,
    files: &SessionFiles,
    handle: i64,
    bytes_max: usize,
) -> Result<usize, tidings_transcript::Error> {
    if files.bytes() < bytes_max as u64 / 4 {
        return Ok(0);
    }
    let mut bytes = 0;
    let add = |events: &[UiMessage], _| {
        let length = |event| draft(event, jiff::Timestamp::UNIX_EPOCH).body.len();
        bytes += events.iter().map(length).sum::<usize>();
        Ok::<(), tidings_transcript::Error>(())
    };
    replay_session(session, None, handle, FoldOptions::default(), add)?;
    Ok(bytes)
}

/// The cost of a session's own responses in dollars, as the history of sessions on disk shows it.
fn own_cost(files: &SessionFiles) -> f64 {
    let alone = SessionScan::of(files.clone());
    let ledger = Ledger::read(&alone, &mut Cache::none(), &|_| {});
    let prices = Prices::built_in();
    let own = ledger.responses().filter(|response| !response.copied);
    own.filter_map(|response| prices.cost(&response)).sum::<Money>().dollars()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;

    /// A session of `turns` turns, two entries each.
    fn files(folder: &Path, turns: usize) -> SessionFiles {
        let mut text = String::new();
        let mut parent = "null".to_owned();
        for turn in 0..turns {
            for (kind, message) in [
                ("user", format!(r#""role":"user","content":"Question {turn}""#)),
                (
                    "assistant",
                    format!(
                        r#""role":"assistant","id":"msg_{turn}","model":"claude-sonnet-4-5","stop_reason":"end_turn","usage":{{"input_tokens":100,"output_tokens":20}},"content":[{{"type":"text","text":"Answer {turn}"}}]"#
                    ),
                ),
            ] {
                let uuid = format!("\"{kind}-{turn}\"");
                writeln!(
                    text,
                    r#"{{"type":"{kind}","uuid":{uuid},"parentUuid":{parent},"sessionId":"11111111-1111-4111-8111-111111111111","timestamp":"2026-01-01T00:00:00.000Z","message":{{{message}}}}}"#
                )
                .unwrap();
                parent = uuid;
            }
        }
        text.push_str("{\"type\":\"cost-state\",\"totalCostUSD\":3.2,\"modelUsage\":{}}\n");
        let path = folder.join("11111111-1111-4111-8111-111111111111.jsonl");
        std::fs::write(&path, text).unwrap();
        SessionFiles::of_file(&path).unwrap()
    }

    fn read(files: &SessionFiles, bytes_max: usize) -> (Vec<String>, ImportedHistory) {
        let mut stored = Vec::new();
        let past = read_history(
            files,
            &ChangedInputs::default(),
            1,
            jiff::Timestamp::UNIX_EPOCH,
            bytes_max,
            |portion| {
                assert!(portion.len() <= IMPORTED_PORTION_EVENTS);
                stored.extend(portion.iter().map(|draft| String::from_utf8_lossy(&draft.body).into_owned()));
                true
            },
        );
        (stored, past.unwrap())
    }

    #[test]
    fn p36_a_session_of_ten_thousand_entries_is_imported_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (stored, past) = read(&files(folder.path(), 5_000), IMPORTED_BYTES_MAX);
        let prompts: Vec<&String> = stored.iter().filter(|body| body.contains("UserPrompt")).collect();
        assert_eq!(prompts.len(), 5_000);
        assert!(prompts[0].contains("Question 0"), "{}", prompts[0]);
        assert!(!stored.iter().any(|body| body.contains("Earlier messages")));
        assert_eq!((past.last_turn, past.used.turns), (5_000, 5_000));
    }

    #[test]
    fn p36_what_is_beyond_the_limit_is_named_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path(), 200);
        let (all, _) = read(&files, IMPORTED_BYTES_MAX);
        let bytes_max = all.iter().map(String::len).sum::<usize>() / 2;
        let (stored, past) = read(&files, bytes_max);
        assert!(stored[0].contains("Earlier messages"), "{}", stored[0]);
        assert!(stored.len() > all.len() / 3 && stored.len() < all.len() / 3 * 2, "{}", stored.len());
        assert_eq!(stored[1..], all[all.len() + 1 - stored.len()..], "the newest part");
        assert_eq!((past.last_turn, past.used.turns), (200, 200), "all of it counts");
        assert_eq!(past.first_prompt.as_deref(), Some("Question 0"));
    }

    #[test]
    fn p39_the_history_says_what_was_used_so_far() {
        let folder = tempfile::tempdir().unwrap();
        let (_, past) = read(&files(folder.path(), 10), IMPORTED_BYTES_MAX);
        // $3 and $15 per million.
        let expected = 10.0 * (100.0 * 3.0 + 20.0 * 15.0) / 1e6;
        assert!((past.used.cost_usd - expected).abs() < 1e-9, "{}", past.used.cost_usd);
        assert!((past.recorded_usd - 3.2).abs() < 1e-9, "the agent continues from its own record");
    }
}
