//! The files of a journal: their permissions, their lock, and the state in which they were left.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::delta_log::{DeltaLog, LoggedDelta};
use super::failure::Doing as _;
use super::mark::Mark;
use super::{audit_key, pending_deltas, schema};
use crate::journal::opening::LastStop;
use crate::journal::{Epoch, ErrorKind, Handle, JournalError, Opening};
use crate::limits::{BUSY_WAIT, PAST_EPOCHS_MAX, STATEMENTS_MAX, WAL_KEPT_BYTES};

/// Opens the one connection that writes, migrates the file, and begins another epoch if necessary. The second
/// value holds the lock for as long as it lives, the third is the log of deltas.
pub(super) fn writer(
    path: &Path,
    opening: &Opening,
    bytes_max: u64,
) -> Result<(Connection, File, DeltaLog), JournalError> {
    make_folder(path)?;
    refuse_links(path)?;
    let lock = lock(path)?;
    let mark = Mark::read(path);
    if mark.is_missing() {
        return Err(missing(path, "is missing"));
    }
    private_file(path).map_err(|error| JournalError::io("create", path, error))?;
    // Before anything is changed in a file that may belong to another program.
    let version = schema::check(&connect(path)?)?;
    if version == 0 && mark.is_noted() {
        return Err(missing(path, "is empty"));
    }
    let mut conn = writer_again(path, bytes_max)?;
    schema::migrate(&conn)?;
    let deltas = DeltaLog::read(path).map_err(|error| JournalError::io("read the deltas of", path, error))?;
    let name = begin(&mut conn, opening, &deltas, &mark, path)?;
    mark.opened(path, &name).map_err(|error| JournalError::io("write the mark of", path, error))?;
    let log = DeltaLog::open(path, opening.fresh_epoch.to_stored().cast_unsigned());
    let log = log.map_err(|error| JournalError::io("write the deltas of", path, error))?;
    Ok((conn, lock, log))
}

/// Opens the connection that writes, for a journal that is locked and migrated.
pub(super) fn writer_again(path: &Path, bytes_max: u64) -> Result<Connection, JournalError> {
    let conn = connect(path)?;
    let page: u64 = conn.pragma_query_value(None, "page_size", |row| row.get(0)).doing("open the journal")?;
    let pages = bytes_max / page.max(1);
    // `auto_vacuum` is set before the first table is made, or it has no effect.
    conn.execute_batch(&format!(
        "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {WAL_KEPT_BYTES}; \
         PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA max_page_count = {pages};"
    ))
    .doing("open the journal")?;
    Ok(conn)
}

/// Opens a connection that copies the log into the main file, besides the one that writes.
pub(super) fn checkpointer(path: &Path) -> Result<Connection, JournalError> {
    let conn = connect(path)?;
    conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -64;").doing("open the journal")?;
    Ok(conn)
}

/// Opens a connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, JournalError> {
    let conn = connect(path)?;
    conn.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -2048;").doing("open the journal")?;
    Ok(conn)
}

pub(super) fn connect(path: &Path) -> Result<Connection, JournalError> {
    refuse_links(path)?;
    // SQLite refuses links in any part of the path; those above the data folder are the user's choice.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(in_real_folder(path), flags).doing("open the journal")?;
    conn.busy_timeout(BUSY_WAIT).doing("open the journal")?;
    // The log stays when a connection is closed: a process that ends without closing the journal leaves it to
    // the next one, which takes an unclosed journal without a log for a copy.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).doing("open the journal")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    Ok(conn)
}

/// The path of a file in its folder, with the links in the path of the folder resolved.
fn in_real_folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Refuses a journal if one of its files is a link: the target of the link would be read, changed and given
/// another mode.
fn refuse_links(journal: &Path) -> Result<(), JournalError> {
    for suffix in ["", ".lock", "-mark", "-pieces", "-wal", "-shm", "-journal", audit_key::SUFFIX] {
        let path = with_suffix(journal, suffix);
        if std::fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            let message = format!("A file of the journal is a link, or not a file: `{}`", path.display());
            let hint = "put the file itself there; the whole data folder can be elsewhere with --data";
            return Err(JournalError::new(ErrorKind::Invalid, message, hint));
        }
    }
    Ok(())
}

/// Creates a file that only its owner may read, or makes an existing one so. `SQLite` gives its other files
/// the same mode.
pub(super) fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// Creates the folder. An existing one keeps its mode: it may be a home directory.
fn make_folder(path: &Path) -> Result<(), JournalError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| JournalError::io("create", folder, error))
}

/// A path with a suffix after the file's name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Locks the journal: `SQLite` would let a second process in, and both would give out the same numbers.
fn lock(path: &Path) -> Result<File, JournalError> {
    let path = with_suffix(path, ".lock");
    let file = private_file(&path).map_err(|error| JournalError::io("create", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = "Another process has the journal open".to_owned();
            Err(JournalError::new(
                ErrorKind::Locked,
                message,
                "stop the other server, or use another data folder",
            ))
        }
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", &path, error)),
    }
}

/// Marks the journal as open, stores the deltas that the last process left in the log, and begins another
/// epoch if numbers may have been lost. Returns the name of the journal, which its backups share.
fn begin(
    conn: &mut Connection,
    opening: &Opening,
    deltas: &[LoggedDelta],
    mark: &Mark,
    path: &Path,
) -> Result<String, JournalError> {
    let doing = "begin to write the journal";
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).doing(doing)?;
    let name = name_of(&tx, mark, path)?;
    pending_deltas::flush(&tx, deltas)?;
    let left = tx
        .query_row("SELECT clean, boot_id FROM journal", [], |row| {
            let stop = if row.get(0)? { LastStop::Clean } else { LastStop::Unclean };
            Ok((stop, row.get::<_, String>(1)?))
        })
        .optional()
        .doing(doing)?;
    let (boot_id, fresh) = (&opening.boot_id, opening.fresh_epoch);
    let lost = left
        .as_ref()
        .is_some_and(|(stop, boot_id)| opening.may_have_lost(*stop, boot_id) || mark.is_another(*stop));
    if lost {
        begin_epoch(&tx, fresh)?;
    }
    if lost || left.is_none() {
        let sql = "INSERT OR REPLACE INTO journal (one, boot_id, clean, epoch) VALUES (1, ?1, 0, ?2)";
        tx.execute(sql, params![boot_id, fresh.to_stored()]).doing(doing)?;
    } else {
        tx.execute("UPDATE journal SET boot_id = ?1, clean = 0", [boot_id]).doing(doing)?;
    }
    tx.commit().doing(doing)?;
    Ok(name)
}

/// Returns the name of a journal, which it gets when it is first opened. A journal with another name than the
/// one that was here is refused; one without a name is of an earlier version.
fn name_of(conn: &Connection, mark: &Mark, path: &Path) -> Result<String, JournalError> {
    let doing = "read the name of the journal";
    // A table of its own: earlier versions ignore it.
    let make =
        "CREATE TABLE IF NOT EXISTS identity (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL)";
    conn.execute_batch(make).doing(doing)?;
    let find = "SELECT name FROM identity";
    let found: Option<String> = conn.query_row(find, [], |row| row.get(0)).optional().doing(doing)?;
    if let Some(name) = found {
        return if mark.is_of_another(&name) { Err(missing(path, "is another server's")) } else { Ok(name) };
    }
    conn.execute("INSERT INTO identity (one, name) VALUES (1, lower(hex(randomblob(16))))", [])
        .doing(doing)?;
    conn.query_row(find, [], |row| row.get(0)).doing(doing)
}

/// The error for a journal that is gone: an empty one in its place would look as if nothing had ever
/// happened.
fn missing(path: &Path, how: &str) -> JournalError {
    let message =
        format!("The journal {how}, and the mark beside it says that there was one: `{}`", path.display());
    let hint = "put it back, or restore a backup; `tidings serve --new-journal` begins an empty one";
    JournalError::new(ErrorKind::Missing, message, hint)
}

/// Limit of journals put aside in one folder: a service that creates a new one with each start is stopped
/// before it fills the disk.
const ASIDE_MAX: usize = 100;

pub(super) fn put_aside(path: &Path) -> Result<Option<PathBuf>, JournalError> {
    make_folder(path)?;
    refuse_links(path)?;
    let _lock = lock(path)?;
    let aside =
        (1..=ASIDE_MAX).map(|n| with_suffix(path, &format!(".aside-{n}"))).find(|aside| !aside.exists());
    let aside = aside.ok_or_else(|| {
        let message = format!("{ASIDE_MAX} journals were put aside here already: `{}`", path.display());
        JournalError::new(
            ErrorKind::Missing,
            message,
            "remove the files `journal.db.aside-…` that you do not need",
        )
    })?;
    let mut moved = None;
    // The key goes with its log.
    for suffix in ["", "-wal", "-shm", "-pieces", audit_key::SUFFIX] {
        let (from, to) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
        match std::fs::rename(&from, &to) {
            Ok(()) if suffix.is_empty() => moved = Some(to),
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(JournalError::io("put aside", &from, error)),
        }
    }
    match std::fs::remove_file(super::mark::mark_path(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(JournalError::io("remove the mark of", path, error))
        }
        _ => Ok(moved),
    }
}

/// Begins another epoch for the sessions of this server; a replica has the epoch of its owner.
fn begin_epoch(conn: &Connection, fresh: Epoch) -> Result<(), JournalError> {
    let doing = "begin another epoch of the journal";
    let past = "INSERT INTO past_epochs (session, place, epoch, last)
        SELECT handle, 1 + coalesce((SELECT max(place) FROM past_epochs WHERE session = handle), 0), epoch, head
        FROM sessions WHERE node IS NULL";
    conn.execute(past, []).doing(doing)?;
    let forget = "DELETE FROM past_epochs WHERE place <=
        (SELECT max(place) FROM past_epochs AS newer WHERE newer.session = past_epochs.session) - ?1";
    conn.execute(forget, [PAST_EPOCHS_MAX]).doing(doing)?;
    let mut handles = conn.prepare("SELECT handle FROM sessions WHERE node IS NULL").doing(doing)?;
    let handles: Result<Vec<u64>, _> = handles.query_map([], |row| row.get(0)).doing(doing)?.collect();
    let mut set = conn.prepare("UPDATE sessions SET epoch = ?2 WHERE handle = ?1").doing(doing)?;
    for handle in handles.doing(doing)? {
        set.execute(params![handle, fresh.of_session(Handle::new(handle)).to_stored()]).doing(doing)?;
    }
    Ok(())
}
