//! The turns of `tidings run`, with requests, signals and the screen.

use std::io;
use std::time::{Duration, Instant};

use tidings::Event;
use tidings_agent::UiMessage;
use tidings_agent::session::AgentSession;
use tidings_agent::source::Command;
use tidings_protocol::ui::{SessionPhase, TurnResult};
use tokio::sync::mpsc::Receiver;

use super::answer::answer;
use super::converse::{PromptQueue, needs_a_person};
use super::frames::Frames;
use super::leave::LeavePresses;
use crate::console::{Console, ConsoleInput, UserAction};
use crate::error::Exit;
use crate::output::printable;
use crate::signals::{Signal, Signals};
use crate::terminal::ask::Reply;
use crate::terminal::{Line, Style, TurnStart};

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
    pub(super) console: Console,
    pub(super) signals: Signals,
    pub(super) queue: PromptQueue,
    on_request: OnRequest,
    pub(super) interrupted: Interrupted,
    leaving: LeavePresses,
    /// Deadline after SIGTERM, at which the run ends even if the turn does not.
    exit_at: Option<tokio::time::Instant>,
    origin: TurnOrigin,
    /// Outcome of the last turn, by prompt or by the agent itself.
    exit: Exit,
}

/// Handling of permission requests and questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnRequest {
    /// Ask the user at the terminal.
    Prompt,
    /// End the run.
    Fail,
    /// Deny every request.
    Deny,
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
    /// The user leaves the conversation.
    UserLeaves,
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
    Input(ConsoleInput),
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
        on_request: OnRequest,
    ) -> io::Result<Self> {
        Ok(Turns {
            session,
            events,
            frames,
            console,
            signals: Signals::catch()?,
            queue: PromptQueue::default(),
            on_request,
            interrupted: Interrupted::No,
            leaving: LeavePresses::default(),
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

    pub(super) fn start_turn(&mut self) {
        self.interrupted = Interrupted::No;
        self.exit = Exit::Success;
        self.console.view.start_turn(TurnStart::At(Instant::now()));
    }

    pub(super) fn note(&mut self, line: Line) -> io::Result<()> {
        self.console.view.note(line)
    }

    /// Runs prompts until the user leaves.
    pub(super) async fn converse(&mut self) -> anyhow::Result<Exit> {
        self.follow(Until::UserLeaves).await
    }

    /// Waits for the end of the prompt's turn, then for background work and the turns that it causes, as
    /// `claude -p` does.
    pub(super) async fn settle(&mut self) -> anyhow::Result<Exit> {
        // Raw mode only during the turn: otherwise Ctrl-C would be a key.
        if self.on_request == OnRequest::Prompt {
            self.console.open_keyboard()?;
        }
        let exit = match self.follow(Until::TurnEnds).await {
            Ok(Exit::Success | Exit::Failure) => self.follow(Until::AllEnds).await,
            ended => ended,
        };
        self.console.close_keyboard();
        exit
    }

    async fn follow(&mut self, until: Until) -> anyhow::Result<Exit> {
        let client = self.session.client().clone();
        let mut finished = std::pin::pin!(client.finish());
        let mut is_finishing = until == Until::AllEnds;
        let mut ticks = tokio::time::interval(FRAME);
        let is_interactive = self.console.view.screen().is_interactive();
        loop {
            let event = tokio::select! {
                biased;
                signal = self.signals.next() => TurnEvent::Signal(signal),
                () = wait_until(self.exit_at) => TurnEvent::Late,
                input = self.console.next() => TurnEvent::Input(input),
                event = self.events.recv() => TurnEvent::Event(event),
                event = next_frame(self.frames.as_mut()) => TurnEvent::Frame(event),
                _ = ticks.tick(), if is_interactive => TurnEvent::Tick,
                _ = &mut finished, if is_finishing => TurnEvent::Finished,
            };
            let ended = match event {
                TurnEvent::Event(Some(event)) => {
                    let now = Instant::now();
                    match until {
                        Until::UserLeaves => self.console.view.show(&event, TurnStart::At(now), now)?,
                        Until::TurnEnds | Until::AllEnds => self.console.view.event(&event, now)?,
                    }
                    let ended = self.check_event(&event, until)?;
                    self.send_queued().await?;
                    ended
                }
                TurnEvent::Event(None) => Some(self.exit),
                TurnEvent::Frame(event) => {
                    self.frame(&event)?;
                    None
                }
                // The key of an editor, which has the terminal.
                TurnEvent::Signal(Signal::Interrupt) if self.console.is_editing() => None,
                TurnEvent::Signal(signal) => self.interrupt(until, signal)?,
                TurnEvent::Input(input) => {
                    let action = self.console.handle(input)?;
                    if !matches!(action, Some(UserAction::Interrupt)) {
                        self.leaving.reset();
                    }
                    match action {
                        Some(action) => self.act(action, until).await?,
                        None => None,
                    }
                }
                TurnEvent::Late => {
                    self.interrupted = Interrupted::Twice;
                    Some(Exit::Code(INTERRUPTED))
                }
                TurnEvent::Tick => {
                    self.console.view.draw(Instant::now())?;
                    self.send_queued().await?;
                    None
                }
                // The last event reports how it ended.
                TurnEvent::Finished => {
                    is_finishing = false;
                    None
                }
            };
            if let Some(exit) = ended {
                return Ok(exit);
            }
        }
    }

    /// Does what the user wants; returns the outcome if that ends the run.
    async fn act(&mut self, action: UserAction, until: Until) -> anyhow::Result<Option<Exit>> {
        match action {
            UserAction::Interrupt if until == Until::UserLeaves && self.is_first_to_leave() => {
                self.note(Line::styled("• press Ctrl-C again to leave", Style::YELLOW))?;
            }
            UserAction::Interrupt => return Ok(self.interrupt(until, Signal::Interrupt)?),
            UserAction::Leave => return Ok(Some(Exit::Success)),
            UserAction::Answer(id, reply) => self.answer(&id, reply)?,
            UserAction::Prompt(draft, delivery) => {
                self.interrupted = Interrupted::No;
                self.prompt_typed(draft, delivery).await?;
            }
        }
        Ok(None)
    }

    /// Returns the outcome if an event ends the run or the wait.
    fn check_event(&mut self, event: &UiMessage, until: Until) -> anyhow::Result<Option<Exit>> {
        if self.console.view.is_asking() && self.on_request == OnRequest::Fail {
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
            UiMessage::Complete { .. } if until == Until::UserLeaves => {
                self.interrupted = Interrupted::No;
                return Ok(self.exit_at.map(|_| Exit::Code(INTERRUPTED)));
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

    fn answer(&mut self, id: &str, reply: Reply) -> io::Result<()> {
        match answer(&self.session, id, reply) {
            Ok(()) => Ok(()),
            Err(error) => self.note(Line::styled(&format!("  ✗ {error}"), Style::RED)),
        }
    }

    /// Returns true if Ctrl-C was pressed without a turn to interrupt, and not a moment before.
    fn is_first_to_leave(&mut self) -> bool {
        if self.session.client().is_busy() && self.interrupted == Interrupted::No {
            self.leaving.reset();
            return false;
        }
        !self.leaving.press(Instant::now())
    }

    /// Handles Ctrl-C and signals: the first interrupts the turn, the second ends the run. Without a turn of
    /// a prompt, the first ends the run. At a prompt, a key that would end the run has to be pressed twice
    /// before it comes here. Returns the outcome if the run ends.
    fn interrupt(&mut self, until: Until, signal: Signal) -> io::Result<Option<Exit>> {
        let is_busy = match until {
            Until::TurnEnds => true,
            Until::AllEnds => false,
            Until::UserLeaves => self.session.client().is_busy(),
        };
        if signal == Signal::Terminate && self.exit_at.is_none() {
            self.exit_at = Some(tokio::time::Instant::now() + INTERRUPT_TIMEOUT);
        }
        if until == Until::UserLeaves && !is_busy {
            return Ok(Some(Exit::Code(INTERRUPTED)));
        }
        self.interrupted = match self.interrupted {
            Interrupted::No if is_busy => Interrupted::Once,
            Interrupted::No | Interrupted::Once | Interrupted::Twice => Interrupted::Twice,
        };
        if self.interrupted == Interrupted::Twice {
            return Ok(Some(Exit::Code(INTERRUPTED)));
        }
        self.console.view.interrupted()?;
        self.put_back_queued();
        let session = self.session.clone();
        // The result comes as events.
        drop(tokio::spawn(async move { session.command(Command::Interrupt).await }));
        Ok(None)
    }

    pub(super) fn frame(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Frame { frame, .. } => {
                self.console.view.screen().clear()?;
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
