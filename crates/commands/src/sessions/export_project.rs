//! Export of all sessions of a project, with a page that lists them.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;
use tidings_transcript::Error;
use tidings_transcript::export::{Branches, Format, IndexedSession, export as export_session, index_page};
use tidings_transcript::list::{self, Effort, ListFilter};
use tidings_transcript::repair::Existing;
use tidings_transcript::session::Session;

use super::export::create;
use super::show::{ContentArgs, report};
use super::{RootArgs, unreadable};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};

/// JSON output about a written folder.
#[derive(Serialize)]
struct ProjectReport {
    index: String,
    sessions: usize,
}

/// Writes a page per session into a folder, and `index.html`. Sessions without a conversation are left out.
pub(super) fn export(
    project: &str,
    folder: &Path,
    existing: Existing,
    content: &ContentArgs,
    root: &RootArgs,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let index = folder.join("index.html");
    if existing == Existing::Refuse && index.exists() {
        let message = format!("The file `{}` already exists", index.display());
        let hint = "give another folder, or --force to overwrite it";
        return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
    }
    let found = root.roots()?.scan()?;
    let looked = unreadable::warn(&found.unreadable, out)?;
    let filter = ListFilter { project: Some(project.to_owned()), ..ListFilter::default() };
    let mut rows = list::list(&found.sessions, &filter);
    let mut cache = RootArgs::cache();
    list::fill(&found, &mut rows, &mut cache, Effort::Little, &|_| {});
    RootArgs::save(&mut cache, out)?;
    fs_err::create_dir_all(folder)?;
    let mut redactor = content.redactor();
    let mut written = Vec::new();
    for (files, listed) in rows {
        let Ok(session) = Session::open(files) else { continue };
        if session.require_entries().is_err() {
            continue;
        }
        let mut options = content.options(&session, out)?;
        // An HTML page shows abandoned branches folded.
        if !content.names_a_branch() {
            options.branches = Branches::All;
        }
        let name = format!("{}.html", listed.id);
        let path = folder.join(&name);
        let mut page = BufWriter::new(create(&path, files, existing)?);
        export_session(&session, files, Format::Html, &options, redactor.as_mut(), &mut page)?;
        page.flush().map_err(|error| Error::io("write", &path, error))?;
        written.push((name, listed));
    }
    // A title may repeat a secret that another session reveals.
    if let Some(redactor) = &mut redactor {
        for title in written.iter_mut().filter_map(|(_, listed)| listed.title.as_mut()) {
            *title = redactor.redact(title).into_owned();
        }
    }
    if written.is_empty() {
        let message = format!("No session belongs to a project with `{}` in its path", printable(project));
        return Err(
            CannotRun { code: "not_found", message, hint: "`tidings sessions list` shows them" }.into()
        );
    }
    let sessions: Vec<IndexedSession<'_>> =
        written.iter().map(|(name, listed)| IndexedSession { listed, file: name }).collect();
    fs_err::write(&index, index_page(project, &sessions, &jiff::tz::TimeZone::system()))?;
    report(redactor.as_ref(), out)?;
    if root.json {
        out.json(&ProjectReport { index: index.display().to_string(), sessions: sessions.len() })?;
    } else {
        let count = human::plural(sessions.len() as u64, "session");
        out.text(&format!("{count}: {}\n", printable(&index.display().to_string())))?;
    }
    Ok(looked)
}
