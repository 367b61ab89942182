//! Table of all message types.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::envelope::Stamped;
use super::{
    AuthError, AuthSuccess, ClaudeResponse, CloneProgress, CommandMessage, ErrorMessage, HealthCheckMessage,
    HealthCheckResponse, HeartbeatMessage, MobilePermissionRequest, PendingPermissionsMessage,
    PermissionResponse, ProgressUpdateMessage, ProjectInitComplete, ProjectInitMessage, SessionComplete,
    SessionControlMessage, SessionReady, SessionRecovered, SessionResumeMessage, SessionStatus,
    SessionSyncMessage, SubAgentProgress, WrapperHandshakeMessage, WrapperStatus,
};

// Each type is one line here, so that its name, its variant, and its reader and writer stay together. The
// schema derives take the names from the variants; a test compares them with this table.
macro_rules! bodies {
    ($($(#[$doc:meta])* $kind:literal => $variant:ident($body:ty),)*) => {
        /// Body of a message, by its `type`.
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(tag = "type", rename_all = "snake_case"))]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[cfg_attr(feature = "typescript", ts(tag = "type", rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum MobileBody {
            $($(#[$doc])* $variant($body),)*
            /// A type unknown to this version: the whole object, `type` included.
            ///
            /// Written back unchanged; an id and a timestamp set on the message replace those in it.
            #[cfg_attr(feature = "schema", schemars(skip))]
            #[cfg_attr(feature = "typescript", ts(skip))]
            Unknown(Map<String, Value>),
        }

        impl MobileBody {
            /// Every `type` known to this version.
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
    /// To the phone: authentication succeeded.
    "auth_success" => AuthSuccess(AuthSuccess),
    /// To the phone: authentication failed.
    "auth_error" => AuthError(AuthError),
    /// To the phone: version and features of the server.
    "wrapper_handshake" => WrapperHandshake(WrapperHandshakeMessage),
    /// From the phone: a prompt.
    "command" => Command(CommandMessage),
    /// From the phone: open a project.
    "project_init" => ProjectInit(ProjectInitMessage),
    /// To the phone: progress of cloning.
    "clone_progress" => CloneProgress(CloneProgress),
    /// To the phone: the project is open, or failed to open.
    "project_init_complete" => ProjectInitComplete(ProjectInitComplete),
    /// To the phone: text of the agent.
    "claude_response" => ClaudeResponse(ClaudeResponse),
    /// To the phone: progress of the work.
    "progress_update" => ProgressUpdate(ProgressUpdateMessage),
    /// To the phone: progress of one sub-agent.
    "sub_agent_progress" => SubAgentProgress(SubAgentProgress),
    /// To the phone: a permission request.
    "permission_request" => PermissionRequest(MobilePermissionRequest),
    /// From the phone: the answer. To the phone: an answer given by another client.
    "permission_response" => PermissionResponse(PermissionResponse),
    /// To the phone: all pending permission requests.
    "pending_permissions" => PendingPermissions(PendingPermissionsMessage),
    /// To the phone: status of a session.
    "session_status" => SessionStatus(SessionStatus),
    /// From the phone: pause, resume, stop or restart.
    "session_control" => SessionControl(SessionControlMessage),
    /// From the phone: reconnect, with the last message it received.
    "session_resume" => SessionResume(SessionResumeMessage),
    /// To the phone: the messages it missed.
    "session_sync" => SessionSync(SessionSyncMessage),
    /// To the phone: a session accepts prompts.
    "session_ready" => SessionReady(SessionReady),
    /// To the phone: a session continues after its agent crashed.
    "session_recovered" => SessionRecovered(SessionRecovered),
    /// To the phone: a session has ended.
    "session_complete" => SessionComplete(SessionComplete),
    /// Both ways: heartbeat.
    "heartbeat" => Heartbeat(HeartbeatMessage),
    /// From the phone: health check.
    "health_check" => HealthCheck(HealthCheckMessage),
    /// To the phone: answer to a health check.
    "health_check_response" => HealthCheckResponse(HealthCheckResponse),
    /// To the phone: status of the machine and the agent process.
    "wrapper_status" => WrapperStatus(WrapperStatus),
    /// To the phone: an error.
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
