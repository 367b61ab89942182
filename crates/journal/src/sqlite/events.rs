//! Appends, reads and removes events.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use sha2::{Digest as _, Sha256};

use super::damage::{Damage, is_damage};
use super::failure::{Doing as _, damaged};
use super::sweep;
use super::writer::{OwnedCommit, Tx};
use crate::event::weight;
use crate::event_forms::EventForms;
use crate::limits::{CLIENT_ID_KEPT, RETAIN_STEP, SEQ_BITS, SEQ_MAX};
use crate::retention::RetentionWalk;
use crate::{
    Class, ClientId, Cursor, CursorVerdict, Epoch, ErrorKind, Event, EventDraft, Extent, Fence, Handle,
    JournalError, Keep, Key, Kind, Max, Novelty, Page, PageRoom, Rest, Retained, Stored,
};

/// Columns of a session's row that an append needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionRow {
    pub(super) handle: Handle,
    pub(super) epoch: Epoch,
    pub(super) head: u64,
    pub(super) floor: u64,
    pub(super) bytes: u64,
    fence: u64,
    pub(super) active: Timestamp,
    host_offset: Option<u64>,
}

const COLUMNS: &str = "id, at, class, kind, client_id, seal, body";

pub(super) fn append(
    tx: &mut Tx<'_>,
    key: &Key,
    fence: Fence,
    drafts: &[EventDraft],
) -> Result<Vec<Stored>, JournalError> {
    let mut session = SessionRow::fenced(tx.conn, key, fence)?;
    let mut appended = Vec::new();
    let stored: Result<Vec<Stored>, _> =
        drafts.iter().map(|draft| session.put(tx.conn, draft, &mut appended)).collect();
    session.store(tx, key, appended)?;
    stored
}

pub(super) fn read(
    conn: &Connection,
    key: &Key,
    after: Option<Cursor>,
    max: Max,
    damage: &Damage,
) -> Result<Page, JournalError> {
    let session = SessionRow::find(conn, key)?;
    let extent = session.extent(conn)?;
    let (verdict, from) = extent.judge(after);
    // Nothing is beyond the head; otherwise the head is wrong.
    let rows = Rows {
        sql: format!("SELECT {COLUMNS} FROM events WHERE id >= ?1 AND id <= ?2 ORDER BY id"),
        range: (row_of(session.handle, from) + 1, row_of(session.handle, SEQ_MAX)),
        first: row_of(session.handle, from) + 1,
        step: 1,
        count: extent.head.saturating_sub(from),
    };
    let events = page(conn, &rows, max, extent.epoch, damage)?;
    let is_dense = (from + 1..).zip(&events).all(|(seq, event)| event.cursor.seq == seq);
    let last = events.last().map_or(from, |event| event.cursor.seq);
    if !is_dense || last > extent.head || (events.is_empty() && from < extent.head) {
        return Err(damaged(&format!("the events of the session `{key}` are not numbered consecutively")));
    }
    Ok(extent.page(verdict, events))
}

pub(super) fn history(
    conn: &Connection,
    key: &Key,
    before: Option<u64>,
    max: Max,
    damage: &Damage,
) -> Result<Page, JournalError> {
    let session = SessionRow::find(conn, key)?;
    let extent = session.extent(conn)?;
    let below = before.unwrap_or(u64::MAX).min(extent.head + 1);
    let rows = Rows {
        sql: format!("SELECT {COLUMNS} FROM events WHERE id >= ?1 AND id <= ?2 ORDER BY id DESC"),
        range: (row_of(session.handle, extent.floor), row_of(session.handle, below) - 1),
        first: row_of(session.handle, below) - 1,
        step: -1,
        count: below.saturating_sub(extent.floor),
    };
    let mut events = page(conn, &rows, max, extent.epoch, damage)?;
    events.reverse();
    Ok(extent.page(CursorVerdict::Ok, events))
}

pub(super) fn retain(
    tx: &mut Tx<'_>,
    key: &Key,
    keep: Keep,
    now: Timestamp,
) -> Result<Retained, JournalError> {
    let doing = "remove old events";
    let conn = tx.conn;
    let session = SessionRow::find(conn, key)?;
    let handle = session.handle.number();
    let asked = "SELECT min(opened) FROM asks WHERE session = ?1 AND outcome IS NULL";
    let asked: Option<u64> = conn.query_row(asked, [handle], |row| row.get(0)).doing(doing)?;
    let mut trim = RetentionWalk::new(keep, session.head, session.floor, session.bytes, asked);
    let sql = "SELECT at, length(body) FROM events WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    let mut oldest = conn.prepare_cached(sql).doing(doing)?;
    let (first, last) = (row_of(session.handle, session.floor), row_of(session.handle, session.head));
    let mut rows = oldest.query(params![first, last, RETAIN_STEP]).doing(doing)?;
    while let Some(row) = rows.next().doing(doing)? {
        let body: usize = row.get(1).doing(doing)?;
        if !trim.drops(time(row.get(0).doing(doing)?)?, weight(body)) {
            break;
        }
    }
    drop(rows);
    let floor = trim.floor();
    let removed = floor - session.floor;
    let sql = "DELETE FROM events WHERE id >= ?1 AND id < ?2";
    conn.execute(sql, params![first, row_of(session.handle, floor)]).doing(doing)?;
    let sql = "UPDATE sessions SET floor = ?2, bytes = ?3 WHERE handle = ?1";
    conn.execute(sql, params![handle, floor, trim.bytes()]).doing(doing)?;
    let sql = "DELETE FROM asks WHERE session = ?1 AND outcome IS NOT NULL AND settled < ?2";
    conn.execute(sql, params![handle, floor]).doing(doing)?;
    let kept_us = i64::try_from(CLIENT_ID_KEPT.as_micros()).unwrap_or(i64::MAX);
    let old = now.as_microsecond().saturating_sub(kept_us);
    let sql = "DELETE FROM client_ids WHERE session = ?1 AND seq < ?2 AND at <= ?3";
    conn.execute(sql, params![handle, floor, old]).doing(doing)?;
    sweep::release_pages(conn)?;
    let rest = if removed == RETAIN_STEP as u64 { Rest::More } else { Rest::Done };
    Ok(Retained { floor, removed, rest })
}

/// The row id of an event. Both parts fit their bits: every head and every handle was checked.
pub(super) fn row_of(handle: Handle, seq: u64) -> i64 {
    ((handle.number() << SEQ_BITS) | seq.min(SEQ_MAX)).cast_signed()
}

pub(super) fn time(micros: i64) -> Result<Timestamp, JournalError> {
    Timestamp::from_microsecond(micros).map_err(|_| damaged("a time is out of range"))
}

impl SessionRow {
    pub(super) fn find(conn: &Connection, key: &Key) -> Result<Self, JournalError> {
        let sql = "SELECT handle, epoch, head, floor, bytes, fence, active, host_offset
            FROM sessions WHERE key = ?1";
        SessionRow::look(conn, sql, key.as_str())?.ok_or_else(|| JournalError::no_session(key))
    }

    /// Like [`find`](Self::find), for a session that may have been deleted.
    pub(super) fn of(conn: &Connection, handle: Handle) -> Result<Option<Self>, JournalError> {
        let sql = "SELECT handle, epoch, head, floor, bytes, fence, active, host_offset
            FROM sessions WHERE handle = ?1";
        SessionRow::look(conn, sql, handle.number())
    }

    fn look(conn: &Connection, sql: &str, name: impl ToSql) -> Result<Option<Self>, JournalError> {
        let doing = "read a session";
        let mut find = conn.prepare_cached(sql).doing(doing)?;
        let read = |row: &Row<'_>| {
            let session = SessionRow {
                handle: Handle::new(row.get(0)?),
                epoch: Epoch::from_stored(row.get(1)?),
                head: row.get(2)?,
                floor: row.get(3)?,
                bytes: row.get(4)?,
                fence: row.get(5)?,
                active: Timestamp::UNIX_EPOCH,
                host_offset: row.get(7)?,
            };
            Ok((session, row.get(6)?))
        };
        let found = find.query_row([name], read).optional().doing(doing)?;
        let Some((session, active)) = found else { return Ok(None) };
        if session.floor == 0 || session.floor > session.head + 1 || session.head > SEQ_MAX {
            return Err(damaged(&format!("session {} has an impossible range of events", session.handle)));
        }
        Ok(Some(SessionRow { active: time(active)?, ..session }))
    }

    pub(super) fn fenced(conn: &Connection, key: &Key, fence: Fence) -> Result<Self, JournalError> {
        SessionRow::find(conn, key)?.check_fence(key, fence)
    }

    /// Checks the right to write the session.
    pub(super) fn check_fence(self, key: &Key, fence: Fence) -> Result<Self, JournalError> {
        if self.fence == fence.number() { Ok(self) } else { Err(JournalError::fenced(key)) }
    }

    pub(super) fn cursor(&self, seq: u64) -> Cursor {
        Cursor::new(self.epoch, seq)
    }

    /// The cursor of a command's event, if the command was seen before.
    pub(super) fn seen(&self, conn: &Connection, id: &ClientId) -> Result<Option<Cursor>, JournalError> {
        let doing = "look for the id of a command";
        let sql = "SELECT seq FROM client_ids WHERE session = ?1 AND id = ?2";
        let mut find = conn.prepare_cached(sql).doing(doing)?;
        let found = find.query_row(params![self.handle.number(), id.as_str()], |row| row.get(0));
        Ok(found.optional().doing(doing)?.map(|seq| self.cursor(seq)))
    }

    /// Appends one event, unless its client id was seen.
    pub(super) fn put(
        &mut self,
        conn: &Connection,
        draft: &EventDraft,
        appended: &mut Vec<Arc<Event>>,
    ) -> Result<Stored, JournalError> {
        if let Some(id) = &draft.client_id
            && let Some(cursor) = self.seen(conn, id)?
        {
            return Ok(Stored { cursor, novelty: Novelty::Seen });
        }
        let event = self.number(draft)?;
        self.insert(conn, &event)?;
        let stored = Stored { cursor: event.cursor, novelty: Novelty::New };
        appended.push(Arc::new(event));
        Ok(stored)
    }

    /// Numbers a draft as the next event of the session.
    pub(super) fn number(&mut self, draft: &EventDraft) -> Result<Event, JournalError> {
        if self.head >= SEQ_MAX {
            return Err(JournalError::new(ErrorKind::TooLarge, "The session has used up its numbers", ""));
        }
        let event = Event::of(draft, self.cursor(self.head + 1));
        self.advance(&event, draft.host_offset);
        Ok(event)
    }

    /// Advances the row by the next event.
    pub(super) fn advance(&mut self, event: &Event, host_offset: Option<u64>) {
        self.head = event.cursor.seq;
        self.bytes += event.weight();
        self.active = self.active.max(event.at);
        self.host_offset = self.host_offset.max(host_offset);
    }

    /// Inserts an event of this session into the tables.
    pub(super) fn insert(&self, conn: &Connection, event: &Event) -> Result<(), JournalError> {
        let doing = "append to the journal";
        let seq = event.cursor.seq;
        let (id, at) = (row_of(self.handle, seq), event.at.as_microsecond());
        let client_id = event.client_id.as_ref().map(ClientId::as_str);
        let sql = "INSERT INTO events (id, at, class, kind, client_id, seal, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let mut insert = conn.prepare_cached(sql).doing(doing)?;
        let (class, kind, seal) = (class_number(event.class), event.kind.as_str(), seal(id, event));
        insert.execute(params![id, at, class, kind, client_id, seal, &*event.body]).doing(doing)?;
        if let Some(client_id) = client_id {
            let sql = "INSERT INTO client_ids (session, id, seq, at) VALUES (?1, ?2, ?3, ?4)";
            let mut insert = conn.prepare_cached(sql).doing(doing)?;
            insert.execute(params![self.handle.number(), client_id, seq, at]).doing(doing)?;
        }
        Ok(())
    }

    /// Updates the row, and publishes the events once they are committed.
    pub(super) fn store(
        self,
        tx: &mut Tx<'_>,
        key: &Key,
        appended: Vec<Arc<Event>>,
    ) -> Result<(), JournalError> {
        if !appended.is_empty() {
            self.write(tx.conn)?;
            tx.commits.push(OwnedCommit::Events(key.clone(), appended));
        }
        Ok(())
    }

    /// Updates the row.
    pub(super) fn write(&self, conn: &Connection) -> Result<(), JournalError> {
        let doing = "append to the journal";
        let sql =
            "UPDATE sessions SET head = ?2, bytes = ?3, active = ?4, host_offset = ?5 WHERE handle = ?1";
        let mut update = conn.prepare_cached(sql).doing(doing)?;
        let (handle, active) = (self.handle.number(), self.active.as_microsecond());
        update.execute(params![handle, self.head, self.bytes, active, self.host_offset]).doing(doing)?;
        Ok(())
    }

    pub(super) fn extent(&self, conn: &Connection) -> Result<Extent, JournalError> {
        let doing = "read the epochs of a session";
        let sql = "SELECT epoch, last FROM past_epochs WHERE session = ?1";
        let mut find = conn.prepare_cached(sql).doing(doing)?;
        let read = |row: &Row<'_>| Ok((Epoch::from_stored(row.get(0)?), row.get(1)?));
        let past: Result<Vec<(Epoch, u64)>, _> =
            find.query_map([self.handle.number()], read).doing(doing)?.collect();
        Ok(Extent { epoch: self.epoch, head: self.head, floor: self.floor, past: past.doing(doing)? })
    }
}

/// The rows of a page: a query, and the rows that it must return.
struct Rows {
    sql: String,
    range: (i64, i64),
    /// The row that comes first.
    first: i64,
    /// Difference between the ids of two rows.
    step: i64,
    /// The number of rows that must exist.
    count: u64,
}

/// Reads as many events as a page may have. A damaged or missing event is replaced, and the others are read.
fn page(
    conn: &Connection,
    rows: &Rows,
    max: Max,
    epoch: Epoch,
    damage: &Damage,
) -> Result<Vec<Arc<Event>>, JournalError> {
    let doing = "read events";
    let (mut events, mut room) = (Vec::new(), PageRoom::new(max));
    let (mut next, mut left) = (rows.first, rows.count);
    let mut is_readable = true;
    {
        let mut find = conn.prepare_cached(&rows.sql).doing(doing)?;
        let mut found = find.query(params![rows.range.0, rows.range.1]).doing(doing)?;
        loop {
            let row = match found.next().doing(doing) {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) if is_damage(&error) => {
                    is_readable = false;
                    break;
                }
                Err(error) => return Err(error),
            };
            let id: i64 = row.get(0).doing(doing)?;
            while next != id && left > 0 {
                if !room.admits(0) {
                    return Ok(events);
                }
                events.push(Arc::new(damage.replace(next, epoch)?));
                (next, left) = (next + rows.step, left - 1);
            }
            let bytes = row.get_ref(6).doing(doing)?.as_blob().map_or(0, <[u8]>::len);
            if !room.admits(bytes) {
                return Ok(events);
            }
            events.push(Arc::new(event_or_replacement(row, epoch, damage)?));
            (next, left) = (id + rows.step, left.saturating_sub(1));
        }
    }
    // The rows that the engine did not return: one by one, so that a damaged page of the file costs only the
    // events on it.
    let sql = format!("SELECT {COLUMNS} FROM events WHERE id = ?1");
    while left > 0 {
        let found = if is_readable { None } else { one(conn, &sql, next, epoch, damage)? };
        let event = found.map_or_else(|| damage.replace(next, epoch), Ok)?;
        if !room.admits(event.body.len()) {
            break;
        }
        events.push(Arc::new(event));
        (next, left) = (next + rows.step, left - 1);
    }
    Ok(events)
}

/// Reads one event; none if it is missing or cannot be read.
fn one(
    conn: &Connection,
    sql: &str,
    id: i64,
    epoch: Epoch,
    damage: &Damage,
) -> Result<Option<Event>, JournalError> {
    let doing = "read an event";
    let mut find = conn.prepare_cached(sql).doing(doing)?;
    let mut rows = find.query([id]).doing(doing)?;
    match rows.next().doing(doing) {
        Ok(Some(row)) => event_or_replacement(row, epoch, damage).map(Some),
        Ok(None) => Ok(None),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn event_or_replacement(row: &Row<'_>, epoch: Epoch, damage: &Damage) -> Result<Event, JournalError> {
    match event(row, epoch) {
        Err(error) if is_damage(&error) => damage.replace(row.get(0).doing("read an event")?, epoch),
        read => read,
    }
}

fn event(row: &Row<'_>, epoch: Epoch) -> Result<Event, JournalError> {
    let doing = "read an event";
    let body = row.get_ref(6).doing(doing)?.as_blob().map_err(|_| damaged("a body is not a blob"))?;
    let id: i64 = row.get(0).doing(doing)?;
    let name = |column: usize| row.get::<_, Option<String>>(column).doing(doing);
    let event = Event {
        cursor: Cursor::new(epoch, id.cast_unsigned() & SEQ_MAX),
        class: class_of(row.get(2).doing(doing)?)?,
        at: time(row.get(1).doing(doing)?)?,
        kind: Kind::new(name(3)?.unwrap_or_default()).map_err(|_| damaged("a kind is invalid"))?,
        body: Arc::from(body),
        client_id: name(4)?.map(ClientId::new).transpose().map_err(|_| damaged("an id is invalid"))?,
        forms: EventForms::default(),
    };
    if seal(id, &event) != row.get::<_, i64>(5).doing(doing)? {
        return Err(damaged(&format!("event {} does not match its checksum", event.cursor.seq)));
    }
    Ok(event)
}

/// A checksum over everything that was written of an event, since `SQLite` has none in its main file.
fn seal(id: i64, event: &Event) -> i64 {
    let mut hash = Sha256::new();
    hash.update(id.to_le_bytes());
    hash.update(event.at.as_microsecond().to_le_bytes());
    hash.update(class_number(event.class).to_le_bytes());
    for name in [Some(event.kind.as_str()), event.client_id.as_ref().map(ClientId::as_str)] {
        hash.update(name.map_or(u64::MAX, |name| name.len() as u64).to_le_bytes());
        hash.update(name.unwrap_or_default());
    }
    hash.update(&event.body);
    hash.finalize().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// True if the columns of a row match its checksum.
pub(super) fn is_sealed(row: &SealedRow<'_>) -> bool {
    let event = || {
        Some(Event {
            cursor: Cursor::new(Epoch::from_random(0), row.id.cast_unsigned() & SEQ_MAX),
            class: class_of(row.class).ok()?,
            at: time(row.at).ok()?,
            kind: Kind::new(row.kind).ok()?,
            body: Arc::from(row.body),
            client_id: row.client_id.map(ClientId::new).transpose().ok()?,
            forms: EventForms::default(),
        })
    };
    event().is_some_and(|event| seal(row.id, &event) == row.seal)
}

/// Columns of an event's row.
pub(super) struct SealedRow<'r> {
    pub(super) id: i64,
    pub(super) at: i64,
    pub(super) class: i64,
    pub(super) kind: &'r str,
    pub(super) client_id: Option<&'r str>,
    pub(super) seal: i64,
    pub(super) body: &'r [u8],
}

fn class_number(class: Class) -> i64 {
    match class {
        Class::Delta => 0,
        Class::Durable => 1,
    }
}

fn class_of(number: i64) -> Result<Class, JournalError> {
    match number {
        0 => Ok(Class::Delta),
        1 => Ok(Class::Durable),
        _ => Err(damaged("a class is invalid")),
    }
}
