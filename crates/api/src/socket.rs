//! Messages on the WebSocket `tidings.v1`.

use super::{
    AnswerResult, BatchAnswer, BatchAnswered, CommandRequest, Input, Notice, PermissionAnswer, Problem,
    QuestionAnswer, Rewound, Subscribed, closed_enums, shapes,
};
use tidings_protocol::ui::{TurnId, UiMessage};

/// Id of a request, repeated in its response.
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

/// Message of a client.
///
/// A request with an `id` gets one [`Ack`](SocketMessage::Ack) or [`Error`](SocketMessage::Error) with that
/// id.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketRequest {
    /// The credential, as the first message of a client that cannot set a header.
    Auth {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The credential.
        token: String,
    },
    /// Subscribes to a session, or, without one, to the notices of all sessions.
    Subscribe {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// Session, by key or number. A second subscription to it replaces the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// Cursor of the last event that the client has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// Handling of text deltas: `all`, `coalesced:MS` or `none`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deltas: Option<String>,
    },
    /// Ends a subscription.
    Unsubscribe {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// Session, by key or number; without one, the notices of all sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A prompt.
    Input {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number.
        session: String,
        /// The prompt.
        input: Input,
    },
    /// An answer to a permission request, to a batch of them, or to questions.
    Answer {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number.
        session: String,
        /// The `tool_use_id` of the pending request, or the `batch_id`.
        to: String,
        /// Answer to a permission request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission: Option<PermissionAnswer>,
        /// Answers to a batch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<BatchAnswer>,
        /// Answers to questions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<QuestionAnswer>,
    },
    /// A command.
    Command {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The session, by key or number.
        session: String,
        /// The command.
        command: SessionCommand,
        /// Parameters of the command.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<CommandRequest>"))]
        with: CommandRequest,
    },
    /// Requests a sign of life.
    Ping {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
    },
}

closed_enums! {
    /// Command for a session.
    pub enum SessionCommand {
        /// Interrupts the current turn.
        Interrupt,
        /// Changes the permission mode.
        Mode,
        /// Changes the model.
        Model,
        /// Changes an option of the agent.
        Option,
        /// Restores files.
        Rewind,
        /// Stops the agent.
        Stop,
        /// Compacts the conversation.
        Compact,
        /// Clears the conversation.
        Clear,
        /// Ends the idle process in the terminal, and continues the session on the server.
        TakeOver,
    }

    /// Reason why a subscription ended.
    pub enum ResyncReason {
        /// The client read too slowly. Nothing is lost: subscribe again after the last cursor.
        Behind,
        /// The next events were removed in the meantime.
        Gap,
        /// The session was deleted.
        Deleted,
    }
}

impl SessionCommand {
    /// The name, as in JSON and in the address of its route.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionCommand::Interrupt => "interrupt",
            SessionCommand::Mode => "mode",
            SessionCommand::Model => "model",
            SessionCommand::Option => "option",
            SessionCommand::Rewind => "rewind",
            SessionCommand::Stop => "stop",
            SessionCommand::Compact => "compact",
            SessionCommand::Clear => "clear",
            SessionCommand::TakeOver => "take_over",
        }
    }
}

shapes! {
    /// Acknowledgement of a request. The fields depend on the request.
    #[derive(Default)]
    pub struct SocketAck {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<RequestId>,
        /// Sequence number of the event that announces the effect; for a subscription, of the newest event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub seq: Option<u64>,
        /// Cursor of that event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<String>,
        /// Turn assigned to a prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: Option<TurnId>,
        /// Key of the subscribed session, which its events carry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Start of a subscription.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub subscribed: Option<Subscribed>,
        /// Files that `rewind` restored, or would.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rewind: Option<Rewound>,
        /// Result of an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub answer: Option<AnswerResult>,
        /// Results of the answers to a batch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub batch: Option<BatchAnswered>,
    }
}

/// Message of the server. Ignore unknown types: more may be added.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketMessage {
    /// A request succeeded.
    Ack(Box<SocketAck>),
    /// A request failed.
    Error {
        /// Id of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<RequestId>,
        /// The error.
        problem: Problem,
    },
    /// An event of a subscribed session.
    Event {
        /// The key of the session.
        session: String,
        /// Cursor of the event.
        cursor: String,
        /// The event.
        event: UiMessage,
    },
    /// A notice about any session.
    Notice {
        /// The notice.
        notice: Notice,
    },
    /// The server ended a subscription.
    Resync {
        /// The key of the session.
        session: String,
        /// Reason.
        reason: ResyncReason,
        /// Cursor of the last event that was sent.
        cursor: String,
    },
}

impl SocketRequest {
    /// Id of the request, if it has one.
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
