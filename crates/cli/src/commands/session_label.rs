//! The session that a command acted on, in its output.

use serde::Serialize;
use tidings_api::SessionView;

use super::session_lookup::title;
use crate::human;
use crate::output::printable;

/// Widest title in a message.
const TITLE_COLUMNS: usize = 60;

/// Number and title of a session: `1 · Fix the flaky test`.
pub(crate) fn label(session: &SessionView) -> String {
    let title = title(session).map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("{} · {}", session.handle, printable(&human::fit(&title, TITLE_COLUMNS))),
        None => session.handle.to_string(),
    }
}

/// JSON of a result, together with the session that the command acted on.
#[derive(Debug, Serialize)]
pub(crate) struct WithSession<'a, T> {
    handle: i64,
    key: &'a str,
    title: Option<&'a str>,
    #[serde(flatten)]
    result: &'a T,
}

impl<'a, T> WithSession<'a, T> {
    pub(crate) fn new(session: &'a SessionView, result: &'a T) -> Self {
        WithSession { handle: session.handle, key: &session.key, title: title(session), result }
    }
}
