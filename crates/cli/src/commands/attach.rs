//! `tidings attach`: a session of the server in the terminal.

mod answers;
mod stream;

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize as _, Serialize};
use tidings_protocol::api::{ServerPhase, SessionView, Snapshot};
use tidings_protocol::ui::{SessionPhase, UiMessage};
use tokio::sync::mpsc::Receiver;

use self::answers::Answers;
use self::stream::{Heard, Stream};
use super::named;
use super::run::stage::{Data, can_type, size, view};
use crate::error::Exit;
use crate::output::{Output, printable};
use crate::remote::{Remote, RemoteArgs};
use crate::signals::signals;
use crate::terminal::{Diffs, Key, Keyboard, Line, Style, Thoughts, View};

/// Watch a session of the server, and answer what it asks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Attach {
    /// The session: its number, its key, or the beginning of one
    session: String,

    /// Leave when the turn that is under way is over
    #[arg(long)]
    wait: bool,

    /// Show what files become
    #[arg(long)]
    diff: bool,

    /// Also show what the model thinks, and notes
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings attach 3
  tidings attach 3 --wait > answer.md    # exit code 1 if the turn has failed
  tidings attach 3 --json | jq -c .event

It begins with the end of the conversation. Permissions and questions are answered with the keys that are shown.
Ctrl-C leaves, and the session goes on. A connection that breaks is made again, and nothing is lost or shown twice.";

/// How much of the conversation is shown first.
const FIRST_EVENTS: usize = 80;

/// How often what changes on a terminal is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// An event for scripts.
#[derive(Serialize)]
struct EventLine<'a> {
    session: &'a str,
    cursor: &'a str,
    event: &'a serde_json::value::RawValue,
}

impl Attach {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = named::session(&remote, &self.session).await?;
            let path = format!("/v1/sessions/{}/snapshot?limit={FIRST_EVENTS}", session.handle);
            let snapshot: Snapshot = remote.get(&path).await?;
            if self.remote.json {
                self.lines(&remote, &snapshot, out).await
            } else {
                self.watch(&remote, snapshot, out).await
            }
        })
    }

    /// Events as lines, from now on.
    async fn lines(&self, remote: &Remote, snapshot: &Snapshot, out: &mut Output) -> anyhow::Result<Exit> {
        let session = &snapshot.session;
        let mut last = Exit::Fine;
        for event in snapshot.events.iter().filter_map(|event| UiMessage::deserialize(event).ok()) {
            self.ends(&event, &mut last);
        }
        if self.wait && !is_busy(session) {
            return Ok(ended(session, last));
        }
        let mut stream = Stream::new(remote.clone(), session.handle, snapshot.cursor.clone()).start();
        let mut signal = std::pin::pin!(signals()?);
        loop {
            let heard = tokio::select! {
                () = &mut signal => return Ok(Exit::Fine),
                heard = stream.recv() => heard.unwrap_or(Ok(Heard::Over))?,
            };
            match heard {
                Heard::Event { cursor, json } => {
                    let event = serde_json::value::RawValue::from_string(json)?;
                    let line = EventLine { session: &session.key, cursor: &cursor, event: &event };
                    out.text(&format!("{}\n", serde_json::to_string(&line)?))?;
                    out.flush()?;
                    let event = serde_json::from_str(event.get()).ok();
                    if let Some(exit) = event.as_ref().and_then(|event| self.ends(event, &mut last)) {
                        return Ok(exit);
                    }
                }
                Heard::Over => return Ok(Exit::Fine),
                Heard::Lost(_) | Heard::Back => {}
            }
        }
    }

    async fn watch(&self, remote: &Remote, snapshot: Snapshot, out: &Output) -> anyhow::Result<Exit> {
        let diffs = if self.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if self.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        let mut view = view(Data::Shown, diffs, thoughts, out);
        let mut answers = Answers::new(remote.clone(), snapshot.session.handle);
        view.note(Line::styled(&headline(&snapshot.session), Style::DIM))?;
        let past = snapshot.events.into_iter().filter_map(|event| serde_json::from_value(event).ok());
        let past: Vec<UiMessage> = past.collect();
        let mut last = Exit::Fine;
        for event in &past {
            show(&mut view, &mut answers, event)?;
            self.ends(event, &mut last);
        }
        if self.wait && !is_busy(&snapshot.session) {
            view.finish()?;
            return Ok(ended(&snapshot.session, last));
        }
        if snapshot.session.state == ServerPhase::NeedsYou && !is_here() {
            view.note(waits(snapshot.session.handle))?;
        }
        let stream = Stream::new(remote.clone(), snapshot.session.handle, snapshot.cursor).start();
        let exit = self.follow(&mut view, &mut answers, stream, last).await;
        view.finish()?;
        exit
    }

    async fn follow(
        &self,
        view: &mut View,
        answers: &mut Answers,
        mut stream: Receiver<anyhow::Result<Heard>>,
        mut last: Exit,
    ) -> anyhow::Result<Exit> {
        // The terminal is as it was when this is dropped.
        let is_here = is_here();
        let mut keyboard = if is_here { Some(Keyboard::open()?) } else { None };
        let mut signal = std::pin::pin!(signals()?);
        let mut ticks = tokio::time::interval(FRAME);
        let watched = view.screen().is_watched();
        loop {
            tokio::select! {
                biased;
                () = &mut signal => return Ok(Exit::Fine),
                key = next_key(keyboard.as_mut()) => match key {
                    Key::Interrupt => return Ok(Exit::Fine),
                    Key::Resized => {
                        view.resized(size());
                        view.draw(Instant::now())?;
                    }
                    key => {
                        if let Some((id, reply)) = view.key(key, Instant::now())? {
                            answers.send(id, reply);
                        }
                    }
                },
                Some(words) = answers.refused() => view.note(Line::styled(&format!("  ✗ {words}"), Style::RED))?,
                heard = stream.recv() => match heard.unwrap_or(Ok(Heard::Over))? {
                    Heard::Event { json, .. } => {
                        // What a newer server may send is passed over.
                        let Ok(event) = serde_json::from_str::<UiMessage>(&json) else { continue };
                        show(view, answers, &event)?;
                        if !is_here && asks(&event) {
                            view.note(waits(answers.handle()))?;
                        }
                        if let Some(exit) = self.ends(&event, &mut last) {
                            return Ok(exit);
                        }
                    }
                    Heard::Lost(why) => {
                        view.note(Line::styled(&format!("• not connected: {why}"), Style::YELLOW))?;
                    }
                    Heard::Back => view.note(Line::styled("• connected again", Style::DIM))?,
                    Heard::Over => {
                        view.note(Line::styled("• the session is gone", Style::YELLOW))?;
                        return Ok(Exit::Fine);
                    }
                },
                _ = ticks.tick(), if watched => view.draw(Instant::now())?,
            }
        }
    }

    /// Whether this was what was waited for, and how it went. `last` is how the last turn went.
    fn ends(&self, event: &UiMessage, last: &mut Exit) -> Option<Exit> {
        match event {
            UiMessage::TurnResult(result) => *last = exit(!result.is_error),
            UiMessage::SessionStateChanged(state) if state.state == SessionPhase::Ended => {
                *last = exit(state.error.is_none());
                return Some(*last).filter(|_| self.wait);
            }
            UiMessage::Complete { .. } => return Some(*last).filter(|_| self.wait),
            _ => {}
        }
        None
    }
}

fn exit(is_fine: bool) -> Exit {
    if is_fine { Exit::Fine } else { Exit::NotFine }
}

/// How a session that does nothing has ended its last turn.
fn ended(session: &SessionView, last: Exit) -> Exit {
    match session.state {
        ServerPhase::Interrupted | ServerPhase::Failed => Exit::NotFine,
        _ => last,
    }
}

/// Whether somebody sees what is shown and can answer with keys.
fn is_here() -> bool {
    io::stderr().is_terminal() && can_type()
}

fn asks(event: &UiMessage) -> bool {
    matches!(
        event,
        UiMessage::PermissionRequired { .. }
            | UiMessage::BatchPermissionRequired { .. }
            | UiMessage::UserInteractionRequired { .. }
    )
}

/// What to do where no keys can be read: somebody else may answer, so it is waited for.
fn waits(handle: i64) -> Line {
    let words =
        format!("• it waits for a person: the page, `tidings approve {handle}`, or this in a terminal");
    Line::styled(&words, Style::YELLOW)
}

fn show(view: &mut View, answers: &mut Answers, event: &UiMessage) -> anyhow::Result<()> {
    answers.hear(event);
    if let UiMessage::UserPrompt(prompt) = event
        && prompt.origin.is_none()
    {
        view.note(Line::styled(&format!("› {}", prompt.text), Style::BOLD))?;
        view.began(Instant::now());
    }
    view.event(event, Instant::now())?;
    Ok(())
}

fn is_busy(session: &SessionView) -> bool {
    matches!(session.state, ServerPhase::Starting | ServerPhase::Running | ServerPhase::NeedsYou)
        || session.queued > 0
}

fn headline(session: &SessionView) -> String {
    let title = named::title(session).unwrap_or("session");
    format!(
        "{} {}, {}. Ctrl-C leaves, it goes on.",
        session.handle,
        printable(title),
        printable(&session.cwd)
    )
}

async fn next_key(keyboard: Option<&mut Keyboard>) -> Key {
    match keyboard {
        Some(keyboard) => keyboard.next().await,
        None => std::future::pending().await,
    }
}
