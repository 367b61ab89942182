//! opencode: all sessions in one database of `SQLite`: `opencode.db`, or `opencode-CHANNEL.db` of other
//! builds.
//!
//! The tables `session`, `message` and `part` have the conversation, with JSON in the column `data`, and the
//! cost that opencode computed. It writes 0 where it knows no price, so 0 counts as unknown.

mod convert;
mod database;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;
use rusqlite::{Connection, Row};
use tidings_protocol::json::write_string;

use self::database::{failed, reading};
use super::{AgentKind, AgentStore, AgentVersion, Conversation, StoreScan, StoredSession, tree};
use crate::roots::FileInfo;
use crate::{Error, ErrorKind};

/// Major versions of opencode whose sessions are known.
const KNOWN_MAJORS: &[&str] = &["0", "1"];

#[derive(Debug)]
pub(super) struct OpencodeStore {
    root: PathBuf,
}

impl OpencodeStore {
    pub(super) fn new(root: PathBuf) -> Self {
        // A root may be the data folder of a user, or the folder in it.
        let inner = root.join("opencode");
        let is_data_folder = !root.join("opencode.db").exists()
            && std::fs::symlink_metadata(&inner).is_ok_and(|it| it.is_dir());
        OpencodeStore { root: if is_data_folder { inner } else { root } }
    }

    fn databases(&self, unreadable: &mut Vec<Error>) -> Vec<FileInfo> {
        let is_database = |file: &FileInfo| {
            let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let stem = name.strip_suffix(".db").unwrap_or_default();
            stem == "opencode" || stem.starts_with("opencode-")
        };
        tree::files_below(&self.root, 0, unreadable).into_iter().filter(is_database).collect()
    }
}

impl AgentStore for OpencodeStore {
    fn kind(&self) -> AgentKind {
        AgentKind::Opencode
    }

    fn scan(&self) -> Result<StoreScan, Error> {
        let mut scan = StoreScan::default();
        let databases = self.databases(&mut scan.unreadable);
        if databases.is_empty() && self.root.join("storage/session").is_dir() {
            let path = self.root.display();
            let message = format!("The sessions of an older version of opencode are not read: `{path}`");
            let hint = "start opencode once; it moves them into its database";
            scan.unreadable.push(Error::new(ErrorKind::Invalid, message, hint));
        }
        for file in databases {
            match reading(&file.path, |connection| sessions(connection, &file)) {
                Ok(sessions) => scan.sessions.extend(sessions),
                Err(error) => scan.unreadable.push(error),
            }
        }
        scan.sort();
        Ok(scan)
    }

    fn read(&self, session: &StoredSession) -> Result<Conversation, Error> {
        let Some(file) = &session.files.main else { return Ok(Conversation::default()) };
        let rows = reading(&file.path, |connection| SessionRows::read(connection, &session.files.id, file))?;
        convert::conversation(&rows, session)
    }

    fn records(
        &self,
        session: &StoredSession,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(file) = &session.files.main else { return Ok(()) };
        let rows = reading(&file.path, |connection| SessionRows::read(connection, &session.files.id, file))?;
        for row in &rows.session {
            each(row.as_bytes())?;
        }
        for message in &rows.messages {
            each(message.record("message").as_bytes())?;
            for part in rows.parts.get(&message.id).into_iter().flatten() {
                each(part.record("part").as_bytes())?;
            }
        }
        for other in &rows.others {
            each(other.record("session_message").as_bytes())?;
        }
        Ok(())
    }
}

/// One row of `message`, `part` or `session_message`.
#[derive(Debug, Clone)]
struct DataRow {
    id: String,
    created: i64,
    updated: i64,
    /// The `type` of a `session_message`.
    kind: String,
    data: String,
}

impl DataRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(DataRow {
            id: row.get(0)?,
            created: row.get(1)?,
            updated: row.get(2)?,
            kind: row.get(3)?,
            data: row.get(4)?,
        })
    }

    /// The row as one line of JSON.
    fn record(&self, table: &str) -> String {
        let mut json = format!("{{\"table\":\"{table}\",\"id\":");
        write_string(&self.id, &mut json);
        // Writing into a String cannot fail.
        let _ = write!(json, ",\"time_created\":{},\"time_updated\":{}", self.created, self.updated);
        if !self.kind.is_empty() {
            json.push_str(",\"type\":");
            write_string(&self.kind, &mut json);
        }
        json.push_str(",\"data\":");
        match tidings_protocol::json::Raw::parse(&self.data) {
            Ok(data) => json.push_str(&tree::one_line(data)),
            Err(_) => write_string(&self.data, &mut json),
        }
        json.push('}');
        json
    }
}

/// All rows of a session.
#[derive(Debug, Default)]
struct SessionRows {
    session: Vec<String>,
    messages: Vec<DataRow>,
    /// By message, in order.
    parts: HashMap<String, Vec<DataRow>>,
    /// Rows of a table that newer versions use.
    others: Vec<DataRow>,
    /// The message from which on the conversation was undone.
    reverted_to: Option<String>,
}

impl SessionRows {
    fn read(connection: &Connection, id: &str, file: &FileInfo) -> Result<Self, Error> {
        let fail = |error: rusqlite::Error| failed(&file.path, &error);
        let mut rows = SessionRows::default();
        let mut session = connection.prepare("SELECT * FROM session WHERE id = ?1").map_err(fail)?;
        let names: Vec<String> = session.column_names().map(str::to_owned).collect();
        let mut found = session.query([id]).map_err(fail)?;
        while let Some(row) = found.next().map_err(fail)? {
            let mut json = "{\"table\":\"session\"".to_owned();
            for (at, name) in names.iter().enumerate() {
                json.push(',');
                write_string(name, &mut json);
                json.push(':');
                let value = row.get_ref(at).map_err(fail)?;
                database::write_value(value, &mut json);
                if name == "revert" {
                    let revert = value.as_str_or_null().ok().flatten().unwrap_or_default();
                    rows.reverted_to = tidings_protocol::json::Raw::parse(revert)
                        .ok()
                        .and_then(|revert| tree::string(revert, "messageID"));
                }
            }
            json.push('}');
            rows.session.push(json);
        }
        let select = "SELECT id, time_created, time_updated, '', data FROM message \
                      WHERE session_id = ?1 ORDER BY time_created, id";
        rows.messages = data_rows(connection, select, id).map_err(fail)?;
        let select = "SELECT id, time_created, time_updated, message_id, data FROM part \
                      WHERE session_id = ?1 ORDER BY message_id, id";
        for mut part in data_rows(connection, select, id).map_err(fail)? {
            let message = std::mem::take(&mut part.kind);
            rows.parts.entry(message).or_default().push(part);
        }
        if database::has_table(connection, "session_message").map_err(fail)? {
            let select = "SELECT id, time_created, time_updated, type, data FROM session_message \
                          WHERE session_id = ?1 ORDER BY seq";
            rows.others = data_rows(connection, select, id).map_err(fail)?;
        }
        Ok(rows)
    }
}

fn data_rows(connection: &Connection, select: &str, id: &str) -> rusqlite::Result<Vec<DataRow>> {
    let mut statement = connection.prepare(select)?;
    let rows = statement.query_map([id], DataRow::of)?;
    rows.collect()
}

/// The sessions of a database.
fn sessions(connection: &Connection, file: &FileInfo) -> Result<Vec<StoredSession>, Error> {
    let fail = |error: rusqlite::Error| failed(&file.path, &error);
    let needed: [(&str, &[&str]); 3] = [
        ("session", &["id", "parent_id", "directory", "title", "version", "time_created", "time_updated"]),
        ("message", &["id", "session_id", "time_created", "time_updated", "data"]),
        ("part", &["id", "message_id", "session_id", "time_created", "time_updated", "data"]),
    ];
    for (table, columns) in needed {
        let there = database::columns(connection, table).map_err(fail)?;
        if let Some(missing) = columns.iter().find(|column| !there.iter().any(|name| name == *column)) {
            let path = file.path.display();
            let message = format!("Unknown layout of the database (no column `{table}.{missing}`): `{path}`");
            let hint = "a newer version of opencode may have written it; update Tidings";
            return Err(Error::new(ErrorKind::Invalid, message, hint).about(&file.path));
        }
    }
    let mut sizes = HashMap::new();
    for table in ["message", "part"] {
        let select = format!("SELECT session_id, SUM(octet_length(data)) FROM {table} GROUP BY session_id");
        let mut statement = connection.prepare(&select).map_err(fail)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)));
        for row in rows.map_err(fail)? {
            let (id, bytes) = row.map_err(fail)?;
            *sizes.entry(id).or_insert(0) += u64::try_from(bytes).unwrap_or(0);
        }
    }
    let select = "SELECT id, parent_id, directory, title, version, time_created, time_updated FROM session";
    let mut statement = connection.prepare(select).map_err(fail)?;
    let rows = statement.query_map([], |row| {
        let id: String = row.get(0)?;
        let text = |value: Option<String>| value.filter(|value| !value.is_empty());
        let (created, updated): (i64, i64) = (row.get(5)?, row.get(6)?);
        Ok(StoredSession {
            bytes: sizes.get(&id).copied().unwrap_or(0),
            parent: text(row.get(1)?),
            cwd: text(row.get(2)?),
            name: text(row.get(3)?),
            version: AgentVersion::of(text(row.get(4)?), KNOWN_MAJORS),
            created: Timestamp::from_millisecond(created).ok(),
            modified: Timestamp::from_millisecond(updated).ok(),
            ..StoredSession::of_file(AgentKind::Opencode, id, file)
        })
    });
    rows.map_err(fail)?.collect::<rusqlite::Result<_>>().map_err(fail)
}
