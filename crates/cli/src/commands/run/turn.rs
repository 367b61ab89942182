use std::io;
use std::time::{Duration, Instant};

use tidings::Event;
use tidings_agent::UiMessage;
use tidings_agent::session::AgentSession;
use tidings_agent::source::Command;
use tidings_protocol::ui::{SessionPhase, TurnResult};
use tokio::sync::mpsc::Receiver;

use super::answer::answer;
use super::converse::needs_a_person;
use super::frames::Frames;
use super::stage::{Person, Stage, size};
use crate::error::Exit;
use crate::output::printable;
use crate::signals::{Signal, Signals};
use crate::terminal::{Began, Key, Keyboard, Line, Style, View};

/// How often what changes on a terminal is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// How long an agent may take to end its turn when somebody asked for our end: whoever asks will not ask twice, and kills
/// what stays.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(3);

/// The turns of a session, one after the other.
pub(super) struct Turns {
    pub(super) session: AgentSession,
    pub(super) events: Receiver<UiMessage>,
    pub(super) frames: Option<Frames>,
    pub(super) view: View,
    pub(super) signals: Signals,
    person: Person,
    said: u64,
    pub(super) interrupted: Interrupted,
    /// When the agent is left, whether it has heard the interrupt or not.
    leave_at: Option<tokio::time::Instant>,
    whose: Whose,
    /// How the run ends by what the last result says, whoever began its turn.
    exit: Exit,
}

/// Who began the turn that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    /// The agent by itself, as after work in the background.
    Its,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The turn that a prompt began is over.
    TurnEnds,
    /// Nothing goes on in the background either, and the agent has left.
    AllEnds,
}

/// The exit code after Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// How often somebody pressed Ctrl-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupted {
    No,
    Once,
    /// The person leaves, whatever the agent does.
    Twice,
}

/// What a turn waits for.
enum Happened {
    Event(Option<UiMessage>),
    Frame(Event),
    Key(Key),
    Signal(Signal),
    /// The agent has not ended its turn in time.
    Late,
    Tick,
    Finished,
}

impl Turns {
    pub(super) fn new(
        session: AgentSession,
        events: Receiver<UiMessage>,
        frames: Option<Frames>,
        stage: Stage,
    ) -> io::Result<Self> {
        let Stage { view, person } = stage;
        Ok(Turns {
            session,
            events,
            frames,
            view,
            signals: Signals::catch()?,
            person,
            said: 0,
            interrupted: Interrupted::No,
            leave_at: None,
            whose: Whose::Ours,
            exit: Exit::Fine,
        })
    }

    pub(super) fn session(&self) -> &AgentSession {
        &self.session
    }

    pub(super) fn session_id(&self) -> Option<String> {
        self.session.client().session_id()
    }

    pub(super) fn next_turn(&mut self) -> u64 {
        self.said += 1;
        self.said
    }

    pub(super) fn began(&mut self) {
        self.interrupted = Interrupted::No;
        self.exit = Exit::Fine;
        self.view.began(Began::At(Instant::now()));
    }

    /// Whether somebody wants us to leave.
    pub(super) fn leaves(&self) -> bool {
        self.interrupted == Interrupted::Twice || self.leave_at.is_some()
    }

    pub(super) fn note(&mut self, line: Line) -> io::Result<()> {
        self.view.note(line)
    }

    /// Waits for the end of the turn that a prompt began.
    pub(super) async fn wait(&mut self) -> anyhow::Result<Exit> {
        self.follow(Until::TurnEnds).await
    }

    /// The same, and then for what goes on in the background and the turns that it begins, as `claude -p` does.
    pub(super) async fn settle(&mut self) -> anyhow::Result<Exit> {
        match self.follow(Until::TurnEnds).await? {
            Exit::Code(code) => Ok(Exit::Code(code)),
            Exit::Fine | Exit::NotFine => self.follow(Until::AllEnds).await,
        }
    }

    async fn follow(&mut self, until: Until) -> anyhow::Result<Exit> {
        // Raw only while something is under way; dropped at the end of this function, the terminal is as it was.
        let mut keyboard = match self.person {
            Person::Here => Some(Keyboard::open()?),
            Person::Needed | Person::NotAsked => None,
        };
        let client = self.session.client().clone();
        let mut finished = std::pin::pin!(client.finish());
        let mut is_finishing = until == Until::AllEnds;
        let mut ticks = tokio::time::interval(FRAME);
        let watched = self.view.screen().is_watched();
        loop {
            let happened = tokio::select! {
                biased;
                signal = self.signals.next() => Happened::Signal(signal),
                () = wait_until(self.leave_at) => Happened::Late,
                key = next_key(keyboard.as_mut()) => Happened::Key(key),
                event = self.events.recv() => Happened::Event(event),
                event = next_frame(self.frames.as_mut()) => Happened::Frame(event),
                _ = ticks.tick(), if watched => Happened::Tick,
                _ = &mut finished, if is_finishing => Happened::Finished,
            };
            match happened {
                Happened::Event(Some(event)) => {
                    self.view.event(&event, Instant::now())?;
                    if let Some(end) = self.heard(&event, until)? {
                        return Ok(end);
                    }
                }
                Happened::Event(None) => return Ok(self.exit),
                Happened::Frame(event) => self.frame(&event)?,
                Happened::Signal(signal) => {
                    if self.interrupt(until, signal)? == Interrupted::Twice {
                        return Ok(Exit::Code(INTERRUPTED));
                    }
                }
                Happened::Key(Key::Interrupt) => {
                    if self.interrupt(until, Signal::Interrupt)? == Interrupted::Twice {
                        return Ok(Exit::Code(INTERRUPTED));
                    }
                }
                Happened::Late => {
                    self.interrupted = Interrupted::Twice;
                    return Ok(Exit::Code(INTERRUPTED));
                }
                Happened::Key(Key::Resized) => {
                    self.view.resized(size());
                    self.view.draw(Instant::now())?;
                }
                Happened::Key(key) => self.key(key)?,
                Happened::Tick => self.view.draw(Instant::now())?,
                // How it ended comes as the last event.
                Happened::Finished => is_finishing = false,
            }
        }
    }

    /// What an event means for the run; the way it ends, if it ends it.
    fn heard(&mut self, event: &UiMessage, until: Until) -> anyhow::Result<Option<Exit>> {
        if self.view.is_asking() && self.person == Person::Needed {
            return Err(needs_a_person(&printable(&asked(event))).into());
        }
        match event {
            UiMessage::TurnResult(result) => {
                self.whose = if result.origin.is_some() { Whose::Its } else { Whose::Ours };
                self.exit = ended(result, self.interrupted);
            }
            UiMessage::Complete { .. } if self.whose == Whose::Ours && until == Until::TurnEnds => {
                return Ok(Some(self.exit));
            }
            UiMessage::SessionStateChanged(state) if state.state == SessionPhase::Ended => {
                if self.interrupted != Interrupted::No {
                    return Ok(Some(Exit::Code(INTERRUPTED)));
                }
                let client = self.session.client();
                let is_all_said = !client.is_busy() && !client.works_in_background();
                if until == Until::AllEnds && is_all_said {
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
            && let Err(words) = answer(&self.session, &id, reply)
        {
            self.view.note(Line::styled(&format!("  ✗ {words}"), Style::RED))?;
        }
        Ok(())
    }

    /// Ctrl-C: the first interrupts the turn, the second leaves. When our turn is over, there is nothing to interrupt.
    fn interrupt(&mut self, until: Until, signal: Signal) -> io::Result<Interrupted> {
        if signal == Signal::Terminate && self.leave_at.is_none() {
            self.leave_at = Some(tokio::time::Instant::now() + INTERRUPT_PATIENCE);
        }
        self.interrupted = match self.interrupted {
            Interrupted::No if until == Until::TurnEnds => Interrupted::Once,
            Interrupted::No | Interrupted::Once | Interrupted::Twice => Interrupted::Twice,
        };
        if self.interrupted == Interrupted::Once {
            self.view.interrupted()?;
            let session = self.session.clone();
            // The answer comes as events; whether the agent heard it is seen by what it does.
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
                anyhow::bail!("Frames came faster than they could be written, and {lost} are lost")
            }
            _ => Ok(()),
        }
    }
}

/// How the run ends if this was the last turn.
fn ended(result: &TurnResult, interrupted: Interrupted) -> Exit {
    match interrupted {
        Interrupted::No if result.is_error => Exit::NotFine,
        Interrupted::No => Exit::Fine,
        Interrupted::Once | Interrupted::Twice => Exit::Code(INTERRUPTED),
    }
}

/// What is being asked, in a line.
fn asked(event: &UiMessage) -> String {
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

/// The next frame, if any are wanted.
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
