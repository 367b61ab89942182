//! Wire of the phone protocol: messages between a phone and the machine that runs its agent.
//!
//! Every message is one flat object: `type` in snake case, an optional `id` and `timestamp` (milliseconds
//! since the epoch), and the keys of its type in camel case.
//!
//! ```
//! # fn main() -> Result<(), serde_json::Error> {
//! use serde_json::json;
//! use tidings_protocol::mobile::{MobileBody, MobileMessage, ProgressUpdateMessage};
//!
//! let message = MobileMessage::new(ProgressUpdateMessage {
//!     current_step: Some("Running tests".to_owned()),
//!     completed_steps: Some(5),
//!     total_steps: Some(20),
//!     percentage: Some(25.0),
//!     ..ProgressUpdateMessage::default()
//! });
//! assert_eq!(
//!     serde_json::to_value(&message)?,
//!     json!({
//!         "type": "progress_update",
//!         "currentStep": "Running tests",
//!         "completedSteps": 5,
//!         "totalSteps": 20,
//!         "percentage": 25.0,
//!     })
//! );
//!
//! let later: MobileMessage = serde_json::from_value(json!({"type": "not_yet_invented", "x": 1}))?;
//! assert!(matches!(later.body, MobileBody::Unknown(_)));
//! # Ok(())
//! # }
//! ```
//!
//! Unknown keys are ignored; a message of an unknown type keeps its whole object.
//! Three parts of the original protocol are left out: sign-in by SSH key, tokens for cloning, and shell
//! commands.

mod body;
mod connection;
mod conversation;
mod envelope;
mod permission;
mod progress;
mod project;
mod session;
mod status;

pub use body::MobileBody;
pub use connection::{
    AuthError, AuthSuccess, HealthCheckMessage, HealthCheckResponse, HeartbeatMessage,
    WrapperHandshakeMessage,
};
pub use conversation::{ClaudeResponse, CommandMessage, ErrorMessage};
pub use envelope::MobileMessage;
pub use permission::{
    MobilePendingPermission, MobilePermissionRequest, PendingPermissionsMessage, PermissionResponse,
    RiskLevel,
};
pub use progress::{ProgressUpdateMessage, SubAgentProgress, SubAgentStatus, SubAgentType, SubOperation};
pub use project::{CloneProgress, ProjectInitComplete, ProjectInitMessage};
pub use session::{
    MessageSummary, SessionAction, SessionComplete, SessionControlMessage, SessionReady, SessionRecovered,
    SessionResumeMessage, SessionSyncMessage,
};
pub use status::{
    ClaudeCodeStatus, ResourceUsage, RunStatus, SessionState, SessionStatus, StateReport, StatusReport,
    StepProgress, WrapperStatus,
};

/// Version of this wire; it grows when an app written for the previous one could misread a message.
pub const MOBILE_WIRE_VERSION: u32 = 1;
