//! The session that a command acted on, in its output.

use serde::Serialize;
use tidings_api::{ServerPhase, SessionView};

use crate::human;
use crate::output::{BOLD, DIM, RED, YELLOW, printable};

/// Widest title in a message.
const TITLE_COLUMNS: usize = 60;

/// Number and title of a session: `1 · Fix the flaky test`.
pub fn label(session: &SessionView) -> String {
    let title = session.name().map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("{} · {}", session.handle, printable(&human::fit(&title, TITLE_COLUMNS))),
        None => session.handle.to_string(),
    }
}

/// JSON of a result, together with the session that the command acted on.
#[derive(Debug, Serialize)]
pub struct WithSession<'a, T> {
    handle: i64,
    key: &'a str,
    title: Option<&'a str>,
    #[serde(flatten)]
    result: &'a T,
}

impl<'a, T> WithSession<'a, T> {
    pub fn new(session: &'a SessionView, result: &'a T) -> Self {
        WithSession { handle: session.handle, key: &session.key, title: session.name(), result }
    }
}

/// The word and the style of a session's state.
pub fn state_label(state: ServerPhase) -> (&'static str, &'static str) {
    let style = match state {
        ServerPhase::NeedsYou => YELLOW,
        ServerPhase::Failed | ServerPhase::Interrupted => RED,
        ServerPhase::Running | ServerPhase::Starting => BOLD,
        ServerPhase::Idle | ServerPhase::Parked | ServerPhase::Stopped | ServerPhase::Unknown => DIM,
    };
    let word = if state == ServerPhase::NeedsYou { "needs you" } else { state.as_str() };
    (word, style)
}
