//! The one task of a session that makes events.

use std::sync::Arc;

use tidings::Event;
use tidings::transport::Exit;
use tidings_protocol::ui::UiMessage;
use tokio::time::{Instant, MissedTickBehavior};

use super::asking::Asking;
use super::notes::{Inbox, Note};
use super::status;
use crate::fold::{self, Fold, Input};
use crate::limits::{GATHER_TIME, TICK};
use crate::permissions::Gather;
use crate::sink::EventSink;

pub(super) struct Pump {
    pub(super) fold: Fold,
    pub(super) frames: tidings::Subscriber,
    pub(super) inbox: Inbox,
    pub(super) sink: Box<dyn EventSink>,
    pub(super) asking: Arc<Asking>,
    pub(super) status: Arc<status::Shared>,
}

/// Nobody takes events any more.
struct Closed;

/// Whether more can come.
#[derive(PartialEq, Eq)]
enum Then {
    GoOn,
    Ended,
}

impl Pump {
    /// Runs until the agent has ended, or nobody takes events any more. In that case the session is dropped here: a
    /// session that nobody sees must not go on.
    pub(super) async fn run(mut self) {
        let mut gather = Gather::default();
        let mut show_at: Option<Instant> = None;
        let mut events = Vec::new();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let then = tokio::select! {
                biased;
                // What the agent wrote comes before what it asks about it: the frame was read first.
                event = self.frames.next() => self.heard(event, &mut events),
                Some(note) = self.inbox.recv() => {
                    self.noted(note, &mut gather, &mut events);
                    Then::GoOn
                }
                () = wait_until(show_at), if show_at.is_some() => {
                    self.show(&mut gather, &mut events);
                    Then::GoOn
                }
                _ = ticks.tick(), if self.fold.open_turn().is_some() => {
                    let now = self.asking.setup.clock.now().as_millisecond();
                    self.fold.step(Input::Tick(now), &mut events);
                    Then::GoOn
                }
            };
            show_at = match show_at {
                _ if gather.is_empty() => None,
                Some(at) => Some(at),
                None => Some(Instant::now() + GATHER_TIME),
            };
            if self.hand_over(&mut events).await.is_err() {
                return self.asking.leave().await;
            }
            if then == Then::Ended {
                return;
            }
        }
    }

    fn heard(&mut self, event: Option<Event>, events: &mut Vec<UiMessage>) -> Then {
        match event {
            Some(Event::Frame { frame, .. }) => {
                self.fold.step(Input::Frame(&frame.as_ref()), events);
                if let Some(asked) = self.asking.hear(&frame) {
                    self.fold.step(Input::Asked(&asked), events);
                }
            }
            Some(Event::Stalled { quiet }) => events.push(UiMessage::System {
                message: format!("Nothing has come from the agent for {} seconds", quiet.as_secs()),
                session_id: Some(self.fold.handle()),
            }),
            Some(Event::Oversized { bytes, .. }) => events.push(UiMessage::Error {
                message: format!("The agent wrote a line of {bytes} bytes, which is too long to keep"),
                session_id: Some(self.fold.handle()),
            }),
            Some(Event::Ended { exit, error }) => {
                self.ended(exit, error.as_ref(), events);
                return Then::Ended;
            }
            Some(_) => {}
            None => {
                self.ended(Exit::default(), None, events);
                return Then::Ended;
            }
        }
        Then::GoOn
    }

    fn ended(&mut self, exit: Exit, error: Option<&tidings::Error>, events: &mut Vec<UiMessage>) {
        self.asking.disconnect();
        // What is settled with it is told before the end.
        let mut gather = Gather::default();
        while let Some(note) = self.inbox.try_recv() {
            self.noted(note, &mut gather, events);
        }
        let exit = fold::Exit { code: exit.code, signal: exit.signal, error: error.map(ToString::to_string) };
        self.fold.step(Input::Exited(&exit), events);
    }

    fn noted(&mut self, note: Note, gather: &mut Gather, events: &mut Vec<UiMessage>) {
        let session_id = self.fold.handle();
        match note {
            Note::Prompt(prompt) => self.fold.step(Input::Prompt(&prompt), events),
            Note::Opened(ask) => {
                // The agent asks before its message is whole; then all of it is shown now.
                if let Some(asked) = self.asking.announce() {
                    self.fold.step(Input::Asked(&asked), events);
                }
                if !self.asking.is_shown(&ask.key) {
                    gather.opened(ask);
                }
            }
            Note::Questioned(asked) => self.fold.step(Input::Asked(&asked), events),
            Note::Decided(resolved) => {
                gather.settled(&crate::AskKey::new(session_id, resolved.tool_use_id.clone()));
                self.fold.step(Input::Settled(&fold::Settled::Permission(resolved)), events);
            }
            Note::Answered(resolved) => {
                self.fold.step(Input::Settled(&fold::Settled::Questions(resolved)), events);
            }
            Note::Done(command) => {
                events.push(UiMessage::CommandComplete { command: command.to_string(), session_id });
            }
            Note::Failed(error) => {
                events.push(UiMessage::Error { message: error.to_string(), session_id: Some(session_id) });
            }
        }
    }

    /// Shows the questions that have gathered.
    fn show(&mut self, gather: &mut Gather, events: &mut Vec<UiMessage>) {
        while let Some(emit) = gather.show() {
            if let Some(asked) = self.asking.shown(emit) {
                self.fold.step(Input::Asked(&asked), events);
            }
        }
    }

    async fn hand_over(&mut self, events: &mut Vec<UiMessage>) -> Result<(), Closed> {
        for event in events.drain(..) {
            self.status.note(&event);
            self.asking.note(&event);
            self.sink.send_async(event).await.map_err(|_| Closed)?;
        }
        Ok(())
    }
}

async fn wait_until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
}
