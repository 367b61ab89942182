//! Import of a session on disk, with its history.

use std::path::PathBuf;

use tidings_agent::UiMessage;
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::replay_session;
use tidings_protocol::ui::Role;
use tidings_transcript::list::{self, ListFilter, ListedSession};
use tidings_transcript::manage::prompt_line;
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::session::Session as OnDisk;

use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::journal::{Class, Draft};
use crate::limits::{IMPORTED_BYTES_MAX, IMPORTED_EVENTS_MAX};
use crate::sessions::entry::{Change, Entry, draft};
use crate::sessions::settings::SessionSettings;

/// The files of a session on disk that the caller may see. The id comes from a client: it is a UUID, and
/// never a path.
pub(in crate::sessions) fn find(
    config_dir: PathBuf,
    caller: &Caller,
    id: &str,
) -> Result<SessionFiles, Error> {
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
pub(crate) fn sees_session(caller: &Caller, session: &SessionFiles) -> bool {
    caller.folders.is_empty()
        || listed(session).and_then(|listed| listed.cwd).is_some_and(|cwd| caller.sees(&cwd))
}

/// Facts from the beginning and the end of a session's files.
pub(crate) fn listed(session: &SessionFiles) -> Option<ListedSession> {
    list::list(std::slice::from_ref(session), &ListFilter::default()).pop().map(|(_, listed)| listed)
}

impl Entry {
    /// Appends the history of a session on disk: the newest part, if it is long.
    pub(in crate::sessions) async fn import_history(&self, files: SessionFiles) -> Result<(), Error> {
        let (handle, now) = (self.handle, self.clock.now());
        let read = tokio::task::spawn_blocking(move || newest_events(&files, handle, now)).await;
        let past = read.map_err(|_| Error::new(Code::Internal, "Failed to read a session", ""))??;
        let mut drafts = past.drafts.into_iter().peekable();
        while drafts.peek().is_some() {
            let portion: Vec<Draft> = drafts.by_ref().take(1000).collect();
            self.journal().append(&self.key, self.fence, portion).await?;
        }
        let update = |settings: &mut SessionSettings, _: &_| {
            settings.note_prompt(&past.first_prompt.unwrap_or_default());
            settings.last_turn = settings.last_turn.max(past.last_turn);
            settings.last_answer = settings.last_answer.max(past.last_answer);
            Ok(Change::default())
        };
        self.change(update).await?;
        Ok(())
    }
}

/// The history of a session on disk.
struct ImportedHistory {
    drafts: Vec<Draft>,
    first_prompt: Option<String>,
    /// The number of the last user turn.
    last_turn: u64,
    /// The number of the agent's last turn.
    last_answer: u64,
}

fn newest_events(files: &SessionFiles, handle: i64, now: jiff::Timestamp) -> Result<ImportedHistory, Error> {
    let wrong = |error: tidings_transcript::Error| Error::new(Code::Internal, error.to_string(), "");
    let session = OnDisk::open(files).map_err(wrong)?;
    let mut drafts = std::collections::VecDeque::new();
    let mut bytes = 0;
    let mut is_cut = false;
    let (mut first_prompt, mut last_turn, mut last_answer) = (None, 0, 0);
    let take = |events: &[UiMessage], at: Option<jiff::Timestamp>| -> Result<(), tidings_transcript::Error> {
        for event in events {
            if let UiMessage::UserPrompt(prompt) = event {
                if prompt.origin.is_none() && first_prompt.is_none() {
                    first_prompt = prompt_line(&prompt.text);
                }
                let turn = prompt.turn_id.filter(|turn| turn.role == Role::User);
                last_turn = turn.map_or(last_turn, |turn| turn.sequence.max(last_turn));
            }
            if let UiMessage::TurnStarted(started) = event {
                last_answer = started.turn_id.sequence.max(last_answer);
            }
            // It is on disk already, so it need not be durable before it is published.
            let draft = Draft { class: Class::Delta, ..draft(event, at.unwrap_or(now)) };
            bytes += draft.body.len();
            drafts.push_back(draft);
            while drafts.len() > IMPORTED_EVENTS_MAX || bytes > IMPORTED_BYTES_MAX {
                is_cut = true;
                bytes -= drafts.pop_front().map_or(bytes, |draft: Draft| draft.body.len());
            }
        }
        Ok(())
    };
    replay_session(&session, None, handle, FoldOptions::default(), take).map_err(wrong)?;
    if is_cut {
        let message = "Earlier events are in the session's file".to_owned();
        drafts.push_front(draft(&UiMessage::System { message, session_id: Some(handle) }, now));
    }
    Ok(ImportedHistory { drafts: drafts.into(), first_prompt, last_turn, last_answer })
}
