//! The tables of the index.
//!
//! Signatures are numbered. A segment holds [`COLUMNS`] of them transposed: the bits of all signatures stand
//! side by side, so that looking up a trigram reads one short row for the whole segment. The newest
//! signatures, fewer than a segment, are stored untransposed.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, params};

use super::signature::{BITS, Signature};
use crate::{Error, ErrorKind};

/// Number of signatures in a segment.
pub(super) const COLUMNS: usize = 512;

/// Bytes of a row: one bit per signature of the segment.
pub(super) const ROW: usize = COLUMNS / 8;

/// Number of rows that are stored together; small enough that several fill a page of the database.
const ROWS_TOGETHER: usize = 16;

/// Version of the table layout. An index with an older layout is rebuilt.
const LAYOUT: i64 = 1;

const TABLES: &str = "
    CREATE TABLE file (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        -- The file as it was when it was read, and up to where.
        stamp BLOB NOT NULL,
        -- Whole lines read so far.
        lines INTEGER NOT NULL
    );
    -- Whole lines of a file, and the signature that their text is in.
    CREATE TABLE part (
        file INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        line INTEGER NOT NULL,
        signature INTEGER NOT NULL,
        PRIMARY KEY (file, start)
    ) WITHOUT ROWID;
    CREATE INDEX part_signature ON part (signature);
    -- The youngest signatures, each with how many bytes of files it stands for.
    CREATE TABLE young (signature INTEGER PRIMARY KEY, covers INTEGER NOT NULL, bits BLOB NOT NULL);
    -- Rows of segments.
    CREATE TABLE rows (id INTEGER PRIMARY KEY, bits BLOB NOT NULL);
";

/// An open database.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) connection: Connection,
    path: PathBuf,
}

/// Handling of a missing index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IfMissing {
    Create,
    Leave,
}

impl Store {
    /// Opens the index at `path`; `None` if there is none and it must not be created.
    pub(super) fn open(path: &Path, missing: IfMissing) -> Result<Option<Self>, Error> {
        if missing == IfMissing::Leave && !path.is_file() {
            return Ok(None);
        }
        if missing == IfMissing::Create {
            make_private(path).map_err(|error| Error::io("write", path, error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| failed(path, &error))?;
        let store = Store { connection, path: path.to_owned() };
        store.prepare().map(|()| Some(store))
    }

    fn prepare(&self) -> Result<(), Error> {
        let run = |sql: &str| self.connection.execute_batch(sql).map_err(|error| self.failed(&error));
        self.connection
            .busy_timeout(std::time::Duration::from_secs(5))
            .map_err(|error| self.failed(&error))?;
        let layout = self.layout()?;
        if layout > LAYOUT {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("A newer version of this program made the index `{}`", self.path.display()),
                "update, or build it anew with `tidings sessions index --rebuild`",
            ));
        }
        if layout == LAYOUT {
            return run("PRAGMA synchronous = NORMAL");
        }
        run(
            "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
        )?;
        // Another process may have been faster.
        if self.layout()? < LAYOUT {
            for table in ["file", "part", "young", "rows"] {
                run(&format!("DROP TABLE IF EXISTS {table}"))?;
            }
            run(TABLES)?;
            run(&format!("PRAGMA user_version = {LAYOUT}"))?;
        }
        run("COMMIT")
    }

    fn layout(&self) -> Result<i64, Error> {
        self.ask("PRAGMA user_version")
    }

    /// The single number that a query returns.
    pub(super) fn ask(&self, sql: &str) -> Result<i64, Error> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(&error))
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> Error {
        failed(&self.path, error)
    }

    /// Number of segments.
    pub(super) fn segments(&self) -> Result<usize, Error> {
        let rows = self.ask("SELECT COALESCE(MAX(id) + 1, 0) FROM rows")?;
        Ok(usize::try_from(rows).unwrap_or(0) * ROWS_TOGETHER / BITS)
    }

    /// Adds a segment.
    pub(super) fn add_segment(
        &self,
        segment: usize,
        signatures: &[(Signature, u64)],
    ) -> rusqlite::Result<()> {
        let mut turned = vec![0u8; BITS * ROW];
        for (column, (signature, _)) in signatures.iter().enumerate() {
            for bucket in signature.buckets() {
                turned[bucket * ROW + column / 8] |= 1 << (column % 8);
            }
        }
        let mut insert = self.connection.prepare_cached("INSERT OR REPLACE INTO rows VALUES (?1, ?2)")?;
        for (number, rows) in turned.chunks(ROWS_TOGETHER * ROW).enumerate() {
            insert.execute(params![rows_id(segment, number * ROWS_TOGETHER), rows])?;
        }
        Ok(())
    }

    /// The row of a bucket: the signatures of a segment that have it set.
    pub(super) fn row(&self, segment: usize, bucket: usize) -> Result<[u8; ROW], Error> {
        let read = || {
            let mut select = self.connection.prepare_cached("SELECT bits FROM rows WHERE id = ?1")?;
            select
                .query_row([rows_id(segment, bucket)], |row| {
                    let bits = row.get_ref(0)?.as_blob()?;
                    let at = bucket % ROWS_TOGETHER * ROW;
                    Ok(bits.get(at..).and_then(<[u8]>::first_chunk).copied())
                })
                .optional()
        };
        let row = read().map_err(|error| self.failed(&error))?;
        row.flatten().ok_or_else(|| damaged(&self.path))
    }

    /// The newest signatures, numbered from the end of the last segment on, and the number of bytes that each
    /// covers.
    pub(super) fn young(&self) -> Result<Vec<(Signature, u64)>, Error> {
        let read = || {
            let mut select = self
                .connection
                .prepare_cached("SELECT signature, covers, bits FROM young ORDER BY signature")?;
            let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<Vec<(i64, i64, Vec<u8>)>>>()
        };
        let rows = read().map_err(|error| self.failed(&error))?;
        let first = self.segments()? * COLUMNS;
        let signature = |(at, (number, covers, bits)): (usize, (i64, i64, Vec<u8>))| {
            let in_order = usize::try_from(number) == Ok(first + at);
            let signature = Signature::of_bytes(&bits).filter(|_| in_order);
            Ok((signature.ok_or_else(|| damaged(&self.path))?, covers.cast_unsigned()))
        };
        rows.into_iter().enumerate().map(signature).collect()
    }
}

/// Removes the files of an index and returns their size in bytes.
pub(super) fn remove(path: &Path) -> Result<u64, Error> {
    let mut freed = 0;
    for path in files(path) {
        let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        match fs_err::remove_file(&path) {
            Ok(()) => freed += bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io("remove", &path, error)),
        }
    }
    Ok(freed)
}

/// Size of an index on disk in bytes.
pub(super) fn size(path: &Path) -> u64 {
    files(path).iter().filter_map(|path| std::fs::metadata(path).ok()).map(|metadata| metadata.len()).sum()
}

fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    })
}

fn rows_id(segment: usize, bucket: usize) -> i64 {
    let id = (segment * BITS + bucket) / ROWS_TOGETHER;
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// Creates the folder and the file readable by their owner only: sessions are private.
fn make_private(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        tidings_base::files::create_private_folder(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    if matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) {
        return damaged(path);
    }
    let hint = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another program uses it; try again",
        Some(ErrorCode::DiskFull) => "make room on the disk",
        // Without permission to write, rebuilding fails too.
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "check the permissions of its folder, or set another one with TIDINGS_CACHE_DIR"
        }
        _ => "build it anew with `tidings sessions index --rebuild`",
    };
    Error::new(ErrorKind::Io, format!("The index `{}` cannot be used: {error}", path.display()), hint)
}

fn damaged(path: &Path) -> Error {
    let hint = "build it anew with `tidings sessions index --rebuild`";
    Error::new(ErrorKind::Damaged, format!("The index is damaged: `{}`", path.display()), hint)
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn the_hint_for_a_read_only_folder_does_not_suggest_a_rebuild() {
        for (code, expected) in [
            (ffi::SQLITE_READONLY, "check the permissions"),
            (ffi::SQLITE_CANTOPEN, "check the permissions"),
            (ffi::SQLITE_PERM, "check the permissions"),
            (ffi::SQLITE_BUSY, "try again"),
            (ffi::SQLITE_FULL, "make room"),
            (ffi::SQLITE_CORRUPT, "--rebuild"),
            (ffi::SQLITE_MISMATCH, "--rebuild"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let hint = failed(Path::new("index.sqlite"), &error).hint();
            assert!(hint.contains(expected), "{code}: {hint}");
        }
    }
}
