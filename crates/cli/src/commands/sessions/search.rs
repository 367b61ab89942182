use std::path::PathBuf;

use clap::ValueEnum;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::Serialize;
use tidings_transcript::Error;
use tidings_transcript::index::Index;
use tidings_transcript::limits::INDEX_CATCH_UP_BYTES;
use tidings_transcript::list::{self, ListFilter};
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::search::{
    self, Case, Hit, Options, Role, SearchFlow, SearchQuery, Sidechains, Summary, Syntax, ToolNames,
};

use super::backend::{self, BackendArgs, OtherAgents};
use super::search_others::{SessionNames, names, search_others};
use super::{RootArgs, index, show, unreadable, when};
use crate::commands::pick;
use crate::error::{Cancelled, CannotRun, Exit};
use crate::human;
use crate::output::{BOLD, DIM, Output, PLAIN, RED, printable};

/// Search the text of all sessions
///
/// Searches prompts, answers, thinking, inputs and outputs of tools, summaries, titles and attachments, also
/// of sub-agents, independent of JSON escapes in the file. Each line counts once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Search {
    /// Text to find; case is ignored unless it contains a capital letter
    pattern: String,

    /// Treat the pattern as a regular expression
    #[arg(short = 'e', long)]
    regex: bool,

    /// Ignore case, even if the pattern contains capital letters
    #[arg(short, long, conflicts_with = "case_sensitive")]
    ignore_case: bool,

    /// Match case, even if the pattern contains no capital letter
    #[arg(short = 's', long)]
    case_sensitive: bool,

    /// Only text of this role; can be given several times
    #[arg(long, value_name = "ROLE")]
    role: Vec<RoleArg>,

    /// Only calls of this tool and their results
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// Only sessions whose working folder contains this
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,

    /// Only since this day, time or age: 2026-11-14, 7d, 12h
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only until this day (inclusive), time or age
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Exclude sub-agents
    #[arg(long)]
    no_sidechains: bool,

    /// Maximum number of lines, or of sessions with -l
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// Print each session once, without its lines
    #[arg(short = 'l', long)]
    sessions_only: bool,

    /// Print only the number of matching lines
    #[arg(long, conflicts_with = "sessions_only")]
    count: bool,

    /// Order of the sessions
    #[arg(long, value_name = "ORDER", default_value = "newest")]
    sort: SortArg,

    /// Choose one of the sessions from a list, the most relevant first, and show it
    #[arg(long, conflicts_with_all = ["count", "sessions_only", "json", "limit"])]
    open: bool,

    /// Read the files even if there is an index
    #[arg(long)]
    no_index: bool,
}

const EXAMPLES: &str = "\
Examples:
  tidings sessions search 'connection refused' --tool Bash --since 7d
  tidings sessions search -e 'panicked at .*\\.rs:\\d+' --role tool --project parser
  tidings sessions search -i 'flaky test' -l
  tidings sessions search 'flaky test' --sort relevance --limit 20
  tidings sessions search 'flaky test' --open
  tidings sessions search 'flaky test' --backend all
  tidings sessions search --json TODO | jq -r .uuid

Exit codes: 0 everything was searched, with or without a match, 1 some files could not be read (see the warnings), \
2 wrong usage, 3 the command could not run";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleArg {
    /// Prompts
    User,
    /// Answers, thinking and tool calls
    Assistant,
    /// Attachments, titles and summaries
    System,
    /// Results of tools
    Tool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SortArg {
    /// Last changed first
    Newest,
    /// Most relevant first: many hits in a short session, and prompts before the output of tools
    Relevance,
}

/// Maximum width of a title.
const TITLE_COLUMNS: usize = 60;

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

impl Search {
    /// Smart case: a capital letter makes the pattern case-sensitive, except in an escape such as `\\S` of a
    /// regular expression.
    fn case(&self) -> Case {
        let mut letters = self.pattern.chars();
        let mut has_capital = false;
        while let Some(letter) = letters.next() {
            if self.regex && letter == '\\' {
                letters.next();
                continue;
            }
            has_capital |= letter.is_uppercase();
        }
        if self.ignore_case || (!self.case_sensitive && !has_capital) {
            Case::Ignore
        } else {
            Case::Sensitive
        }
    }

    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let query = SearchQuery::new(self.options()?)?;
        let roots = root.roots()?;
        let found = roots.scan()?;
        let looked = unreadable::warn(&found.unreadable, out)?;
        let index = if self.no_index { None } else { up_to_date(&roots, &found.sessions, out)? };
        let searched = if self.open {
            open(index.as_ref(), &found.sessions, &query, out)?
        } else {
            self.print(index.as_ref(), &found.sessions, None, &query, root, out)?
        };
        Ok(looked.and(searched))
    }

    /// Searches sessions of other agents.
    pub(crate) fn run_others(
        &self,
        backend: &BackendArgs,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        if self.open {
            return Err(backend::only_claude("--open").into());
        }
        let query = SearchQuery::new(self.options()?)?;
        let others = backend.scan(root, out)?;
        let mut sessions = Vec::new();
        let mut looked = others.exit;
        let mut index = None;
        if let Some(roots) = backend.claude_roots(root) {
            let found = roots.scan()?;
            looked = looked.and(unreadable::warn(&found.unreadable, out)?);
            sessions = found.sessions;
            index = if self.no_index { None } else { up_to_date(&roots, &sessions, out)? };
        }
        let searched = self.print(index.as_ref(), &sessions, Some(&others), &query, root, out)?;
        Ok(looked.and(searched))
    }

    fn print(
        &self,
        index: Option<&Index>,
        sessions: &[SessionFiles],
        others: Option<&OtherAgents>,
        query: &SearchQuery,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let mut printer = HitPrinter {
            search: self,
            json: root.json,
            names: others.map(names).unwrap_or_default(),
            out,
            lines: 0,
            sessions: 0,
            last: None,
        };
        let mut failed = None;
        let mut hits = Vec::new();
        let mut stopped = false;
        let mut print = |hit: &Hit<'_>| {
            printer.hit(hit).unwrap_or_else(|error| {
                failed = Some(error);
                SearchFlow::Stop
            })
        };
        let (summary, unusable) = match self.sort {
            SortArg::Newest => search_with(index, sessions, query, |hit| {
                let flow = print(&hit);
                stopped |= flow == SearchFlow::Stop;
                flow
            }),
            SortArg::Relevance => search_with(index, sessions, query, |hit| {
                hits.push(hit);
                SearchFlow::Continue
            }),
        };
        let of_others = others.filter(|_| !stopped).map(|others| {
            search_others(others, query, |hit| match self.sort {
                SortArg::Newest => print(&hit),
                SortArg::Relevance => {
                    hits.push(hit);
                    SearchFlow::Continue
                }
            })
        });
        for found in search::ranked(hits) {
            let flow = found.hits.iter().map(&mut print).find(|flow| *flow != SearchFlow::Continue);
            if flow == Some(SearchFlow::Stop) {
                break;
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let mut searched = printer.end(&summary)?;
        let of_others = of_others.unwrap_or_default();
        searched = searched.and(unreadable::warn(&of_others.unreadable, out)?);
        for (agent, report) in &of_others.reports {
            backend::announce(*agent, report, out)?;
        }
        if let Some(error) = unusable {
            without_index(&error, out)?;
        }
        Ok(searched)
    }

    fn options(&self) -> anyhow::Result<Options> {
        let now = Zoned::now();
        let since = self.since.as_deref().map(|text| when::parse(text, &now)).transpose()?;
        let until = self.until.as_deref().map(|text| when::parse(text, &now)).transpose()?;
        // Names of tools are looked up only if they are printed.
        let shows_tools = !self.count && !self.sessions_only;
        Ok(Options {
            pattern: self.pattern.clone(),
            syntax: if self.regex { Syntax::Regex } else { Syntax::Literal },
            case: self.case(),
            roles: self.role.iter().map(|role| (*role).into()).collect(),
            tool: self.tool.clone(),
            project: self.project.clone(),
            since: since.map(|when| when.start),
            until: until.map(|when| when.end),
            sidechains: if self.no_sidechains { Sidechains::LeaveOut } else { Sidechains::Include },
            tools: if shows_tools { ToolNames::LookUp } else { ToolNames::LeaveOut },
        })
    }
}

/// Lets the user choose one of the sessions with hits, and shows it.
fn open(
    index: Option<&Index>,
    sessions: &[SessionFiles],
    query: &SearchQuery,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    if !pick::can_pick() {
        let (message, hint) =
            ("--open needs a terminal".to_owned(), "leave it out, or use -l to list sessions");
        return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
    }
    let mut hits = Vec::new();
    let (summary, unusable) = search_with(index, sessions, query, |hit| {
        hits.push(hit);
        SearchFlow::Continue
    });
    if let Some(error) = unusable {
        without_index(&error, out)?;
    }
    let searched = unreadable::warn(&summary.unreadable, out)?;
    let found = search::ranked(hits);
    if found.is_empty() {
        out.note("Nothing was found")?;
        return Ok(searched);
    }
    let chosen = pick::block_on(pick::found(&found, out))?;
    let files = found.get(chosen).map(|found| found.session).ok_or(Cancelled)?;
    Ok(show::print_session(files, out)?.and(searched))
}

/// Searches with the index, or without it if it cannot be used; then its error is returned too.
fn search_with<'f>(
    index: Option<&Index>,
    sessions: &'f [SessionFiles],
    query: &SearchQuery,
    mut each: impl FnMut(Hit<'f>) -> SearchFlow + Send,
) -> (Summary, Option<Error>) {
    // An index fails only before the first hit, so no hit comes twice.
    match index.map(|index| index.search(sessions, query, &mut each)).transpose() {
        Ok(Some(summary)) => (summary, None),
        Ok(None) => (search::run(sessions, query, &mut each), None),
        Err(error) => (search::run(sessions, query, &mut each), Some(error)),
    }
}

/// Opens the index, if there is a usable one, and adds small changes to it.
fn up_to_date(roots: &Roots, sessions: &[SessionFiles], out: &Output) -> anyhow::Result<Option<Index>> {
    let Ok(path) = index::path() else { return Ok(None) };
    let ready = || -> Result<Option<Index>, Error> {
        let Some(mut index) = Index::open(&path)? else { return Ok(None) };
        if (1..=INDEX_CATCH_UP_BYTES).contains(&index.pending(sessions)?) {
            // Files that are not indexed are searched directly.
            index.update(sessions, &roots.projects_folders(), |_| {}).ok();
        }
        Ok(Some(index))
    };
    ready().or_else(|error| {
        without_index(&error, out)?;
        Ok(None)
    })
}

fn without_index(error: &Error, out: &Output) -> anyhow::Result<()> {
    Ok(out.note(&printable(&format!("{error}; searched without it ({})", error.hint())))?)
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Role::User,
            RoleArg::Assistant => Role::Assistant,
            RoleArg::System => Role::System,
            RoleArg::Tool => Role::Tool,
        }
    }
}

/// Prints hits as they come.
struct HitPrinter<'s, 'o> {
    search: &'s Search,
    json: bool,
    /// Titles and folders of other agents' sessions.
    names: SessionNames,
    out: &'o mut Output,
    lines: u64,
    sessions: u64,
    /// Session and file of the previous hit.
    last: Option<(PathBuf, PathBuf)>,
}

impl HitPrinter<'_, '_> {
    fn hit(&mut self, hit: &Hit<'_>) -> anyhow::Result<SearchFlow> {
        let Search { limit, count, sessions_only, .. } = *self.search;
        let limit = limit.unwrap_or(u64::MAX);
        if limit == 0 {
            return Ok(SearchFlow::Stop);
        }
        let here = (hit.session.dir(), hit.file.path.clone());
        let new_session = self.last.as_ref().is_none_or(|last| last.0 != here.0);
        let new_file = self.last.as_ref().is_none_or(|last| last.1 != here.1);
        self.last = Some(here);
        self.lines += 1;
        self.sessions += u64::from(new_session);
        if count {
            // The sum is printed at the end.
        } else if sessions_only {
            self.session(hit)?;
        } else if self.json {
            self.json_line(hit)?;
        } else {
            if new_session {
                self.heading(hit)?;
            }
            if new_file && hit.session.main.as_ref() != Some(hit.file) {
                let name = hit.file.path.file_stem().unwrap_or_default().to_string_lossy();
                self.out.text(&format!("  {DIM}{}{PLAIN}\n", printable(&name)))?;
            }
            self.line(hit)?;
        }
        let reached = if sessions_only { self.sessions } else { self.lines };
        Ok(match sessions_only {
            _ if reached >= limit => SearchFlow::Stop,
            true => SearchFlow::NextSession,
            false => SearchFlow::Continue,
        })
    }

    fn session(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        let session = hit.session;
        if !self.json {
            let text = format!("{}  {}\n", printable(&human::short_id(&session.id)), self.describe(session));
            return Ok(self.out.text(&text)?);
        }
        let file = session.files().next().map_or_else(|| session.dir(), |file| file.path.clone());
        let line = SessionLine { session: &session.id, file: file.to_string_lossy().into_owned() };
        self.json(&line)
    }

    fn describe(&self, session: &SessionFiles) -> String {
        describe(session, &self.names)
    }

    fn json_line(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        self.json(&HitLine {
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

    fn json(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        self.out.json(line)
    }

    fn heading(&mut self, hit: &Hit<'_>) -> anyhow::Result<()> {
        let id = human::short_id(&hit.session.id);
        let gap = if self.sessions > 1 { "\n" } else { "" };
        let text = format!("{gap}{BOLD}{}{PLAIN}  {}\n", printable(&id), self.describe(hit.session));
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

    fn end(&mut self, summary: &Summary) -> anyhow::Result<Exit> {
        if self.search.count {
            self.out.bytes(format!("{}\n", self.lines).as_bytes())?;
        } else if !self.json && !self.search.sessions_only {
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
