//! Handlers of the CLI's requests.
//!
//! The CLI requests permissions for tools, calls hooks, forwards elicitations of MCP servers, and sends
//! messages to servers in this process. Each request is answered by a task of its own, so a slow answer
//! blocks nothing else; a handler may call the [`Client`](crate::Client) in its [`Context`].
//!
//! Failures are answers too: a handler that panics or times out denies the request, with a message that says
//! so.

mod context;
mod dialog;
mod elicitation;
mod hooks;
mod mcp;
mod permission;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidings_protocol::control::{Call, ControlResponse, DialogKind};

pub use context::Context;
pub use dialog::{DialogAsk, DialogHandler};
pub use elicitation::{ElicitationAsk, ElicitationHandler};
pub use hooks::{Hook, HookCall};
pub(crate) use mcp::McpSource;
pub use mcp::{McpCallContext, McpHandler};
pub use permission::{AllowAll, Decision, DenyAll, PermissionAsk, PermissionHandler};
pub use tidings_protocol::hooks::HookKind;

use crate::error::Error;
use crate::options::Plan;

/// All handlers of a session.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    permission: Option<Arc<dyn PermissionHandler>>,
    pub(crate) permission_timeout: Option<Duration>,
    pub(crate) hooks: Vec<Hook>,
    elicitation: Option<Arc<dyn ElicitationHandler>>,
    dialog: Option<Arc<dyn DialogHandler>>,
    dialog_kinds: Vec<DialogKind>,
    pub(crate) mcp: BTreeMap<String, McpSource>,
}

/// The result of a handler.
pub(crate) enum Answer {
    /// The answer.
    Now(ControlResponse),
    /// The answer will be given through the client.
    Later,
}

impl Handlers {
    pub(crate) fn set_permission(&mut self, handler: impl PermissionHandler + 'static) {
        self.permission = Some(Arc::new(handler));
    }

    pub(crate) fn has_permission(&self) -> bool {
        self.permission.is_some()
    }

    pub(crate) fn set_elicitation(&mut self, handler: impl ElicitationHandler + 'static) {
        self.elicitation = Some(Arc::new(handler));
    }

    pub(crate) fn set_dialog(
        &mut self,
        kinds: impl IntoIterator<Item = DialogKind>,
        handler: impl DialogHandler + 'static,
    ) {
        self.dialog = Some(Arc::new(handler));
        self.dialog_kinds.extend(kinds);
    }

    /// Creates the handlers of a new session.
    pub(crate) fn for_session(&self) -> Self {
        let mut handlers = self.clone();
        for source in handlers.mcp.values_mut() {
            *source = McpSource::Shared(source.handler());
        }
        handlers
    }

    /// Adds the handlers to the handshake.
    pub(crate) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        if self.dialog.is_some() && self.dialog_kinds.is_empty() {
            return Err(Error::invalid(
                "A dialog handler has no kinds of dialogs",
                "name the kinds in `on_dialog`",
            ));
        }
        if !self.dialog_kinds.is_empty() {
            plan.initialize.supported_dialog_kinds = Some(self.dialog_kinds.clone());
        }
        plan.initialize.hooks = hooks::registration(&self.hooks)?;
        Ok(())
    }

    /// Answers a request.
    pub(crate) async fn answer(&self, call: Call, context: Context) -> Answer {
        match call {
            Call::CanUseTool(call) => permission::answer(self, *call, context).await,
            Call::HookCallback(call) => hooks::answer(self, call, context).await,
            Call::Elicitation(call) => elicitation::answer(self, *call, context).await,
            Call::RequestUserDialog(call) => dialog::answer(self, call, context).await,
            Call::McpMessage(call) => mcp::answer(self, call, context).await,
            other => Answer::Now(ControlResponse::unsupported(other.subtype())),
        }
    }

    /// The answer of a handler that panicked.
    pub(crate) fn answer_to_panic(call: &Call) -> ControlResponse {
        match call {
            Call::CanUseTool(_) => permission::refusal("The permission handler failed"),
            Call::HookCallback(call) => hooks::failure(call, "The hook failed"),
            other => ControlResponse::error(format!("The handler of `{}` failed", other.subtype())),
        }
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("permission", &self.permission.is_some())
            .field("hooks", &self.hooks)
            .field("elicitation", &self.elicitation.is_some())
            .field("dialog", &self.dialog_kinds)
            .field("mcp", &self.mcp.keys())
            .finish_non_exhaustive()
    }
}
