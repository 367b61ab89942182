//! `tidings sessions search`: searches the text of all sessions.

use clap::ValueEnum;
use jiff::Zoned;
use tidings_transcript::Error;
use tidings_transcript::index::Index;
use tidings_transcript::limits::INDEX_CATCH_UP_BYTES;
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::search::{
    self, Case, Hit, Options, Role, SearchFlow, SearchQuery, Sidechains, Summary, Syntax, ToolNames,
};

use super::backend::{self, BackendChoiceArgs, OtherAgents};
use super::search_hits::{HitForm, HitPrinter};
use super::search_others::{names, search_others};
use super::{RootArgs, changed_inputs, index, show, unreadable, when};
use crate::error::{Cancelled, CannotRun, Exit};
use crate::output::{Output, printable};
use crate::pager::PagerArgs;
use crate::pick;

/// Search the text of all sessions
///
/// Searches prompts, answers, thinking, inputs and outputs of tools, summaries, titles and attachments, also
/// of sub-agents, independent of JSON escapes in the file. Each line counts once; lines of a session with the
/// same text are printed once, with their number. A changed input of a tool is found in both forms.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SearchArgs {
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

    /// Choose one of the sessions from a list, the most relevant first, and show it from its first hit on
    #[arg(long, conflicts_with_all = ["count", "sessions_only", "json", "limit"])]
    open: bool,

    /// Read the files even if there is an index
    #[arg(long)]
    no_index: bool,

    #[command(flatten)]
    pager: PagerArgs,
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

impl SearchArgs {
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
        let query = SearchQuery::new(self.options(out)?)?;
        let roots = root.roots()?;
        let found = roots.scan()?;
        let looked = unreadable::warn(&found.unreadable, out)?;
        let index = if self.no_index { None } else { up_to_date(&roots, &found.sessions, out)? };
        let searched = if self.open {
            self.open(index.as_ref(), &found.sessions, &query, out)?
        } else {
            self.print(index.as_ref(), &found.sessions, None, &query, root, out)?
        };
        Ok(looked.and(searched))
    }

    /// Searches sessions of other agents.
    pub(crate) fn run_others(
        &self,
        backend: &BackendChoiceArgs,
        root: &RootArgs,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        if self.open {
            return Err(backend::only_claude("--open").into());
        }
        let query = SearchQuery::new(self.options(out)?)?;
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
        let names = others.map(names).unwrap_or_default();
        if !root.json && !self.count {
            out.page(&self.pager, None)?;
        }
        let mut printer = HitPrinter::new(self.form(), self.limit, root.json, names, out);
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

    /// Lets the user choose one of the sessions with hits, and shows it from its first hit on.
    fn open(
        &self,
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
        let chosen = found.get(chosen).ok_or(Cancelled)?;
        let hit = chosen.hits.first().ok_or(Cancelled)?;
        Ok(show::print_hit(hit, &self.pager, out)?.and(searched))
    }

    fn form(&self) -> HitForm {
        match (self.count, self.sessions_only) {
            (true, _) => HitForm::Count,
            (false, true) => HitForm::Sessions,
            (false, false) => HitForm::Lines,
        }
    }

    fn options(&self, out: &Output) -> anyhow::Result<Options> {
        let now = Zoned::now();
        let since = self.since.as_deref().map(|text| when::parse(text, &now)).transpose()?;
        let until = self.until.as_deref().map(|text| when::parse(text, &now)).transpose()?;
        // Names of tools are looked up only if they are printed.
        let shows_tools = self.form() == HitForm::Lines;
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
            changed_inputs: changed_inputs::read(out)?,
        })
    }
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
