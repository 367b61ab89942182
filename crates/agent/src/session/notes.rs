//! What the parts of a session tell the one task that makes events of it.

use std::sync::Arc;

use tidings::Error;
use tidings_protocol::ui::{InteractionResolved, PermissionResolved};
use tokio::sync::mpsc;

use crate::fold;
use crate::limits::OPEN_MAX;
use crate::permissions::Ask;
use crate::source::Command;

/// Something to make an event of.
#[derive(Debug)]
pub(super) enum Note {
    /// Something was said to the agent.
    Prompt(fold::Prompt),
    /// A question about a tool is open.
    Opened(Arc<Ask>),
    /// A question to the person is open.
    Questioned(Box<fold::Asked>),
    /// A question about a tool is settled.
    Decided(PermissionResolved),
    /// A question to the person is settled.
    Answered(InteractionResolved),
    /// A command is done.
    Done(Command),
    /// Something could not be done.
    Failed(Error),
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
}

pub(super) fn channel(room: usize) -> (Notes, Inbox) {
    let (queue, from_queue) = mpsc::channel(room);
    let (urgent, from_urgent) = mpsc::channel(OPEN_MAX);
    (Notes { queue, urgent }, Inbox { queue: from_queue, urgent: from_urgent })
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
    pub(super) async fn recv(&mut self) -> Option<Note> {
        tokio::select! {
            biased;
            // A question is opened before it is settled, and opened in the queue.
            Some(note) = self.queue.recv() => Some(note),
            Some(note) = self.urgent.recv() => Some(note),
            else => None,
        }
    }

    /// What is there already.
    pub(super) fn try_recv(&mut self) -> Option<Note> {
        self.queue.try_recv().or_else(|_| self.urgent.try_recv()).ok()
    }
}
