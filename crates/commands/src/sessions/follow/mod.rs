//! `tidings sessions follow`: prints new entries of sessions.

mod line;
mod wait;

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;

use serde::Serialize;
use tidings_transcript::follow::{Change, Follow, News};
use tidings_transcript::reader::{Content, Line};

use self::wait::{ChangeWaiter, FollowEvent, FollowScope};
use super::{RootArgs, unreadable};
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{DIM, Output, PLAIN, YELLOW, printable};

/// Follow a session while it is being written
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FollowArgs {
    /// Session id, a unique prefix of it, or its file [default: the session written last]
    #[arg(value_name = "ID", conflicts_with = "all")]
    id: Option<OsString>,

    /// Follow every session, including those that start later
    #[arg(long)]
    all: bool,

    /// Show this many past entries first
    #[arg(short = 'n', long = "last", value_name = "N", default_value_t = 10, conflicts_with = "all")]
    last: usize,
}

const EXAMPLES: &str = "\
Ends with Ctrl-C, or when the reader of its output closes the pipe.
With --json each line is {session, agent, file, line, entry}; a damaged line has `damage` instead of `entry`, and a \
change of the file has `event` (reset, gone, unreadable).

Examples:
  tidings sessions follow
  tidings sessions follow 7c135d63 -n 50
  tidings sessions follow --all --json | jq -r 'select(.entry.type == \"user\") | .session'";

const EXIT_INTERRUPTED: u8 = 130;

impl FollowArgs {
    pub(crate) fn run(&self, root: &RootArgs, out: &mut Output) -> anyhow::Result<Exit> {
        let roots = root.roots()?;
        let follow = match &self.id {
            _ if self.all => Follow::all(roots)?,
            Some(id) => self.session(&roots.find(id)?, root)?,
            None => {
                let found = roots.scan()?;
                self.session(found.sessions.first().ok_or_else(none_yet)?, root)?
            }
        };
        unreadable::warn(follow.unreadable(), out)?;
        let scope = if self.all { FollowScope::All } else { FollowScope::Session };
        let mut printer = FollowPrinter { json: root.json, scope, out, failed: None };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(watch(follow, &mut printer))
    }

    fn session(
        &self,
        session: &tidings_transcript::roots::SessionFiles,
        root: &RootArgs,
    ) -> anyhow::Result<Follow> {
        let counts = |line: &Line<'_>| match &line.content {
            Content::Entry(entry) => root.json || line::is_shown(entry),
            Content::Damaged(_) => true,
            Content::Blank => false,
        };
        Ok(Follow::session(session, self.last, counts)?)
    }
}

fn none_yet() -> CannotRun {
    CannotRun {
        code: "not_found",
        message: "No session to follow yet".to_owned(),
        hint: "`--all` waits for sessions that start later",
    }
}

async fn watch(mut follow: Follow, printer: &mut FollowPrinter<'_>) -> anyhow::Result<Exit> {
    let mut waiter = ChangeWaiter::new(&follow.folders(), printer.scope)?;
    let mut event = FollowEvent::Poll;
    loop {
        let mut each = |change: News<'_>| printer.print(&change);
        let result = match event {
            FollowEvent::Poll => follow.look(&mut each)?,
            FollowEvent::Changed(paths) => follow.look_at(&paths, &mut each)?,
            FollowEvent::Interrupted => return Ok(Exit::Code(EXIT_INTERRUPTED)),
            FollowEvent::OutputClosed => return Ok(Exit::Success),
        };
        if result.is_break() {
            // A closed pipe is not a failure.
            return printer.failed.take().map_or(Ok(Exit::Success), |error| Err(error.into()));
        }
        printer.out.flush()?;
        event = waiter.next().await;
    }
}

/// Prints changes to standard output.
struct FollowPrinter<'a> {
    json: bool,
    /// With all sessions, each line names its session.
    scope: FollowScope,
    out: &'a mut Output,
    failed: Option<io::Error>,
}

/// JSON line without the entry, which is appended byte for byte.
#[derive(Serialize)]
struct LineHead<'a> {
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

impl FollowPrinter<'_> {
    fn print(&mut self, change: &News<'_>) -> ControlFlow<()> {
        let written = if self.json { self.print_json(change) } else { self.print_text(change) };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn print_text(&mut self, change: &News<'_>) -> io::Result<()> {
        let who = self.who(change);
        let columns = human::columns_of_terminal().unwrap_or(usize::MAX);
        let file = change.path.file_name().unwrap_or_default().to_string_lossy();
        let text = match &change.change {
            Change::Line(line) => match &line.content {
                Content::Entry(entry) => line::shown(entry, &who, columns),
                Content::Damaged(damage) => {
                    let finding = damage.finding(line.place);
                    let remark = format!("{file}:{}: {}", line.place.line, finding.message);
                    let mut text = damaged(&remark, columns);
                    for saved in &damage.salvaged {
                        text.push_str(&line::shown(&saved.entry.as_ref(), &who, columns));
                    }
                    text
                }
                Content::Blank => String::new(),
            },
            Change::Reset => remark(&format!("{file} was replaced, reading it from the start"), columns),
            Change::Gone => remark(&format!("{file} was deleted"), columns),
            Change::Unreadable(error) => remark(&error.to_string(), columns),
        };
        if text.is_empty() { Ok(()) } else { self.out.text(&text) }
    }

    fn who(&self, change: &News<'_>) -> String {
        let session = match self.scope {
            FollowScope::All => change.session.get(..8).unwrap_or(change.session),
            FollowScope::Session => "",
        };
        let agent = change.agent.unwrap_or_default();
        let agent = agent.get(..7).unwrap_or(agent);
        let parts = [session, agent].into_iter().filter(|part| !part.is_empty());
        printable(&parts.collect::<Vec<_>>().join("/"))
    }

    fn print_json(&mut self, change: &News<'_>) -> io::Result<()> {
        let mut head = LineHead {
            session: change.session,
            agent: change.agent,
            file: change.path.display().to_string(),
            line: None,
            event: None,
            damage: None,
        };
        match &change.change {
            Change::Line(line) => {
                head.line = Some(line.place.line);
                match &line.content {
                    Content::Entry(entry) => return self.entry(&head, entry.raw()),
                    Content::Blank => return Ok(()),
                    Content::Damaged(damage) => {
                        let finding = damage.finding(line.place);
                        let (rule, message) = (finding.rule.as_str(), finding.message);
                        self.record(&LineHead { damage: Some(Damage { rule, message }), ..head.again() })?;
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

    /// Writes an entry byte for byte after its head.
    fn entry(&mut self, head: &LineHead<'_>, entry: &[u8]) -> io::Result<()> {
        let head = serde_json::to_string(head)?;
        self.out.bytes(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
        self.out.bytes(b",\"entry\":")?;
        self.out.bytes(entry)?;
        self.out.bytes(b"}\n")
    }

    fn record(&mut self, head: &LineHead<'_>) -> io::Result<()> {
        self.out.bytes(serde_json::to_string(head)?.as_bytes())?;
        self.out.bytes(b"\n")
    }
}

impl LineHead<'_> {
    fn again(&self) -> LineHead<'_> {
        LineHead { file: self.file.clone(), event: self.event, damage: None, ..*self }
    }
}

fn remark(text: &str, columns: usize) -> String {
    format!("{DIM}{}{PLAIN}\n", human::folded(&format!("-- {} --", printable(text)), columns))
}

fn damaged(finding: &str, columns: usize) -> String {
    let text = human::folded(&format!("damaged {}", printable(finding)), columns);
    format!("{YELLOW}damaged{PLAIN}{}\n", text.strip_prefix("damaged").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tidings_protocol::entry::EntryRef;

    use super::*;
    use crate::output::{BOLD, RED};

    #[test]
    fn c32_no_line_is_wider_than_the_terminal() {
        let file = "7c135d63-0f5e-4b0a-9c55-2c1f0e6a7b8d.jsonl";
        let long = "項目測試 ✅ and quite a long line ".repeat(20);
        let entries = [
            json!({"type": "user", "uuid": "u-1", "timestamp": "2026-11-15T10:20:30.000Z",
                "message": {"role": "user", "content": format!("{long}\n{long}")}}),
            json!({"type": "assistant", "uuid": "u-2", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x".repeat(500)}}]}}),
            json!({"type": "user", "uuid": "u-3", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": format!("{long}\n{long}")}]}}),
        ];
        for columns in [60, 80, 200] {
            let mut text = remark(&format!("{file} was replaced, reading it from the start"), columns);
            text += &remark(&format!("/home/ada/{}/{file} is not there", "folder".repeat(40)), columns);
            text +=
                &damaged(&format!("{file}:123: the line is not JSON, and nothing of it was saved"), columns);
            for entry in &entries {
                let json = entry.to_string();
                let entry = EntryRef::decode(json.as_bytes()).unwrap();
                let shown = line::shown(&entry, "7c135d63/a1b2c3d", columns);
                assert!(!shown.is_empty(), "{json}");
                text += &shown;
            }
            for line in text.lines() {
                let codes = [BOLD, DIM, PLAIN, RED, YELLOW];
                let line = codes.iter().fold(line.to_owned(), |line, code| line.replace(code, ""));
                assert!(human::width(&line) <= columns, "{columns}: {line}");
            }
        }
    }
}
