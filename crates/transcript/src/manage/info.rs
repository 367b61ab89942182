//! `get_session_info` of the official SDKs.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::details::{SessionDetails, SessionDetailsReader};
use super::{Scope, SessionFile, SessionId};
use crate::error::At as _;
use crate::{Error, ErrorKind};

/// The details of a session that the SDKs report, with the Python SDK's names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// Session id.
    pub session_id: String,
    /// Display name: title, last prompt, summary or first prompt.
    pub summary: String,
    /// Milliseconds since 1970.
    pub last_modified: i64,
    /// Size in bytes.
    pub file_size: u64,
    /// Title by the user, or else by a model.
    pub custom_title: Option<String>,
    /// The first prompt.
    pub first_prompt: Option<String>,
    /// The last git branch.
    pub git_branch: Option<String>,
    /// Working folder.
    pub cwd: Option<String>,
    /// The user's tag.
    pub tag: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: Option<i64>,
    /// Archived state; absent if it was never set. Only the TypeScript SDK reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// `get_session_info`: details of one session. `None` for a session without a title and a typed prompt, and
/// for one that belongs to a sub-agent.
pub fn session_info(scope: &Scope<'_>, id: &str) -> Result<Option<SessionInfo>, Error> {
    let session = match scope.find(id) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    info(&session, &mut SessionDetailsReader::default())
}

pub(super) fn info(
    session: &SessionFile,
    reader: &mut SessionDetailsReader,
) -> Result<Option<SessionInfo>, Error> {
    let Some(facts) = reader.read(&session.path).at("read", &session.path)? else { return Ok(None) };
    Ok(SessionInfo::of(&session.id, facts, session.project.as_deref()))
}

impl SessionInfo {
    /// The information about a session that could not be read.
    pub fn unread(id: &str) -> Self {
        SessionInfo {
            session_id: id.to_owned(),
            summary: String::new(),
            last_modified: 0,
            file_size: 0,
            custom_title: None,
            first_prompt: None,
            git_branch: None,
            cwd: None,
            tag: None,
            created_at: None,
            archived: None,
        }
    }

    fn of(id: &SessionId, facts: SessionDetails, project: Option<&str>) -> Option<Self> {
        if facts.is_sidechain {
            return None;
        }
        Some(SessionInfo {
            session_id: id.to_string(),
            summary: facts.name()?.to_owned(),
            last_modified: milliseconds(facts.modified),
            file_size: facts.bytes,
            archived: facts.archived,
            custom_title: facts.title,
            first_prompt: facts.first_prompt,
            git_branch: facts.git_branch,
            cwd: facts.cwd.or_else(|| project.map(str::to_owned)),
            tag: facts.tag,
            created_at: facts.created.map(jiff::Timestamp::as_millisecond),
        })
    }
}

fn milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}
