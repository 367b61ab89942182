//! The audit log on disk.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::failure::Doing as _;
use super::writer::Tx;
use crate::limits::LIST_MAX;
use crate::{AUDIT_START, AuditDraft, AuditEntry, JournalError};

pub(super) fn add(tx: &mut Tx<'_>, draft: &AuditDraft) -> Result<AuditEntry, JournalError> {
    let doing = "write the audit log";
    let sql = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1";
    let mut last = tx.conn.prepare_cached(sql).doing(doing)?;
    let last = last.query_row([], |row| Ok((row.get::<_, u64>(0)?, row.get(1)?))).optional().doing(doing)?;
    let (number, hash) = last.unwrap_or_else(|| (0, AUDIT_START.to_owned()));
    let mut entry = draft.chained(number + 1, &hash);
    entry.hash = tx.audit_key.sealed(&entry.hash);
    let sql =
        "INSERT INTO audit (number, at, who, device, session, ask, decision, rule, digest, latency_ms, hash, scope, changed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let mut insert = tx.conn.prepare_cached(sql).doing(doing)?;
    let AuditEntry { number, at_us, who, device, session, ask, decision, rule, .. } = &entry;
    let AuditEntry { scope, digest, changed, latency_ms, hash, .. } = &entry;
    insert
        .execute(params![
            number, at_us, who, device, session, ask, decision, rule, digest, latency_ms, hash, scope,
            changed
        ])
        .doing(doing)?;
    Ok(entry)
}

pub(super) fn list(conn: &Connection, after: u64) -> Result<Vec<AuditEntry>, JournalError> {
    let doing = "read the audit log";
    let sql = "SELECT number, at, who, device, session, ask, decision, rule, digest, latency_ms, hash, scope, changed
        FROM audit WHERE number > ?1 ORDER BY number LIMIT ?2";
    let mut find = conn.prepare_cached(sql).doing(doing)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let entries = find.query_map(params![after, LIST_MAX], |row| {
        Ok(AuditEntry {
            number: row.get(0)?,
            at_us: row.get(1)?,
            who: row.get(2)?,
            device: row.get(3)?,
            session: row.get(4)?,
            ask: row.get(5)?,
            decision: row.get(6)?,
            rule: row.get(7)?,
            digest: row.get(8)?,
            latency_ms: row.get(9)?,
            hash: row.get(10)?,
            scope: row.get(11)?,
            changed: row.get(12)?,
        })
    });
    entries.and_then(Iterator::collect).doing(doing)
}
