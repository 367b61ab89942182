//! Rebuilds a journal from the rows that can be read.
//!
//! A damaged inner page of a table hides all rows below it, though they are still in the file. So where the
//! engine cannot read a table, its rows are looked for in all pages. Events have checksums; of other tables
//! only rows that the heads know are taken.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::damage::is_damage;
use super::events::{self, SealedRow};
use super::failure::Doing as _;
use super::heads::Held;
use super::open::{self, with_suffix};
use super::pages::Pages;
use super::tally::{Part, SESSIONS};
use super::{schema, wal};
use crate::JournalError;
use crate::limits::{SEQ_BITS, SEQ_MAX};

/// A table, its columns, and the column that is its row number. Tables without one are not looked for in
/// pages.
struct SalvagedTable {
    name: &'static str,
    row_number: Option<&'static str>,
}

const TABLES: [SalvagedTable; 12] = [
    SalvagedTable { name: "journal", row_number: None },
    SalvagedTable { name: "identity", row_number: None },
    SalvagedTable { name: "sqlite_sequence", row_number: None },
    SalvagedTable { name: "sessions", row_number: Some("handle") },
    SalvagedTable { name: "events", row_number: Some("id") },
    SalvagedTable { name: "asks", row_number: Some("") },
    SalvagedTable { name: "audit", row_number: Some("number") },
    SalvagedTable { name: "cli_sessions", row_number: None },
    SalvagedTable { name: "client_ids", row_number: None },
    SalvagedTable { name: "past_epochs", row_number: None },
    SalvagedTable { name: "projects", row_number: None },
    SalvagedTable { name: "documents", row_number: None },
];

/// Writes a new journal with everything that can be read of a damaged one.
pub(super) fn rebuild(journal: &Path, to: &Path, held: &Held) -> Result<(), JournalError> {
    let doing = "rebuild the journal";
    let whole = with_suffix(to, ".pages");
    wal::replay_all(journal, &whole)?;
    let rebuilt = rebuild_from(&whole, to, held);
    for suffix in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(with_suffix(&whole, suffix)));
    }
    let new = rebuilt?;
    new.execute_batch("REINDEX").doing(doing)?;
    new.close().map_err(|(_, error)| error).doing(doing)
}

fn rebuild_from(whole: &Path, to: &Path, held: &Held) -> Result<Connection, JournalError> {
    let doing = "rebuild the journal";
    let pages = Pages::read(whole).map_err(|error| JournalError::io("read", whole, error))?;
    let old = open::connect(whole)?;
    let mut new = open::connect(to)?;
    new.execute_batch("PRAGMA auto_vacuum = INCREMENTAL").doing(doing)?;
    schema::migrate(&new)?;
    super::begin::make_identity(&new)?;
    let tx = new.transaction().doing(doing)?;
    for table in &TABLES {
        let columns = columns(&tx, table.name)?;
        let mut insert = NewRows { tx: &tx, table, columns: &columns, held };
        let mut is_complete = insert.copy(&old, "")?;
        if !is_complete && table.row_number.is_some() {
            // From the other end: a damaged page hides what is behind it.
            insert.copy(&old, "ORDER BY rowid DESC")?;
            pages.rows(columns.len(), &mut |number, values| insert.put_found(number, values))?;
            is_complete = true;
        }
        if !is_complete {
            tracing::warn!(table = table.name, "some rows of a table cannot be read");
        }
    }
    tx.commit().doing(doing)?;
    Ok(new)
}

fn columns(conn: &Connection, table: &str) -> Result<Vec<String>, JournalError> {
    let doing = "read the tables of the journal";
    let mut find = conn.prepare(&format!("PRAGMA table_info({table})")).doing(doing)?;
    let names = find.query_map([], |row| row.get(1)).doing(doing)?;
    names.collect::<Result<_, _>>().doing(doing)
}

/// Rows that are put into a table of the new journal.
struct NewRows<'t> {
    tx: &'t Connection,
    table: &'t SalvagedTable,
    columns: &'t [String],
    held: &'t Held,
}

impl NewRows<'_> {
    /// Copies the rows that the engine can read, and returns whether it could read all of them.
    fn copy(&mut self, old: &Connection, order: &str) -> Result<bool, JournalError> {
        let doing = "read a damaged table";
        let sql = format!("SELECT {} FROM {} {order}", self.columns.join(", "), self.table.name);
        let read = || {
            let mut find = old.prepare(&sql).doing(doing)?;
            let mut rows = find.query([]).doing(doing)?;
            while let Some(row) = rows.next().doing(doing)? {
                let values = (0..self.columns.len()).map(|column| row.get::<_, Value>(column));
                self.put(values.collect::<Result<Vec<_>, _>>().doing(doing)?)?;
            }
            Ok(true)
        };
        match { read }() {
            Err(error) if is_damage(&error) => Ok(false),
            done => done,
        }
    }

    fn put(&self, values: Vec<Value>) -> Result<(), JournalError> {
        let places = vec!["?"; values.len()].join(", ");
        let sql = format!("INSERT OR IGNORE INTO {} VALUES ({places})", self.table.name);
        let mut insert = self.tx.prepare_cached(&sql).doing("write a row of the journal")?;
        match insert.execute(params_from_iter(values)).doing("write a row of the journal") {
            // A row that breaks a rule of the table is damaged.
            Err(error) if is_damage(&error) => Ok(()),
            done => done.map(drop),
        }
    }

    /// Takes a row that was found in a page, if it is known to be one of the table.
    fn put_found(&mut self, number: i64, mut values: Vec<Value>) -> Result<(), JournalError> {
        let column = self.columns.iter().position(|column| Some(column.as_str()) == self.table.row_number);
        if let Some(value) = column.and_then(|column| values.get_mut(column)) {
            *value = Value::Integer(number);
        }
        if self.is_known(number, &values) { self.put(values) } else { Ok(()) }
    }

    fn is_known(&self, number: i64, values: &[Value]) -> bool {
        let session = |session: u64| Part { table: SESSIONS, session };
        match (self.table.name, values) {
            ("events", [_, Value::Integer(at), Value::Integer(class), Value::Text(kind), id, seal, body]) => {
                let (Value::Integer(seal), Value::Blob(body)) = (seal, body) else { return false };
                let client_id = if let Value::Text(id) = id { Some(id.as_str()) } else { None };
                let row =
                    SealedRow { id: number, at: *at, class: *class, kind, client_id, seal: *seal, body };
                self.is_kept(number.cast_unsigned()) && events::is_sealed(&row)
            }
            ("sessions", _) => self.held.sums.contains_key(&session(number.cast_unsigned())),
            ("asks", [Value::Integer(of), ..]) => self.held.sums.contains_key(&session(of.cast_unsigned())),
            ("audit", _) => true,
            _ => false,
        }
    }

    /// True for an event that retention has not removed from a session that exists.
    fn is_kept(&self, number: u64) -> bool {
        let floor = "SELECT floor FROM sessions WHERE handle = ?1";
        let floor = self.tx.query_row(floor, [number >> SEQ_BITS], |row| row.get::<_, u64>(0));
        floor.is_ok_and(|floor| number & SEQ_MAX >= floor)
    }
}
