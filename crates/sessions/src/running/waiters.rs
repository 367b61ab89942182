//! Callers that wait for the end of a command.

use tidings_journal::Cursor;
use tokio::sync::oneshot;

/// Waiting callers with their commands, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<(String, oneshot::Sender<Cursor>)>);

impl Waiters {
    /// Waits for the end of a command. Dropping the receiver ends the wait.
    pub(crate) fn wait(&mut self, command: String) -> oneshot::Receiver<Cursor> {
        let (done, end) = oneshot::channel();
        self.0.push((command, done));
        end
    }

    /// Notifies the oldest caller that waits for a command of this name.
    pub(crate) fn notify(&mut self, command: &str, at: Cursor) {
        // Callers that have left must not take the notification.
        self.0.retain(|(_, done)| !done.is_closed());
        if let Some(found) = self.0.iter().position(|(name, _)| name == command) {
            let _ = self.0.remove(found).1.send(at);
        }
    }

    /// Ends all waits, since nothing comes any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidings_journal::Epoch;

    #[test]
    fn the_end_of_a_command_is_sent_to_callers_that_still_wait() {
        let at = |seq| Cursor::new(Epoch::from_random(1), seq);
        let mut waiters = Waiters::default();
        // Its command could not be sent.
        drop(waiters.wait("interrupt".to_owned()));
        let mut other = waiters.wait("clear".to_owned());
        let (mut first, mut second) =
            (waiters.wait("interrupt".to_owned()), waiters.wait("interrupt".to_owned()));
        waiters.notify("interrupt", at(1));
        assert_eq!(first.try_recv(), Ok(at(1)));
        assert!(second.try_recv().is_err() && other.try_recv().is_err());
        waiters.notify("interrupt", at(2));
        assert_eq!(second.try_recv(), Ok(at(2)));
        waiters.clear();
        assert_eq!(other.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }
}
