//! The inbox: requests that wait for a person, and what happened since the person last looked.

use super::{NotifyKind, closed_enums, named_enums, shapes};
use tidings_protocol::mobile::RiskLevel;

shapes! {
    /// One page of the inbox.
    #[derive(Default)]
    pub struct InboxPage {
        /// The items, newest first.
        pub items: Vec<InboxItem>,
        /// Number of requests that wait for an answer.
        pub waiting: u64,
        /// Number of unread items that do not wait.
        pub unread: u64,
        /// Number for a badge: `waiting` and `unread` together.
        pub badge: u64,
        /// Position of the newest item; quote it as `up_to` to mark everything read.
        pub position: u64,
        /// Pass as `before` to get the next page; absent on the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next: Option<u64>,
    }

    /// An item of the inbox.
    pub struct InboxItem {
        /// Id of the item.
        pub id: String,
        /// Position in the inbox; newer items have higher ones.
        pub position: u64,
        /// The kind.
        pub kind: InboxKind,
        /// Time of the request or event.
        pub at: String,
        /// Key of the session; absent if it concerns the whole server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Number of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub handle: Option<i64>,
        /// Name of the session's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub project: Option<String>,
        /// Title of the session, or its first prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// One line about it: the command, the path, the question, the error or the last line of the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub line: Option<String>,
        /// Tool that waits for permission, or was denied.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tool: Option<String>,
        /// Risk of the tool call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        pub risk: Option<RiskLevel>,
        /// Id of the request, quoted by its answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tool_use_id: Option<String>,
        /// Digest of the request, which an answer may have to repeat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub digest: Option<String>,
        /// Time at which the limit of the plan resets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resets_at: Option<String>,
        /// True while the request waits for an answer; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub waiting: bool,
        /// Outcome of an answered request, as in its event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub outcome: Option<String>,
        /// Time of that outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub settled_at: Option<String>,
        /// True until it is marked as read; omitted when false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub unread: bool,
        /// Time at which a visible tab last showed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub visible_at: Option<String>,
        /// Time of the next notification.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_reminder: Option<String>,
        /// Link to it, relative to the page.
        pub link: String,
        /// State of its notifications, one per target.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<InboxDelivery>>"))]
        pub deliveries: Vec<InboxDelivery>,
    }

    /// State of a notification at one target.
    pub struct InboxDelivery {
        /// Id of the target.
        pub target: String,
        /// Kind of the target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kind: Option<NotifyKind>,
        /// Name of the target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// The state.
        pub state: DeliveryState,
        /// Time of the last attempt.
        pub at: String,
        /// Number of failed attempts.
        pub tries: u32,
        /// Reason of the last failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub error: Option<String>,
        /// Time of the next attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub retry_at: Option<String>,
    }

    /// Items to mark as read: those named, or all up to a position.
    #[derive(Default)]
    pub struct InboxRead {
        /// Ids of items.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub ids: Vec<String>,
        /// Marks all items up to this position.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub up_to: Option<u64>,
        /// Limits `up_to` to one session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }

    /// Counts of the inbox.
    #[derive(Default)]
    pub struct InboxCounts {
        /// Number of requests that wait for an answer.
        pub waiting: u64,
        /// Number of unread items that do not wait.
        pub unread: u64,
        /// Number for a badge: `waiting` and `unread` together.
        pub badge: u64,
        /// Position of the newest item.
        pub position: u64,
    }

    /// Items that a visible tab shows at the moment.
    #[derive(Default)]
    pub struct InboxVisible {
        /// Ids of items.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
        pub ids: Vec<String>,
        /// Requests, by session and id.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<InboxRequest>>"))]
        pub requests: Vec<InboxRequest>,
    }

    /// A request, named by its session and its id.
    pub struct InboxRequest {
        /// Key of the session.
        pub session: String,
        /// Id of the request.
        pub tool_use_id: String,
    }

    /// Number of items whose notifications are held back, because a visible tab shows them.
    pub struct InboxSeen {
        /// The number.
        pub accepted: u64,
    }

    /// Decision by the button of a notification.
    pub struct InboxAct {
        /// Token of the notification.
        pub token: String,
        /// The decision.
        pub decision: super::Choice,
    }

    /// Outcome of a decision by a button.
    pub struct InboxActed {
        /// The outcome, as in the event of the request.
        pub outcome: String,
    }
}

named_enums! {
    /// Kind of an item.
    #[derive(PartialOrd, Ord)]
    pub enum InboxKind {
        /// A tool call waits for permission.
        Permission = "permission",
        /// The agent asks questions.
        Question = "question",
        /// A plan waits for approval.
        Plan = "plan",
        /// A session waits in a dialog where it runs, and cannot be answered here.
        Dialog = "dialog",
        /// A turn has ended well.
        Finished = "finished",
        /// A turn or a session has failed.
        Failed = "failed",
        /// A tool call was denied without asking a person.
        Denied = "denied",
        /// The limit of the plan is reached.
        Limit = "limit",
        /// The agent has ended during a turn.
        AgentGone = "agent_gone",
        /// The disk of the server is full.
        DiskFull = "disk_full",
    }
}

closed_enums! {
    /// State of a notification at one target.
    pub enum DeliveryState {
        /// It is being sent, or waits for the next attempt.
        Waiting,
        /// The target accepted it.
        Sent,
        /// The target refused it, or all attempts failed.
        Failed,
        /// The target no longer exists.
        Gone,
    }
}

impl InboxKind {
    /// True for requests that wait for an answer, here or where the session runs.
    pub fn is_request(self) -> bool {
        matches!(self, InboxKind::Permission | InboxKind::Question | InboxKind::Plan | InboxKind::Dialog)
    }
}
