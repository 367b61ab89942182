//! `tidings attach`: a session of the server in the terminal.

mod answers;
mod past;
mod stream;

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use tidings_protocol::api::{ServerPhase, SessionView, Snapshot};
use tidings_protocol::ui::{SessionPhase, UiMessage};
use tokio::sync::mpsc::Receiver;

use self::answers::Answers;
use self::past::{Event, Extent};
use self::stream::{Heard, Stream};
use super::named;
use super::run::stage::{Data, can_type, size, view};
use crate::error::Exit;
use crate::output::{Output, printable};
use crate::remote::{Remote, RemoteArgs};
use crate::signals::signals;
use crate::terminal::{
    Began, CtrlC, Diffs, Key, Keyboard, Line, PromptEditor, Style, TerminalSettings, Thoughts, Typed, View,
    prompt_editor,
};

/// Watch a session of the server, and answer what it asks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Attach {
    /// The session: its number, its key, or the beginning of one
    session: String,

    /// Show the turn that is under way, and leave when it is over; if there is none, show the last one
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

It begins with the end of the conversation, with --wait at the beginning of the turn. Permissions and questions are \
answered with the keys that are shown, and what is typed otherwise is a prompt. Ctrl-C leaves, and the session goes on. A connection that breaks is made again, \
and nothing is lost or shown twice.

With --json each line is {\"session\",\"cursor\",\"event\"}. What was there before is put together, as in a snapshot: pieces of \
one text are one event, and `cursor` is null but for the last.";

/// How much of the conversation is shown first. A turn is shown from its beginning, as far as the server has it at hand.
const FIRST_EVENTS: usize = 80;

/// How often what changes on a terminal is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// An event for scripts.
#[derive(Serialize)]
struct EventLine<'a, E> {
    session: &'a str,
    /// None if the events up to here are not all there is before the next one.
    cursor: Option<&'a str>,
    event: E,
}

impl<E: Serialize> EventLine<'_, E> {
    fn print(&self, out: &mut Output) -> anyhow::Result<()> {
        Ok(out.text(&format!("{}\n", serde_json::to_string(self)?))?)
    }
}

impl Attach {
    /// A session by its number, for those who know it.
    pub(crate) fn to(number: i64, wait: bool, remote: RemoteArgs) -> Self {
        Attach { session: number.to_string(), wait, diff: false, verbose: false, remote }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = named::session(&remote, &self.session).await?;
            let limit = if self.wait { String::new() } else { format!("?limit={FIRST_EVENTS}") };
            let path = format!("/v1/sessions/{}/snapshot{limit}", session.handle);
            let mut snapshot: Snapshot = remote.get(&path).await?;
            let extent = match (self.wait, is_busy(&snapshot.session)) {
                (false, _) => Extent::End,
                (true, true) => Extent::Turn,
                (true, false) => Extent::LastTurn,
            };
            let past = past::events(&mut snapshot, extent);
            if self.remote.json {
                self.lines(&remote, &snapshot, &past, out).await
            } else {
                self.watch(&remote, snapshot, &past, out).await
            }
        })
    }

    /// Events as lines.
    async fn lines(
        &self,
        remote: &Remote,
        snapshot: &Snapshot,
        past: &[Event],
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let session = &snapshot.session;
        let mut last = Exit::Fine;
        for (at, Event { json, says }) in past.iter().enumerate() {
            let cursor = Some(snapshot.cursor.as_str()).filter(|_| at + 1 == past.len());
            EventLine { session: &session.key, cursor, event: json }.print(out)?;
            if let Some(event) = says {
                self.ends(event, &mut last);
            }
        }
        out.flush()?;
        if self.wait && !is_busy(session) {
            return Ok(ended(session, last));
        }
        // Whoever reads the lines may answer by other commands, unless it only waits.
        let cursor = snapshot.cursor.clone();
        let mut stream = Stream::new(remote.clone(), session.handle, cursor, !self.wait).start();
        let mut signal = std::pin::pin!(signals()?);
        loop {
            let heard = tokio::select! {
                () = &mut signal => return Ok(Exit::Fine),
                heard = stream.recv() => heard.unwrap_or(Ok(Heard::Over))?,
            };
            match heard {
                Heard::Event { cursor, json } => {
                    let event = serde_json::value::RawValue::from_string(json)?;
                    EventLine { session: &session.key, cursor: Some(&cursor), event: &event }.print(out)?;
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

    async fn watch(
        &self,
        remote: &Remote,
        snapshot: Snapshot,
        past: &[Event],
        out: &Output,
    ) -> anyhow::Result<Exit> {
        let diffs = if self.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if self.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        let mut view = view(Data::Shown, diffs, thoughts, out);
        view.ctrl_c(CtrlC::Leaves);
        let mut answers = Answers::new(remote.clone(), snapshot.session.handle);
        view.note(Line::styled(&headline(&snapshot.session), Style::DIM))?;
        let mut last = Exit::Fine;
        let came = Began::Before(Instant::now());
        for event in past.iter().filter_map(|event| event.says.as_ref()) {
            show(&mut view, &mut answers, event, came)?;
            self.ends(event, &mut last);
        }
        if self.wait && !is_busy(&snapshot.session) {
            view.finish()?;
            return Ok(ended(&snapshot.session, last));
        }
        if snapshot.session.state == ServerPhase::NeedsYou && !is_here() {
            view.note(waits(snapshot.session.handle))?;
        }
        let handle = snapshot.session.handle;
        let stream = Stream::new(remote.clone(), handle, snapshot.cursor, is_here()).start();
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
        let settings = TerminalSettings::save();
        let mut editor: Option<PromptEditor> = None;
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
                    // What is typed while nothing is asked is a prompt.
                    Key::Char(first) if !self.wait && !view.is_asking() && !first.is_whitespace() => {
                        view.screen().clear()?;
                        // The editor needs the terminal for itself.
                        let ahead = keyboard.take().map(Keyboard::close).unwrap_or_default();
                        let ahead = format!("{first}{}", ahead.trim_end_matches('\n'));
                        let opened = match editor.take() {
                            Some(editor) => editor,
                            None => prompt_editor()?,
                        };
                        let typed = tokio::select! {
                            typed = opened.read(ahead) => typed?,
                            () = &mut signal => {
                                settings.restore();
                                return Ok(Exit::Fine);
                            }
                        };
                        editor = Some(typed.0);
                        if let Typed::Prompt(prompt) = typed.1 && !prompt.trim().is_empty() {
                            answers.say(prompt);
                        }
                        keyboard = Some(Keyboard::open()?);
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
                        show(view, answers, &event, Began::At(Instant::now()))?;
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

fn show(view: &mut View, answers: &mut Answers, event: &UiMessage, at: Began) -> anyhow::Result<()> {
    answers.hear(event);
    if let UiMessage::UserPrompt(prompt) = event
        && prompt.origin.is_none()
    {
        view.note(Line::styled(&format!("› {}", prompt.text), Style::BOLD))?;
        view.began(at);
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
        "{} {}, {}. Type a prompt; Ctrl-C leaves, the session goes on.",
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
