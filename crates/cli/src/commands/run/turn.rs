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
use crate::signals::signals;
use crate::terminal::{Key, Keyboard, Line, Style, View};

/// How often what changes on a terminal is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// The turns of a session, one after the other.
pub(super) struct Turns {
    session: AgentSession,
    events: Receiver<UiMessage>,
    frames: Option<Frames>,
    view: View,
    person: Person,
    said: u64,
    interrupted: Interrupted,
    whose: Whose,
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
    TurnEnds,
    Settled,
}

/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

/// How often somebody pressed Ctrl-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interrupted {
    No,
    Once,
    /// The person leaves, whatever the agent does.
    Twice,
}

/// What a turn waits for.
enum Happened {
    Event(Option<UiMessage>),
    Frame(Option<Event>),
    Key(Key),
    Signal,
    Tick,
    Settled,
}

impl Turns {
    pub(super) fn new(
        session: AgentSession,
        events: Receiver<UiMessage>,
        frames: Option<Frames>,
        stage: Stage,
    ) -> Self {
        let Stage { view, person } = stage;
        Turns {
            session,
            events,
            frames,
            view,
            person,
            said: 0,
            interrupted: Interrupted::No,
            whose: Whose::Ours,
        }
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
        self.view.began(Instant::now());
    }

    /// Whether the person wants to leave.
    pub(super) fn leaves(&self) -> bool {
        self.interrupted == Interrupted::Twice
    }

    pub(super) fn note(&mut self, line: Line) -> io::Result<()> {
        self.view.note(line)
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.view.finish()
    }

    /// Waits for the end of the turn that a prompt began.
    pub(super) async fn wait(&mut self) -> anyhow::Result<Exit> {
        self.follow(Until::TurnEnds).await
    }

    /// The same, and then until nothing goes on in the background that could begin another turn.
    pub(super) async fn settle(&mut self) -> anyhow::Result<Exit> {
        let exit = self.follow(Until::TurnEnds).await?;
        if exit == Exit::Fine {
            self.follow(Until::Settled).await?;
        }
        self.last_frames().await?;
        Ok(exit)
    }

    async fn follow(&mut self, until: Until) -> anyhow::Result<Exit> {
        // Raw only while something is under way; dropped at the end of this function, the terminal is as it was.
        let mut keyboard = match self.person {
            Person::Here => Some(Keyboard::open()?),
            Person::Needed | Person::NotAsked => None,
        };
        let client = self.session.client().clone();
        let mut settled = std::pin::pin!(client.settled());
        let mut signal = std::pin::pin!(signals()?);
        let mut ticks = tokio::time::interval(FRAME);
        let watched = self.view.screen().is_watched();
        let mut exit = Exit::Fine;
        loop {
            let happened = tokio::select! {
                biased;
                () = &mut signal => Happened::Signal,
                key = next_key(keyboard.as_mut()) => Happened::Key(key),
                event = self.events.recv() => Happened::Event(event),
                event = next_frame(self.frames.as_mut()) => Happened::Frame(event),
                _ = ticks.tick(), if watched => Happened::Tick,
                _ = &mut settled, if until == Until::Settled => Happened::Settled,
            };
            match happened {
                Happened::Event(Some(event)) => {
                    self.view.event(&event, Instant::now())?;
                    if let Some(end) = self.heard(&event, &mut exit)?
                        && until == Until::TurnEnds
                    {
                        return Ok(end);
                    }
                }
                Happened::Event(None) | Happened::Settled => return Ok(exit),
                Happened::Frame(Some(event)) => self.frame(&event)?,
                Happened::Frame(None) => self.frames = None,
                Happened::Key(Key::Interrupt) => {
                    if self.interrupt()? == Interrupted::Twice {
                        return Ok(Exit::Code(INTERRUPTED));
                    }
                }
                Happened::Key(Key::Resized) => {
                    self.view.resized(size());
                    self.view.draw(Instant::now())?;
                }
                Happened::Key(key) => self.key(key)?,
                Happened::Signal => {
                    let interrupted = self.interrupt()?;
                    if interrupted == Interrupted::Twice {
                        return Ok(Exit::Code(INTERRUPTED));
                    }
                    signal.set(signals()?);
                }
                Happened::Tick => self.view.draw(Instant::now())?,
            }
        }
    }

    /// What an event means for the run; the way it ends, if it ends it.
    fn heard(&mut self, event: &UiMessage, exit: &mut Exit) -> anyhow::Result<Option<Exit>> {
        if self.view.is_asking() && self.person == Person::Needed {
            return Err(needs_a_person(&printable(&asked(event))).into());
        }
        match event {
            UiMessage::TurnResult(result) => {
                self.whose = if result.origin.is_some() { Whose::Its } else { Whose::Ours };
                if self.whose == Whose::Ours {
                    *exit = ended(result, self.interrupted);
                }
            }
            UiMessage::Complete { .. } if self.whose == Whose::Ours => return Ok(Some(*exit)),
            UiMessage::SessionStateChanged(state) if state.state == SessionPhase::Ended => {
                let error =
                    state.error.clone().unwrap_or_else(|| "The session ended before the answer".to_owned());
                if self.interrupted != Interrupted::No {
                    return Ok(Some(Exit::Code(INTERRUPTED)));
                }
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

    /// Ctrl-C: the first interrupts the turn, the second leaves.
    fn interrupt(&mut self) -> io::Result<Interrupted> {
        self.interrupted = match self.interrupted {
            Interrupted::No => Interrupted::Once,
            Interrupted::Once | Interrupted::Twice => Interrupted::Twice,
        };
        if self.interrupted == Interrupted::Once {
            self.view.interrupted()?;
            let session = self.session.clone();
            // The answer comes as events; whether the agent heard it is seen by what it does.
            drop(tokio::spawn(async move { session.command(Command::Interrupt).await }));
        }
        Ok(self.interrupted)
    }

    fn frame(&mut self, event: &Event) -> anyhow::Result<()> {
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

    /// The frames that were read but not written yet, and the result.
    async fn last_frames(&mut self) -> anyhow::Result<()> {
        while let Some(event) = ready_frame(self.frames.as_mut()).await {
            self.frame(&event)?;
        }
        self.view.screen().clear()?;
        self.frames.as_mut().map_or(Ok(()), |frames| Ok(frames.finish()?))
    }
}

/// How the run ends after a turn of ours.
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

async fn next_frame(frames: Option<&mut Frames>) -> Option<Event> {
    match frames {
        Some(frames) => frames.next().await,
        None => std::future::pending().await,
    }
}

/// A frame that is there already.
async fn ready_frame(frames: Option<&mut Frames>) -> Option<Event> {
    tokio::select! {
        biased;
        event = next_frame(frames) => event,
        () = std::future::ready(()) => None,
    }
}
