//! `tidings sessions follow`.

mod line;
mod wait;

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;

use serde::Serialize;
use tidings_transcript::follow::{Change, Follow as Followed, News};
use tidings_transcript::reader::{Content, Line};

use self::wait::{Event, Scope, Waiting};
use super::{Place, unreadable};
use crate::error::{CannotRun, Exit};
use crate::output::{DIM, Output, PLAIN, YELLOW, printable};

/// Watch a session while it is being written
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Follow {
    /// The session: its id, the beginning of it, or its file; the one written last if it is left out
    #[arg(value_name = "ID", conflicts_with = "all")]
    id: Option<OsString>,

    /// Follow every session, those that begin later included
    #[arg(long)]
    all: bool,

    /// Show this many entries that are there already
    #[arg(short = 'n', long = "last", value_name = "N", default_value_t = 10, conflicts_with = "all")]
    last: usize,
}

const EXAMPLES: &str = "\
Ends with Ctrl-C, or when nobody reads its output any more.
With --json each line is {session, agent, file, line, entry}; `damage` or `event` (reset, gone, unreadable) \
stands there instead of `entry` where that is what happened.

Examples:
  tidings sessions follow
  tidings sessions follow 7c135d63 -n 50
  tidings sessions follow --all --json | jq -r 'select(.entry.type == \"user\") | .session'";

const EXIT_INTERRUPTED: u8 = 130;

impl Follow {
    pub(crate) fn run(&self, place: &Place, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = place.roots()?;
        let follow = match &self.id {
            _ if self.all => Followed::all(roots)?,
            Some(id) => self.session(&roots.find(id)?, place)?,
            None => {
                let found = roots.scan()?;
                self.session(found.sessions.first().ok_or_else(none_yet)?, place)?
            }
        };
        unreadable::warn(follow.unreadable(), out)?;
        let scope = if self.all { Scope::All } else { Scope::Session };
        let mut teller = Teller { json: place.json, scope, out, failed: None };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(watch(follow, &mut teller))
    }

    fn session(
        &self,
        session: &tidings_transcript::roots::SessionFiles,
        place: &Place,
    ) -> anyhow::Result<Followed> {
        let counts = |line: &Line<'_>| match &line.content {
            Content::Entry(entry) => place.json || line::is_shown(entry),
            Content::Damaged(_) => true,
            Content::Blank => false,
        };
        Ok(Followed::session(session, self.last, counts)?)
    }
}

fn none_yet() -> CannotRun {
    CannotRun {
        code: "not_found",
        message: "There is no session to follow yet".to_owned(),
        hint: "`--all` waits for sessions that begin later",
    }
}

async fn watch(mut follow: Followed, teller: &mut Teller<'_>) -> anyhow::Result<Exit> {
    let mut waiting = Waiting::new(&follow.folders(), teller.scope)?;
    let mut event = Event::Look;
    loop {
        let mut each = |news: News<'_>| teller.tell(&news);
        let told = match event {
            Event::Look => follow.look(&mut each)?,
            Event::LookAt(paths) => follow.look_at(&paths, &mut each)?,
            Event::Interrupted => return Ok(Exit::Code(EXIT_INTERRUPTED)),
            Event::Unheard => return Ok(Exit::Fine),
        };
        if told.is_break() {
            // The error that it broke off with, which for a closed pipe is no failure.
            return teller.failed.take().map_or(Ok(Exit::Fine), |error| Err(error.into()));
        }
        teller.out.flush()?;
        event = waiting.next().await;
    }
}

/// Puts news on stdout.
struct Teller<'a> {
    json: bool,
    /// Of all sessions, a line must say which it is about.
    scope: Scope,
    out: &'a mut Output,
    failed: Option<io::Error>,
}

/// The part of a line of JSON that comes before what happened.
#[derive(Serialize)]
struct Head<'a> {
    session: &'a str,
    agent: Option<&'a str>,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<Damage>,
}

#[derive(Serialize)]
struct Damage {
    rule: &'static str,
    message: String,
}

impl Teller<'_> {
    fn tell(&mut self, news: &News<'_>) -> ControlFlow<()> {
        let written = if self.json { self.tell_script(news) } else { self.tell_person(news) };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn tell_person(&mut self, news: &News<'_>) -> io::Result<()> {
        let who = self.who(news);
        let file = news.path.file_name().unwrap_or_default().to_string_lossy();
        let text = match &news.change {
            Change::Line(line) => match &line.content {
                Content::Entry(entry) => line::shown(entry, &who),
                Content::Damaged(damage) => {
                    let finding = damage.finding(line.place);
                    let remark = format!("{file}:{}: {}", line.place.line, finding.message);
                    let mut text = format!("{YELLOW}damaged{PLAIN} {}\n", printable(&remark));
                    for saved in &damage.salvaged {
                        text.push_str(&line::shown(&saved.entry.as_ref(), &who));
                    }
                    text
                }
                Content::Blank => String::new(),
            },
            Change::Reset => remark(&format!("{file} was replaced, from the beginning again")),
            Change::Gone => remark(&format!("{file} was deleted")),
            Change::Unreadable(error) => remark(&error.to_string()),
        };
        if text.is_empty() { Ok(()) } else { self.out.text(&text) }
    }

    fn who(&self, news: &News<'_>) -> String {
        let session = match self.scope {
            Scope::All => news.session.get(..8).unwrap_or(news.session),
            Scope::Session => "",
        };
        let agent = news.agent.unwrap_or_default();
        let agent = agent.get(..7).unwrap_or(agent);
        let parts = [session, agent].into_iter().filter(|part| !part.is_empty());
        printable(&parts.collect::<Vec<_>>().join("/"))
    }

    fn tell_script(&mut self, news: &News<'_>) -> io::Result<()> {
        let mut head = Head {
            session: news.session,
            agent: news.agent,
            file: news.path.display().to_string(),
            line: None,
            event: None,
            damage: None,
        };
        match &news.change {
            Change::Line(line) => {
                head.line = Some(line.place.line);
                match &line.content {
                    Content::Entry(entry) => return self.entry(&head, entry.raw()),
                    Content::Blank => return Ok(()),
                    Content::Damaged(damage) => {
                        let finding = damage.finding(line.place);
                        let (rule, message) = (finding.rule.as_str(), finding.message);
                        self.record(&Head { damage: Some(Damage { rule, message }), ..head.again() })?;
                        return damage
                            .salvaged
                            .iter()
                            .try_for_each(|saved| self.entry(&head, saved.entry.raw()));
                    }
                }
            }
            Change::Reset => head.event = Some("reset"),
            Change::Gone => head.event = Some("gone"),
            Change::Unreadable(_) => head.event = Some("unreadable"),
        }
        self.record(&head)
    }

    /// The entry goes out byte for byte, so that nothing about it depends on us.
    fn entry(&mut self, head: &Head<'_>, entry: &[u8]) -> io::Result<()> {
        let head = serde_json::to_string(head)?;
        self.out.bytes(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
        self.out.bytes(b",\"entry\":")?;
        self.out.bytes(entry)?;
        self.out.bytes(b"}\n")
    }

    fn record(&mut self, head: &Head<'_>) -> io::Result<()> {
        self.out.bytes(serde_json::to_string(head)?.as_bytes())?;
        self.out.bytes(b"\n")
    }
}

impl Head<'_> {
    fn again(&self) -> Head<'_> {
        Head { file: self.file.clone(), event: self.event, damage: None, ..*self }
    }
}

fn remark(text: &str) -> String {
    format!("{DIM}-- {} --{PLAIN}\n", printable(text))
}
