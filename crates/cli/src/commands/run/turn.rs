use std::io;
use std::time::{Duration, Instant};

use tidings::Event;
use tidings_agent::UiMessage;
use tidings_agent::session::AgentSession;
use tidings_agent::source::Command;
use tidings_protocol::ui::{SessionPhase, TurnResult};
use tokio::sync::mpsc::Receiver;

use super::answer::answer;
use super::console::{Console, OnRequest, size};
use super::converse::needs_a_person;
use super::frames::Frames;
use crate::error::Exit;
use crate::output::printable;
use crate::signals::{Signal, Signals};
use crate::terminal::{Key, Keyboard, Line, Style, TurnStart, View};

/// Interval between redraws of the terminal.
const FRAME: Duration = Duration::from_millis(100);

/// Time that an agent has to end its turn after SIGTERM. The sender does not signal twice, and kills the
/// program if it stays.
const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(3);

/// The turns of a session, one after the other.
pub(super) struct Turns {
    pub(super) session: AgentSession,
    pub(super) events: Receiver<UiMessage>,
    pub(super) frames: Option<Frames>,
    pub(super) view: View,
    pub(super) signals: Signals,
    on_request: OnRequest,
    prompts: u64,
    pub(super) interrupted: Interrupted,
    /// Deadline after SIGTERM, at which the run ends even if the turn does not.
    exit_at: Option<tokio::time::Instant>,
    origin: TurnOrigin,
    /// Outcome of the last turn, by prompt or by the agent itself.
    exit: Exit,
}

/// Origin of a turn that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TurnOrigin {
    /// A prompt.
    Prompt,
    /// The agent itself, for example after background work.
    Agent,
}

/// Condition to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The turn of the prompt has ended.
    TurnEnds,
    /// Background work has ended too, and the agent has exited.
    AllEnds,
}

/// The exit code after Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// Number of times that the user pressed Ctrl-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupted {
    No,
    Once,
    /// The run ends, whatever the agent does.
    Twice,
}

/// Events that a turn waits for.
enum TurnEvent {
    Event(Option<UiMessage>),
    Frame(Event),
    Key(Key),
    Signal(Signal),
    /// The agent did not end its turn before the deadline.
    Late,
    Tick,
    Finished,
}

impl Turns {
    pub(super) fn new(
        session: AgentSession,
        events: Receiver<UiMessage>,
        frames: Option<Frames>,
        console: Console,
    ) -> io::Result<Self> {
        let Console { view, on_request } = console;
        Ok(Turns {
            session,
            events,
            frames,
            view,
            signals: Signals::catch()?,
            on_request,
            prompts: 0,
            interrupted: Interrupted::No,
            exit_at: None,
            origin: TurnOrigin::Prompt,
            exit: Exit::Success,
        })
    }

    pub(super) fn session(&self) -> &AgentSession {
        &self.session
    }

    pub(super) fn session_id(&self) -> Option<String> {
        self.session.client().session_id()
    }

    pub(super) fn next_turn(&mut self) -> u64 {
        self.prompts += 1;
        self.prompts
    }

    pub(super) fn start_turn(&mut self) {
        self.interrupted = Interrupted::No;
        self.exit = Exit::Success;
        self.view.start_turn(TurnStart::At(Instant::now()));
    }

    /// True if the user or a signal asked the run to end.
    pub(super) fn should_exit(&self) -> bool {
        self.interrupted == Interrupted::Twice || self.exit_at.is_some()
    }

    pub(super) fn note(&mut self, line: Line) -> io::Result<()> {
        self.view.note(line)
    }

    /// Waits for the end of the prompt's turn.
    pub(super) async fn wait(&mut self) -> anyhow::Result<Exit> {
        self.follow(Until::TurnEnds).await
    }

    /// Waits for the end of the prompt's turn, then for background work and the turns that it causes, as
    /// `claude -p` does.
    pub(super) async fn settle(&mut self) -> anyhow::Result<Exit> {
        match self.follow(Until::TurnEnds).await? {
            Exit::Code(code) => Ok(Exit::Code(code)),
            Exit::Success | Exit::Failure => self.follow(Until::AllEnds).await,
        }
    }

    async fn follow(&mut self, until: Until) -> anyhow::Result<Exit> {
        // Raw mode only during the turn: dropping the keyboard restores the terminal.
        let mut keyboard = match self.on_request {
            OnRequest::Prompt => Some(Keyboard::open()?),
            OnRequest::Fail | OnRequest::Deny => None,
        };
        let client = self.session.client().clone();
        let mut finished = std::pin::pin!(client.finish());
        let mut is_finishing = until == Until::AllEnds;
        let mut ticks = tokio::time::interval(FRAME);
        let is_interactive = self.view.screen().is_interactive();
        loop {
            let event = tokio::select! {
                biased;
                signal = self.signals.next() => TurnEvent::Signal(signal),
                () = wait_until(self.exit_at) => TurnEvent::Late,
                key = next_key(keyboard.as_mut()) => TurnEvent::Key(key),
                event = self.events.recv() => TurnEvent::Event(event),
                event = next_frame(self.frames.as_mut()) => TurnEvent::Frame(event),
                _ = ticks.tick(), if is_interactive => TurnEvent::Tick,
                _ = &mut finished, if is_finishing => TurnEvent::Finished,
            };
            match event {
                TurnEvent::Event(Some(event)) => {
                    self.view.event(&event, Instant::now())?;
                    if let Some(end) = self.check_event(&event, until)? {
                        return Ok(end);
                    }
                }
                TurnEvent::Event(None) => return Ok(self.exit),
                TurnEvent::Frame(event) => self.frame(&event)?,
                TurnEvent::Signal(signal) => {
                    if self.interrupt(until, signal)? == Interrupted::Twice {
                        return Ok(Exit::Code(INTERRUPTED));
                    }
                }
                TurnEvent::Key(Key::Interrupt) => {
                    if self.interrupt(until, Signal::Interrupt)? == Interrupted::Twice {
                        return Ok(Exit::Code(INTERRUPTED));
                    }
                }
                TurnEvent::Late => {
                    self.interrupted = Interrupted::Twice;
                    return Ok(Exit::Code(INTERRUPTED));
                }
                TurnEvent::Key(Key::Resized) => {
                    self.view.resized(size());
                    self.view.draw(Instant::now())?;
                }
                TurnEvent::Key(key) => self.key(key)?,
                TurnEvent::Tick => self.view.draw(Instant::now())?,
                // The last event reports how it ended.
                TurnEvent::Finished => is_finishing = false,
            }
        }
    }

    /// Returns the outcome if an event ends the run or the wait.
    fn check_event(&mut self, event: &UiMessage, until: Until) -> anyhow::Result<Option<Exit>> {
        if self.view.is_asking() && self.on_request == OnRequest::Fail {
            return Err(needs_a_person(&printable(&request_text(event))).into());
        }
        match event {
            UiMessage::TurnResult(result) => {
                self.origin = if result.origin.is_some() { TurnOrigin::Agent } else { TurnOrigin::Prompt };
                self.exit = outcome(result, self.interrupted);
            }
            UiMessage::Complete { .. } if self.origin == TurnOrigin::Prompt && until == Until::TurnEnds => {
                return Ok(Some(self.exit));
            }
            UiMessage::SessionStateChanged(state) if state.state == SessionPhase::Ended => {
                if self.interrupted != Interrupted::No {
                    return Ok(Some(Exit::Code(INTERRUPTED)));
                }
                let client = self.session.client();
                let is_done = !client.is_busy() && !client.works_in_background();
                if until == Until::AllEnds && is_done {
                    return Ok(Some(self.exit));
                }
                let error =
                    state.error.clone().unwrap_or_else(|| "The session ended before the answer".to_owned());
                anyhow::bail!(error);
            }
            _ => {}
        }
        Ok(None)
    }

    fn key(&mut self, key: Key) -> anyhow::Result<()> {
        if let Some((id, reply)) = self.view.key(key, Instant::now())?
            && let Err(error) = answer(&self.session, &id, reply)
        {
            self.view.note(Line::styled(&format!("  ✗ {error}"), Style::RED))?;
        }
        Ok(())
    }

    /// Handles Ctrl-C: the first interrupts the turn, the second ends the run. After the prompt's turn, the
    /// first ends the run.
    fn interrupt(&mut self, until: Until, signal: Signal) -> io::Result<Interrupted> {
        if signal == Signal::Terminate && self.exit_at.is_none() {
            self.exit_at = Some(tokio::time::Instant::now() + INTERRUPT_TIMEOUT);
        }
        self.interrupted = match self.interrupted {
            Interrupted::No if until == Until::TurnEnds => Interrupted::Once,
            Interrupted::No | Interrupted::Once | Interrupted::Twice => Interrupted::Twice,
        };
        if self.interrupted == Interrupted::Once {
            self.view.interrupted()?;
            let session = self.session.clone();
            // The result comes as events.
            drop(tokio::spawn(async move { session.command(Command::Interrupt).await }));
        }
        Ok(self.interrupted)
    }

    pub(super) fn frame(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Frame { frame, .. } => {
                self.view.screen().clear()?;
                if let Some(frames) = &mut self.frames {
                    frames.take(frame)?;
                }
                Ok(())
            }
            Event::Lagged { lost } => {
                anyhow::bail!("Frames came faster than they could be written; {lost} are lost")
            }
            _ => Ok(()),
        }
    }
}

/// Outcome of the run if this was its last turn.
fn outcome(result: &TurnResult, interrupted: Interrupted) -> Exit {
    match interrupted {
        Interrupted::No if result.is_error => Exit::Failure,
        Interrupted::No => Exit::Success,
        Interrupted::Once | Interrupted::Twice => Exit::Code(INTERRUPTED),
    }
}

/// Describes a request in one line.
fn request_text(event: &UiMessage) -> String {
    match event {
        UiMessage::PermissionRequired { request, .. } => request.description.clone(),
        UiMessage::BatchPermissionRequired { requests, .. } => {
            requests.first().map(|request| request.description.clone()).unwrap_or_default()
        }
        UiMessage::UserInteractionRequired { request, .. } => {
            request.questions.first().map(|question| question.text.clone()).unwrap_or_default()
        }
        _ => "a question of the agent".to_owned(),
    }
}

async fn next_key(keyboard: Option<&mut Keyboard>) -> Key {
    match keyboard {
        Some(keyboard) => keyboard.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for the next frame; never returns if the output is not JSON.
pub(super) async fn next_frame(frames: Option<&mut Frames>) -> Event {
    match frames {
        Some(frames) => frames.next().await,
        None => std::future::pending().await,
    }
}

async fn wait_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
