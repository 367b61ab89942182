//! What is said on the WebSocket `tidings.v1`.

use super::{
    AnswerResult, BatchAnswer, BatchAnswered, CommandRequest, Input, Notice, PermissionAnswer, Problem,
    QuestionAnswer, Rewound, Subscribed, shapes, words,
};
use crate::ui::{TurnId, UiMessage};

/// Names a request in its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum RequestId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// What a client says.
///
/// A request with an `id` gets one [`Ack`](SocketMessage::Ack) or [`Error`](SocketMessage::Error) with that id.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketRequest {
    /// The credential, in the first message of those who cannot set a header.
    Auth {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The credential.
        token: String,
    },
    /// Begins to watch a session; without one, what happens in any of them.
    Subscribe {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number. One that is watched already is watched from the new place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The last event that the client has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// What becomes of small pieces of text: `all`, `coalesced:MS` or `none`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deltas: Option<String>,
    },
    /// Stops watching.
    Unsubscribe {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number; without one, what happens in any of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A prompt.
    Input {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number.
        session: String,
        /// The prompt.
        input: Input,
    },
    /// An answer to a permission, to a batch of them, or to questions.
    Answer {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number.
        session: String,
        /// The `tool_use_id` of what waits, or the `batch_id`.
        to: String,
        /// The answer to a permission.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission: Option<PermissionAnswer>,
        /// The answers to a batch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<BatchAnswer>,
        /// The answers to questions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<QuestionAnswer>,
    },
    /// A command.
    Command {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number.
        session: String,
        /// Which one.
        command: SessionCommand,
        /// What it needs.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<CommandRequest>"))]
        with: CommandRequest,
    },
    /// Asks for a sign of life.
    Ping {
        /// Names the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
    },
}

words! {
    /// What can be asked of a session besides a prompt.
    pub enum SessionCommand {
        /// The turn that is under way ends.
        Interrupt,
        /// Another permission mode.
        Mode,
        /// Another model.
        Model,
        /// Files are put back.
        Rewind,
        /// The agent ends.
        Stop,
        /// The conversation is summed up to make room.
        Compact,
        /// The conversation begins anew.
        Clear,
    }

    /// Why a session is no longer watched.
    pub enum ResyncReason {
        /// The client took nothing while too much happened. Nothing is lost: subscribe again after the last cursor.
        Behind,
        /// What would have come next was removed meanwhile.
        Gap,
        /// The session was deleted.
        Deleted,
    }
}

shapes! {
    /// A request was carried out. What it brought depends on the request.
    #[derive(Default)]
    pub struct SocketAck {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<RequestId>,
        /// The number of the event that tells of it; for a subscription, of the newest event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub seq: Option<u64>,
        /// The place of that event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<String>,
        /// The turn that a prompt got.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: Option<TurnId>,
        /// The key of the session that is watched from now on, which its events carry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// What a subscriber is told first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub subscribed: Option<Subscribed>,
        /// What a `rewind` put back, or would.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rewind: Option<Rewound>,
        /// What became of an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub answer: Option<AnswerResult>,
        /// What became of the answers to a batch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub batch: Option<BatchAnswered>,
    }
}

/// What the server says. Pass over types that you do not know: more may be added.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketMessage {
    /// A request was carried out.
    Ack(Box<SocketAck>),
    /// A request was not carried out.
    Error {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// Why not.
        problem: Problem,
    },
    /// Something happened in a session that is watched.
    Event {
        /// The key of the session.
        session: String,
        /// The place of the event.
        cursor: String,
        /// What happened.
        event: UiMessage,
    },
    /// Something happened in any session.
    Notice {
        /// What happened.
        notice: Notice,
    },
    /// A session is no longer watched.
    Resync {
        /// The key of the session.
        session: String,
        /// Why.
        reason: ResyncReason,
        /// The last event that was sent.
        cursor: String,
    },
}

impl SocketRequest {
    /// Names the request in its answer.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Auth { id, .. }
            | Self::Subscribe { id, .. }
            | Self::Unsubscribe { id, .. }
            | Self::Input { id, .. }
            | Self::Answer { id, .. }
            | Self::Command { id, .. }
            | Self::Ping { id } => id.as_ref(),
        }
    }
}
