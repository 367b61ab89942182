//! The files of a journal: their permissions, their lock, and the state in which they were left.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tidings_base::files;

use super::begin::Begin;
use super::delta_log::DeltaLog;
use super::failure::Doing as _;
use super::heads::{self, Heads};
use super::mark::Mark;
use super::tally::{self, SharedTally};
use super::{audit_key, compare, examine, schema};
use crate::limits::{BUSY_WAIT, STATEMENTS_MAX, WAL_KEPT_BYTES};
use crate::{ErrorKind, JournalError, Loss, Opening};

/// A journal that is open for writing.
pub(super) struct OpenJournal {
    pub(super) conn: Connection,
    /// Holds the lock for as long as it lives.
    pub(super) lock: File,
    pub(super) deltas: DeltaLog,
    pub(super) tally: SharedTally,
    pub(super) heads: Heads,
    /// Losses that were found.
    pub(super) losses: Vec<Loss>,
}

/// Opens the one connection that writes, compares the file with its heads and repairs what can be repaired,
/// migrates it, and begins another epoch if necessary.
pub(super) fn writer(path: &Path, opening: &Opening, bytes_max: u64) -> Result<OpenJournal, JournalError> {
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
    let deltas = DeltaLog::read(path).map_err(|error| JournalError::io("read the deltas of", path, error))?;
    // Before anything is written: the log may still have what a damaged part of it hides.
    let mut examined = examine::examine(path, opening, version, deltas.end)?;
    if examined.version == 0 && mark.is_noted() {
        return Err(missing(path, "is empty"));
    }
    let mut conn = writer_again(path, bytes_max)?;
    schema::migrate(&conn)?;
    if examined.version != schema::NEWEST {
        examined.sums = compare::sums(&conn)?;
    }
    let failed = |error| JournalError::io("write what must be in", path, error);
    let mut heads = Heads::create(path, &examined.sums, &examined.losses).map_err(failed)?;
    let tally = SharedTally::default();
    tally.lock().sums = examined.sums;
    tally::watch(&conn, &tally)?;
    let mut begin = Begin {
        opening,
        mark: &mark,
        heads_match: examined.heads_match,
        are_numbers_lost: examined.are_numbers_lost,
        path,
        heads: &mut heads,
        tally: &tally,
    };
    let name = begin.run(&mut conn, &deltas.deltas, examined.ends)?;
    mark.opened(path, &name).map_err(|error| JournalError::io("write the mark of", path, error))?;
    let deltas = DeltaLog::open(path, opening.fresh_epoch.to_stored().cast_unsigned());
    let deltas = deltas.map_err(|error| JournalError::io("write the deltas of", path, error))?;
    Ok(OpenJournal { conn, lock, deltas, tally, heads, losses: examined.losses })
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
    for suffix in
        ["", ".lock", "-mark", "-pieces", "-wal", "-shm", "-journal", heads::SUFFIX, audit_key::SUFFIX]
    {
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
    files::create_private_folder(folder).map_err(|error| JournalError::io("create", folder, error))
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

/// The error for a journal that is gone: an empty one in its place would look as if nothing had ever
/// happened.
pub(super) fn missing(path: &Path, how: &str) -> JournalError {
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
    for suffix in ["", "-wal", "-shm", "-pieces", heads::SUFFIX, audit_key::SUFFIX] {
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
