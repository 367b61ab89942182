//! Sessions as rows.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::events::{SessionRow, time};
use super::failure::{Doing as _, damaged};
use super::writer::{OwnedCommit, Tx};
use crate::limits::{CLI_SESSIONS_MAX, HANDLE_MAX, LIST_MAX};
use crate::{
    Changed, ClientId, Cursor, Epoch, Fence, Handle, JournalError, Key, NewSession, Novelty, Session,
    SessionChange, SessionName, Stored,
};

const COLUMNS: &str = "handle, key, cwd, title, labels, settings, state, created, active, epoch, head, floor, \
                       bytes, host_offset, node";

pub(super) fn create(tx: &mut Tx<'_>, new: &NewSession) -> Result<(Session, Novelty), JournalError> {
    let doing = "make a session";
    let conn = tx.conn;
    if let Some(id) = &new.client_id
        && let Some(session) = made_by(conn, id)?
    {
        return Ok((session, Novelty::Seen));
    }
    let taken = conn.query_row("SELECT 1 FROM sessions WHERE key = ?1", [new.key.as_str()], |_| Ok(()));
    if taken.optional().doing(doing)?.is_some() {
        return Err(new.exists());
    }
    let client_id = new.client_id.as_ref().map(ClientId::as_str);
    let row = Session::made(new, Handle::new(0), Cursor::new(Epoch::from_random(0), 0));
    let created = row.created.as_microsecond();
    let sql =
        "INSERT INTO sessions (key, client_id, epoch, cwd, title, labels, settings, state, created, active)
        VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?8)";
    let key = row.key.as_str();
    let labels = labels_text(&row.labels);
    conn.execute(sql, params![key, client_id, row.cwd, row.title, labels, row.settings, row.state, created])
        .doing(doing)?;
    let handle = conn.last_insert_rowid().cast_unsigned();
    if handle > HANDLE_MAX {
        return Err(JournalError::too_large("The number of sessions", HANDLE_MAX));
    }
    let epoch: i64 = conn.query_row("SELECT epoch FROM journal", [], |row| row.get(0)).doing(doing)?;
    let epoch = Epoch::from_stored(epoch).of_session(Handle::new(handle));
    let sql = "UPDATE sessions SET epoch = ?2 WHERE handle = ?1";
    conn.execute(sql, params![handle, epoch.to_stored()]).doing(doing)?;
    Ok((Session { handle: Handle::new(handle), head: Cursor::new(epoch, 0), ..row }, Novelty::New))
}

pub(super) fn made_by(conn: &Connection, id: &ClientId) -> Result<Option<Session>, JournalError> {
    let sql = "SELECT handle FROM sessions WHERE client_id = ?1";
    let made = conn.query_row(sql, [id.as_str()], |row| row.get(0)).optional().doing("read a session")?;
    made.map(|handle| find(conn, &SessionName::Handle(Handle::new(handle)))).transpose()
}

pub(super) fn find(conn: &Connection, name: &SessionName) -> Result<Session, JournalError> {
    let doing = "read a session";
    let (column, value, missing) = match name {
        SessionName::Key(key) => ("key", Value::Text(key.to_string()), JournalError::no_session(key)),
        SessionName::Handle(handle) => {
            let missing = JournalError::no_session(handle);
            let Ok(number) = i64::try_from(handle.number()) else { return Err(missing) };
            ("handle", Value::Integer(number), missing)
        }
    };
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE {column} = ?1");
    let mut find = conn.prepare_cached(&sql).doing(doing)?;
    let mut rows = find.query([value]).doing(doing)?;
    session(conn, rows.next().doing(doing)?.ok_or(missing)?)
}

pub(super) fn list(
    conn: &Connection,
    after: Option<Handle>,
    max: usize,
) -> Result<Vec<Session>, JournalError> {
    let doing = "list the sessions";
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE handle > ?1 ORDER BY handle LIMIT ?2");
    let mut find = conn.prepare_cached(&sql).doing(doing)?;
    let after = after.map_or(0, |after| i64::try_from(after.number()).unwrap_or(i64::MAX));
    let mut rows = find.query(params![after, max.min(LIST_MAX)]).doing(doing)?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        sessions.push(session(conn, row)?);
    }
    Ok(sessions)
}

/// Number of sessions by state.
pub(super) fn count(conn: &Connection) -> Result<BTreeMap<String, u64>, JournalError> {
    let doing = "count the sessions";
    let mut count =
        conn.prepare_cached("SELECT state, count(*) FROM sessions GROUP BY state").doing(doing)?;
    let rows = count.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).doing(doing)?;
    rows.collect::<Result<_, _>>().doing(doing)
}

pub(super) fn update(
    tx: &mut Tx<'_>,
    key: &Key,
    fence: Fence,
    change: &SessionChange,
) -> Result<Changed, JournalError> {
    let doing = "change a session";
    let name = SessionName::Key(key.clone());
    let mut session = SessionRow::fenced(tx.conn, key, fence)?;
    let handle = session.handle.number();
    let mut row = find(tx.conn, &name)?;
    if let Some(id) = change.event.as_ref().and_then(|event| event.client_id.as_ref())
        && let Some(cursor) = session.seen(tx.conn, id)?
    {
        return Ok(Changed { session: row, event: Some(Stored { cursor, novelty: Novelty::Seen }) });
    }
    if let Some(id) = change.cli_session.as_ref().filter(|id| row.cli_sessions.last() != Some(*id)) {
        let place = row.cli_sessions.len();
        if place >= CLI_SESSIONS_MAX {
            return Err(JournalError::too_large("The number of CLI sessions", CLI_SESSIONS_MAX));
        }
        let sql = "INSERT INTO cli_sessions (session, place, id) VALUES (?1, ?2, ?3)";
        tx.conn.execute(sql, params![handle, place, id]).doing(doing)?;
    }
    change.apply(&mut row);
    let sql = "UPDATE sessions SET title = ?2, labels = ?3, settings = ?4, state = ?5, active = ?6 WHERE handle = ?1";
    let (labels, active) = (labels_text(&row.labels), row.active.as_microsecond());
    tx.conn.execute(sql, params![handle, row.title, labels, row.settings, row.state, active]).doing(doing)?;
    let mut stored = None;
    if let Some(event) = &change.event {
        session.active = row.active;
        let mut appended = Vec::new();
        stored = Some(session.put(tx.conn, event, &mut appended)?);
        session.store(tx, key, appended)?;
    }
    Ok(Changed { session: find(tx.conn, &name)?, event: stored })
}

pub(super) fn delete(tx: &mut Tx<'_>, key: &Key) -> Result<(), JournalError> {
    let doing = "delete a session";
    let handle = SessionRow::find(tx.conn, key)?.handle.number();
    for sql in [
        "DELETE FROM sessions WHERE handle = ?1",
        "UPDATE projects SET session = NULL WHERE session = ?1",
        "INSERT INTO doomed (handle) VALUES (?1)",
    ] {
        tx.conn.execute(sql, [handle]).doing(doing)?;
    }
    tx.commits.push(OwnedCommit::Deleted(key.clone()));
    Ok(())
}

pub(super) fn claim(tx: &mut Tx<'_>, key: &Key) -> Result<Fence, JournalError> {
    let sql = "UPDATE sessions SET fence = fence + 1 WHERE key = ?1 RETURNING fence";
    let fence = tx.conn.query_row(sql, [key.as_str()], |row| row.get(0)).optional();
    fence.doing("claim a session")?.map(Fence::new).ok_or_else(|| JournalError::no_session(key))
}

fn session(conn: &Connection, row: &Row<'_>) -> Result<Session, JournalError> {
    let doing = "read a session";
    let text = |column: usize| row.get::<_, String>(column).doing(doing);
    let number = |column: usize| row.get::<_, i64>(column).doing(doing);
    let handle: u64 = row.get(0).doing(doing)?;
    let labels: BTreeMap<String, String> =
        serde_json::from_str(&text(4)?).map_err(|_| damaged("labels are invalid"))?;
    let sql = "SELECT id FROM cli_sessions WHERE session = ?1 ORDER BY place";
    let mut ids = conn.prepare_cached(sql).doing(doing)?;
    let ids: Result<Vec<String>, _> = ids.query_map([handle], |row| row.get(0)).doing(doing)?.collect();
    Ok(Session {
        handle: Handle::new(handle),
        key: Key::new(text(1)?).map_err(|_| damaged("a key is invalid"))?,
        cwd: text(2)?,
        title: row.get(3).doing(doing)?,
        labels,
        settings: text(5)?,
        state: text(6)?,
        cli_sessions: ids.doing(doing)?,
        created: time(number(7)?)?,
        active: time(number(8)?)?,
        head: Cursor::new(Epoch::from_stored(number(9)?), row.get(10).doing(doing)?),
        floor: row.get(11).doing(doing)?,
        bytes: row.get(12).doing(doing)?,
        host_offset: row.get(13).doing(doing)?,
        node: row.get(14).doing(doing)?,
    })
}

/// Labels as JSON. A map of texts can always be written.
pub(super) fn labels_text(labels: &BTreeMap<String, String>) -> String {
    serde_json::to_string(labels).unwrap_or_else(|_| "{}".to_owned())
}
