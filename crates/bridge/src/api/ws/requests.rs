//! Requests of clients on a WebSocket.

use serde::Deserialize as _;
use serde_json::{Map, Value};
use tidings_api::{
    Accepted, AnswerResult, BatchAnswer, Code, CommandRequest, Input, PermissionAnswer, Problem,
    QuestionAnswer, RequestId, Scope, SessionCommand, SocketAck, SocketMessage, SocketRequest,
};
use tidings_sessions::{Caller, Error, Sessions};

use crate::api::visibility;
use crate::http::keys;

/// A parsed message of a client.
#[derive(Debug)]
pub(crate) enum ParsedRequest {
    /// A valid request.
    Request(Box<SocketRequest>),
    /// An unknown type without an id. It is ignored, since the client does not wait for a reply.
    Ignored,
    /// An invalid request.
    Invalid(Option<RequestId>, Error),
}

/// The keys that every message has.
struct Head {
    kind: Option<String>,
    id: Option<RequestId>,
}

impl Head {
    fn of(object: &Map<String, Value>) -> Self {
        let kind = object.get("type").and_then(Value::as_str).map(str::to_owned);
        Head { kind, id: object.get("id").and_then(|id| RequestId::deserialize(id).ok()) }
    }
}

/// The types of requests, and the keys of each besides its `id` and its `type`.
const KNOWN: [(&str, &[&str]); 7] = [
    ("auth", &["token"]),
    ("subscribe", &["session", "after", "deltas"]),
    ("unsubscribe", &["session"]),
    ("input", &["session", "input"]),
    ("answer", &["session", "to", "permission", "batch", "question"]),
    ("command", &["session", "command", "with"]),
    ("ping", &[]),
];

/// Parses a message.
pub(crate) fn read(text: &str) -> ParsedRequest {
    let wrong = |id, error: serde_json::Error| {
        let hint = "see `SocketRequest` in the published types";
        ParsedRequest::Invalid(id, Error::new(Code::Invalid, format!("Invalid message: {error}"), hint))
    };
    let object = match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(object) => object,
        Err(error) => return wrong(None, error),
    };
    let head = Head::of(&object);
    let Some((_, keys)) = KNOWN.into_iter().find(|(known, _)| head.kind.as_deref() == Some(known)) else {
        return unknown(head.kind.as_deref(), head.id);
    };
    match (check_keys(&object, keys), serde_json::from_str(text)) {
        (Err(error), _) => ParsedRequest::Invalid(head.id, error),
        (_, Ok(request)) => ParsedRequest::Request(Box::new(request)),
        (_, Err(error)) => wrong(head.id, error),
    }
}

type KeyCheck = fn(&Value) -> Result<(), Error>;

/// Refuses unknown keys, in the message and in the objects that are request bodies of REST routes.
fn check_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), Error> {
    let is_known = |key: &&String| ["id", "type"].contains(&key.as_str()) || known.contains(&key.as_str());
    if let Some(key) = object.keys().find(|key| !is_known(key)) {
        let hint = format!("known keys are `{}`", [&["id", "type"], known].concat().join("`, `"));
        return Err(Error::new(Code::Invalid, format!("Unknown key `{key}`"), hint));
    }
    let checks: [(&str, KeyCheck); 5] = [
        ("input", keys::check::<Input>),
        ("with", keys::check::<CommandRequest>),
        ("permission", keys::check::<PermissionAnswer>),
        ("batch", keys::check::<BatchAnswer>),
        ("question", keys::check::<QuestionAnswer>),
    ];
    checks.into_iter().try_for_each(|(key, check)| object.get(key).map_or(Ok(()), check))
}

/// A message of an unknown type. A client that sent an id waits for a reply.
fn unknown(kind: Option<&str>, id: Option<RequestId>) -> ParsedRequest {
    if id.is_none() {
        return ParsedRequest::Ignored;
    }
    let message = match kind {
        Some(kind) => format!("Unknown request type `{kind}`"),
        None => "The message has no `type`".to_owned(),
    };
    let hint = format!("known types are `{}`", KNOWN.map(|(kind, _)| kind).join("`, `"));
    ParsedRequest::Invalid(id, Error::new(Code::Invalid, message, hint))
}

/// An answer to a permission request, a batch or a question.
pub(crate) enum Reply {
    Permission(PermissionAnswer),
    Batch(BatchAnswer),
    Question(QuestionAnswer),
}

impl Reply {
    pub(crate) fn of(
        permission: Option<PermissionAnswer>,
        batch: Option<BatchAnswer>,
        question: Option<QuestionAnswer>,
    ) -> Result<Self, Error> {
        match (permission, batch, question) {
            (Some(answer), None, None) => Ok(Reply::Permission(answer)),
            (None, Some(answer), None) => Ok(Reply::Batch(answer)),
            (None, None, Some(answer)) => Ok(Reply::Question(answer)),
            _ => {
                let hint = "send one of `permission`, `batch` and `question`";
                Err(Error::new(Code::Invalid, "An answer must contain exactly one of its kinds", hint))
            }
        }
    }
}

/// Sends a prompt to a session.
pub(crate) async fn input(
    sessions: &Sessions,
    caller: &Caller,
    session: &str,
    input: Input,
) -> Result<SocketAck, Error> {
    caller.require(Scope::Prompt)?;
    visibility::check(sessions, caller, session).await?;
    sessions.input(caller, session, input).await.map(accepted)
}

/// Answers a pending request.
pub(crate) async fn answer(
    sessions: &Sessions,
    caller: &Caller,
    session: &str,
    to: &str,
    reply: Reply,
) -> Result<SocketAck, Error> {
    caller.require(Scope::Decide)?;
    visibility::check(sessions, caller, session).await?;
    match reply {
        Reply::Permission(answer) => {
            sessions.answer_permission(caller, session, to, answer).await.map(answered)
        }
        Reply::Question(answer) => sessions.answer_question(caller, session, to, answer).await.map(answered),
        Reply::Batch(answer) => {
            let batch = sessions.answer_batch(caller, session, to, answer).await?;
            let seq = batch.results.iter().map(|result| result.seq).max();
            Ok(SocketAck { seq, batch: Some(batch), ..SocketAck::default() })
        }
    }
}

/// Runs a command.
pub(crate) async fn command(
    sessions: &Sessions,
    caller: &Caller,
    session: &str,
    command: SessionCommand,
    with: CommandRequest,
) -> Result<SocketAck, Error> {
    caller.require(Scope::Prompt)?;
    visibility::check(sessions, caller, session).await?;
    sessions.command(caller, session, command, with).await.map(accepted)
}

fn accepted(accepted: Accepted) -> SocketAck {
    let Accepted { turn_id, seq, cursor, rewind } = accepted;
    SocketAck { seq: Some(seq), cursor: Some(cursor), turn_id, rewind, ..SocketAck::default() }
}

fn answered(result: AnswerResult) -> SocketAck {
    let (seq, cursor) = (Some(result.seq), Some(result.cursor.clone()));
    SocketAck { seq, cursor, answer: Some(result), ..SocketAck::default() }
}

/// The reply to a request.
pub(crate) fn outcome(
    id: Option<RequestId>,
    result: Result<SocketAck, Error>,
    name: impl FnOnce() -> String,
) -> SocketMessage {
    match result {
        Ok(ack) => SocketMessage::Ack(Box::new(SocketAck { id, ..ack })),
        Err(error) => {
            let problem: Problem = error.problem(&name());
            SocketMessage::Error { id, problem }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A key of the types that is missing in the list would be refused.
    #[test]
    fn every_key_of_every_request_is_known() {
        let filled = json!({
            "id": 1, "token": "t", "session": "1", "after": "a", "deltas": "all", "to": "t",
            "input": {"content": "a"}, "permission": {"decision": "deny"}, "batch": {"answers": []},
            "question": {"cancel": true}, "command": "mode", "with": {"mode": "plan"},
        });
        for (kind, keys) in KNOWN {
            let mut message = filled.clone();
            message["type"] = kind.into();
            let request: SocketRequest = serde_json::from_value(message).unwrap();
            let written = serde_json::to_value(&request).unwrap();
            let mut written: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
            let mut known = [&["id", "type"], keys].concat();
            written.sort_unstable();
            known.sort_unstable();
            assert_eq!(written, known, "{kind}");
        }
    }
}
