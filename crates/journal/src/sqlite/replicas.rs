//! Replicas of other servers' sessions as rows.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, params};

use super::events::{SessionRow, row_of};
use super::failure::Doing as _;
use super::sessions::{self, labels_text};
use super::writer::{OwnedCommit, Tx};
use crate::limits::SEQ_MAX;
use crate::replica::ReplicaStep;
use crate::{Event, JournalError, NewSession, Replica, ReplicaRow, Session, SessionName};

/// Stores a unit of a replica.
pub(super) fn store(tx: &mut Tx<'_>, replica: &Replica) -> Result<Session, JournalError> {
    let doing = "store a session of another server";
    let name = SessionName::Key(replica.key.clone());
    let sql = "SELECT node FROM sessions WHERE key = ?1";
    let node = tx.conn.query_row(sql, [replica.key.as_str()], |row| row.get::<_, Option<String>>(0));
    match node.optional().doing(doing)? {
        Some(node) if node.as_deref() == Some(replica.node.as_str()) => {}
        Some(_) => return Err(replica.is_of_another()),
        None => {
            let created = replica.row.as_ref().map(|row| row.created).unwrap_or_default();
            sessions::create(tx, &NewSession::new(replica.key.clone(), "", created))?;
            let sql = "UPDATE sessions SET node = ?2 WHERE key = ?1";
            tx.conn.execute(sql, params![replica.key.as_str(), replica.node]).doing(doing)?;
        }
    }
    let mut session = SessionRow::find(tx.conn, &replica.key)?;
    let step = replica.step(&session.extent(tx.conn)?);
    let skip = match step {
        ReplicaStep::Old => return sessions::find(tx.conn, &name),
        ReplicaStep::Append { skip } => skip,
        ReplicaStep::Restart => 0,
    };
    let handle = session.handle.number();
    if session.epoch != replica.epoch || step == ReplicaStep::Restart {
        tx.commits.push(OwnedCommit::Restarted(replica.key.clone()));
    }
    if step == ReplicaStep::Restart {
        let range = params![row_of(session.handle, 0), row_of(session.handle, SEQ_MAX)];
        tx.conn.execute("DELETE FROM events WHERE id BETWEEN ?1 AND ?2", range).doing(doing)?;
        for sql in ["DELETE FROM client_ids WHERE session = ?1", "DELETE FROM asks WHERE session = ?1"] {
            tx.conn.execute(sql, [handle]).doing(doing)?;
        }
        (session.floor, session.head, session.bytes) = (replica.first, replica.first - 1, 0);
    }
    session.epoch = replica.epoch;
    let sql = "UPDATE sessions SET epoch = ?2, floor = ?3 WHERE handle = ?1";
    tx.conn.execute(sql, params![handle, replica.epoch.to_stored(), session.floor]).doing(doing)?;
    write_past(tx, handle, replica)?;
    let mut appended: Vec<Arc<Event>> = Vec::new();
    for event in replica.events.iter().skip(skip) {
        session.insert(tx.conn, event)?;
        session.advance(event, None);
        appended.push(Arc::new(event.clone()));
    }
    session.write(tx.conn)?;
    if let Some(row) = &replica.row {
        write_row(tx, handle, row)?;
    }
    session.store(tx, &replica.key, appended)?;
    sessions::find(tx.conn, &name)
}

fn write_past(tx: &Tx<'_>, handle: u64, replica: &Replica) -> Result<(), JournalError> {
    let doing = "store the epochs of another server's session";
    tx.conn.execute("DELETE FROM past_epochs WHERE session = ?1", [handle]).doing(doing)?;
    for (place, (epoch, last)) in (1_u64..).zip(&replica.past) {
        let sql = "INSERT INTO past_epochs (session, place, epoch, last) VALUES (?1, ?2, ?3, ?4)";
        tx.conn.execute(sql, params![handle, place, epoch.to_stored(), last]).doing(doing)?;
    }
    Ok(())
}

fn write_row(tx: &Tx<'_>, handle: u64, row: &ReplicaRow) -> Result<(), JournalError> {
    let doing = "store the row of another server's session";
    let ReplicaRow { cwd, title, labels, settings, state, cli_sessions, created, asks } = row;
    let sql = "UPDATE sessions SET cwd = ?2, title = ?3, labels = ?4, settings = ?5, state = ?6, created = ?7, \
               active = max(active, ?7) WHERE handle = ?1";
    let created = created.as_microsecond();
    let labels = labels_text(labels);
    tx.conn.execute(sql, params![handle, cwd, title, labels, settings, state, created]).doing(doing)?;
    tx.conn.execute("DELETE FROM cli_sessions WHERE session = ?1", [handle]).doing(doing)?;
    for (place, id) in (0_u64..).zip(cli_sessions) {
        let sql = "INSERT INTO cli_sessions (session, place, id) VALUES (?1, ?2, ?3)";
        tx.conn.execute(sql, params![handle, place, id]).doing(doing)?;
    }
    tx.conn.execute("DELETE FROM asks WHERE session = ?1", [handle]).doing(doing)?;
    for ask in asks {
        let sql = "INSERT INTO asks (session, id, kind, digest, body, deadline, opened, opened_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let (deadline, at) = (ask.deadline.map(Timestamp::as_microsecond), ask.opened_at.as_microsecond());
        let (id, kind, digest) = (ask.id.as_str(), &ask.kind, &ask.digest);
        let row = params![handle, id, kind, digest, &*ask.body, deadline, ask.opened.seq, at];
        tx.conn.execute(sql, row).doing(doing)?;
    }
    Ok(())
}
