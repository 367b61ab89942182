//! The first transaction after a journal was opened.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::delta_log::LoggedDelta;
use super::examine::WITH_HEADS;
use super::failure::Doing as _;
use super::heads::Heads;
use super::mark::{HeadsMatch, Mark};
use super::open::missing;
use super::pending_deltas;
use super::tally::SharedTally;
use crate::limits::PAST_EPOCHS_MAX;
use crate::opening::LastStop;
use crate::{Epoch, Handle, JournalError, Opening};

/// Inputs of the first transaction.
pub(super) struct Begin<'j> {
    pub(super) opening: &'j Opening,
    pub(super) mark: &'j Mark,
    pub(super) heads_match: HeadsMatch,
    pub(super) are_numbers_lost: bool,
    pub(super) path: &'j Path,
    pub(super) heads: &'j mut Heads,
    pub(super) tally: &'j SharedTally,
}

/// The range of events of a session, where its row says something else.
#[derive(Debug, Clone, Copy)]
pub(super) struct RightEnds {
    pub(super) session: u64,
    pub(super) floor: u64,
    pub(super) head: u64,
}

impl Begin<'_> {
    /// Marks the journal as open, stores the deltas that the last process left in the log, corrects the rows
    /// of damaged sessions, and begins another epoch if numbers may have been lost. Returns the name of the
    /// journal, which its backups share.
    pub(super) fn run(
        &mut self,
        conn: &mut Connection,
        deltas: &[LoggedDelta],
        ends: Vec<RightEnds>,
    ) -> Result<String, JournalError> {
        let doing = "begin to write the journal";
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).doing(doing)?;
        self.tally.lock().begin();
        let name = name_of(&tx, self.mark, self.path)?;
        for end in ends {
            let sql = "UPDATE sessions SET floor = ?2, head = ?3 WHERE handle = ?1";
            tx.execute(sql, params![end.session, end.floor, end.head]).doing(doing)?;
        }
        pending_deltas::flush(&tx, deltas)?;
        self.open_journal(&tx)?;
        let next = self.tally.lock().next();
        self.heads.announce(&next);
        tx.commit().doing(doing)?;
        self.heads.confirm();
        let mut tally = self.tally.lock();
        tally.accept(next);
        tally.written();
        Ok(name)
    }

    fn open_journal(&self, tx: &Transaction<'_>) -> Result<(), JournalError> {
        let doing = "begin to write the journal";
        let left = left(tx)?;
        let (boot_id, fresh) = (format!("{}{WITH_HEADS}", self.opening.boot_id), self.opening.fresh_epoch);
        let lost = self.are_numbers_lost
            || left.as_ref().is_some_and(|(stop, boot_id)| {
                let boot_id = boot_id.strip_suffix(WITH_HEADS).unwrap_or(boot_id);
                self.opening.may_have_lost(*stop, boot_id) || self.mark.is_another(*stop, self.heads_match)
            });
        if lost {
            begin_epoch(tx, fresh)?;
        }
        if lost || left.is_none() {
            let sql = "INSERT OR REPLACE INTO journal (one, boot_id, clean, epoch) VALUES (1, ?1, 0, ?2)";
            tx.execute(sql, params![boot_id, fresh.to_stored()]).doing(doing)?;
        } else {
            tx.execute("UPDATE journal SET boot_id = ?1, clean = 0", [boot_id]).doing(doing)?;
        }
        // A handle is never used twice, even if the number of the last one was lost.
        let highest = self.tally.lock().sums.keys().map(|part| part.session).max().unwrap_or(0);
        tx.execute("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'sessions' AND seq < ?1", [highest])
            .doing(doing)?;
        Ok(())
    }
}

/// The last stop of the journal, and the id of its boot; none for a new journal.
pub(super) fn left(conn: &Connection) -> Result<Option<(LastStop, String)>, JournalError> {
    let read = |row: &rusqlite::Row<'_>| {
        let stop = if row.get(0)? { LastStop::Clean } else { LastStop::Unclean };
        Ok((stop, row.get::<_, String>(1)?))
    };
    let left = conn.query_row("SELECT clean, boot_id FROM journal", [], read);
    left.optional().doing("read how the journal was left")
}

/// Returns the name of a journal, which it gets when it is first opened. A journal with another name than the
/// one that was here is refused; one without a name is of an earlier version.
fn name_of(conn: &Connection, mark: &Mark, path: &Path) -> Result<String, JournalError> {
    let doing = "read the name of the journal";
    make_identity(conn)?;
    let find = "SELECT name FROM identity";
    let found: Option<String> = conn.query_row(find, [], |row| row.get(0)).optional().doing(doing)?;
    if let Some(name) = found {
        return if mark.is_of_another(&name) { Err(missing(path, "is another server's")) } else { Ok(name) };
    }
    conn.execute("INSERT INTO identity (one, name) VALUES (1, lower(hex(randomblob(16))))", [])
        .doing(doing)?;
    conn.query_row(find, [], |row| row.get(0)).doing(doing)
}

/// Makes the table of the journal's name: one of its own, which earlier versions ignore.
pub(super) fn make_identity(conn: &Connection) -> Result<(), JournalError> {
    let make =
        "CREATE TABLE IF NOT EXISTS identity (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL)";
    conn.execute_batch(make).doing("read the name of the journal")
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
