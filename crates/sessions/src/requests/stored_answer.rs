//! Answers to permission requests as the journal stores them.

use serde::Deserialize;
use serde_json::Value;
use tidings_agent::permissions::{AfterDenial, Allowed, Answer, Denied};
use tidings_api::{Choice, PermissionScope};
use tidings_protocol::json::Json;

/// The JSON of an [`Answer`].
#[derive(Debug, Deserialize)]
struct StoredAnswer {
    decision: Choice,
    #[serde(default)]
    scope: PermissionScope,
    #[serde(default)]
    updated_input: Option<Value>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    then: AfterDenial,
}

/// Writes an answer.
pub(crate) fn encode(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

/// Reads an answer; `None` if the text is something else, such as the answers to questions. Answers of the
/// agent's own dialog, of grants and of rules that decided at once are stored as one word.
pub(crate) fn decode(text: &str) -> Option<Answer> {
    match text {
        "allowed" => return Some(Answer::allow()),
        "denied" => return Some(Answer::Deny(Denied::default())),
        _ => {}
    }
    let stored: StoredAnswer = serde_json::from_str(text).ok()?;
    Some(match stored.decision {
        Choice::Allow => {
            let mut allowed = Allowed::default();
            allowed.scope = stored.scope;
            allowed.updated_input = stored.updated_input.as_ref().map(Json::from);
            Answer::Allow(allowed)
        }
        Choice::Deny => {
            let mut denied = Denied::default();
            (denied.message, denied.then) = (stored.message, stored.then);
            Answer::Deny(denied)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_stored() {
        let mut edited = Allowed::default();
        edited.scope = PermissionScope::Always;
        edited.updated_input = Some(Json::from(&json!({"command": "make", "timeout": 1.50})));
        let mut stopped = Denied::default();
        (stopped.message, stopped.then) = (Some("not now".to_owned()), AfterDenial::Stop);
        let answers = [
            Answer::allow(),
            Answer::allow_for(PermissionScope::Session),
            Answer::Allow(edited),
            Answer::Deny(Denied::default()),
            Answer::Deny(stopped),
        ];
        for answer in answers {
            assert_eq!(decode(&encode(&answer)), Some(answer));
        }
        assert_eq!(decode("allowed"), Some(Answer::allow()));
        assert_eq!(decode("denied"), Some(Answer::Deny(Denied::default())));
        for other in
            ["answered", "null", r#"[{"question_id":"1","answer":["a"]}]"#, r#"{"decision":"maybe"}"#]
        {
            assert_eq!(decode(other), None, "{other}");
        }
    }
}
