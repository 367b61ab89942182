//! Searching the entries of one session in memory.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tidings_protocol::entry::EntryRef;

use super::SearchFlow;
use super::hit::{Excerpt, Hit};
use super::query::{SearchQuery, Sidechains};
use super::scan::time_of;
use super::texts::{Role, ToolOf, is_blob, texts};
use crate::reader::EntryLines;
use crate::roots::SessionFiles;

/// Searches the entries that were made from a session of another agent, and calls `each` for every matching
/// line of its file.
pub fn search_entries<'f>(
    session: &'f SessionFiles,
    lines: &EntryLines,
    query: &SearchQuery,
    mut each: impl FnMut(Hit<'f>) -> SearchFlow,
) -> SearchFlow {
    let Some(file) = &session.main else { return SearchFlow::Continue };
    let mut names = HashMap::new();
    let mut last_line = None;
    for (place, entry) in lines.iter() {
        for call in entry.tool_calls() {
            names.insert(call.id.into_owned(), call.name.into_owned());
        }
        // Several entries may be made from one line, and a line counts once.
        if last_line == Some(place.line) || !is_selected(&entry, query, session) {
            continue;
        }
        let Some(found) = matching_text(&entry, query, &names) else { continue };
        last_line = Some(place.line);
        let hit = Hit {
            session,
            file,
            line: place.line,
            uuid: entry.uuid().map(Into::into),
            role: Some(found.role),
            tool: found.tool,
            at: entry.timestamp().map(Into::into),
            cwd: entry.cwd().map(Into::into),
            excerpt: found.excerpt,
        };
        match each(hit) {
            SearchFlow::Continue => {}
            flow => return flow,
        }
    }
    SearchFlow::Continue
}

struct TextMatch {
    role: Role,
    tool: Option<String>,
    excerpt: Excerpt,
}

/// Returns true if the entry fits the filters about sub-agents, time and project.
fn is_selected(entry: &EntryRef<'_>, query: &SearchQuery, session: &SessionFiles) -> bool {
    let options = &query.options;
    if options.sidechains == Sidechains::LeaveOut && entry.is_sidechain() {
        return false;
    }
    if options.since.is_some() || options.until.is_some() {
        let written = entry.timestamp().and_then(|at| time_of(&at));
        let modified = || jiff::Timestamp::try_from(session.modified()?).ok();
        let Some(at) = written.or_else(modified) else { return false };
        if options.since.is_some_and(|since| at < since) || options.until.is_some_and(|until| at >= until) {
            return false;
        }
    }
    let Some(project) = &options.project else { return true };
    entry.cwd().is_some_and(|cwd| cwd.to_lowercase().contains(&project.to_lowercase()))
}

fn matching_text(
    entry: &EntryRef<'_>,
    query: &SearchQuery,
    names: &HashMap<String, String>,
) -> Option<TextMatch> {
    let options = &query.options;
    let mut found = None;
    let _ = texts(entry, |origin, text| {
        if is_blob(text.escaped()) || (!options.roles.is_empty() && !options.roles.contains(&origin.role)) {
            return ControlFlow::Continue(());
        }
        let decoded = text.get();
        let Some(at) = query.pattern.find(&decoded) else { return ControlFlow::Continue(()) };
        let tool = match origin.tool {
            ToolOf::No => None,
            ToolOf::Named(name) => Some(name.get().into_owned()),
            ToolOf::Called(id) => names.get(&*id.get()).cloned(),
        };
        if options.tool.is_some() && options.tool != tool {
            return ControlFlow::Continue(());
        }
        found = Some(TextMatch { role: origin.role, tool, excerpt: Excerpt::of(&decoded, at) });
        ControlFlow::Break(())
    });
    found
}
