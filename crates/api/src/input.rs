//! Prompts and commands for a session.

use std::collections::HashMap;

use serde_json::Value;

use super::{closed_enums, shapes};
use tidings_protocol::ui::TurnId;

/// Maximum size of the body of a prompt in bytes, attachments included; servers report it in `Meta`. In
/// base64, a file of 6.2 MB fits: models take pictures of 5 MB.
pub const INPUT_BYTES_MAX: usize = 8 << 20;

shapes! {
    /// A prompt: [`ControllerInputPayload`](tidings_protocol::ui::ControllerInputPayload) with more fields.
    #[derive(Default)]
    pub struct Input {
        /// The prompt.
        pub content: String,
        /// Session of the prompt, as in the payload. It must not differ from the session in the URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session_id: Option<i64>,
        /// Turn claimed by the client. The server assigns another if it is taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: Option<TurnId>,
        /// Arbitrary data of the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub metadata: Option<HashMap<String, Value>>,
        /// Time of delivery.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Delivery>"))]
        pub delivery: Delivery,
        /// Attached images and files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<Attachment>>"))]
        pub attachments: Vec<Attachment>,
        /// Idempotency key: the same command sent again has no second effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }

    /// An attached image or file.
    pub struct Attachment {
        /// Media type, such as `image/png`, `application/pdf` or `text/plain`.
        pub media_type: String,
        /// Its bytes in base64.
        pub data: String,
        /// File name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
    }

    /// Acknowledgement of a command that has taken effect, or will.
    pub struct Accepted {
        /// Turn assigned to the prompt. It becomes a later one if another prompt gets ahead of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: Option<TurnId>,
        /// Sequence number of the event that announces the effect.
        pub seq: u64,
        /// Cursor of that event.
        pub cursor: String,
        /// `rewind`: files that were restored, or would be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rewind: Option<Rewound>,
    }

    /// Result of restoring files to their state before a prompt.
    #[derive(Default)]
    pub struct Rewound {
        /// Paths of the files. The CLI names them only for a dry run.
        pub files: Vec<String>,
        /// Number of lines added by the restoration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub insertions: Option<u64>,
        /// Number of lines removed by the restoration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub deletions: Option<u64>,
        /// Number of symbolic links that were skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub skipped_links: Option<u64>,
    }

    /// A queued prompt.
    pub struct QueuedInput {
        /// Id, used for cancellation.
        pub id: String,
        /// Expected turn, unless another prompt gets ahead of it.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        pub turn_id: TurnId,
        /// The prompt.
        pub content: String,
        /// Number of attachments.
        pub attachments: u64,
        /// Time it was sent.
        pub at: String,
        /// State of the prompt.
        pub state: QueueState,
    }

    /// Parameters of a session command. Each command uses the fields it needs.
    #[derive(Default)]
    pub struct CommandRequest {
        /// `mode`: new permission mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mode: Option<String>,
        /// `model`: new model; the default model if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub model: Option<String>,
        /// `option`: id of an option of the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub option: Option<String>,
        /// `option`: its new value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub value: Option<String>,
        /// `rewind`: the prompt before which the files are restored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub prompt: Option<String>,
        /// `rewind`: reports the changes without making them.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub dry_run: bool,
        /// `stop`: refused while a turn is under way or prompts wait.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        pub if_idle: bool,
        /// Idempotency key: the same command sent again has no second effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub client_id: Option<String>,
    }
}

closed_enums! {
    /// Time of delivery of a prompt.
    #[derive(Default)]
    pub enum Delivery {
        /// After the current turn.
        #[default]
        Queue,
        /// Into the current turn, as soon as the agent reads its input.
        Steer,
        /// At once: the current turn ends.
        Interrupt,
    }

    /// State of a queued prompt.
    pub enum QueueState {
        /// It waits for its turn.
        Waiting,
        /// It was sent to the agent, which has not started on it.
        Handed,
        /// It was sent to an agent that ended before it acknowledged. It is not sent again automatically.
        Uncertain,
    }
}
