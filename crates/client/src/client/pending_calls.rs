//! Control requests to the CLI that wait for a reply. Each completes exactly once.

use std::collections::HashMap;

use parking_lot::Mutex;
use tidings_protocol::control::{ControlOutcome as Outcome, Success};
use tokio::sync::oneshot;

use crate::agent_name::AgentName;
use crate::error::{Error, ErrorKind};

type Waiter = oneshot::Sender<Result<Success, Error>>;

#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    agent: AgentName,
    state: Mutex<PendingState>,
}

#[derive(Debug, Default)]
struct PendingState {
    open: HashMap<String, (String, Waiter)>,
    /// The reason why no request can be answered any more.
    ended: Option<Error>,
}

impl PendingCalls {
    pub(super) fn new(agent: AgentName) -> Self {
        PendingCalls { agent, state: Mutex::default() }
    }

    /// Registers a request and returns the receiver of its reply.
    pub(super) fn open(
        &self,
        id: &str,
        subtype: &str,
    ) -> Result<oneshot::Receiver<Result<Success, Error>>, Error> {
        let mut state = self.state.lock();
        if let Some(error) = &state.ended {
            return Err(error.clone());
        }
        let (sender, receiver) = oneshot::channel();
        state.open.insert(id.to_owned(), (subtype.to_owned(), sender));
        Ok(receiver)
    }

    /// Completes a request. Returns `false` if it is not pending: the CLI can repeat a reply, and a reply can
    /// be late.
    pub(super) fn settle(&self, id: &str, outcome: Outcome) -> bool {
        let Some((subtype, waiter)) = self.state.lock().open.remove(id) else {
            return false;
        };
        let result = match outcome {
            Outcome::Success(success) => Ok(success),
            Outcome::Error(failure) => {
                Err(Error::control(&self.agent, &subtype, &failure.error, failure.error_code))
            }
            other => {
                let subtype = other.subtype().unwrap_or("nothing").to_owned();
                let message = format!("{} answered with an unknown outcome: `{subtype}`", self.agent);
                Err(Error::new(ErrorKind::Decode, message, "update this crate"))
            }
        };
        // The caller may have given up.
        drop(waiter.send(result));
        true
    }

    /// Removes a request whose caller has given up.
    pub(super) fn forget(&self, id: &str) {
        drop(self.state.lock().open.remove(id));
    }

    /// Fails the open requests; later ones can still be answered.
    pub(super) fn fail(&self, error: &Error) {
        let open = std::mem::take(&mut self.state.lock().open);
        for (_, waiter) in open.into_values() {
            drop(waiter.send(Err(error.clone())));
        }
    }

    /// Fails the open requests and all later ones.
    pub(super) fn end(&self, error: &Error) {
        self.state.lock().ended.get_or_insert_with(|| error.clone());
        self.fail(error);
    }
}
