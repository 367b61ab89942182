//! Keeps a session in a `SQLite` database and resumes it from there, as another machine would.

#![expect(clippy::print_stdout, reason = "the example shows its results on stdout")]

use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::{Connection, params};
use tidings::json::{Json, Raw};
use tidings::session_store::{
    SessionKey, SessionMirror, SessionStore, StoreCall, StoredSession, StoredSessions,
};
use tidings::sessions::Page;
use tidings::{Client, Error, ErrorKind, Options};

/// A store in a `SQLite` database: a row per entry, in the order of their numbers.
pub(crate) struct SqliteStore(Mutex<Connection>);

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS entries (
        number INTEGER PRIMARY KEY,
        project TEXT NOT NULL, session TEXT NOT NULL, subpath TEXT NOT NULL,
        uuid TEXT, body TEXT NOT NULL, at_ms INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX IF NOT EXISTS once ON entries (project, session, subpath, uuid);
    CREATE INDEX IF NOT EXISTS in_order ON entries (project, session, subpath, number);
";

impl SqliteStore {
    /// A store in this file; `:memory:` is one that is not kept.
    pub(crate) fn open(file: impl AsRef<Path>) -> Result<Self, Error> {
        let opened =
            Connection::open(file).and_then(|database| database.execute_batch(TABLE).map(|()| database));
        opened.map(|database| SqliteStore(Mutex::new(database))).map_err(failed)
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.0.lock()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` takes")]
fn failed(error: rusqlite::Error) -> Error {
    Error::new(ErrorKind::Storage, format!("The database failed: {error}"), "check its file")
}

impl SessionStore for SqliteStore {
    fn append<'a>(&'a self, key: &'a SessionKey, entries: &'a [Json]) -> StoreCall<'a, ()> {
        Box::pin(async move {
            let mut database = self.database();
            let transaction = database.transaction().map_err(failed)?;
            for entry in entries {
                let uuid = entry.raw().get("uuid").and_then(Raw::text).map(|uuid| uuid.get().into_owned());
                // An entry that comes again is left out; those without a `uuid` differ from each other.
                let insert = "INSERT OR IGNORE INTO entries (project, session, subpath, uuid, body, at_ms)
                    VALUES (?1, ?2, ?3, ?4, ?5, CAST(unixepoch('subsec') * 1000 AS INTEGER))";
                let row = params![key.project, key.session, subpath(key), uuid, entry.to_string()];
                transaction.execute(insert, row).map_err(failed)?;
            }
            transaction.commit().map_err(failed)
        })
    }

    fn load<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Option<Vec<Json>>> {
        Box::pin(async move {
            let select = "SELECT body FROM entries
                WHERE project = ?1 AND session = ?2 AND subpath = ?3 ORDER BY number";
            let texts: Vec<String> =
                self.rows(select, params![key.project, key.session, subpath(key)], |row| row.get(0))?;
            let entries: Vec<Json> = texts.iter().filter_map(|text| Json::parse(text).ok()).collect();
            Ok((!entries.is_empty()).then_some(entries))
        })
    }

    fn list<'a>(&'a self, project: &'a str) -> StoreCall<'a, Vec<StoredSession>> {
        Box::pin(async move {
            let select = "SELECT session, max(at_ms) FROM entries WHERE project = ?1 AND subpath = '' GROUP BY session";
            let session =
                |row: &rusqlite::Row<'_>| Ok(StoredSession::new(row.get::<_, String>(0)?, row.get(1)?));
            self.rows(select, params![project], session)
        })
    }

    fn subpaths<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, Vec<String>> {
        Box::pin(async move {
            let select = "SELECT DISTINCT subpath FROM entries
                WHERE project = ?1 AND session = ?2 AND subpath <> '' ORDER BY subpath";
            self.rows(select, params![key.project, key.session], |row| row.get(0))
        })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> StoreCall<'a, ()> {
        Box::pin(async move {
            let delete =
                "DELETE FROM entries WHERE project = ?1 AND session = ?2 AND (?3 = '' OR subpath = ?3)";
            let deleted = self.database().execute(delete, params![key.project, key.session, subpath(key)]);
            deleted.map(drop).map_err(failed)
        })
    }
}

impl SqliteStore {
    fn rows<T>(
        &self,
        select: &str,
        parameters: &[&dyn rusqlite::ToSql],
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let database = self.database();
        let mut select = database.prepare(select).map_err(failed)?;
        let rows = select.query_map(parameters, read).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }
}

fn subpath(key: &SessionKey) -> &str {
    key.subpath.as_deref().unwrap_or_default()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let folder = std::env::current_dir().expect("the example runs in a folder");
    let store = Arc::new(SqliteStore::open(folder.join("sessions.db"))?);

    // One machine: what Claude Code writes into its own folder comes into the database, too.
    let config = folder.join("one-machine");
    let options = Options::new().mirror_session().env("CLAUDE_CONFIG_DIR", config.to_string_lossy());
    let client = Client::connect(options).await?;
    let mirror = SessionMirror::new(store.clone(), config.join("projects"));
    let mirrored = tokio::spawn(mirror.run(client.follow()));
    println!("{}", client.send("Remember the word teapot.").await?.finish().await?.text());
    client.close().await?;
    mirrored.await.expect("the mirror does not panic")?;

    // Another machine, which has the database only.
    let sessions = StoredSessions::new(store, &folder);
    for session in sessions.list(Page::default()).await? {
        println!("stored: {}", session.summary);
    }
    let latest = sessions.latest().await?.expect("a session was stored");
    let resumed = sessions.resume(&latest, Options::new()).await?;
    let client = Client::connect(resumed.options()).await?;
    let mirrored = tokio::spawn(resumed.mirror().run(client.follow()));
    println!("{}", client.send("Which word was it?").await?.finish().await?.text());
    client.close().await?;
    mirrored.await.expect("the mirror does not panic")?;
    println!("{} messages are stored", sessions.messages(&latest, Page::default()).await?.len());
    Ok(())
}
