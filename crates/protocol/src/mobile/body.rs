//! The table of all message types.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::envelope::Stamped;
use super::{
    AuthError, AuthSuccess, ClaudeResponse, CloneProgress, CommandMessage, ErrorMessage, HealthCheckMessage,
    HealthCheckResponse, HeartbeatMessage, PendingPermissionsMessage, PermissionRequest, PermissionResponse,
    ProgressUpdateMessage, ProjectInitComplete, ProjectInitMessage, SessionComplete, SessionControlMessage,
    SessionReady, SessionRecovered, SessionResumeMessage, SessionStatus, SessionSyncMessage,
    SubAgentProgress, WrapperHandshakeMessage, WrapperStatus,
};

// A type is one line here, so that its name, its variant and how it is read and written cannot part.
// The schema derives spell the names from the variants; a test holds them against this table.
macro_rules! bodies {
    ($($(#[$doc:meta])* $kind:literal => $variant:ident($body:ty),)*) => {
        /// What a message says, by its `type`.
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(tag = "type", rename_all = "snake_case"))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[cfg_attr(feature = "typescript", ts(tag = "type", rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum MobileBody {
            $($(#[$doc])* $variant($body),)*
            /// A type this version does not know: the whole object, `type` included.
            ///
            /// Written back as it came; an id and a time set on the message replace those in it.
            #[cfg_attr(feature = "schema", schemars(skip))]
            #[cfg_attr(feature = "typescript", ts(skip))]
            Unknown(Map<String, Value>),
        }

        impl MobileBody {
            /// Every `type` this version knows.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// The `type` of the message.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    Self::Unknown(object) => {
                        object.get("type").and_then(Value::as_str).unwrap_or_default()
                    }
                }
            }

            pub(super) fn read(
                kind: &str,
                object: Map<String, Value>,
            ) -> Result<Self, serde_json::Error> {
                Ok(match kind {
                    $($kind => Self::$variant(serde_json::from_value(Value::Object(object))?),)*
                    _ => Self::Unknown(object),
                })
            }

            pub(super) fn write<S: Serializer>(
                &self,
                id: Option<&str>,
                timestamp: Option<i64>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let kind = self.kind();
                match self {
                    $(Self::$variant(body) => {
                        Stamped { kind, id, timestamp, body }.serialize(serializer)
                    })*
                    Self::Unknown(object) => {
                        write_unknown(object, id, timestamp, serializer)
                    }
                }
            }
        }

        $(impl From<$body> for MobileBody {
            fn from(body: $body) -> Self {
                Self::$variant(body)
            }
        })*
    };
}

bodies! {
    /// To the phone: it is signed in.
    "auth_success" => AuthSuccess(AuthSuccess),
    /// To the phone: it is not let in.
    "auth_error" => AuthError(AuthError),
    /// To the phone: who it talks to.
    "wrapper_handshake" => WrapperHandshake(WrapperHandshakeMessage),
    /// From the phone: a prompt.
    "command" => Command(CommandMessage),
    /// From the phone: open a project.
    "project_init" => ProjectInit(ProjectInitMessage),
    /// To the phone: how far cloning has come.
    "clone_progress" => CloneProgress(CloneProgress),
    /// To the phone: the project is open, or is not.
    "project_init_complete" => ProjectInitComplete(ProjectInitComplete),
    /// To the phone: text of the agent.
    "claude_response" => ClaudeResponse(ClaudeResponse),
    /// To the phone: how far the work has come.
    "progress_update" => ProgressUpdate(ProgressUpdateMessage),
    /// To the phone: how far one sub-agent has come.
    "sub_agent_progress" => SubAgentProgress(SubAgentProgress),
    /// To the phone: may a tool do this?
    "permission_request" => PermissionRequest(PermissionRequest),
    /// From the phone: the answer. To the phone: the answer somebody else gave.
    "permission_response" => PermissionResponse(PermissionResponse),
    /// To the phone: everything that still waits for an answer.
    "pending_permissions" => PendingPermissions(PendingPermissionsMessage),
    /// To the phone: what a session is doing.
    "session_status" => SessionStatus(SessionStatus),
    /// From the phone: pause, resume, stop or restart.
    "session_control" => SessionControl(SessionControlMessage),
    /// From the phone: it is back, and this is the last it saw.
    "session_resume" => SessionResume(SessionResumeMessage),
    /// To the phone: what it missed.
    "session_sync" => SessionSync(SessionSyncMessage),
    /// To the phone: a session takes prompts.
    "session_ready" => SessionReady(SessionReady),
    /// To the phone: a session goes on after its agent crashed.
    "session_recovered" => SessionRecovered(SessionRecovered),
    /// To the phone: a session is over.
    "session_complete" => SessionComplete(SessionComplete),
    /// Both ways: still here.
    "heartbeat" => Heartbeat(HeartbeatMessage),
    /// From the phone: is everything well?
    "health_check" => HealthCheck(HealthCheckMessage),
    /// To the phone: the answer.
    "health_check_response" => HealthCheckResponse(HealthCheckResponse),
    /// To the phone: the machine and the agent process.
    "wrapper_status" => WrapperStatus(WrapperStatus),
    /// To the phone: something went wrong.
    "error" => Error(ErrorMessage),
}

fn write_unknown<S: Serializer>(
    object: &Map<String, Value>,
    id: Option<&str>,
    timestamp: Option<i64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut object = object.clone();
    if let Some(id) = id {
        object.insert("id".to_owned(), id.into());
    }
    if let Some(timestamp) = timestamp {
        object.insert("timestamp".to_owned(), timestamp.into());
    }
    object.serialize(serializer)
}
