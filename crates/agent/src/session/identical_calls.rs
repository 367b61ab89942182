//! Identical tool calls of an observed agent, whose permission requests cannot be told apart.
//!
//! The request of a hook does not name its call. If an agent makes the same call twice at once, an answer to
//! the first request may reach the hook of the second call, which then runs first. So the end of a call
//! counts for an identical request that was answered, and the other one stays open.

use std::collections::{HashMap, VecDeque};

use tidings_protocol::control::CanUseTool;
use tidings_protocol::json::Json;

/// The largest number of calls that are remembered.
const CALLS_MAX: usize = 256;

/// The calls that were asked about.
#[derive(Debug, Default)]
pub(super) struct IdenticalCalls {
    /// Those that have not ended, the oldest first.
    open: VecDeque<AskedCall>,
    /// Requests by the call whose end settles them, if it is not their own.
    stands_for: HashMap<String, String>,
}

#[derive(Debug)]
struct AskedCall {
    id: String,
    kind: CallKind,
    state: CallState,
}

/// The agent, the tool and the input, which are the same for identical calls.
#[derive(Debug, PartialEq)]
struct CallKind(Option<String>, String, Option<Json>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallState {
    Asked,
    Allowed,
    Denied,
    /// Answered in the agent's own dialog.
    Local,
}

impl IdenticalCalls {
    /// Notes a request.
    pub(super) fn asked(&mut self, id: &str, call: &CanUseTool) {
        if self.open.len() >= CALLS_MAX {
            self.open.pop_front();
            self.stands_for.clear();
        }
        let kind = CallKind(call.agent_id.clone(), call.tool_name.clone(), call.input().cloned());
        self.open.push_back(AskedCall { id: id.to_owned(), kind, state: CallState::Asked });
    }

    /// Notes the answer of a request. Returns false if the agent's own dialog gave it.
    pub(super) fn answered(&mut self, id: &str, is_allowed: bool) -> bool {
        let Some(place) = self.open.iter().position(|call| call.id == id) else { return true };
        if self.open[place].state == CallState::Local {
            self.open.remove(place);
            return false;
        }
        self.open[place].state = if is_allowed { CallState::Allowed } else { CallState::Denied };
        true
    }

    /// Notes a request that ended without an answer.
    pub(super) fn withdrawn(&mut self, id: &str) {
        self.open.retain(|call| call.id != id);
    }

    /// Notes the end of a call, perhaps for the second time. `has_run` is true if the tool certainly ran.
    /// Returns the request that the end settles.
    pub(super) fn ended(&mut self, id: &str, has_run: bool) -> String {
        if let Some(request) = self.stands_for.get(id) {
            let request = request.clone();
            self.settled(&request);
            return request;
        }
        let explains = |state| match state {
            CallState::Allowed => true,
            CallState::Denied => !has_run,
            CallState::Asked | CallState::Local => false,
        };
        let other = self.open.iter().find(|call| call.id == id).and_then(|own| {
            let is_other = |call: &&AskedCall| call.id != id && call.kind == own.kind && explains(call.state);
            self.open.iter().find(is_other).filter(|_| !explains(own.state)).map(|call| call.id.clone())
        });
        let Some(other) = other else {
            self.settled(id);
            return id.to_owned();
        };
        self.stands_for.insert(id.to_owned(), other.clone());
        self.stands_for.insert(other.clone(), id.to_owned());
        self.settled(&other);
        other
    }

    /// An open request is answered by the agent's own dialog; an answered one is over.
    fn settled(&mut self, request: &str) {
        let Some(place) = self.open.iter().position(|call| call.id == request) else { return };
        match self.open[place].state {
            CallState::Asked => self.open[place].state = CallState::Local,
            CallState::Local => {}
            CallState::Allowed | CallState::Denied => drop(self.open.remove(place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(ids: &[&str]) -> IdenticalCalls {
        let mut calls = IdenticalCalls::default();
        for id in ids {
            let input = Json::parse(r#"{"file_path":"/a"}"#).unwrap();
            calls.asked(id, &CanUseTool::new("Read", input, *id));
        }
        calls
    }

    #[test]
    fn the_end_of_a_call_settles_its_own_request() {
        let mut calls = asked(&["1", "2"]);
        assert!(calls.answered("1", true));
        for _ in 0..2 {
            assert_eq!(calls.ended("1", true), "1", "a hook and the file both tell it");
        }
        assert_eq!(calls.ended("2", true), "2");
        assert!(!calls.answered("2", true), "the terminal's own dialog answered it");
    }

    #[test]
    fn an_answer_that_reached_the_other_call_leaves_that_request_open() {
        let mut calls = asked(&["1", "2"]);
        assert!(calls.answered("1", true));
        for _ in 0..2 {
            assert_eq!(calls.ended("2", true), "1");
        }
        assert!(calls.answered("2", true), "it was not answered before");
        assert_eq!(calls.ended("1", true), "2");
    }

    #[test]
    fn a_denied_call_that_ran_had_the_answer_of_the_other_one() {
        let mut calls = asked(&["1", "2"]);
        assert!(calls.answered("1", true) && calls.answered("2", false));
        assert_eq!((calls.ended("2", true).as_str(), calls.ended("1", false).as_str()), ("1", "2"));
    }

    #[test]
    fn other_calls_are_not_mixed_up() {
        let mut calls = asked(&["1"]);
        calls.asked("2", &CanUseTool::new("Read", Json::parse(r#"{"file_path":"/b"}"#).unwrap(), "2"));
        assert!(calls.answered("1", true));
        assert_eq!(calls.ended("2", true), "2");
        assert_eq!(calls.ended("unknown", true), "unknown");
    }
}
