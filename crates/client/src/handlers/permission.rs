//! Permission requests for tools.

use std::borrow::Cow;

use futures_core::future::BoxFuture;
use tidings_protocol::control::{CanUseTool, ControlResponse};
use tidings_protocol::json::{Json, Text};
use tidings_protocol::permissions::{Allow, Deny, PermissionResult, PermissionUpdate};
use tidings_protocol::tools::ToolInput;

use super::{Answer, Context, Handlers};
use crate::error::{Error, ErrorKind};

/// A handler of permission requests. Closures are handlers:
///
/// ```
/// use tidings::{Decision, Options, PermissionAsk};
///
/// let options = Options::new().on_permission(|ask: PermissionAsk| async move {
///     if ask.call.tool_name == "Read" { Decision::allow() } else { Decision::deny("Read-only session") }
/// });
/// # let _ = options;
/// ```
pub trait PermissionHandler: Send + Sync {
    /// Decides one request. The tool call waits; everything else goes on.
    fn decide(&self, ask: PermissionAsk) -> BoxFuture<'static, Decision>;
}

/// A permission request for a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionAsk {
    /// The tool, its input, and everything else that the CLI sent about the call.
    pub call: CanUseTool,
    /// The request's id, session and cancellation.
    pub context: Context,
}

/// The decision on a permission request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The tool runs.
    Allow(Allow),
    /// The tool does not run.
    Deny(Deny),
    /// The decision follows later, by [`Client::decide`](crate::Client::decide). The request stays open until
    /// then.
    Later,
}

/// Allows every tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowAll;

/// Denies every tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenyAll;

impl PermissionAsk {
    /// The input of the tool; `None` if the CLI did not send one.
    pub fn input(&self) -> Option<&Json> {
        self.call.input()
    }

    /// A string of the input: `ask.input_str("command")`.
    pub fn input_str(&self, key: &str) -> Option<Cow<'_, str>> {
        text_member(self.input()?, key)
    }

    /// The input by the type of its tool. It fails if the model has left out what the tool requires; the CLI
    /// refuses such a call too.
    pub fn tool_input(&self) -> Result<ToolInput, Error> {
        typed_input(&self.call.tool_name, self.input())
    }
}

impl Decision {
    /// Allows the tool with the model's input.
    pub fn allow() -> Self {
        Decision::Allow(Allow::default())
    }

    /// Allows the tool with another input.
    pub fn allow_with(input: impl Into<Json>) -> Self {
        let mut allow = Allow::default();
        allow.updated_input = Some(input.into());
        Decision::Allow(allow)
    }

    /// Allows the tool, and changes the permission rules: by `permission_suggestions`, for example.
    pub fn allow_and_update(updates: Vec<PermissionUpdate>) -> Self {
        let mut allow = Allow::default();
        allow.updated_permissions = Some(updates);
        Decision::Allow(allow)
    }

    /// Denies the tool, with a reason for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        let mut deny = Deny::default();
        deny.message = message.into();
        Decision::Deny(deny)
    }

    /// Denies the tool, and ends the turn.
    pub fn deny_and_stop(message: impl Into<String>) -> Self {
        let mut deny = Deny::default();
        deny.message = message.into();
        deny.interrupt = Some(true);
        Decision::Deny(deny)
    }

    /// The decision in the wire format; `None` if it is deferred. An allow always includes the input, since
    /// some versions of the CLI refuse one without it.
    pub(crate) fn into_result(self, call: &CanUseTool) -> Option<PermissionResult> {
        match self {
            Decision::Allow(mut allow) => {
                allow.updated_input = allow.updated_input.or_else(|| call.input().cloned()).or_else(|| {
                    // A missing input counts as an empty one.
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

/// A string member of the input of a tool.
pub(super) fn text_member<'a>(input: &'a Json, key: &str) -> Option<Cow<'a, str>> {
    input.raw().get(key)?.text().map(Text::get)
}

/// The input of a tool by its type.
pub(super) fn typed_input(tool: &str, input: Option<&Json>) -> Result<ToolInput, Error> {
    let empty = Json::parse("{}").unwrap_or_default();
    ToolInput::read(tool, input.unwrap_or(&empty).raw()).map_err(|misfit| {
        let message = format!("The input does not fit the tool: `{tool}`");
        Error::new(ErrorKind::Decode, message, "read it with `input`, or deny the call").caused_by(misfit)
    })
}

pub(super) async fn answer(handlers: &Handlers, call: CanUseTool, context: Context) -> Answer {
    let Some(handler) = &handlers.permission else {
        return Answer::Now(refusal("This host has no permission handler"));
    };
    let deciding = handler.decide(PermissionAsk { call: call.clone(), context });
    let decision = match handlers.permission_timeout {
        None => deciding.await,
        Some(limit) => match tokio::time::timeout(limit, deciding).await {
            Ok(decision) => decision,
            Err(_) => return Answer::Now(refusal("The permission request was not answered in time")),
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
