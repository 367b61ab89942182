//! Tool calls that hooks and the session file have announced.
//!
//! A permission request of a hook does not name its tool call. The hook before each call does, and so does
//! the file, if that hook has not reached the server: the request belongs to the oldest such call of the same
//! agent with the same tool and input that has no request yet.

use std::collections::VecDeque;

use serde_json::Value;

use super::follow::entry_with;
use crate::limits::ANNOUNCED_CALLS_MAX;

/// Tool calls that have not ended, the oldest first.
#[derive(Debug, Default)]
pub(super) struct AnnouncedCalls(VecDeque<AnnouncedCall>);

#[derive(Debug)]
struct AnnouncedCall {
    tool_use_id: String,
    agent_id: Option<String>,
    tool_name: String,
    input: Value,
    has_request: bool,
}

impl AnnouncedCalls {
    /// Notes a call that is about to run.
    pub(super) fn announce(&mut self, id: &str, agent_id: Option<&str>, tool_name: &str, input: &Value) {
        if let Some(call) = self.0.iter_mut().find(|call| call.tool_use_id == id) {
            // The hook has the input with which the tool runs.
            call.input.clone_from(input);
            return;
        }
        if self.0.len() >= ANNOUNCED_CALLS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(AnnouncedCall {
            tool_use_id: id.to_owned(),
            agent_id: agent_id.map(str::to_owned),
            tool_name: tool_name.to_owned(),
            input: input.clone(),
            has_request: false,
        });
    }

    /// Notes the calls and results of an entry of the session file, or of the file of a sub-agent.
    pub(super) fn read(&mut self, agent_id: Option<&str>, line: &[u8]) {
        let blocks = |entry: &Value| entry["message"]["content"].as_array().cloned().unwrap_or_default();
        for call in entry_with(line, b"\"tool_use\"").iter().flat_map(blocks) {
            if let (Some(id), Some(name)) = (call["id"].as_str(), call["name"].as_str())
                && !self.0.iter().any(|known| known.tool_use_id == id)
            {
                self.announce(id, agent_id, name, &call["input"]);
            }
        }
        for result in entry_with(line, b"\"tool_result\"").iter().flat_map(blocks) {
            self.end(result["tool_use_id"].as_str().unwrap_or_default());
        }
    }

    /// The call that a permission request is about.
    pub(super) fn claim(&mut self, agent_id: Option<&str>, tool_name: &str, input: &Value) -> Option<String> {
        let is_it = |call: &&mut AnnouncedCall| {
            !call.has_request
                && call.agent_id.as_deref() == agent_id
                && call.tool_name == tool_name
                && call.input == *input
        };
        let call = self.0.iter_mut().find(is_it)?;
        call.has_request = true;
        Some(call.tool_use_id.clone())
    }

    /// Forgets a call that has ended.
    pub(super) fn end(&mut self, id: &str) {
        self.0.retain(|call| call.tool_use_id != id);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_matched_by_agent_tool_and_input() {
        let mut calls = AnnouncedCalls::default();
        let (read, other) = (json!({"path": "/a"}), json!({"path": "/b"}));
        calls.announce("1", None, "Read", &read);
        calls.announce("2", Some("agent"), "Read", &read);
        calls.announce("3", None, "Read", &other);
        assert_eq!(calls.claim(None, "Write", &read), None);
        assert_eq!(calls.claim(None, "Read", &other).as_deref(), Some("3"));
        assert_eq!(calls.claim(Some("agent"), "Read", &read).as_deref(), Some("2"));
        assert_eq!(calls.claim(None, "Read", &read).as_deref(), Some("1"));
        assert_eq!(calls.claim(None, "Read", &read), None, "each call has one request");
    }

    #[test]
    fn identical_calls_are_taken_one_after_the_other() {
        let mut calls = AnnouncedCalls::default();
        for id in ["1", "2"] {
            calls.announce(id, None, "Bash", &json!({"command": "make"}));
        }
        assert_eq!(calls.claim(None, "Bash", &json!({"command": "make"})).as_deref(), Some("1"));
        calls.end("1");
        assert_eq!(calls.claim(None, "Bash", &json!({"command": "make"})).as_deref(), Some("2"));
    }

    #[test]
    fn r2_the_file_names_the_calls_whose_hooks_have_not_come() {
        let mut calls = AnnouncedCalls::default();
        let block =
            |id: &str, input: &Value| json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
        let line = |block: Value| json!({"message": {"content": [block]}}).to_string().into_bytes();
        let (make, test) = (json!({"command": "make"}), json!({"command": "make test"}));
        calls.read(None, &line(block("1", &make)));
        calls.read(Some("agent"), &line(block("2", &make)));
        calls.read(None, &line(block("3", &test)));
        calls.read(None, &line(json!({"type": "tool_result", "tool_use_id": "1"})));
        assert_eq!(calls.claim(None, "Bash", &make), None, "it has a result");
        assert_eq!(calls.claim(Some("agent"), "Bash", &make).as_deref(), Some("2"));
        let edited = json!({"command": "make test", "timeout": 1});
        calls.announce("3", None, "Bash", &edited);
        calls.read(None, &line(block("3", &test)));
        assert_eq!(calls.claim(None, "Bash", &edited).as_deref(), Some("3"), "the hook knows better");
    }

    #[test]
    fn calls_that_never_end_take_no_more_than_their_room() {
        let mut calls = AnnouncedCalls::default();
        for n in 0..=ANNOUNCED_CALLS_MAX {
            calls.announce(&n.to_string(), None, "Bash", &json!({}));
        }
        assert_eq!(calls.0.len(), ANNOUNCED_CALLS_MAX);
    }
}
