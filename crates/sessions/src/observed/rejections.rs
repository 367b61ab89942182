//! Reports of the CLI about the answer that its dialog took, in the session file.
//!
//! A user who presses Esc while an allowed command runs leaves the same mark in the file as one who rejects
//! the dialog. Later versions say if the command had begun; earlier ones name the interrupted message in the
//! next entry.

use serde_json::Value;
use tidings_api::Choice;

use super::SentAnswers;
use super::follow::entry_with;

/// Rejected calls whose next entry has not come yet.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    /// The file of each, and the call.
    undecided: Vec<(String, String)>,
}

/// The report of a rejected call.
#[derive(Debug, PartialEq, Eq)]
enum Rejection {
    /// The dialog was rejected, and the call did not run.
    InDialog(String),
    /// The call was allowed, and then interrupted.
    WhileRunning(String),
    /// The next entry says which of the two it was.
    Undecided(String),
}

impl Rejections {
    /// Notes what an entry says about answers. `file` is the id of the sub-agent whose file it is, or empty.
    pub(super) fn note(&mut self, file: &str, line: &[u8], sent: &SentAnswers) {
        if let Some(call) = decided_by_hook(line) {
            sent.take(&call);
        }
        match rejection(line) {
            Some(Rejection::InDialog(call)) => sent.answered_locally(&call, Choice::Deny),
            Some(Rejection::WhileRunning(call)) => sent.take(&call),
            Some(Rejection::Undecided(call)) => self.undecided.push((file.to_owned(), call)),
            None => self.decide(file, line, sent),
        }
    }

    /// Decides about earlier entries by this one. Results of other calls do not count: they may come between.
    fn decide(&mut self, file: &str, line: &[u8], sent: &SentAnswers) {
        if !self.undecided.iter().any(|(undecided, _)| undecided == file) {
            return;
        }
        let Ok(entry) = serde_json::from_slice::<Value>(line) else { return };
        let is_said = matches!(entry["type"].as_str(), Some("user" | "assistant"));
        if !is_said || calls_of_results(&entry).next().is_some() {
            return;
        }
        let was_running = entry.get("interruptedMessageId").is_some();
        for (_, call) in self.undecided.extract_if(.., |(undecided, _)| undecided == file) {
            if was_running {
                sent.take(&call);
            } else {
                sent.answered_locally(&call, Choice::Deny);
            }
        }
    }
}

/// The calls whose results an entry has.
fn calls_of_results(entry: &Value) -> impl Iterator<Item = &str> {
    let blocks = entry["message"]["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["tool_use_id"].as_str())
}

/// The report of an entry that says that the user rejected a call.
fn rejection(line: &[u8]) -> Option<Rejection> {
    // Versions such as 2.1.197 have no kind of denial.
    let marks: [(&[u8], _, _); 2] = [
        (b"\"user-rejected\"", "toolDenialKind", "user-rejected"),
        (b"\"User rejected tool use\"", "toolUseResult", "User rejected tool use"),
    ];
    let of_mark = |(mark, field, text): (&[u8], &str, &str)| {
        entry_with(line, mark).filter(|entry| entry[field] == text)
    };
    let entry = marks.into_iter().find_map(of_mark)?;
    let call = calls_of_results(&entry).next()?.to_owned();
    Some(match entry["toolDenialBeforeRun"].as_bool() {
        Some(true) => Rejection::InDialog(call),
        Some(false) => Rejection::WhileRunning(call),
        None => Rejection::Undecided(call),
    })
}

/// The call of an entry that says that the CLI took the decision of a hook.
fn decided_by_hook(line: &[u8]) -> Option<String> {
    let attachment = || {
        let entry = entry_with(line, b"\"hook_permission_decision\"")?;
        let found = entry.get("attachment").filter(|found| found["type"] == "hook_permission_decision")?;
        found["toolUseID"].as_str().map(str::to_owned)
    };
    let result = || {
        let entry = entry_with(line, b"\"permissionDecision\"")?;
        let is_hook = entry["permissionDecision"]["source"] == "hook";
        calls_of_results(&entry).next().filter(|_| is_hook).map(str::to_owned)
    };
    attachment().or_else(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rejected(call: &str, before_run: Option<bool>) -> Vec<u8> {
        let mut entry = json!({
            "type": "user", "toolDenialKind": "user-rejected",
            "message": {"content": [{"type": "tool_result", "tool_use_id": call}]},
        });
        if let Some(before_run) = before_run {
            entry["toolDenialBeforeRun"] = json!(before_run);
        }
        entry.to_string().into_bytes()
    }

    /// An allowed call: true if the entries say that the keyboard overruled it, none if they say nothing.
    fn overruled(entries: &[Vec<u8>]) -> Option<bool> {
        let (mut rejections, sent) = (Rejections::default(), SentAnswers::default());
        sent.send("toolu_1", Choice::Allow);
        for entry in entries {
            rejections.note("", entry, &sent);
            // Another file says nothing about it.
            rejections.note("agent", br#"{"type":"assistant","message":{"content":[]}}"#, &sent);
        }
        sent.is_overruled("toolu_1")
    }

    #[test]
    fn r3_an_interrupted_run_is_told_from_a_rejected_dialog() {
        let line = |entry: Value| entry.to_string().into_bytes();
        let text = "[Request interrupted by user for tool use]";
        let interrupted =
            line(json!({"type": "user", "message": {"content": [{"type": "text", "text": text}]},
            "interruptedMessageId": "msg_1"}));
        let stopped = line(json!({"type": "user", "message": {"content": [{"type": "text", "text": text}]}}));
        let assistant = line(json!({"type": "assistant", "message": {"content": []}}));
        let (plain, other) = (rejected("toolu_1", None), rejected("toolu_2", None));
        let title = line(json!({"type": "last-prompt"}));
        for (entries, expected) in [
            (vec![rejected("toolu_1", Some(true))], Some(true)),
            (vec![rejected("toolu_1", Some(false))], Some(false)),
            (vec![plain.clone()], None),
            (vec![plain.clone(), title, interrupted.clone()], Some(false)),
            (vec![plain.clone(), other.clone(), interrupted.clone()], Some(false)),
            (vec![plain.clone(), stopped.clone()], Some(true)),
            (vec![plain.clone(), other, stopped.clone()], Some(true)),
            (vec![plain, assistant], Some(true)),
            (vec![stopped, interrupted], None),
        ] {
            let shown: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(entry)).collect();
            assert_eq!(overruled(&entries), expected, "{shown:?}");
        }
    }

    #[test]
    fn the_decision_of_a_hook_is_found_in_the_file() {
        let line = br#"{"type":"attachment","attachment":{"type":"hook_permission_decision","decision":"deny","toolUseID":"toolu_1"}}"#;
        assert_eq!(decided_by_hook(line).as_deref(), Some("toolu_1"));
        let result = br#"{"type":"user","permissionDecision":{"source":"hook"},"message":{"content":[{"tool_use_id":"toolu_1"}]}}"#;
        assert_eq!(decided_by_hook(result).as_deref(), Some("toolu_1"));
        let quoted = br#"{"type":"user","message":{"content":"\"hook_permission_decision\""}}"#;
        assert_eq!(decided_by_hook(quoted), None);
        let earlier = br#"{"toolUseResult":"User rejected tool use","message":{"content":[{"tool_use_id":"toolu_2"}]}}"#;
        assert_eq!(rejection(earlier), Some(Rejection::Undecided("toolu_2".to_owned())));
        assert_eq!(rejection(line), None);
    }
}
