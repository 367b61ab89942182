//! `tidings attach`: shows a session of the server in the terminal.

mod answers;
mod files;
#[cfg(unix)]
mod local;
mod past;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use tidings_api::{ServerPhase, SessionView, Snapshot};
use tidings_commands::console::{AnswerText, Console, UserAction, can_type, view};
use tidings_commands::error::Exit;
use tidings_commands::output::{Output, printable};
use tidings_commands::session_label::label;
use tidings_commands::signals::{Signal, Signals, signals};
use tidings_commands::terminal::{CtrlC, Diffs, Line, SlashCommand, Style, Thoughts, TurnStart};
use tidings_protocol::ui::{SessionPhase, UiMessage};
use tidings_remote::{Answering, RemoteServer, RemoteSession, SessionEvent, SessionEvents, SessionUpdate};

use self::answers::Answers;
use self::files::FileSearch;
use self::past::{Extent, PastEvent};
use super::session_lookup;
use crate::commands::remote::RemoteArgs;

/// Watch a session of the server and answer its requests
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttachArgs {
    /// Session number, key or Claude Code session id, or at least the first four characters of a key or
    /// id; without one, a list is shown to choose from
    session: Option<String>,

    /// Show the current turn and exit when it ends; if no turn is running, show the last one
    #[arg(long)]
    wait: bool,

    /// Show diffs of changed files
    #[arg(long)]
    diff: bool,

    /// Also show the model's reasoning, and notes
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings attach                         # choose from a list
  tidings attach 3
  tidings attach 3 --wait > answer.md    # exit code 1 if the turn failed
  tidings attach 3 --json | jq -c .event

Shows the end of the conversation first, or the whole turn with --wait. Permission requests, questions, prompts and \
keys work as in `tidings run`: Ctrl-C clears the line, then interrupts the turn, then detaches; Ctrl-D detaches at \
once. A session continues without you. With --wait nothing can be typed, and Ctrl-C detaches. After a lost connection \
it reconnects without losing or repeating events.

With --json each line is {\"session\",\"cursor\",\"event\"}. Past events are merged as in a snapshot: the deltas of \
one text are one event, and `cursor` is null for all of them but the last.";

/// Number of past events shown first. With `--wait` the turn is shown from its beginning, as far as the
/// snapshot goes back.
const FIRST_EVENTS: u64 = 80;

/// Interval between redraws of the terminal.
const FRAME: Duration = Duration::from_millis(100);

/// JSON line of one event.
#[derive(Serialize)]
struct EventLine<'a, E> {
    session: &'a str,
    /// Cursor to continue from; none for merged past events, except for the last.
    cursor: Option<&'a str>,
    event: E,
}

impl<E: Serialize> EventLine<'_, E> {
    fn print(&self, out: &mut Output) -> anyhow::Result<()> {
        Ok(out.text(&format!("{}\n", serde_json::to_string(self)?))?)
    }
}

impl AttachArgs {
    /// Attaches to a session by its number.
    pub(crate) fn to(number: i64, wait: bool, remote: RemoteArgs) -> Self {
        AttachArgs { session: Some(number.to_string()), wait, diff: false, verbose: false, remote }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let name = session_lookup::name_or_pick(self.session.as_deref(), &self.remote, out)?;
        #[cfg(unix)]
        if let Some(terminal) = self.terminal(&name)? {
            return super::claude::attached::show(terminal, out);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let remote = self.remote.remote()?;
            let session = session_lookup::session(&remote, &name).await?;
            let limit = (!self.wait).then_some(FIRST_EVENTS);
            let mut snapshot = remote.session(session.handle).snapshot(limit).await?;
            let events = past::decode(&mut snapshot);
            let is_over = self.wait && !is_busy(&snapshot.session, past::is_between_turns(&events));
            let extent = match (self.wait, is_over) {
                (false, _) => Extent::End,
                (true, false) => Extent::Turn,
                (true, true) => Extent::LastTurn,
            };
            let past = past::select(events, &snapshot, extent);
            if self.remote.json {
                self.lines(&remote, &snapshot, &past, is_over, out).await
            } else {
                self.watch(&remote, snapshot, &past, is_over, out).await
            }
        })
    }

    /// Prints events as JSON lines.
    async fn lines(
        &self,
        remote: &RemoteServer,
        snapshot: &Snapshot,
        past: &[PastEvent],
        is_over: bool,
        out: &mut Output,
    ) -> anyhow::Result<Exit> {
        let session = &snapshot.session;
        let mut last = Exit::Success;
        for (at, PastEvent { json, decoded }) in past.iter().enumerate() {
            let cursor = Some(snapshot.cursor.as_str()).filter(|_| at + 1 == past.len());
            EventLine { session: &session.key, cursor, event: json }.print(out)?;
            if let Some(event) = decoded {
                self.ends(event, &mut last);
            }
        }
        out.flush()?;
        if is_over {
            return Ok(ended(session, last));
        }
        // A script may answer requests with other commands, unless it only waits.
        let answering = if self.wait { Answering::Absent } else { Answering::Present };
        let events = remote.session(session.handle).events(Some(snapshot.cursor.clone()));
        let mut events = events.answering(answering);
        let mut signal = std::pin::pin!(signals()?);
        loop {
            let update = tokio::select! {
                () = &mut signal => return Ok(Exit::Success),
                update = events.next() => update?,
            };
            match update {
                Some(SessionUpdate::Event(SessionEvent { cursor, json, .. })) => {
                    let event = serde_json::value::RawValue::from_string(json)?;
                    EventLine { session: &session.key, cursor: Some(&cursor), event: &event }.print(out)?;
                    out.flush()?;
                    let event = serde_json::from_str(event.get()).ok();
                    if let Some(exit) = event.as_ref().and_then(|event| self.ends(event, &mut last)) {
                        return Ok(exit);
                    }
                }
                Some(_) => {}
                None => return Ok(Exit::Success),
            }
        }
    }

    async fn watch(
        &self,
        remote: &RemoteServer,
        snapshot: Snapshot,
        past: &[PastEvent],
        is_over: bool,
        out: &Output,
    ) -> anyhow::Result<Exit> {
        let diffs = if self.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if self.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        let mut console = Console::new(view(AnswerText::Shown, diffs, thoughts, out));
        let handle = snapshot.session.handle;
        let session = remote.session(handle);
        let mut answers = Answers::new(session.clone(), handle);
        let types = is_interactive() && !is_over && !self.wait;
        console.view.ctrl_c(if types { CtrlC::InterruptsThenDetaches } else { CtrlC::Detaches });
        // Opened before the text that invites to type: what is typed from now on is a key, and not echoed.
        if is_interactive() && !is_over {
            console.open_keyboard()?;
        }
        if types {
            let commands = commands(&session).await;
            let folder = Path::new(&snapshot.session.cwd);
            console.add_input(folder, remote.is_local().then_some(folder), commands);
        }
        console.view.note(Line::styled(&headline(&snapshot.session), Style::DIM))?;
        let keys = if types { "Type a prompt; ? shows the keys, Ctrl-D detaches" } else { "Ctrl-C detaches" };
        console.view.note(Line::styled(&format!("{keys}, the session continues."), Style::DIM))?;
        let mut last = Exit::Success;
        let came = TurnStart::Before(Instant::now());
        for event in past.iter().filter_map(|event| event.decoded.as_ref()) {
            answers.observe(event);
            console.view.show(event, came, Instant::now())?;
            self.ends(event, &mut last);
        }
        if is_over {
            console.view.finish()?;
            return Ok(ended(&snapshot.session, last));
        }
        if snapshot.session.state == ServerPhase::NeedsYou && !is_interactive() {
            console.view.note(pending_note(snapshot.session.handle))?;
        }
        let answering = if is_interactive() { Answering::Present } else { Answering::Absent };
        let events = session.events(Some(snapshot.cursor)).answering(answering);
        let exit = self.follow(&mut console, &mut answers, FileSearch::new(session), events, last).await;
        console.view.finish()?;
        exit
    }

    async fn follow(
        &self,
        console: &mut Console,
        answers: &mut Answers,
        mut files: FileSearch,
        mut events: SessionEvents,
        mut last: Exit,
    ) -> anyhow::Result<Exit> {
        let is_interactive = console.has_keyboard();
        let mut signals = Signals::catch()?;
        let mut ticks = tokio::time::interval(FRAME);
        let redraws = console.view.screen().is_interactive();
        let (mut is_interrupted, mut is_lost) = (false, false);
        loop {
            if let Some(query) = console.view.input().and_then(|input| input.remote_query()) {
                files.search(query);
            }
            tokio::select! {
                biased;
                signal = signals.next() => {
                    // The key of an editor, which has the terminal.
                    if signal == Signal::Interrupt && console.is_editing() {
                        continue;
                    }
                    return Ok(Exit::Success);
                }
                input = console.next() => match console.handle(input)? {
                    Some(UserAction::Leave) => return Ok(Exit::Success),
                    Some(UserAction::Interrupt) => {
                        if self.wait || is_interrupted || !console.view.is_in_turn() {
                            return Ok(Exit::Success);
                        }
                        is_interrupted = true;
                        console.view.interrupted()?;
                        answers.interrupt();
                    }
                    Some(UserAction::Answer(id, reply)) => answers.send(id, reply),
                    Some(UserAction::Prompt(draft, delivery)) => answers.prompt(draft, delivery),
                    None => {}
                },
                (query, found) = files.next() => {
                    console.with_input(|input| input.set_remote_files(query, found))?;
                }
                Some(error) = answers.next_error() => {
                    console.view.note(Line::styled(&format!("  ✗ {error}"), Style::RED))?;
                }
                update = events.next() => match update? {
                    Some(SessionUpdate::Event(event)) => {
                        // Events that only newer servers send are skipped.
                        let Some(event) = event.decode() else { continue };
                        answers.observe(&event);
                        let now = Instant::now();
                        console.view.show(&event, TurnStart::At(now), now)?;
                        is_interrupted &= console.view.is_in_turn();
                        if !is_interactive && asks(&event) {
                            console.view.note(pending_note(answers.handle()))?;
                        }
                        if let Some(exit) = self.ends(&event, &mut last) {
                            return Ok(exit);
                        }
                    }
                    Some(SessionUpdate::Lost(why)) => {
                        is_lost = true;
                        console.view.note(Line::styled(&format!("• disconnected: {why}"), Style::YELLOW))?;
                    }
                    Some(_) => {
                        if std::mem::take(&mut is_lost) {
                            console.view.note(Line::styled("• reconnected", Style::DIM))?;
                        }
                    }
                    None => {
                        console.view.note(Line::styled("• the session was deleted", Style::YELLOW))?;
                        return Ok(Exit::Success);
                    }
                },
                _ = ticks.tick(), if redraws => console.view.draw(Instant::now())?,
            }
        }
    }

    /// Returns the exit if `--wait` ends with this event. Keeps the outcome of the last turn in `last`.
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

fn exit(is_success: bool) -> Exit {
    if is_success { Exit::Success } else { Exit::Failure }
}

/// Outcome of the last turn of a session that is not busy.
fn ended(session: &SessionView, last: Exit) -> Exit {
    match session.state {
        ServerPhase::Interrupted | ServerPhase::Failed => Exit::Failure,
        _ => last,
    }
}

/// True if a user sees the output and can answer with keys.
fn is_interactive() -> bool {
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

/// Note that a request is pending which cannot be answered here, since no keys can be read.
fn pending_note(handle: i64) -> Line {
    let text = format!(
        "• waiting for an answer: use the page, `tidings approve {handle}`, or this command in a terminal"
    );
    Line::styled(&text, Style::YELLOW)
}

/// Slash commands of a session; none if the server does not know them yet.
async fn commands(session: &RemoteSession) -> Vec<SlashCommand> {
    let found = session.slash_commands().await;
    let names = found.map(|found| found.items).unwrap_or_default().into_iter();
    names.map(|name| SlashCommand { name, description: String::new() }).collect()
}

/// True if a turn runs or is going to run. The event that ends a turn comes before the one that changes the
/// session's state, so a snapshot taken between the two still says that the session runs.
fn is_busy(session: &SessionView, is_between_turns: bool) -> bool {
    let works = match session.state {
        ServerPhase::Running => !is_between_turns,
        ServerPhase::Starting | ServerPhase::NeedsYou => true,
        _ => false,
    };
    works || session.queued > 0
}

fn headline(session: &SessionView) -> String {
    format!("{}, {}", label(session), printable(&session.cwd))
}
