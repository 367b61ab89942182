//! What the parts of a session tell the one task that makes events of it.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::desk::AskKey;
use crate::fold;
use crate::limits::OPEN_MAX;
use crate::pending::Outcome;
use crate::permissions::{Answer, Ask};
use crate::questions::Replied;
use crate::source::Command;

/// Something to make an event of.
#[derive(Debug)]
pub(super) enum Note {
    /// Something was said to the agent.
    Prompt(fold::Prompt),
    /// A question about a tool is open; if nobody answers, until then (in milliseconds since the epoch).
    Opened(Arc<Ask>, Option<i64>),
    /// A question about a tool was settled as soon as it was asked, and need not be shown.
    Decided(AskKey, Outcome<Answer>),
    /// A question about a tool that was open is settled.
    Settled(AskKey, Outcome<Answer>),
    /// Somebody has to know which plan a call proposes.
    Plan(String, oneshot::Sender<Option<String>>),
    /// A question to the person is open.
    Questioned(Box<fold::Asked>),
    /// A question to the person was settled without the person.
    Declined(AskKey, Outcome<Replied>),
    /// A question to the person that was open is settled.
    Answered(AskKey, Outcome<Replied>),
    /// A command is done.
    Done(Command),
}

#[derive(Debug, Clone)]
pub(super) struct Notes {
    queue: mpsc::Sender<Note>,
    /// What comes from places that cannot wait: at most one for each question that is open.
    urgent: mpsc::Sender<Note>,
}

#[derive(Debug)]
pub(super) struct Inbox {
    queue: mpsc::Receiver<Note>,
    urgent: mpsc::Receiver<Note>,
    /// An urgent note that waits for what was told before it.
    held: Option<Note>,
}

pub(super) fn channel(room: usize) -> (Notes, Inbox) {
    let (queue, from_queue) = mpsc::channel(room);
    let (urgent, from_urgent) = mpsc::channel(OPEN_MAX);
    (Notes { queue, urgent }, Inbox { queue: from_queue, urgent: from_urgent, held: None })
}

impl Notes {
    /// Tells it as soon as there is room. Whoever reads may be gone; then nobody wants to know.
    pub(super) async fn tell(&self, note: Note) {
        drop(self.queue.send(note).await);
    }

    /// Tells it at once, from a place that cannot wait.
    pub(super) fn tell_now(&self, note: Note) {
        drop(self.urgent.try_send(note));
    }
}

impl Inbox {
    /// The next note. A question is opened in the queue and may be settled in a hurry; it is opened first all the same.
    pub(super) async fn recv(&mut self) -> Option<Note> {
        if self.held.is_none() {
            self.held = tokio::select! {
                biased;
                Some(note) = self.queue.recv() => return Some(note),
                note = self.urgent.recv() => note,
            };
        }
        self.queue.try_recv().ok().or_else(|| self.held.take())
    }

    /// What is there already. Nothing can be told afterwards.
    pub(super) fn close(&mut self) -> Vec<Note> {
        self.queue.close();
        self.urgent.close();
        let mut notes = Vec::new();
        while let Ok(note) = self.queue.try_recv() {
            notes.push(note);
        }
        notes.extend(self.held.take());
        while let Ok(note) = self.urgent.try_recv() {
            notes.push(note);
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever settles a question in a hurry does not overtake the one who opened it, whenever the reader looks.
    #[tokio::test]
    async fn what_was_told_before_an_urgent_note_comes_before_it() {
        let (notes, mut inbox) = channel(4);
        notes.tell_now(Note::Done(Command::Interrupt));
        // The reader has found the queue empty and took the urgent note; only now it sees what was told before.
        inbox.held = inbox.urgent.try_recv().ok();
        notes.tell(Note::Done(Command::Clear)).await;
        let told = [inbox.recv().await, inbox.recv().await];
        assert!(
            matches!(told, [Some(Note::Done(Command::Clear)), Some(Note::Done(Command::Interrupt))]),
            "{told:?}"
        );
    }
}
