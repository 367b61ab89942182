//! Questions of the CLI. Each gets at most one answer, and none after it was taken back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tidings_protocol::control::Call;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind};
use crate::limits::{ASKS_MAX, SETTLED_MAX};

#[derive(Debug, Default)]
pub(super) struct Asks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    open: HashMap<String, Open>,
    /// What became of questions that are no longer open, oldest first.
    settled: VecDeque<(String, Settled)>,
}

#[derive(Debug)]
struct Open {
    call: Call,
    cancel: CancellationToken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    Answered,
    TakenBack,
}

/// Why a question is not taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It was delivered before.
    Repeated,
    /// Too many are open.
    TooMany,
}

impl Asks {
    /// A question has come.
    pub(super) fn open(&self, id: &str, call: Call) -> Result<CancellationToken, Refused> {
        let mut state = self.lock();
        if state.open.contains_key(id) {
            return Err(Refused::Repeated);
        }
        if state.open.len() >= ASKS_MAX {
            return Err(Refused::TooMany);
        }
        let cancel = CancellationToken::new();
        state.open.insert(id.to_owned(), Open { call, cancel: cancel.clone() });
        Ok(cancel)
    }

    /// Takes the right to answer. Whoever comes first has it; the others are told what became of the question.
    pub(super) fn claim(&self, id: &str) -> Result<Call, Error> {
        let mut state = self.lock();
        if let Some(open) = state.open.remove(id) {
            state.settled(id, Settled::Answered);
            return Ok(open.call);
        }
        let became = state.settled.iter().rev().find(|(other, _)| other == id).map(|(_, settled)| *settled);
        let message = match became {
            Some(Settled::Answered) => "The question was answered before",
            Some(Settled::TakenBack) => "The question was taken back",
            None => "There is no such question",
        };
        Err(Error::new(ErrorKind::Settled, message, "each question is answered once, while it is open"))
    }

    /// What an open question asks.
    pub(super) fn look(&self, id: &str) -> Option<Call> {
        self.lock().open.get(id).map(|open| open.call.clone())
    }

    /// The CLI takes a question back.
    pub(super) fn take_back(&self, id: &str) {
        let mut state = self.lock();
        if let Some(open) = state.open.remove(id) {
            state.settled(id, Settled::TakenBack);
            open.cancel.cancel();
        }
    }

    /// Nobody will hear an answer any more.
    pub(super) fn end(&self) {
        for open in std::mem::take(&mut self.lock().open).into_values() {
            open.cancel.cancel();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().open.is_empty()
    }

    /// The questions that are open, by id.
    pub(super) fn list(&self) -> Vec<(String, Call)> {
        self.lock().open.iter().map(|(id, open)| (id.clone(), open.call.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing here panics while it holds the lock, and a table is no worse for a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn settled(&mut self, id: &str, settled: Settled) {
        self.settled.push_back((id.to_owned(), settled));
        if self.settled.len() > SETTLED_MAX {
            self.settled.pop_front();
        }
    }
}
