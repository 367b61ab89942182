//! Messages of the user, of tools and of the client, and their origin.

use super::api::ApiMessage;
use super::content::Content;
use crate::json::{Json, object, open_string};

object! {
    /// A message of the user, a tool or the client to the model. The shape is the same in both directions.
    pub struct UserMessage {
        req message: ApiMessage,
        /// Tool call whose sub-agent this belongs to.
        opt parent_tool_use_id: String,
        /// On input: chosen by the client; used to cancel, to rewind and to match results.
        opt uuid: String,
        opt session_id: String,
        /// The tool's whole structured output; see [`crate::tools`]. A string when the call failed.
        opt tool_use_result: Json,
        opt is_synthetic: bool as "isSynthetic",
        /// True for an echo of the client's own message.
        opt is_replay: bool as "isReplay",
        opt priority: Priority,
        /// Origin of this message.
        opt origin: Origin,
        /// On input: `false` stores the message without starting a turn.
        opt should_query: bool as "shouldQuery",
        opt timestamp: String,
        /// On input: delivers the text literally, without slash commands and `@path`.
        opt client_composed: bool,
        opt pasted_content: Vec<Json>,
        opt inline_pastes: Vec<String>,
        opt agent_id: String,
        opt subagent_type: String,
        opt task_description: String,
        opt file_attachments: Vec<Json>,
    }

    /// Origin of a message or a turn. Treat an unknown kind as not human.
    pub struct Origin {
        req kind: OriginKind,
        opt server: String,
        opt from: String,
        opt from_mode: String as "fromMode",
        opt name: String,
        opt from_session: String as "fromSession",
        opt sender_task_id: String as "senderTaskId",
        /// Text of a peer's message, as the model receives it.
        opt body: String,
        /// Process that sent or relayed a peer's message, according to the kernel. Unlike `from`, the sender
        /// cannot choose it.
        opt verified_peer_pid: u32 as "verifiedPeerPid",
        opt subkind: String,
        opt fire_reason: String as "fireReason",
        opt run_id: String as "runId",
    }
}

impl UserMessage {
    /// A prompt, in the form of the official TypeScript SDK.
    pub fn prompt(content: impl Into<Content>) -> Self {
        let mut message = UserMessage { message: ApiMessage::new("user", content), ..UserMessage::default() };
        message.extra.keep("\"parent_tool_use_id\":null");
        message
    }
}

open_string! {
    /// Priority of a queued message.
    pub struct Priority { NEXT = "next", NOW = "now", LATER = "later" }

    /// Kinds of [`Origin`].
    pub struct OriginKind {
        UNCLASSIFIED = "unclassified",
        HUMAN = "human",
        CHANNEL = "channel",
        PEER = "peer",
        TASK_NOTIFICATION = "task-notification",
        COORDINATOR = "coordinator",
        OBSERVER = "observer",
        AUTO_CONTINUATION = "auto-continuation",
        OBSERVER_ACTIVITY = "observer-activity",
    }
}
