//! The control protocol: requests between host and CLI outside of the conversation.
//!
//! A [`ControlRequest`] carries a [`Call`], one variant per request; `call.rs` has the table of them. A
//! [`ControlResponse`] carries a [`ControlOutcome`] that names its request only by id, so its body is typed
//! through that request: each request is a [`Request`] with its `Reply`, and [`Success::reply`] reads one.
//!
//! Replies come in any order. Requests of the CLI may arrive before the reply to the first request of the
//! host, and a reply may arrive for a request that the host never sent (the CLI can echo its input).

mod agents;
mod call;
mod can_use_tool;
mod context_usage;
mod elicitation;
mod files;
mod hook_callback;
mod hooks_listing;
mod initialize;
mod mcp;
mod mcp_call;
mod mcp_config;
mod models;
mod outcome;
mod parts;
mod permission_rules;
mod reload;
mod request;
mod response;
mod session;
mod settings;
pub(crate) mod tagged;
mod tasks;
mod usage;
mod user_dialog;

pub use agents::*;
pub use call::*;
pub use can_use_tool::*;
pub use context_usage::*;
pub use elicitation::*;
pub use files::*;
pub use hook_callback::*;
pub use hooks_listing::*;
pub use initialize::*;
pub use mcp::*;
pub use mcp_call::*;
pub use mcp_config::*;
pub use models::*;
pub use outcome::*;
pub use permission_rules::*;
pub use reload::*;
pub use request::*;
pub use response::*;
pub use session::*;
pub use settings::*;
pub use tasks::*;
pub use usage::*;
pub use user_dialog::*;

/// Position of the payload in a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ControlStyle {
    /// In a separate object, `request` or `response`: the style of the CLI.
    #[default]
    Nested,
    /// Next to `type` and `request_id`: the style of the `rusty_claw` wire format. The CLI exits on such a
    /// line.
    Flat,
}
