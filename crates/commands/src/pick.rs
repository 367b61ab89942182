//! Choice of a session in the terminal, where a command needs one and none was named.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use tidings_api::SessionView;
use tidings_transcript::list::{self, ListFilter, ListedSession};
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::search::{self, FoldedHit, SessionHits};

use super::console::{AnswerText, size, view};
use crate::error::{Cancelled, CannotRun};
use crate::output::{Output, can_draw};
use crate::terminal::{Diffs, Key, Keyboard, Line, PickItem, Picked, Picker, Style, Thoughts};
use crate::{human, session_label};

/// Bytes at the end of a session file that the preview reads.
const PREVIEW_BYTES: u64 = 256 << 10;

/// Maximum number of lines of a preview.
const PREVIEW_LINES: usize = 40;

/// True if a user can choose: standard input and output are terminals.
pub fn can_pick() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && can_draw()
}

/// Error if no session was named and none can be chosen.
pub fn unnamed() -> CannotRun {
    CannotRun {
        code: CannotRun::USAGE,
        message: "No session was named".to_owned(),
        hint: "give its id, or the first 8 characters of it; in a terminal, a list is shown to choose from",
    }
}

/// Lets the user choose a stored session.
pub fn stored(roots: &Roots, out: &Output) -> anyhow::Result<SessionFiles> {
    let sessions = roots.scan()?.sessions;
    let listed = list::list(&sessions, &ListFilter::default());
    if listed.is_empty() {
        let hint = "run Claude Code once, or name another folder with --root";
        let message = "There are no sessions yet".to_owned();
        return Err(CannotRun { code: "not_found", message, hint }.into());
    }
    let now = Timestamp::now();
    let items = listed.iter().map(|(_, session)| stored_item(session, now)).collect();
    let previews =
        |index: usize| listed.get(index).map(|(files, _)| transcript_end(files)).unwrap_or_default();
    let chosen = block_on(pick(Picker::new("Sessions", items), previews, out))?;
    listed.get(chosen).map(|(files, _)| (*files).clone()).ok_or_else(|| Cancelled.into())
}

/// Lets the user choose a session of a server, the last started first.
pub async fn of_server(mut sessions: Vec<SessionView>, out: &Output) -> anyhow::Result<SessionView> {
    sessions.reverse();
    if sessions.is_empty() {
        let message = "The server has no session for this command".to_owned();
        let hint = "`tidings ps` lists sessions, and `tidings start` starts one";
        return Err(CannotRun { code: "not_found", message, hint }.into());
    }
    let items = sessions.iter().map(server_item).collect();
    let previews = |index: usize| sessions.get(index).map(server_preview).unwrap_or_default();
    let chosen = pick(Picker::new("Sessions of the server", items), previews, out).await?;
    sessions.get(chosen).cloned().ok_or_else(|| Cancelled.into())
}

/// Lets the user choose one of the sessions that a search found, and returns its index.
pub(crate) async fn found(sessions: &[SessionHits<'_>], out: &Output) -> anyhow::Result<usize> {
    let now = Timestamp::now();
    let items = sessions.iter().map(|found| {
        let listed = list::list(std::slice::from_ref(found.session), &ListFilter::default()).pop();
        let count = human::plural(search::folded(&found.hits).len() as u64, "line");
        let item = listed.map(|(_, session)| stored_item(&session, now));
        let item = item.unwrap_or_else(|| PickItem { label: found.session.id.clone(), more: String::new() });
        PickItem { label: format!("{}  ({count})", item.label), ..item }
    });
    let previews = |index: usize| {
        let hits = sessions.get(index).map(|found| found.hits.as_slice()).unwrap_or_default();
        search::folded(hits).iter().take(PREVIEW_LINES).map(hit_line).collect()
    };
    pick(Picker::new("Found", items.collect()), previews, out).await
}

fn hit_line(folded: &FoldedHit<'_, '_>) -> Line {
    let hit = folded.hit;
    let repeats = if folded.count > 1 { format!(" (×{})", folded.count) } else { String::new() };
    let (before, matched, after) = hit.excerpt.parts();
    // The match stays in sight if what is before it is long.
    let start = before.char_indices().rev().nth(30).map_or(0, |(at, _)| at);
    Line::styled(&format!("{:>6}  ", hit.line), Style::DIM)
        .with(&before[start..], Style::PLAIN)
        .with(matched, Style::BOLD.and(Style::RED))
        .with(&repeats, Style::DIM)
        .with(after, Style::PLAIN)
}

/// Runs a future that waits for keys.
pub fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// Shows a list at the bottom of the terminal until an item is chosen, and returns its index.
pub(crate) async fn pick(
    mut list: Picker,
    mut preview: impl FnMut(usize) -> Vec<Line>,
    out: &Output,
) -> anyhow::Result<usize> {
    let mut view = view(AnswerText::Shown, Diffs::Hidden, Thoughts::Hidden, out);
    let mut keyboard = Keyboard::open()?;
    let mut shown: Option<(usize, Vec<Line>)> = None;
    let picked = loop {
        let current = list.current();
        if shown.as_ref().map(|(index, _)| *index) != current {
            shown = current.map(|index| (index, preview(index)));
        }
        let (columns, rows) = size();
        let lines = shown.as_ref().map_or(&[][..], |(_, lines)| lines);
        let (lines, cursor) = list.lines(lines, columns, rows);
        view.screen().live(&lines, columns, Some(cursor))?;
        match keyboard.next().await {
            Key::Resized => {
                view.screen().resized(size().0);
                view.screen().clear()?;
            }
            key => match list.key(&key) {
                Picked::Pending => {}
                picked => break picked,
            },
        }
    };
    view.screen().clear()?;
    drop(keyboard);
    match picked {
        Picked::Chosen(index) => Ok(index),
        Picked::Pending | Picked::Cancelled => Err(Cancelled.into()),
    }
}

fn stored_item(session: &ListedSession, now: Timestamp) -> PickItem {
    let age = session.modified.map_or_else(String::new, |modified| human::age(modified, now));
    let title = session.title.as_deref().unwrap_or("(no title)");
    let tag = session.tag.as_deref().map(|tag| format!(" #{tag}")).unwrap_or_default();
    let project = human::padded(&session.project, 16);
    PickItem {
        label: format!("{:<8.8}  {age:>4}  {project}  {title}{tag}", session.id),
        more: format!("{} {}", session.id, session.cwd.as_deref().unwrap_or_default()),
    }
}

fn server_item(session: &SessionView) -> PickItem {
    let title = session.name().unwrap_or("(no title)");
    let (state, _) = session_label::state_label(session.state);
    PickItem {
        label: format!("{:>4}  {:<8.8}  {}  {title}", session.handle, session.key, human::padded(state, 11)),
        more: format!("{} {}", session.cli_session_ids.join(" "), session.cwd),
    }
}

fn server_preview(session: &SessionView) -> Vec<Line> {
    let mut lines = vec![Line::styled(&session.cwd, Style::DIM)];
    for (mark, text) in [("› ", &session.first_prompt), ("", &session.last_line)] {
        for line in text.iter().flat_map(|text| text.lines()).take(PREVIEW_LINES) {
            lines.push(Line::plain(&format!("{mark}{line}")));
        }
    }
    lines
}

/// The last prompts and answers of a stored session, last line last.
fn transcript_end(files: &SessionFiles) -> Vec<Line> {
    let Some(main) = &files.main else { return Vec::new() };
    let text = tail(&main.path).unwrap_or_default();
    let mut lines: Vec<Line> = Vec::new();
    for entry in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (mark, style) = match entry.get("type").and_then(Value::as_str) {
            Some("user") if entry.get("isMeta") != Some(&Value::Bool(true)) => ("› ", Style::BOLD),
            Some("assistant") => ("", Style::PLAIN),
            _ => continue,
        };
        let Some(content) = entry.get("message").and_then(|message| message.get("content")) else { continue };
        let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
        let blocks = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
        for line in content.as_str().into_iter().chain(blocks).flat_map(str::lines) {
            lines.push(Line::styled(mark, style).with(line, style));
        }
    }
    lines.split_off(lines.len().saturating_sub(PREVIEW_LINES))
}

/// The whole lines at the end of a file.
fn tail(path: &Path) -> io::Result<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = fs_err::File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(PREVIEW_BYTES);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(PREVIEW_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match text.split_once('\n') {
        Some((_, rest)) if skipped > 0 => rest.to_owned(),
        _ => text,
    })
}
