//! Folders and their current sessions.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::events::{SessionRow, time};
use super::failure::{Doing as _, damaged};
use super::writer::Tx;
use crate::event::whole_micros;
use crate::limits::{LIST_MAX, PROJECTS_MAX};
use crate::{JournalError, Key, Project, ProjectFolder};

pub(super) fn open(
    tx: &mut Tx<'_>,
    folder: &ProjectFolder,
    session: Option<&Key>,
    at: Timestamp,
) -> Result<Project, JournalError> {
    let doing = "open a project";
    let conn = tx.conn;
    let handle = session.map(|key| SessionRow::find(conn, key)).transpose()?.map(|row| row.handle.number());
    let sql = "UPDATE projects SET session = ?2 WHERE folder = ?1 RETURNING opened";
    let known = conn.query_row(sql, params![folder.as_str(), handle], |row| row.get(0)).optional();
    if let Some(opened) = known.doing(doing)? {
        let opened = time(opened)?;
        return Ok(Project { folder: folder.clone(), session: session.cloned(), opened });
    }
    check_room(conn, folder)?;
    let opened = whole_micros(at);
    let sql = "INSERT INTO projects (folder, session, opened) VALUES (?1, ?2, ?3)";
    conn.execute(sql, params![folder.as_str(), handle, opened.as_microsecond()]).doing(doing)?;
    Ok(Project { folder: folder.clone(), session: session.cloned(), opened })
}

pub(super) fn close(tx: &mut Tx<'_>, folder: &ProjectFolder) -> Result<(), JournalError> {
    let closed = tx.conn.execute("DELETE FROM projects WHERE folder = ?1", [folder.as_str()]);
    if closed.doing("close a project")? == 0 { Err(folder.unknown()) } else { Ok(()) }
}

pub(super) fn list(conn: &Connection, after: Option<&ProjectFolder>) -> Result<Vec<Project>, JournalError> {
    let doing = "list the projects";
    let sql = "SELECT folder, key, opened FROM projects LEFT JOIN sessions ON handle = session
        WHERE folder > ?1 ORDER BY folder LIMIT ?2";
    let mut find = conn.prepare_cached(sql).doing(doing)?;
    let mut rows = find.query(params![after.map_or("", ProjectFolder::as_str), LIST_MAX]).doing(doing)?;
    let mut projects = Vec::new();
    while let Some(row) = rows.next().doing(doing)? {
        let session: Option<String> = row.get(1).doing(doing)?;
        projects.push(Project {
            folder: ProjectFolder::new(row.get::<_, String>(0).doing(doing)?)
                .map_err(|_| damaged("a folder is invalid"))?,
            session: session.map(Key::new).transpose().map_err(|_| damaged("a key is invalid"))?,
            opened: time(row.get(2).doing(doing)?)?,
        });
    }
    Ok(projects)
}

/// Refuses a folder inside a project, a folder with a project inside, and one too many.
fn check_room(conn: &Connection, folder: &ProjectFolder) -> Result<(), JournalError> {
    let doing = "look for projects nearby";
    let mut around = conn.prepare_cached("SELECT 1 FROM projects WHERE folder = ?1").doing(doing)?;
    for ancestor in folder.ancestors() {
        if around.exists([ancestor]).doing(doing)? {
            return Err(folder.nested(ancestor));
        }
    }
    let (from, to) = folder.inside();
    let sql = "SELECT folder FROM projects WHERE folder >= ?1 AND folder < ?2 LIMIT 1";
    let inside = conn.query_row(sql, [from, to], |row| row.get::<_, String>(0)).optional();
    if let Some(inside) = inside.doing(doing)? {
        return Err(folder.nested(&inside));
    }
    let count: usize = conn.query_row("SELECT count(*) FROM projects", [], |row| row.get(0)).doing(doing)?;
    if count >= PROJECTS_MAX {
        return Err(JournalError::too_large("The number of projects", PROJECTS_MAX));
    }
    Ok(())
}
