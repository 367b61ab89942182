//! Documents as rows.

use rusqlite::{Connection, params};

use super::failure::Doing as _;
use super::writer::Tx;
use crate::{DocumentChange, JournalError, StoredDocument};

pub(super) fn change(tx: &mut Tx<'_>, changes: &[DocumentChange]) -> Result<(), JournalError> {
    let doing = "store documents";
    for DocumentChange { kind, id, body } in changes {
        if let Some(body) = body {
            let sql = "INSERT OR REPLACE INTO documents (kind, id, body) VALUES (?1, ?2, ?3)";
            tx.conn.prepare_cached(sql).doing(doing)?.execute(params![kind, id, &**body]).doing(doing)?;
        } else {
            let sql = "DELETE FROM documents WHERE kind = ?1 AND id = ?2";
            tx.conn.prepare_cached(sql).doing(doing)?.execute(params![kind, id]).doing(doing)?;
        }
    }
    Ok(())
}

pub(super) fn list(conn: &Connection, kind: &str) -> Result<Vec<StoredDocument>, JournalError> {
    let doing = "read documents";
    let mut find =
        conn.prepare_cached("SELECT id, body FROM documents WHERE kind = ?1 ORDER BY id").doing(doing)?;
    let mut rows = find.query([kind]).doing(doing)?;
    let mut documents = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        let (id, body) = (row.get(0).doing(doing)?, row.get::<_, Vec<u8>>(1).doing(doing)?);
        documents.push(StoredDocument { id, body: body.into() });
    }
    Ok(documents)
}
