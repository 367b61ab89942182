//! Asks as rows.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::audit_log;
use super::events::{SessionRow, time};
use super::failure::{Doing as _, damaged};
use super::writer::Tx;
use crate::limits::{LIST_MAX, OPEN_ASKS_MAX};
use crate::{
    AskId, Class, Cursor, Epoch, EventDraft, Fence, JournalError, Key, NewRequest, Novelty, Settle, Settled,
    Settlement, Stored, StoredRequest,
};

/// Query of asks, for [`ask`].
const KNOWN: &str = "SELECT key, epoch, id, kind, digest, body, deadline, opened, opened_at
    FROM asks JOIN sessions ON handle = session WHERE";

/// The condition for open ones.
const OPEN: &str = "outcome IS NULL";

pub(super) fn open(
    tx: &mut Tx<'_>,
    key: &Key,
    fence: Fence,
    new: &NewRequest,
) -> Result<Stored, JournalError> {
    let doing = "open an ask";
    let mut session = SessionRow::fenced(tx.conn, key, fence)?;
    let handle = session.handle.number();
    let sql = "SELECT opened FROM asks WHERE session = ?1 AND id = ?2 AND outcome IS NULL";
    let known = tx.conn.query_row(sql, params![handle, new.id.as_str()], |row| row.get(0)).optional();
    if let Some(seq) = known.doing(doing)? {
        return Ok(Stored { cursor: session.cursor(seq), novelty: Novelty::Seen });
    }
    let sql = "SELECT count(*) FROM asks WHERE session = ?1 AND outcome IS NULL";
    let count: usize = tx.conn.query_row(sql, [handle], |row| row.get(0)).doing(doing)?;
    if count >= OPEN_ASKS_MAX {
        return Err(JournalError::too_large("The number of open asks", OPEN_ASKS_MAX));
    }
    let mut appended = Vec::new();
    let event = EventDraft { client_id: None, class: Class::Durable, ..new.event.clone() };
    let stored = session.put(tx.conn, &event, &mut appended)?;
    let ask = new.opened(key, stored.cursor);
    // A settled ask may be opened anew; the outcome of the first is in the events.
    let sql = "INSERT OR REPLACE INTO asks (session, id, kind, digest, body, deadline, opened, opened_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let (deadline, at) = (ask.deadline.map(Timestamp::as_microsecond), ask.opened_at.as_microsecond());
    tx.conn
        .execute(
            sql,
            params![handle, ask.id.as_str(), ask.kind, ask.digest, &*ask.body, deadline, ask.opened.seq, at],
        )
        .doing(doing)?;
    session.store(tx, key, appended)?;
    Ok(stored)
}

pub(super) fn settle(
    tx: &mut Tx<'_>,
    key: &Key,
    id: &AskId,
    settle: &Settle,
) -> Result<Settlement, JournalError> {
    let doing = "settle an ask";
    let mut session = SessionRow::find(tx.conn, key)?;
    let handle = session.handle.number();
    let client_id = settle.event.client_id.as_ref();
    let seen = client_id.map(|id| session.seen(tx.conn, id)).transpose()?.flatten();
    let sql = "SELECT outcome, settled, digest, opened_at FROM asks WHERE session = ?1 AND id = ?2";
    let row = tx.conn.query_row(sql, params![handle, id.as_str()], |row| {
        let ended = (row.get::<_, Option<String>>(0)?, row.get::<_, Option<u64>>(1)?);
        Ok((ended, row.get::<_, Option<String>>(2)?, row.get::<_, i64>(3)?))
    });
    let (ended, digest, opened_at) = row.optional().doing(doing)?.ok_or_else(|| id.unknown())?;
    match ended {
        (None, _) => {}
        (Some(outcome), seq) => {
            let at = session.cursor(seq.ok_or_else(|| damaged("a settled ask has no event"))?);
            return match seen {
                Some(cursor) if cursor == at => {
                    Ok(Settlement::Won(Stored { cursor, novelty: Novelty::Seen }))
                }
                _ => Ok(Settlement::Lost { winner: outcome_of(&outcome)?, at }),
            };
        }
    }
    if seen.is_some() {
        return Err(id.used_elsewhere());
    }
    let mut appended = Vec::new();
    let event = EventDraft { class: Class::Durable, ..settle.event.clone() };
    let stored = session.put(tx.conn, &event, &mut appended)?;
    let outcome =
        serde_json::to_string(&settle.outcome).map_err(|_| damaged("an outcome cannot be written"))?;
    let sql = "UPDATE asks SET outcome = ?3, settled = ?4 WHERE session = ?1 AND id = ?2";
    tx.conn.execute(sql, params![handle, id.as_str(), outcome, stored.cursor.seq]).doing(doing)?;
    if let Some(audit) = &settle.audit {
        audit_log::add(tx, &audit.about(digest, time(opened_at)?))?;
    }
    session.store(tx, key, appended)?;
    Ok(Settlement::Won(stored))
}

/// The outcome of an ask, if it was settled.
pub(super) fn outcome(conn: &Connection, key: &Key, id: &AskId) -> Result<Option<Settled>, JournalError> {
    let handle = SessionRow::find(conn, key)?.handle.number();
    let sql = "SELECT outcome FROM asks WHERE session = ?1 AND id = ?2";
    let row = conn.query_row(sql, params![handle, id.as_str()], |row| row.get::<_, Option<String>>(0));
    let outcome = row.optional().doing("read the outcome of an ask")?.flatten();
    outcome.as_deref().map(outcome_of).transpose()
}

/// Returns an open ask.
pub(super) fn find(conn: &Connection, key: &Key, id: &AskId) -> Result<Option<StoredRequest>, JournalError> {
    find_by(conn, key, id, &format!("{KNOWN} {OPEN} AND key = ?1 AND id = ?2"))
}

/// Returns an ask, open or settled.
pub(super) fn find_known(
    conn: &Connection,
    key: &Key,
    id: &AskId,
) -> Result<Option<StoredRequest>, JournalError> {
    find_by(conn, key, id, &format!("{KNOWN} key = ?1 AND id = ?2"))
}

fn find_by(
    conn: &Connection,
    key: &Key,
    id: &AskId,
    sql: &str,
) -> Result<Option<StoredRequest>, JournalError> {
    let doing = "read an ask";
    SessionRow::find(conn, key)?;
    let mut find = conn.prepare_cached(sql).doing(doing)?;
    let mut rows = find.query(params![key.as_str(), id.as_str()]).doing(doing)?;
    rows.next().doing(doing)?.map(ask).transpose()
}

/// Open asks, the oldest first.
pub(super) fn list(conn: &Connection, key: Option<&Key>) -> Result<Vec<StoredRequest>, JournalError> {
    let doing = "list the open asks";
    key.map_or(Ok(()), |key| SessionRow::find(conn, key).map(drop))?;
    let which = if key.is_some() { "key = ?1" } else { "?1 IS NULL" };
    let sql = format!("{KNOWN} {OPEN} AND {which} ORDER BY opened_at, key, opened LIMIT ?2");
    let mut find = conn.prepare_cached(&sql).doing(doing)?;
    let mut rows = find.query(params![key.map(Key::as_str), LIST_MAX]).doing(doing)?;
    let mut asks = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        asks.push(ask(row)?);
    }
    Ok(asks)
}

/// Number of open asks.
pub(super) fn count(conn: &Connection) -> Result<u64, JournalError> {
    let sql = "SELECT count(*) FROM asks WHERE outcome IS NULL";
    conn.query_row(sql, [], |row| row.get(0)).doing("count the open asks")
}

fn ask(row: &Row<'_>) -> Result<StoredRequest, JournalError> {
    let doing = "read an ask";
    let text = |column: usize| row.get::<_, String>(column).doing(doing);
    let deadline: Option<i64> = row.get(6).doing(doing)?;
    Ok(StoredRequest {
        session: Key::new(text(0)?).map_err(|_| damaged("a key is invalid"))?,
        id: AskId::new(text(2)?).map_err(|_| damaged("an id is invalid"))?,
        kind: text(3)?,
        digest: row.get(4).doing(doing)?,
        body: row.get::<_, Vec<u8>>(5).doing(doing)?.into(),
        deadline: deadline.map(time).transpose()?,
        opened: Cursor::new(Epoch::from_stored(row.get(1).doing(doing)?), row.get(7).doing(doing)?),
        opened_at: time(row.get(8).doing(doing)?)?,
    })
}

fn outcome_of(text: &str) -> Result<Settled, JournalError> {
    serde_json::from_str(text).map_err(|_| damaged("an outcome is invalid"))
}
