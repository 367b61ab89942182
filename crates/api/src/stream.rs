//! Messages to subscribers apart from events, and snapshots.

use serde_json::Value;

use super::{PendingPermission, PendingQuestion, SessionMarks, SessionView, closed_enums, shapes};

shapes! {
    /// First message of a subscription.
    pub struct Subscribed {
        /// Result of the lookup of the subscriber's cursor.
        pub verdict: Verdict,
        /// Cursor after which the following events start.
        pub from: String,
        /// Cursor of the newest event at this moment: events up to here are replay, later ones are live.
        pub head: String,
        /// Pending permission requests.
        pub pending_permissions: Vec<PendingPermission>,
        /// Pending questions.
        pub pending_questions: Vec<PendingQuestion>,
        /// The session.
        pub state: SessionView,
    }

    /// A conversation compressed into few events, for late subscribers.
    pub struct Snapshot {
        /// The session.
        pub session: SessionView,
        /// Cursor to subscribe after.
        pub cursor: String,
        /// Sequence number of the first event in it.
        pub from: u64,
        /// True if earlier events exist: request the history before `from`.
        pub more: bool,
        /// Events of the dialect `native`, merged: the deltas of one text are one delta, and long tool inputs
        /// and outputs lose their middle, with a mark; `calls/{tool_use_id}` has them in full.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<tidings_protocol::ui::UiMessage>"))]
        #[cfg_attr(feature = "typescript", ts(as = "Vec<tidings_protocol::ui::UiMessage>"))]
        pub events: Vec<Value>,
        /// Times of the events, in their order; of a merged event the time of its first delta.
        #[serde(default)]
        pub times: Vec<String>,
        /// Pending permission requests.
        pub pending_permissions: Vec<PendingPermission>,
        /// Pending questions.
        pub pending_questions: Vec<PendingQuestion>,
    }
}

closed_enums! {
    /// Result of the lookup of a subscriber's cursor.
    pub enum Verdict {
        /// All events since the cursor are available.
        Ok,
        /// Some events since the cursor are gone: the stream starts with the remaining ones.
        Gap,
        /// The cursor is of another epoch, or absent: the stream starts with the oldest stored event.
        Reset,
    }
}

/// Notice about any session, for clients that are not subscribed to it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Notice {
    /// A session is new or has changed.
    Session {
        /// The session.
        session: Box<SessionView>,
    },
    /// A session was deleted.
    Deleted {
        /// Its key.
        key: String,
        /// Its number.
        handle: i64,
    },
    /// A permission request is pending.
    Permission {
        /// The permission request.
        permission: PendingPermission,
    },
    /// Questions are pending.
    Question {
        /// The questions.
        question: PendingQuestion,
    },
    /// A pending request was resolved.
    Settled {
        /// The key of the session.
        session: String,
        /// Id of the request.
        tool_use_id: String,
        /// The outcome.
        outcome: String,
    },
    /// A turn has ended.
    TurnEnded {
        /// The key of the session.
        session: String,
        /// True if the agent reports an error.
        is_error: bool,
        /// True if the user interrupted it, which the agent reports as an error too; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        interrupted: bool,
        /// End of the answer, as one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_line: Option<String>,
    },
    /// The inbox has changed: get it again.
    Inbox {
        /// Position of its newest item.
        position: u64,
    },
    /// The marks of a session have changed.
    Marks {
        /// They are now.
        marks: SessionMarks,
    },
    /// Notices were dropped: list the sessions again.
    Resync {},
}
