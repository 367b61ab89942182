//! What a client asks for on a WebSocket.

use serde::Deserialize as _;
use serde_json::{Map, Value};
use tidings_protocol::api::{
    Accepted, AnswerResult, BatchAnswer, CommandRequest, Input, PermissionAnswer, Problem, QuestionAnswer,
    RequestId, SessionCommand, SocketAck, SocketMessage, SocketRequest,
};

use crate::caller::{Caller, Scope};
use crate::doors::reach;
use crate::error::{Code, Error};
use crate::sessions::{Sessions, Verb};

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Something that is understood.
    Request(Box<SocketRequest>),
    /// Something of another version, which is passed over.
    Unknown,
    /// Something that is wrong.
    Wrong(Option<RequestId>, Error),
}

/// What tells one message from another.
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

const KNOWN: [&str; 7] = ["auth", "subscribe", "unsubscribe", "input", "answer", "command", "ping"];

/// Reads a message.
pub(crate) fn read(text: &str) -> Incoming {
    let wrong = |id, error: serde_json::Error| {
        let hint = "see `SocketRequest` in the published types";
        Incoming::Wrong(id, Error::new(Code::Invalid, format!("The message does not fit: {error}"), hint))
    };
    let head: Head = match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(object) => Head::of(&object),
        Err(error) => return wrong(None, error),
    };
    match head.kind {
        Some(kind) if KNOWN.contains(&kind.as_str()) => match serde_json::from_str(text) {
            Ok(request) => Incoming::Request(Box::new(request)),
            Err(error) => wrong(head.id, error),
        },
        _ => Incoming::Unknown,
    }
}

/// An answer of a person, to whatever it is.
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
                Err(Error::new(Code::Invalid, "An answer is to exactly one thing", hint))
            }
        }
    }
}

/// Says something to a session.
pub(crate) async fn input(
    sessions: &Sessions,
    caller: &Caller,
    session: &str,
    input: Input,
) -> Result<SocketAck, Error> {
    caller.require(Scope::Prompt)?;
    reach::admit(sessions, caller, session).await?;
    sessions.input(caller, session, input).await.map(accepted)
}

/// Answers what waits.
pub(crate) async fn answer(
    sessions: &Sessions,
    caller: &Caller,
    session: &str,
    to: &str,
    reply: Reply,
) -> Result<SocketAck, Error> {
    caller.require(Scope::Decide)?;
    reach::admit(sessions, caller, session).await?;
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

/// Carries out a command.
pub(crate) async fn command(
    sessions: &Sessions,
    caller: &Caller,
    session: &str,
    command: SessionCommand,
    with: CommandRequest,
) -> Result<SocketAck, Error> {
    caller.require(Scope::Prompt)?;
    reach::admit(sessions, caller, session).await?;
    sessions.command(caller, session, verb(command), with).await.map(accepted)
}

fn verb(command: SessionCommand) -> Verb {
    match command {
        SessionCommand::Interrupt => Verb::Interrupt,
        SessionCommand::Mode => Verb::Mode,
        SessionCommand::Model => Verb::Model,
        SessionCommand::Rewind => Verb::Rewind,
        SessionCommand::Stop => Verb::Stop,
        SessionCommand::Compact => Verb::Compact,
        SessionCommand::Clear => Verb::Clear,
    }
}

fn accepted(accepted: Accepted) -> SocketAck {
    let Accepted { turn_id, seq, cursor, rewind } = accepted;
    SocketAck { seq: Some(seq), cursor: Some(cursor), turn_id, rewind, ..SocketAck::default() }
}

fn answered(result: AnswerResult) -> SocketAck {
    let (seq, cursor) = (Some(result.seq), Some(result.cursor.clone()));
    SocketAck { seq, cursor, answer: Some(result), ..SocketAck::default() }
}

/// What the client is told in the end.
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
