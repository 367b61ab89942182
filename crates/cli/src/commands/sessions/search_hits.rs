//! Hits of a search, as text or JSON.

use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::search::{Hit, Role, SearchFlow, Summary};

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

/// Prints hits as they come.
pub(super) struct HitPrinter<'o> {
    form: HitForm,
    /// Maximum number of lines, or of sessions.
    limit: u64,
    json: bool,
    /// Titles and folders of other agents' sessions.
    names: SessionNames,
    out: &'o mut Output,
    lines: u64,
    sessions: u64,
    /// Session and file of the previous hit.
    last: Option<(PathBuf, PathBuf)>,
}

impl<'o> HitPrinter<'o> {
    pub(super) fn new(
        form: HitForm,
        limit: Option<u64>,
        json: bool,
        names: SessionNames,
        out: &'o mut Output,
    ) -> Self {
        let limit = limit.unwrap_or(u64::MAX);
        HitPrinter { form, limit, json, names, out, lines: 0, sessions: 0, last: None }
    }

    /// Prints a hit. Returns how the search goes on.
    pub(super) fn hit(&mut self, hit: &Hit<'_>) -> anyhow::Result<SearchFlow> {
        if self.limit == 0 {
            return Ok(SearchFlow::Stop);
        }
        let here = (hit.session.dir(), hit.file.path.clone());
        let new_session = self.last.as_ref().is_none_or(|last| last.0 != here.0);
        let new_file = self.last.as_ref().is_none_or(|last| last.1 != here.1);
        self.last = Some(here);
        self.lines += 1;
        self.sessions += u64::from(new_session);
        match self.form {
            // The sum is printed at the end.
            HitForm::Count => {}
            HitForm::Sessions => self.session(hit)?,
            HitForm::Lines if self.json => self.json_line(hit)?,
            HitForm::Lines => {
                if new_session {
                    self.heading(hit)?;
                }
                if new_file && hit.session.main.as_ref() != Some(hit.file) {
                    let name = hit.file.path.file_stem().unwrap_or_default().to_string_lossy();
                    self.out.text(&format!("  {DIM}{}{PLAIN}\n", printable(&name)))?;
                }
                self.line(hit)?;
            }
        }
        let (reached, flow) = match self.form {
            HitForm::Sessions => (self.sessions, SearchFlow::NextSession),
            HitForm::Count | HitForm::Lines => (self.lines, SearchFlow::Continue),
        };
        Ok(if reached >= self.limit { SearchFlow::Stop } else { flow })
    }

    fn session(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        let session = hit.session;
        if !self.json {
            let text =
                format!("{}  {}\n", printable(&human::short_id(&session.id)), describe(session, &self.names));
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
        let id = human::short_id(&hit.session.id);
        let gap = if self.sessions > 1 { "\n" } else { "" };
        let text = format!("{gap}{BOLD}{}{PLAIN}  {}\n", printable(&id), describe(hit.session, &self.names));
        Ok(self.out.text(&text)?)
    }

    fn line(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        let role = match hit.role {
            Some(Role::User) => "user",
            Some(Role::Assistant) => "assistant",
            Some(Role::System) => "system",
            Some(Role::Tool) => "tool",
            None => "damaged",
        };
        let who = match &hit.tool {
            Some(tool) => format!("{role} {}", printable(tool)),
            None => role.to_owned(),
        };
        let (before, found, after) = hit.excerpt.parts();
        let (open, close) = (dots(hit.excerpt.cut_before), dots(hit.excerpt.cut_after));
        let text = format!(
            "{:>7}  {}  {who:<14}  {open}{}{BOLD}{RED}{}{PLAIN}{}{close}\n",
            hit.line,
            shown_time(hit.at.as_deref()),
            one_line(before),
            one_line(found),
            one_line(after),
        );
        Ok(self.out.text(&text)?)
    }

    /// Prints the sum, and warnings.
    pub(super) fn end(&mut self, summary: &Summary) -> anyhow::Result<Exit> {
        if self.form == HitForm::Count {
            self.out.bytes(format!("{}\n", self.lines).as_bytes())?;
        } else if !self.json && self.form == HitForm::Lines {
            self.out.flush()?;
            self.out.note(&format!(
                "{}, {}",
                human::plural(self.lines, "line"),
                human::plural(self.sessions, "session")
            ))?;
        }
        if summary.oversized > 0 {
            let lines = human::plural(summary.oversized, "line");
            self.out.note(&format!("{lines} too long to search; `tidings sessions check` shows where"))?;
        }
        unreadable::warn(&summary.unreadable, self.out)
    }
}

/// Formats the title and the working folder of a session, as far as they are known.
fn describe(session: &SessionFiles, names: &SessionNames) -> String {
    let (title, cwd) = names.get(&session.id).cloned().unwrap_or_else(|| {
        let listed = list::list(std::slice::from_ref(session), &ListFilter::default()).pop();
        listed.map(|(_, listed)| (listed.title, listed.cwd)).unwrap_or_default()
    });
    let folder = || session.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cwd = format!("{DIM}{}{PLAIN}", printable(&cwd.unwrap_or_else(folder)));
    match title {
        Some(title) => format!("{}  {cwd}", human::fit(&one_line(&title), TITLE_COLUMNS)),
        None => cwd,
    }
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
