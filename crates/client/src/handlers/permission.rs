//! May this tool run?

use futures_core::future::BoxFuture;
use tidings_protocol::control::{CanUseTool, ControlResponse};
use tidings_protocol::json::Json;
use tidings_protocol::permissions::{Allow, Deny, PermissionResult, PermissionUpdate};

use super::{Answer, Context, Handlers};

/// Decides whether a tool may run. Closures are handlers:
///
/// ```
/// use tidings::{Decision, Options, PermissionAsk};
///
/// let options = Options::new().on_permission(|ask: PermissionAsk| async move {
///     if ask.call.tool_name == "Read" { Decision::allow() } else { Decision::deny("Only reading is allowed") }
/// });
/// # let _ = options;
/// ```
pub trait PermissionHandler: Send + Sync {
    /// Decides about one call. The question waits; everything else goes on.
    fn decide(&self, ask: PermissionAsk) -> BoxFuture<'static, Decision>;
}

/// The question whether a tool may run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionAsk {
    /// The tool, what it would get, and everything that the CLI says about it.
    pub call: CanUseTool,
    /// The question's name, its session, and whether it was taken back.
    pub context: Context,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The tool runs.
    Allow(Allow),
    /// The tool does not run.
    Deny(Deny),
    /// Somebody will decide later, with [`Client::decide`](crate::Client::decide). The question stays open until then.
    Later,
}

/// Lets every tool run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowAll;

/// Lets no tool run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenyAll;

impl PermissionAsk {
    /// What the tool would get; nothing if the CLI did not say.
    pub fn input(&self) -> Option<&Json> {
        self.call.input()
    }
}

impl Decision {
    /// The tool runs as the model asked.
    pub fn allow() -> Self {
        Decision::Allow(Allow::default())
    }

    /// The tool runs with another input.
    pub fn allow_with(input: impl Into<Json>) -> Self {
        let mut allow = Allow::default();
        allow.updated_input = Some(input.into());
        Decision::Allow(allow)
    }

    /// The tool runs, and rules change with it: those of `permission_suggestions`, for example.
    pub fn allow_and_update(updates: Vec<PermissionUpdate>) -> Self {
        let mut allow = Allow::default();
        allow.updated_permissions = Some(updates);
        Decision::Allow(allow)
    }

    /// The tool does not run, and the model is told why.
    pub fn deny(message: impl Into<String>) -> Self {
        let mut deny = Deny::default();
        deny.message = message.into();
        Decision::Deny(deny)
    }

    /// The tool does not run, and the turn ends.
    pub fn deny_and_stop(message: impl Into<String>) -> Self {
        let mut deny = Deny::default();
        deny.message = message.into();
        deny.interrupt = Some(true);
        Decision::Deny(deny)
    }

    /// The decision on the wire; nothing while there is none. An allow always says what the tool gets, since some
    /// versions of the CLI refuse one that does not.
    pub(crate) fn into_result(self, call: &CanUseTool) -> Option<PermissionResult> {
        match self {
            Decision::Allow(mut allow) => {
                allow.updated_input = allow.updated_input.or_else(|| call.input().cloned()).or_else(|| {
                    // No input at all reads as an empty one.
                    Json::parse("{}").ok()
                });
                allow.tool_use_id = allow.tool_use_id.or_else(|| call.tool_use_id.clone());
                Some(PermissionResult::Allow(allow))
            }
            Decision::Deny(mut deny) => {
                deny.tool_use_id = deny.tool_use_id.or_else(|| call.tool_use_id.clone());
                Some(PermissionResult::Deny(deny))
            }
            Decision::Later => None,
        }
    }
}

pub(super) async fn answer(handlers: &Handlers, call: CanUseTool, context: Context) -> Answer {
    let Some(handler) = &handlers.permission else {
        return Answer::Now(refusal("Nobody can be asked for permission here"));
    };
    let deciding = handler.decide(PermissionAsk { call: call.clone(), context });
    let decision = match handlers.permission_timeout {
        None => deciding.await,
        Some(limit) => match tokio::time::timeout(limit, deciding).await {
            Ok(decision) => decision,
            Err(_) => return Answer::Now(refusal("Nobody answered in time whether the tool may run")),
        },
    };
    match decision.into_result(&call) {
        Some(result) => Answer::Now(ControlResponse::success(&result)),
        None => Answer::Later,
    }
}

pub(super) fn refusal(message: &str) -> ControlResponse {
    ControlResponse::success(&PermissionResult::deny(message))
}

impl<F, D> PermissionHandler for F
where
    F: Fn(PermissionAsk) -> D + Send + Sync,
    D: Future<Output = Decision> + Send + 'static,
{
    fn decide(&self, ask: PermissionAsk) -> BoxFuture<'static, Decision> {
        Box::pin(self(ask))
    }
}

impl PermissionHandler for AllowAll {
    fn decide(&self, _ask: PermissionAsk) -> BoxFuture<'static, Decision> {
        Box::pin(async { Decision::allow() })
    }
}

impl PermissionHandler for DenyAll {
    fn decide(&self, _ask: PermissionAsk) -> BoxFuture<'static, Decision> {
        Box::pin(async { Decision::deny("No tool may run here") })
    }
}
