//! The number of rows in the tables and a sum over them, by table and session.
//!
//! Triggers of the connection that writes keep it up to date, so that no statement can be forgotten. The sums
//! do not depend on the order of the rows. They detect accidents, not forgery.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use sha2::{Digest as _, Sha256};

use super::failure::Doing as _;
use crate::JournalError;
use crate::limits::{SEQ_BITS, SEQ_MAX};

/// A table whose rows are counted.
#[derive(Debug)]
pub(super) struct CountedTable {
    pub(super) name: &'static str,
    /// Its rows in a sentence.
    pub(super) rows: &'static str,
    owner: Owner,
    /// Columns that are part of the sum.
    columns: &'static [&'static str],
    /// Columns that are not, since deltas change them, which are not promised to survive.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares both lists with the schema"))]
    omitted: &'static [&'static str],
}

/// The session of a row.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Column(&'static str),
    /// In the upper bits of the id; the lower ones are the event's number.
    EventId,
    /// None, and rows are numbered by this column.
    Numbered(&'static str),
    None,
}

/// Index of the table of sessions in [`TABLES`].
pub(super) const SESSIONS: u8 = 0;
/// Index of the table of events.
pub(super) const EVENTS: u8 = 1;

/// All tables but `journal`, `doomed` and `identity`, whose rows say how the file was left.
pub(super) const TABLES: [CountedTable; 9] = [
    CountedTable {
        name: "sessions",
        rows: "its row",
        owner: Owner::Column("handle"),
        columns: &[
            "key",
            "client_id",
            "epoch",
            "floor",
            "fence",
            "cwd",
            "title",
            "labels",
            "settings",
            "state",
            "created",
            "node",
        ],
        omitted: &["handle", "head", "bytes", "host_offset", "active"],
    },
    CountedTable {
        name: "events",
        rows: "events",
        owner: Owner::EventId,
        columns: &["id", "seal"],
        // The seal is a checksum over them.
        omitted: &["at", "class", "kind", "client_id", "body"],
    },
    CountedTable {
        name: "asks",
        rows: "requests",
        owner: Owner::Column("session"),
        columns: &["id", "kind", "digest", "body", "deadline", "opened", "opened_at", "outcome", "settled"],
        omitted: &["session"],
    },
    CountedTable {
        name: "cli_sessions",
        rows: "ids of CLI sessions",
        owner: Owner::Column("session"),
        columns: &["place", "id"],
        omitted: &["session"],
    },
    CountedTable {
        name: "client_ids",
        rows: "ids of commands",
        owner: Owner::Column("session"),
        columns: &["id", "seq", "at"],
        omitted: &["session"],
    },
    CountedTable {
        name: "past_epochs",
        rows: "epochs",
        owner: Owner::Column("session"),
        columns: &["place", "epoch", "last"],
        omitted: &["session"],
    },
    CountedTable {
        name: "projects",
        rows: "projects",
        owner: Owner::None,
        columns: &["folder", "session", "opened"],
        omitted: &[],
    },
    CountedTable {
        name: "audit",
        rows: "lines of the audit log",
        owner: Owner::Numbered("number"),
        columns: &[
            "number",
            "at",
            "who",
            "device",
            "session",
            "ask",
            "decision",
            "rule",
            "digest",
            "latency_ms",
            "hash",
            "scope",
            "changed",
        ],
        omitted: &[],
    },
    CountedTable {
        name: "documents",
        rows: "documents (inbox, fleet)",
        owner: Owner::None,
        columns: &["kind", "id", "body"],
        omitted: &[],
    },
];

/// The rows of a table that belong to one session; session 0 for a table without sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) session: u64,
    pub(super) table: u8,
}

impl Part {
    pub(super) fn table(self) -> Option<&'static CountedTable> {
        TABLES.get(usize::from(self.table))
    }
}

/// Number of the rows of a part, and a sum over them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RowSum {
    pub(super) rows: u64,
    pub(super) sum: u128,
    /// Number of the last row, where rows are numbered.
    pub(super) last: u64,
    /// Key of the session, where the row is one.
    pub(super) key: Option<String>,
}

impl RowSum {
    pub(super) fn add(&mut self, row: RowHash) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(row.hash);
        self.last = row.number;
        self.key = row.key.or_else(|| self.key.take());
    }

    fn remove(&mut self, row: &RowHash) {
        self.rows = self.rows.saturating_sub(1);
        self.sum = self.sum.wrapping_sub(row.hash);
    }
}

/// One row: the hash of its columns, its number and the key of the session that it is.
#[derive(Debug, Clone)]
pub(super) struct RowHash {
    hash: u128,
    pub(super) number: u64,
    key: Option<String>,
}

/// The sums of all parts.
pub(super) type Sums = BTreeMap<Part, RowSum>;

/// Changed parts; none for those that are gone.
pub(super) type ChangedParts = BTreeMap<Part, Option<RowSum>>;

/// Applies changed parts. A session that is gone takes its other parts with it.
pub(super) fn apply(sums: &mut Sums, changed: ChangedParts) {
    for (part, sum) in changed {
        match sum {
            Some(sum) => drop(sums.insert(part, sum)),
            None if part.table == SESSIONS => sums.retain(|of, _| of.session != part.session),
            None => drop(sums.remove(&part)),
        }
    }
}

/// Sums of the tables, and the changes of the open transaction.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sums: Sums,
    /// Parts that changed since they were last written down.
    unwritten: BTreeSet<Part>,
    pending: Vec<(Part, RowHash, RowChange)>,
}

/// A row that was added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowChange {
    Added,
    Removed,
}

/// A tally that a connection and its owner share.
pub(super) type SharedTally = Arc<Mutex<Tally>>;

impl Tally {
    /// Begins a transaction: the changes of one that was not committed are forgotten.
    pub(super) fn begin(&mut self) {
        self.pending.clear();
    }

    /// The place of a savepoint, to [roll back](Self::roll_back) to.
    pub(super) fn savepoint(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn roll_back(&mut self, savepoint: usize) {
        self.pending.truncate(savepoint);
    }

    /// The parts as they will be after the open transaction.
    pub(super) fn next(&self) -> ChangedParts {
        let mut next = ChangedParts::new();
        for (part, row, change) in &self.pending {
            let session = Part { table: SESSIONS, ..*part };
            let is_session_there = || match next.get(&session) {
                Some(changed) => changed.is_some(),
                None => self.sums.contains_key(&session),
            };
            // Rows of deleted sessions are removed later and in steps; they are not counted any more.
            if part.session != 0 && part.table != SESSIONS && !is_session_there() {
                continue;
            }
            let known = next.remove(part).unwrap_or_else(|| self.sums.get(part).cloned());
            let mut sum = known.unwrap_or_default();
            match change {
                RowChange::Added => sum.add(row.clone()),
                RowChange::Removed => sum.remove(row),
            }
            let is_there = sum.rows > 0 || part.table == EVENTS;
            if !is_there && part.table == SESSIONS {
                next.retain(|of, _| of.session != part.session);
            }
            next.insert(*part, is_there.then_some(sum));
        }
        next
    }

    /// Parts as they will be after the open transaction, with those that were not written down yet.
    pub(super) fn next_to_write(&self, next: &ChangedParts) -> ChangedParts {
        let earlier = self.unwritten.iter().map(|part| (*part, self.sums.get(part).cloned()));
        let mut all: ChangedParts = earlier.collect();
        all.extend(next.iter().map(|(part, sum)| (*part, sum.clone())));
        all
    }

    /// Accepts the changes of a committed transaction.
    pub(super) fn accept(&mut self, next: ChangedParts) {
        self.pending.clear();
        self.unwritten.extend(next.keys());
        apply(&mut self.sums, next);
    }

    pub(super) fn written(&mut self) {
        self.unwritten.clear();
    }
}

/// Counts the rows that this connection writes from now on.
pub(super) fn watch(conn: &Connection, tally: &SharedTally) -> Result<(), JournalError> {
    let doing = "count the rows of the journal";
    let tally = AssertUnwindSafe(Arc::clone(tally));
    let count = move |context: &Context<'_>| {
        let (part, row) = counted(context)?;
        let change = if context.get::<i64>(1)? > 0 { RowChange::Added } else { RowChange::Removed };
        tally.lock().pending.push((part, row, change));
        Ok(None::<i64>)
    };
    conn.create_scalar_function("tally", -1, FunctionFlags::SQLITE_UTF8, count).doing(doing)?;
    // With this a row that is replaced counts as removed. An update adds before it removes: a session without
    // a row is taken for a deleted one.
    let mut script = "PRAGMA recursive_triggers = ON;".to_owned();
    for (table, place) in TABLES.iter().zip(0_u8..) {
        let name = table.name;
        let columns = table.columns.join(", ");
        let (added, removed) = (table.call(place, "NEW", 1), table.call(place, "OLD", -1));
        let triggers = format!(
            "CREATE TEMP TRIGGER tally_{name}_insert AFTER INSERT ON main.{name} BEGIN {added} END;
             CREATE TEMP TRIGGER tally_{name}_delete AFTER DELETE ON main.{name} BEGIN {removed} END;
             CREATE TEMP TRIGGER tally_{name}_update AFTER UPDATE OF {columns} ON main.{name}
             BEGIN {added} {removed} END;"
        );
        script.push_str(&triggers);
    }
    conn.execute_batch(&script).doing(doing)
}

impl CountedTable {
    /// The statement of a trigger: table, change, session, number and the columns of a row.
    fn call(&self, place: u8, row: &str, change: i8) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| format!("{row}.{column}")).collect();
        let (session, number) = self.owner.expressions(&format!("{row}."));
        format!("SELECT tally({place}, {change}, {session}, {number}, {});", columns.join(", "))
    }

    /// A query of rows with the same columns as the statement of a trigger.
    pub(super) fn query(&self, place: u8, condition: &str) -> String {
        let (session, number) = self.owner.expressions("");
        let (columns, name) = (self.columns.join(", "), self.name);
        format!("SELECT {place}, 1, {session}, {number}, {columns} FROM {name} {condition}")
    }
}

impl Owner {
    /// Expressions for the session and the number of a row.
    fn expressions(self, row: &str) -> (String, String) {
        match self {
            Owner::Column(column) => (format!("{row}{column}"), "0".to_owned()),
            Owner::EventId => (format!("{row}id >> {SEQ_BITS}"), format!("{row}id & {SEQ_MAX}")),
            Owner::Numbered(column) => ("0".to_owned(), format!("{row}{column}")),
            Owner::None => ("0".to_owned(), "0".to_owned()),
        }
    }
}

/// Columns before those of the table: its place, the change, the session and the number.
const LEADING: usize = 4;

fn counted(context: &Context<'_>) -> Result<(Part, RowHash), rusqlite::Error> {
    let part = Part { table: context.get(0)?, session: context.get::<i64>(2)?.cast_unsigned() };
    let values = (LEADING..context.len()).map(|column| context.get_raw(column));
    Ok((part, RowHash::new(part.table, context.get::<i64>(3)?.cast_unsigned(), values)))
}

/// Reads a row of [`CountedTable::query`].
pub(super) fn counted_row(row: &Row<'_>) -> Result<(Part, RowHash), rusqlite::Error> {
    let part = Part { table: row.get(0)?, session: row.get::<_, i64>(2)?.cast_unsigned() };
    let columns = LEADING + part.table().map_or(0, |table| table.columns.len());
    let values = (LEADING..columns).map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>()?;
    Ok((part, RowHash::new(part.table, row.get::<_, i64>(3)?.cast_unsigned(), values.into_iter())))
}

impl RowHash {
    fn new<'v>(table: u8, number: u64, values: impl Iterator<Item = ValueRef<'v>>) -> Self {
        let (mut hash, mut key) = (Sha256::new_with_prefix([table]), None);
        for (value, place) in values.zip(0..) {
            let (tag, bytes) = match value {
                ValueRef::Null => (0_u8, Vec::new()),
                ValueRef::Integer(number) => (1, number.to_le_bytes().to_vec()),
                ValueRef::Real(number) => (2, number.to_le_bytes().to_vec()),
                ValueRef::Text(text) => (3, text.to_vec()),
                ValueRef::Blob(bytes) => (4, bytes.to_vec()),
            };
            hash.update([tag]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(&bytes);
            if table == SESSIONS && place == 0 {
                key = String::from_utf8(bytes).ok();
            }
        }
        let hash = hash.finalize().first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
        RowHash { hash, number, key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    /// A table or column that a migration adds is counted, or it is named here why not.
    #[test]
    fn k28_every_table_and_every_column_is_counted_or_omitted_on_purpose() {
        let conn = Connection::open_in_memory().unwrap();
        schema::migrate(&conn).unwrap();
        let mut names = conn
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            .unwrap();
        let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for name in names {
            if ["journal", "doomed"].contains(&name.as_str()) {
                continue;
            }
            let table = TABLES.iter().find(|table| table.name == name);
            let table = table.unwrap_or_else(|| panic!("the table `{name}` is not counted"));
            let mut found: Vec<String> = Vec::new();
            conn.pragma(None, "table_info", &name, |row| {
                found.push(row.get(1)?);
                Ok(())
            })
            .unwrap();
            found.sort();
            let mut listed = [table.columns, table.omitted].concat();
            listed.sort_unstable();
            assert_eq!(listed, found, "{name}");
        }
    }

    /// Sums follow inserts, updates, replacements and deletions, and a rolled back call changes nothing.
    #[test]
    fn k28_triggers_count_what_a_scan_counts() {
        let conn = Connection::open_in_memory().unwrap();
        schema::migrate(&conn).unwrap();
        let tally = SharedTally::default();
        watch(&conn, &tally).unwrap();
        let session = "INSERT INTO sessions (key, epoch, cwd, labels, settings, state, created, active)
            VALUES (?1, 1, '/', '{}', '', 'idle', 0, 0)";
        for key in ["a", "b"] {
            conn.execute(session, [key]).unwrap();
        }
        conn.execute_batch(&format!(
            "INSERT INTO events VALUES ((1 << {SEQ_BITS}) + 1, 0, 1, 'k', NULL, 5, X'00');
             INSERT INTO events VALUES ((1 << {SEQ_BITS}) + 2, 0, 1, 'k', NULL, 6, X'00');
             INSERT INTO events VALUES ((2 << {SEQ_BITS}) + 1, 0, 1, 'k', NULL, 6, X'00');
             INSERT INTO documents VALUES ('k', 'i', X'01');
             INSERT OR REPLACE INTO documents VALUES ('k', 'i', X'02');
             UPDATE sessions SET title = 'x', head = 2 WHERE handle = 1;
             DELETE FROM events WHERE id = (1 << {SEQ_BITS}) + 1;
             DELETE FROM sessions WHERE handle = 2;
             DELETE FROM events WHERE id > (2 << {SEQ_BITS});"
        ))
        .unwrap();
        let place = tally.lock().savepoint();
        conn.execute("INSERT INTO documents VALUES ('k', 'j', X'01')", []).unwrap();
        conn.execute("DELETE FROM documents WHERE id = 'j'", []).unwrap();
        tally.lock().roll_back(place);
        let mut tally = tally.lock();
        let next = tally.next();
        tally.accept(next);
        let scanned = crate::sqlite::compare::sums(&conn).unwrap();
        let rows = |sums: &Sums| -> Vec<(Part, u64, u128)> {
            sums.iter()
                .filter(|(_, sum)| sum.rows > 0)
                .map(|(part, sum)| (*part, sum.rows, sum.sum))
                .collect()
        };
        assert_eq!(rows(&tally.sums), rows(&scanned));
        assert_eq!(tally.sums.keys().filter(|part| part.session == 2).count(), 0);
    }
}
