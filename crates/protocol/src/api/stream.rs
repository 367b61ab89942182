//! What a client that watches is told, besides events.

use serde_json::Value;

use super::{PendingPermission, PendingQuestion, SessionView, shapes, words};

shapes! {
    /// The first thing that a subscriber is told.
    pub struct Subscribed {
        /// Whether it can go on from where it was.
        pub verdict: Verdict,
        /// What follows comes after this place.
        pub from: String,
        /// The newest event at this moment: what is up to here is replay, and what is after it is live.
        pub head: String,
        /// What waits for an answer.
        pub pending_permissions: Vec<PendingPermission>,
        /// What waits for an answer.
        pub pending_questions: Vec<PendingQuestion>,
        /// The session.
        pub state: SessionView,
    }

    /// A conversation in few events, for those who were not there.
    pub struct Snapshot {
        /// The session.
        pub session: SessionView,
        /// Subscribe after this place for what comes next.
        pub cursor: String,
        /// The number of the first event that is in it.
        pub from: u64,
        /// Whether there is something before it: ask for the history before `from`.
        pub more: bool,
        /// Events of the dialect `native`, put together: pieces of one text are one piece, and what tools took or gave loses
        /// its middle if it is long, where a mark says so; `calls/{tool_use_id}` has it in full.
        #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::ui::UiMessage>"))]
        #[cfg_attr(feature = "typescript", ts(as = "Vec<crate::ui::UiMessage>"))]
        pub events: Vec<Value>,
        /// What waits for an answer.
        pub pending_permissions: Vec<PendingPermission>,
        /// What waits for an answer.
        pub pending_questions: Vec<PendingQuestion>,
    }
}

words! {
    /// Whether a subscriber can go on from where it was.
    pub enum Verdict {
        /// Everything since is still there.
        Ok,
        /// Some of it is gone: it begins with what is left.
        Gap,
        /// The place is of another time, or none was named: it begins with the oldest that is kept.
        Reset,
    }
}

/// What happens in any session that somebody who watches none of them wants to know.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Notice {
    /// A session is new or stands differently.
    Session {
        /// How it stands.
        session: SessionView,
    },
    /// A session is gone.
    Deleted {
        /// Its key.
        key: String,
        /// Its number.
        handle: i64,
    },
    /// A permission waits for an answer.
    Permission {
        /// The permission.
        permission: PendingPermission,
    },
    /// Questions wait for an answer.
    Question {
        /// The questions.
        question: PendingQuestion,
    },
    /// Something does not wait any more.
    Settled {
        /// The key of the session.
        session: String,
        /// What it was.
        tool_use_id: String,
        /// How it ended.
        outcome: String,
    },
    /// A turn has ended.
    TurnEnded {
        /// The key of the session.
        session: String,
        /// Whether the agent says that something went wrong.
        is_error: bool,
        /// Whether somebody interrupted it, which the agent calls an error too; left out when nobody did.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        interrupted: bool,
        /// The end of what it said, in one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_line: Option<String>,
    },
    /// Some notices were missed: list the sessions again.
    Resync {},
}
