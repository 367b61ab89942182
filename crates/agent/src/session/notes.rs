//! Notes from the parts of a session to the task that turns them into events.

use std::sync::Arc;

use tidings_protocol::ui::RequestOutcome;
use tokio::sync::{mpsc, oneshot};

use crate::fold;
use crate::limits::OPEN_MAX;
use crate::permissions::{Answer, Ask};
use crate::questions::Replied;
use crate::request_table::AskKey;
use crate::source::Command;

/// An occurrence that becomes an event.
#[derive(Debug)]
pub(super) enum Note {
    /// A prompt was sent to the agent.
    Prompt(fold::Prompt),
    /// A permission request is open, until the deadline if there is one (in milliseconds since the Unix
    /// epoch).
    Opened(Arc<Ask>, Option<i64>),
    /// A permission request was settled immediately, and need not be shown.
    Decided(AskKey, RequestOutcome<Answer>),
    /// An open permission request was settled.
    Settled(AskKey, RequestOutcome<Answer>),
    /// A request for the plan that a call proposes.
    Plan(String, oneshot::Sender<Option<String>>),
    /// A question to the user is open.
    Questioned(Box<fold::OpenedRequest>),
    /// A question to the user was settled without the user.
    Declined(AskKey, RequestOutcome<Replied>),
    /// An open question to the user was settled.
    Answered(AskKey, RequestOutcome<Replied>),
    /// A command is finished.
    Done(Command),
}

#[derive(Debug, Clone)]
pub(super) struct NoteSender {
    queue: mpsc::Sender<Note>,
    /// Notes from places that cannot wait, such as `Drop`: at most one for each open request.
    urgent: mpsc::Sender<Note>,
}

#[derive(Debug)]
pub(super) struct NoteReceiver {
    queue: mpsc::Receiver<Note>,
    urgent: mpsc::Receiver<Note>,
    /// An urgent note that waits for the notes that were sent before it.
    held: Option<Note>,
}

pub(super) fn channel(room: usize) -> (NoteSender, NoteReceiver) {
    let (queue, from_queue) = mpsc::channel(room);
    let (urgent, from_urgent) = mpsc::channel(OPEN_MAX);
    (NoteSender { queue, urgent }, NoteReceiver { queue: from_queue, urgent: from_urgent, held: None })
}

impl NoteSender {
    /// Sends a note as soon as there is room. If the event task has ended, the note is dropped.
    pub(super) async fn send(&self, note: Note) {
        drop(self.queue.send(note).await);
    }

    /// Sends a note immediately, from a place that cannot wait.
    pub(super) fn send_urgent(&self, note: Note) {
        drop(self.urgent.try_send(note));
    }
}

impl NoteReceiver {
    /// The next note. A request is opened through the queue and may be settled through the urgent channel;
    /// the note about its opening still comes first.
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

    /// Closes the channels and returns the remaining notes.
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

    /// An urgent note does not overtake a note that was queued before it, whenever the reader polls.
    #[tokio::test]
    async fn an_urgent_note_comes_after_earlier_notes() {
        let (notes, mut receiver) = channel(4);
        notes.send_urgent(Note::Done(Command::Interrupt));
        // The reader has found the queue empty and taken the urgent note; only now it sees the earlier one.
        receiver.held = receiver.urgent.try_recv().ok();
        notes.send(Note::Done(Command::Clear)).await;
        let order = [receiver.recv().await, receiver.recv().await];
        assert!(
            matches!(order, [Some(Note::Done(Command::Clear)), Some(Note::Done(Command::Interrupt))]),
            "{order:?}"
        );
    }
}
