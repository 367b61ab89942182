//! Examines a journal before it is opened, and repairs what can be repaired.

use std::path::Path;

use rusqlite::Connection;

use super::begin::{self, RightEnds};
use super::compare::{self, Comparison, Depth, Expectation, compare};
use super::delta_log::LogEnd;
use super::failure::Doing as _;
use super::heads::Held;
use super::mark::HeadsMatch;
use super::tally::{EVENTS, Part, SESSIONS, Sums};
use super::{open, repair, schema};
use crate::limits::EXAMINED_BYTES_MAX;
use crate::opening::LastStop;
use crate::{JournalError, Loss, Opening};

/// Suffix of the boot's id in a journal whose last process kept its heads. Earlier versions write none.
pub(super) const WITH_HEADS: &str = "+heads";

/// An examined journal.
pub(super) struct Examined {
    /// The version of the tables.
    pub(super) version: usize,
    pub(super) sums: Sums,
    pub(super) losses: Vec<Loss>,
    /// Sessions whose rows do not match their events.
    pub(super) ends: Vec<RightEnds>,
    pub(super) heads_match: HeadsMatch,
    /// True if events that readers know of may be missing.
    pub(super) are_numbers_lost: bool,
}

/// Compares a journal with its heads. If something is missing, it tries to restore it from the files.
pub(super) fn examine(
    path: &Path,
    opening: &Opening,
    version: usize,
    deltas: LogEnd,
) -> Result<Examined, JournalError> {
    let held = Held::read(path).map_err(|error| JournalError::io("read what must be in", path, error))?;
    let is_known = held.is_some();
    let held = held.unwrap_or_default();
    let (version, losses) =
        if version < held.schema { restore_tables(path, &held)? } else { (version, Vec::new()) };
    // The tables of an earlier version are counted after they were migrated.
    if version != schema::NEWEST {
        report(&losses);
        return Ok(Examined {
            version,
            sums: Sums::new(),
            are_numbers_lost: !losses.is_empty(),
            losses,
            ends: Vec::new(),
            heads_match: HeadsMatch::Unknown,
        });
    }
    let conn = open::reader(path)?;
    let expectation = if is_known { expectation(&held, &conn, opening)? } else { Expectation::Nothing };
    let is_small = std::fs::metadata(path).is_ok_and(|file| file.len() <= EXAMINED_BYTES_MAX);
    let depth = if is_small || !is_known { Depth::All } else { Depth::Ends };
    let mut found = compare(&conn, &held, expectation, depth)?;
    let mut conn = conn;
    if found.weight() > 0 {
        drop(conn);
        let compare_again = |conn: &Connection| compare(conn, &held, expectation, Depth::All);
        found = repair::repair(path, &held, &compare_again, found)?;
        conn = open::reader(path)?;
    }
    let ends = right_ends(&conn, &found, &held, expectation)?;
    let mut losses = if held.is_closed { Vec::new() } else { held.losses.clone() };
    if held.is_damaged {
        losses.push(altered("records of what the journal must hold"));
    }
    // Only a process that was killed has left something in it.
    let was_killed = begin::left(&conn)?.is_some_and(|(stop, boot_id)| {
        stop == LastStop::Unclean && boot_id.strip_suffix(WITH_HEADS) == Some(&opening.boot_id)
    });
    let mut are_numbers_lost = found.losses.iter().any(|loss| loss.session.is_some());
    if was_killed && deltas == LogEnd::Unmarked {
        losses.push(altered("deltas"));
        are_numbers_lost = true;
    }
    let is_exact = expectation == Expectation::Exact && !are_numbers_lost;
    let heads_match = if is_exact { HeadsMatch::Exact } else { HeadsMatch::Unknown };
    losses.append(&mut found.losses);
    losses.dedup();
    report(&losses);
    Ok(Examined { version, sums: found.sums, losses, ends, heads_match, are_numbers_lost })
}

fn report(losses: &[Loss]) {
    for loss in losses {
        tracing::error!(%loss, "the journal is damaged");
    }
}

/// Repairs a journal that has lost its tables, or goes on with one of an earlier version. Returns the
/// version, and what is missing.
fn restore_tables(path: &Path, held: &Held) -> Result<(usize, Vec<Loss>), JournalError> {
    let compare_again = |conn: &Connection| match schema::check(conn)? {
        schema::NEWEST => compare(conn, held, Expectation::Exact, Depth::All),
        _ => Ok(Comparison::without_tables(held)),
    };
    let found = repair::repair(path, held, &compare_again, Comparison::without_tables(held))?;
    Ok((schema::check(&open::reader(path)?)?, found.losses))
}

/// Something of the server that is not as it was.
fn altered(what: &str) -> Loss {
    Loss { session: None, what: what.to_owned(), missing: 0, is_altered: true }
}

/// Compares a journal that another process may be writing, in full.
pub(super) fn inspect(path: &Path) -> Result<Vec<Loss>, JournalError> {
    let read = || Held::read(path).map_err(|error| JournalError::io("read what must be in", path, error));
    let conn = open::reader(path)?;
    for _ in 0..ATTEMPTS {
        let Some(before) = read()? else { return Ok(Vec::new()) };
        let reading = conn.unchecked_transaction().doing("read the journal")?;
        begin::left(&conn)?;
        let Some(after) = read()? else { return Ok(Vec::new()) };
        // Nothing was written between the heads and the moment at which the tables are read.
        if (&before.sums, &before.announced) == (&after.sums, &after.announced) {
            let expectation = if before.is_damaged { Expectation::Nothing } else { Expectation::Exact };
            let mut found = compare(&conn, &before, expectation, Depth::All)?;
            let mut losses = before.losses;
            losses.append(&mut found.losses);
            return Ok(losses);
        }
        reading.finish().doing("read the journal")?;
    }
    Ok(Vec::new())
}

/// Attempts to read heads and tables of the same moment.
const ATTEMPTS: u32 = 100;

fn expectation(held: &Held, conn: &Connection, opening: &Opening) -> Result<Expectation, JournalError> {
    let Some((stop, boot_id)) = begin::left(conn)? else { return Ok(Expectation::Exact) };
    let Some(boot_id) = boot_id.strip_suffix(WITH_HEADS) else {
        // An earlier version, or another program, wrote last.
        return Ok(Expectation::Nothing);
    };
    if held.is_damaged {
        return Ok(Expectation::Nothing);
    }
    Ok(match stop {
        _ if held.is_closed => Expectation::Exact,
        LastStop::Clean => Expectation::Exact,
        LastStop::Unclean if boot_id == opening.boot_id => Expectation::Exact,
        LastStop::Unclean => Expectation::AtLeast,
    })
}

/// Finds sessions whose rows say another range than their events have. A wrong number would hide events, or
/// make readers wait for ones that never were.
fn right_ends(
    conn: &Connection,
    found: &Comparison,
    held: &Held,
    expectation: Expectation,
) -> Result<Vec<RightEnds>, JournalError> {
    let doing = "read the ranges of the sessions";
    if expectation == Expectation::Nothing {
        return Ok(Vec::new());
    }
    let mut ends = Vec::new();
    for part in found.sums.keys().filter(|part| part.table == SESSIONS) {
        let sql = "SELECT floor, head FROM sessions WHERE handle = ?1";
        let mut find = conn.prepare_cached(sql).doing(doing)?;
        let stored = find.query_row([part.session], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        let (floor, newest) = stored.doing(doing)?;
        let events = Part { table: EVENTS, ..*part };
        let (actual, noted) = (found.sums.get(&events), held.sums.get(&events));
        let last = actual.map_or(0, |sum| sum.last);
        // Missing events at the end are shown as missing, up to the last one that is known to have existed.
        let last = newest.cast_unsigned().clamp(last, last.max(noted.map_or(0, |sum| sum.last)));
        let right_floor = match actual.filter(|sum| sum.rows > 0) {
            Some(_) => compare::first_event(conn, part.session)?,
            None => last + 1,
        };
        let is_row_altered = held.sums.get(part) != found.sums.get(part);
        let right_floor = if is_row_altered { right_floor } else { floor.cast_unsigned() };
        if newest.cast_unsigned() != last || floor.cast_unsigned() != right_floor {
            tracing::error!(
                session = part.session,
                floor,
                newest,
                "the range of a session was damaged and is corrected"
            );
            ends.push(RightEnds { session: part.session, floor: right_floor, head: last });
        }
    }
    Ok(ends)
}
