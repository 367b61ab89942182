//! Control requests of the CLI to this host. Each gets at most one answer, and none after it was cancelled.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use tidings_protocol::control::Call;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind};
use crate::limits::{CLI_REQUESTS_MAX, SETTLED_MAX};

#[derive(Debug, Default)]
pub(super) struct CliRequests(Mutex<RequestsState>);

#[derive(Debug, Default)]
struct RequestsState {
    open: HashMap<String, OpenCall>,
    /// Requests that are no longer open, oldest first.
    settled: VecDeque<(String, Settlement)>,
}

#[derive(Debug)]
struct OpenCall {
    call: Call,
    cancel: CancellationToken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settlement {
    Answered,
    Cancelled,
}

/// The reason why a request is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestRefusal {
    /// It was delivered before.
    Repeated,
    /// Too many requests are open.
    TooMany,
}

impl CliRequests {
    /// Registers a request of the CLI.
    pub(super) fn open(&self, id: &str, call: Call) -> Result<CancellationToken, RequestRefusal> {
        let mut state = self.0.lock();
        if state.open.contains_key(id) {
            return Err(RequestRefusal::Repeated);
        }
        if state.open.len() >= CLI_REQUESTS_MAX {
            return Err(RequestRefusal::TooMany);
        }
        let cancel = CancellationToken::new();
        state.open.insert(id.to_owned(), OpenCall { call, cancel: cancel.clone() });
        Ok(cancel)
    }

    /// Claims the right to answer. The first caller gets it; later callers get an error that says what became
    /// of the request.
    pub(super) fn claim(&self, id: &str) -> Result<Call, Error> {
        let mut state = self.0.lock();
        if let Some(open) = state.open.remove(id) {
            state.settled(id, Settlement::Answered);
            return Ok(open.call);
        }
        let became = state.settled.iter().rev().find(|(other, _)| other == id).map(|(_, settled)| *settled);
        let message = match became {
            Some(Settlement::Answered) => "The request was already answered",
            Some(Settlement::Cancelled) => "The request was cancelled",
            None => "There is no such request",
        };
        Err(Error::new(ErrorKind::Settled, message, "each request is answered once, while it is open"))
    }

    /// The content of an open request.
    pub(super) fn get(&self, id: &str) -> Option<Call> {
        self.0.lock().open.get(id).map(|open| open.call.clone())
    }

    /// Cancels a request on behalf of the CLI.
    pub(super) fn cancel(&self, id: &str) {
        let mut state = self.0.lock();
        if let Some(open) = state.open.remove(id) {
            state.settled(id, Settlement::Cancelled);
            open.cancel.cancel();
        }
    }

    /// Cancels all requests: their answers can no longer be sent.
    pub(super) fn end(&self) {
        for open in std::mem::take(&mut self.0.lock().open).into_values() {
            open.cancel.cancel();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().open.is_empty()
    }

    /// The open requests, by id.
    pub(super) fn list(&self) -> Vec<(String, Call)> {
        self.0.lock().open.iter().map(|(id, open)| (id.clone(), open.call.clone())).collect()
    }
}

impl RequestsState {
    fn settled(&mut self, id: &str, settled: Settlement) {
        self.settled.push_back((id.to_owned(), settled));
        if self.settled.len() > SETTLED_MAX {
            self.settled.pop_front();
        }
    }
}
