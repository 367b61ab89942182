//! Ordering of hits: two threads search, and hits still come in the order of the sessions.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use parking_lot::{Condvar, Mutex};

use super::SearchFlow;
use super::hit::Hit;
use crate::limits::HITS_WAITING_MAX;

/// Receives hits of numbered tasks and passes them on in the order of the numbers.
///
/// Tasks are started in that order, so the next one in turn is always running and never waits.
pub(super) struct OrderedHits<'f, F> {
    state: Mutex<GateState<'f, F>>,
    changed: Condvar,
}

struct GateState<'f, F> {
    each: F,
    turn: usize,
    /// Hits of tasks that finished before their turn.
    done: BTreeMap<usize, Vec<Hit<'f>>>,
    waiting: usize,
    stopped: bool,
}

impl<'f, F: FnMut(Hit<'f>) -> SearchFlow> OrderedHits<'f, F> {
    pub(super) fn new(each: F) -> Self {
        let state = GateState { each, turn: 0, done: BTreeMap::new(), waiting: 0, stopped: false };
        OrderedHits { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Passes on the hits of a task so far, once it is its turn; `Break` if the task can stop.
    pub(super) fn pass(&self, task: usize, hits: &mut Vec<Hit<'f>>) -> ControlFlow<()> {
        let mut state = self.state.lock();
        while state.turn != task && !state.stopped {
            self.changed.wait(&mut state);
        }
        state.give(hits.drain(..))
    }

    /// Returns true if it is the turn of a task.
    pub(super) fn is_turn_of(&self, task: usize) -> bool {
        self.state.lock().turn == task
    }

    /// Ends a task with the rest of its hits. `Break` if no other task needs to start.
    pub(super) fn finish(&self, task: usize, hits: Vec<Hit<'f>>) -> ControlFlow<()> {
        let mut state = self.state.lock();
        while state.turn != task && state.waiting > HITS_WAITING_MAX && !state.stopped {
            self.changed.wait(&mut state);
        }
        state.waiting += hits.len();
        state.done.insert(task, hits);
        let mut turn = state.turn;
        while let Some(hits) = state.done.remove(&turn) {
            state.waiting -= hits.len();
            // A request to skip the session has no effect at its end.
            let _ = state.give(hits.into_iter());
            turn += 1;
            state.turn = turn;
        }
        self.changed.notify_all();
        if state.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl<'f, F: FnMut(Hit<'f>) -> SearchFlow> GateState<'f, F> {
    fn give(&mut self, hits: impl Iterator<Item = Hit<'f>>) -> ControlFlow<()> {
        for hit in hits {
            if self.stopped {
                return ControlFlow::Break(());
            }
            match (self.each)(hit) {
                SearchFlow::Continue => {}
                SearchFlow::NextSession => return ControlFlow::Break(()),
                SearchFlow::Stop => self.stopped = true,
            }
        }
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
