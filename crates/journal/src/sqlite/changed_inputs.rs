//! Inputs that people changed before their calls ran.

use rusqlite::Connection;
use tidings_protocol::ui::{PermissionResolved, UiMessage};

use super::events::row_of;
use super::failure::Doing as _;
use crate::limits::SEQ_MAX;
use crate::{Handle, JournalError};

/// The answers that changed inputs, of a session of the CLI or of all sessions.
pub(super) fn read(
    conn: &Connection,
    cli_session: Option<&str>,
) -> Result<Vec<PermissionResolved>, JournalError> {
    let doing = "read changed inputs";
    let sql = match cli_session {
        Some(_) => "SELECT DISTINCT session FROM cli_sessions WHERE id = ?1",
        // Few sessions have such an answer; the events of the others are not read.
        None => "SELECT DISTINCT session FROM asks WHERE ?1 IS NULL AND outcome LIKE '%updated_input%'",
    };
    let mut find = conn.prepare(sql).doing(doing)?;
    let handles: Result<Vec<u64>, _> =
        find.query_map([cli_session], |row| row.get(0)).doing(doing)?.collect();
    let sql = "SELECT body FROM events WHERE id BETWEEN ?1 AND ?2 AND kind = 'PermissionResolved'";
    let mut find = conn.prepare(sql).doing(doing)?;
    let mut inputs = Vec::new();
    for handle in handles.doing(doing)?.into_iter().map(Handle::new) {
        let mut rows = find.query([row_of(handle, 0), row_of(handle, SEQ_MAX)]).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            let body: Vec<u8> = row.get(0).doing(doing)?;
            // An event that cannot be read is reported elsewhere.
            if let Ok(UiMessage::PermissionResolved(resolved)) = serde_json::from_slice(&body)
                && resolved.updated_input.is_some()
            {
                inputs.push(resolved);
            }
        }
    }
    Ok(inputs)
}
