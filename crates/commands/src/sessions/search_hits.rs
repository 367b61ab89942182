//! Hits of a search, as text or JSON.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::search::{Excerpt, Hit, Role, SearchFlow, Summary};

use super::search_others::SessionNames;
use super::unreadable;
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, RED, printable};

/// Maximum width of a title.
const TITLE_COLUMNS: usize = 60;

/// The parts of hits that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HitForm {
    /// The number of lines.
    Count,
    /// Each session once.
    Sessions,
    /// Each line, below its session.
    Lines,
}

/// JSON line of a hit; the order of keys does not depend on the build's features.
#[derive(Serialize)]
struct HitLine<'a> {
    session: &'a str,
    file: String,
    line: u64,
    uuid: Option<&'a str>,
    role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    at: Option<&'a str>,
    text: &'a str,
}

#[derive(Serialize)]
struct SessionLine<'a> {
    session: &'a str,
    file: String,
}

/// Prints hits as they come, those of a session together.
pub(super) struct HitPrinter<'o> {
    form: HitForm,
    /// Maximum number of lines, or of sessions.
    limit: u64,
    json: bool,
    /// Titles and folders of other agents' sessions.
    names: SessionNames,
    out: &'o mut Output,
    /// Width of the terminal; none in a pipe, where lines are as long as they are.
    columns: Option<usize>,
    lines: u64,
    /// Number of lines without repeats.
    different: u64,
    sessions: u64,
    /// Folder of the session of the previous hit.
    last: Option<PathBuf>,
    /// Lines of that session, and the position of each text among them.
    pending: Vec<PendingLine>,
    places: HashMap<(Option<Role>, String), usize>,
}

/// A line that waits for the end of its session, since later lines may repeat it.
struct PendingLine {
    /// Name of the sub-agent's file.
    agent: Option<String>,
    line: u64,
    time: String,
    speaker: String,
    excerpt: Excerpt,
    /// Number of lines with this text.
    count: u64,
}

impl<'o> HitPrinter<'o> {
    pub(super) fn new(
        form: HitForm,
        limit: Option<u64>,
        json: bool,
        names: SessionNames,
        out: &'o mut Output,
    ) -> Self {
        HitPrinter {
            form,
            limit: limit.unwrap_or(u64::MAX),
            json,
            names,
            out,
            columns: human::columns_of_terminal(),
            lines: 0,
            different: 0,
            sessions: 0,
            last: None,
            pending: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Prints a hit. Returns how the search goes on.
    pub(super) fn hit(&mut self, hit: &Hit<'_>) -> anyhow::Result<SearchFlow> {
        if self.limit == 0 {
            return Ok(SearchFlow::Stop);
        }
        let session = hit.session.dir();
        let is_new = self.last.as_ref() != Some(&session);
        if self.form == HitForm::Lines && !self.json {
            return self.folded(hit, session, is_new);
        }
        self.last = Some(session);
        self.lines += 1;
        self.different += 1;
        self.sessions += u64::from(is_new);
        match self.form {
            // The sum is printed at the end.
            HitForm::Count => {}
            HitForm::Sessions => self.session(hit)?,
            HitForm::Lines => self.json_line(hit)?,
        }
        let (reached, flow) = match self.form {
            HitForm::Sessions => (self.sessions, SearchFlow::NextSession),
            HitForm::Count | HitForm::Lines => (self.lines, SearchFlow::Continue),
        };
        Ok(if reached >= self.limit { SearchFlow::Stop } else { flow })
    }

    /// Adds a line to those of its session, or counts it as a repeat of one.
    fn folded(&mut self, hit: &Hit<'_>, session: PathBuf, is_new: bool) -> anyhow::Result<SearchFlow> {
        let (role, text) = hit.says();
        let says = (role, text.to_owned());
        if let Some(repeated) = self.places.get(&says).filter(|_| !is_new)
            && let Some(line) = self.pending.get_mut(*repeated)
        {
            line.count += 1;
            self.lines += 1;
            return Ok(SearchFlow::Continue);
        }
        // Only now is it known that the last line is not repeated any more.
        if self.different >= self.limit {
            return Ok(SearchFlow::Stop);
        }
        if is_new {
            self.print_pending()?;
            self.sessions += 1;
            self.heading(hit)?;
        }
        self.last = Some(session);
        self.lines += 1;
        self.different += 1;
        self.places.insert(says, self.pending.len());
        let is_main = hit.session.main.as_ref() == Some(hit.file);
        let agent = (!is_main).then(|| hit.file.path.file_stem().unwrap_or_default().to_string_lossy());
        let role = match hit.role {
            Some(Role::User) => "user",
            Some(Role::Assistant) => "assistant",
            Some(Role::System) => "system",
            Some(Role::Tool) => "tool",
            None => "damaged",
        };
        self.pending.push(PendingLine {
            agent: agent.map(std::borrow::Cow::into_owned),
            line: hit.line,
            time: shown_time(hit.at.as_deref()),
            speaker: match &hit.tool {
                Some(tool) => format!("{role} {}", printable(tool)),
                None => role.to_owned(),
            },
            excerpt: hit.excerpt.clone(),
            count: 1,
        });
        Ok(SearchFlow::Continue)
    }

    /// Prints the lines of the previous session.
    fn print_pending(&mut self) -> anyhow::Result<()> {
        self.places.clear();
        let mut agent = None;
        for line in self.pending.drain(..) {
            if line.agent != agent {
                if let Some(name) = &line.agent {
                    self.out.text(&format!("  {DIM}{}{PLAIN}\n", printable(name)))?;
                }
                agent.clone_from(&line.agent);
            }
            self.out.text(&line.text(self.columns))?;
        }
        Ok(())
    }

    fn session(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        let session = hit.session;
        if !self.json {
            let id = printable(&human::short_id(&session.id));
            let room = self.columns.map(|columns| columns.saturating_sub(human::width(&id) + 2));
            let text = format!("{id}  {}\n", describe(session, &self.names, room));
            return Ok(self.out.text(&text)?);
        }
        let file = session.files().next().map_or_else(|| session.dir(), |file| file.path.clone());
        let line = SessionLine { session: &session.id, file: file.to_string_lossy().into_owned() };
        self.out.json(&line)
    }

    fn json_line(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        self.out.json(&HitLine {
            session: &hit.session.id,
            file: hit.file.path.to_string_lossy().into_owned(),
            line: hit.line,
            uuid: hit.uuid.as_deref(),
            role: hit.role,
            tool: hit.tool.as_deref(),
            at: hit.at.as_deref(),
            text: &hit.excerpt.text,
        })
    }

    fn heading(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        let id = printable(&human::short_id(&hit.session.id));
        let gap = if self.sessions > 1 { "\n" } else { "" };
        let room = self.columns.map(|columns| columns.saturating_sub(human::width(&id) + 2));
        let about = describe(hit.session, &self.names, room);
        Ok(self.out.text(&format!("{gap}{BOLD}{id}{PLAIN}  {about}\n"))?)
    }

    /// Prints the sum, and warnings.
    pub(super) fn end(&mut self, summary: &Summary) -> anyhow::Result<Exit> {
        self.print_pending()?;
        if self.form == HitForm::Count {
            self.out.bytes(format!("{}\n", self.lines).as_bytes())?;
        } else if !self.json && self.form == HitForm::Lines {
            self.out.flush()?;
            let different = if self.different < self.lines {
                format!(" ({} different)", human::count(self.different))
            } else {
                String::new()
            };
            let (lines, sessions) =
                (human::plural(self.lines, "line"), human::plural(self.sessions, "session"));
            self.out.note(&format!("{lines}{different}, {sessions}"))?;
        }
        if summary.oversized > 0 {
            let lines = human::plural(summary.oversized, "line");
            self.out.note(&format!("{lines} too long to search; `tidings sessions check` shows where"))?;
        }
        unreadable::warn(&summary.unreadable, self.out)
    }
}

impl PendingLine {
    /// Formats the line; on a terminal the match and some text around it fit into one line.
    fn text(&self, columns: Option<usize>) -> String {
        /// Widths of the number, the time and the speaker, and the width from which all of them are shown.
        const NUMBER: usize = 7;
        const SPEAKER: usize = 14;
        const WITH_TIME: usize = 80;
        let time = if columns.is_none_or(|columns| columns >= WITH_TIME) {
            format!("{}  ", self.time)
        } else {
            String::new()
        };
        let speaker = match columns {
            Some(_) => human::padded(&self.speaker, SPEAKER),
            None => format!("{:<SPEAKER$}", self.speaker),
        };
        let repeats =
            if self.count > 1 { format!(" (×{})", human::count(self.count)) } else { String::new() };
        let head = format!("{:>NUMBER$}  {time}{speaker}  ", self.line);
        let room = columns.map_or(usize::MAX, |columns| {
            columns.saturating_sub(human::width(&head) + human::width(&repeats))
        });
        let (before, found, after) = excerpt_parts(&self.excerpt, room);
        format!("{head}{before}{BOLD}{RED}{found}{PLAIN}{after}{DIM}{repeats}{PLAIN}\n")
    }
}

/// The text before a match, the match, and the text after it, each on one line and together in `room`
/// columns. The match is cut last.
pub(crate) fn excerpt_parts(excerpt: &Excerpt, room: usize) -> (String, String, String) {
    let (before, found, after) = excerpt.parts();
    let before = format!("{}{}", dots(excerpt.cut_before), one_line(before));
    let after = format!("{}{}", one_line(after), dots(excerpt.cut_after));
    let found = human::fit(&one_line(found), room);
    let rest = room.saturating_sub(human::width(&found));
    // A third of the rest for what is before the match, more if what is after it is short.
    let before_room = (rest / 3).max(rest.saturating_sub(human::width(&after)));
    let before = human::fit_end(&before, before_room);
    let after = human::fit(&after, rest.saturating_sub(human::width(&before)));
    (before, found, after)
}

/// Formats the title and the working folder of a session, as far as they are known, in `room` columns.
fn describe(session: &SessionFiles, names: &SessionNames, room: Option<usize>) -> String {
    let (title, cwd) = names.get(&session.id).cloned().unwrap_or_else(|| {
        let listed = list::list(std::slice::from_ref(session), &ListFilter::default()).pop();
        listed.map(|(_, listed)| (listed.title, listed.cwd)).unwrap_or_default()
    });
    let folder = || session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cwd = printable(&cwd.unwrap_or_else(folder));
    let room = room.unwrap_or(usize::MAX);
    let Some(title) = title else { return format!("{DIM}{}{PLAIN}", human::fit_end(&cwd, room)) };
    // The folder's end says most, and gets at least a third.
    let cwd_room = (room / 3).max(room.saturating_sub(TITLE_COLUMNS + 2));
    let cwd = human::fit_end(&cwd, cwd_room);
    let title_room = room.saturating_sub(human::width(&cwd) + 2).min(TITLE_COLUMNS);
    format!("{}  {DIM}{cwd}{PLAIN}", human::fit(&one_line(&title), title_room))
}

/// Formats local time to the minute; spaces of the same width if it is unknown.
fn shown_time(at: Option<&str>) -> String {
    let time = at.and_then(|at| at.parse::<Timestamp>().ok());
    match time {
        Some(time) => time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        None => " ".repeat("2026-11-14 09:30".len()),
    }
}

/// Makes text printable on one line.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in printable(&text.replace(['\n', '\r', '\t'], " ")).chars() {
        // Collapse spaces, since indentation would push the match out of sight.
        if character != ' ' || !line.ends_with(' ') {
            line.push(character);
        }
    }
    line
}

fn dots(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}
