//! What is said to a session.

use std::collections::HashMap;

use serde_json::Value;

use super::{shapes, words};
use crate::ui::TurnId;

/// Bytes of the body of a prompt, with everything that comes with it: what a server takes, and tells in its `Meta`.
/// In base64, a file of 2.3 MB fits.
pub const INPUT_BYTES_MAX: usize = 3 << 20;

shapes! {
    /// A prompt: [`ControllerInputPayload`](crate::ui::ControllerInputPayload) with more to say.
    #[derive(Default)]
    pub struct Input {
        /// The prompt.
        pub content: String,
        /// The session that it is for, as in the payload. The address says it too; they must not differ.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session_id: Option<i64>,
        /// The turn that it claims. The server assigns another where that is taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: Option<TurnId>,
        /// Whatever the client wants to say about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub metadata: Option<HashMap<String, Value>>,
        /// When it is delivered.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Delivery>"))]
        pub delivery: Delivery,
        /// Pictures and files that come with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Attachment>>"))]
        pub attachments: Vec<Attachment>,
        /// The id of this command: sent again, it is said once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// A picture or a file.
    pub struct Attachment {
        /// What it is, such as `image/png`, `application/pdf` or `text/plain`.
        pub media_type: String,
        /// Its bytes in base64.
        pub data: String,
        /// What it is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
    }

    /// A command has taken effect, or will.
    pub struct Accepted {
        /// The turn that the prompt got. It is a later one if another prompt gets ahead of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: Option<TurnId>,
        /// The number of the event that tells of it.
        pub seq: u64,
        /// The place of that event.
        pub cursor: String,
        /// `rewind`: what was put back, or would be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rewind: Option<Rewound>,
    }

    /// Files that are put back to how they were before a prompt.
    #[derive(Default)]
    pub struct Rewound {
        /// Their paths. The CLI names them only for a dry run.
        pub files: Vec<String>,
        /// Lines that come back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub insertions: Option<u64>,
        /// Lines that go.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub deletions: Option<u64>,
        /// Symbolic links that are left alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub skipped_links: Option<u64>,
    }

    /// A prompt that waits for its turn.
    pub struct QueuedInput {
        /// Its name, to cancel it by.
        pub id: String,
        /// The turn that it will be, unless another prompt gets ahead of it.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: TurnId,
        /// The prompt.
        pub content: String,
        /// How many pictures and files come with it.
        pub attachments: u64,
        /// When it was said.
        pub at: String,
        /// What has become of it.
        pub state: QueueState,
    }

    /// What is wanted of a session besides a prompt. Each command takes what it needs.
    #[derive(Default)]
    pub struct CommandRequest {
        /// `mode`: what the agent may do unasked from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mode: Option<String>,
        /// `model`: the model that answers from now on; the usual one where none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// `rewind`: the prompt before which files are put back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
        /// `rewind`: only says what would be done.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub dry_run: bool,
        /// The id of this command: sent again, it is done once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }
}

words! {
    /// When a prompt is delivered.
    #[derive(Default)]
    pub enum Delivery {
        /// After the turn that is under way.
        #[default]
        Queue,
        /// Into the turn that is under way, as soon as the agent looks.
        Steer,
        /// At once: the turn that is under way ends.
        Interrupt,
    }

    /// What has become of a prompt.
    pub enum QueueState {
        /// It waits for its turn.
        Waiting,
        /// It was handed to the agent, which has not begun with it.
        Handed,
        /// It was handed to an agent that ended before it gave a sign. It is not sent again by itself.
        Uncertain,
    }
}
