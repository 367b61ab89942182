//! Hooks: callbacks of the host for events of the session.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, HookCallback, HookMatcher, HookOnFailure};
use tidings_protocol::hooks::{
    HookBase, HookEvent, HookEventInput, HookInput, HookKind, HookOutput, PreToolUse,
};
use tidings_protocol::tools::ToolInput;

use super::permission::{text_member, typed_input};
use super::{Answer, Context, Handlers};
use crate::error::Error;
use crate::limits::{HOOK_MARGIN, HOOK_TIMEOUT};

/// A hook: an event, an optional matcher, and a callback.
///
/// ```
/// use tidings::hooks::{HookOutput, PreToolUse};
/// use tidings::{Hook, HookCall, Options};
///
/// let guard = Hook::on(|call: HookCall<PreToolUse>| async move {
///     let command = call.input_str("command").unwrap_or_default();
///     if command.contains("rm -rf") { HookOutput::deny("Do not delete files") } else { HookOutput::default()
///     } }); let options = Options::new().hook(guard.matching("Bash"));
/// # let _ = options;
/// ```
#[derive(Clone)]
#[must_use]
pub struct Hook {
    event: HookEvent,
    matcher: Option<String>,
    timeout: Option<Duration>,
    on_failure: Option<HookOnFailure>,
    run: Arc<dyn Fn(HookCall<HookEventInput>) -> BoxFuture<'static, HookOutput> + Send + Sync>,
}

/// One call of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookCall<E> {
    /// The event.
    pub event: E,
    /// The fields common to all events: the session, the folder, the mode.
    pub base: HookBase,
    /// The tool call that the event is about.
    pub tool_use_id: Option<String>,
    /// The request's id, session and cancellation.
    pub context: Context,
}

impl<E: HookKind> HookCall<E> {
    /// The output that adds context for the model. It has no effect for events that take no context.
    pub fn additional_context(&self, text: impl Into<String>) -> HookOutput {
        HookOutput::additional_context(&E::EVENT, text)
    }
}

impl HookCall<PreToolUse> {
    /// A string of the tool's input: `call.input_str("command")`.
    pub fn input_str(&self, key: &str) -> Option<Cow<'_, str>> {
        text_member(&self.event.tool_input, key)
    }

    /// The input by the type of its tool, as [`PermissionAsk::tool_input`](super::PermissionAsk::tool_input).
    pub fn tool_input(&self) -> Result<ToolInput, Error> {
        typed_input(&self.event.tool_name, Some(&self.event.tool_input))
    }
}

impl Hook {
    /// Creates a hook for the event that `run` takes.
    ///
    /// An output for another event is an error: a tool does not run, for all other events the CLI is told
    /// that the hook failed. [`HookCall::additional_context`] has the right event.
    pub fn on<E, F, O>(run: F) -> Self
    where
        E: HookKind,
        F: Fn(HookCall<E>) -> O + Send + Sync + 'static,
        O: Future<Output = HookOutput> + Send + 'static,
    {
        let run = Arc::new(run);
        Hook::any(E::EVENT, move |call: HookCall<HookEventInput>| {
            let run = Arc::clone(&run);
            async move {
                let HookCall { event, base, tool_use_id, context } = call;
                match E::of(event) {
                    Some(event) => run(HookCall { event, base, tool_use_id, context }).await,
                    // The input does not match the event's type; a hook that cannot read it must not allow
                    // the tool.
                    None => unreadable(&E::EVENT),
                }
            }
        })
    }

    /// Creates a hook for an event by its name, also one that has no type here.
    pub fn any<F, O>(event: HookEvent, run: F) -> Self
    where
        F: Fn(HookCall<HookEventInput>) -> O + Send + Sync + 'static,
        O: Future<Output = HookOutput> + Send + 'static,
    {
        let run = Arc::new(move |call| Box::pin(run(call)) as BoxFuture<'static, HookOutput>);
        Hook { event, matcher: None, timeout: None, on_failure: None, run }
    }

    /// Calls the hook only where `matcher` matches: usually the name of a tool, or several as `Edit|Write`.
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Sets the timeout; one minute by default. A tool whose hook times out does not run.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Blocks the action when the hook fails. Connecting fails if the CLI does not support this.
    pub fn block_on_failure(mut self) -> Self {
        self.on_failure = Some(HookOnFailure::BLOCK);
        self
    }

    pub(crate) fn must_block(&self) -> bool {
        self.on_failure.is_some()
    }
}

/// The hooks' registration in the handshake. Their ids are numbered in the order of registration.
pub(super) fn registration(hooks: &[Hook]) -> Result<Option<BTreeMap<String, Vec<HookMatcher>>>, Error> {
    let mut registered: BTreeMap<String, Vec<HookMatcher>> = BTreeMap::new();
    for (index, hook) in hooks.iter().enumerate() {
        if hook.timeout.is_some_and(|limit| limit.is_zero()) {
            let message = format!("The timeout of a hook is 0: `{}`", hook.event.as_str());
            return Err(Error::invalid(message, "set a longer one, or remove `timeout`"));
        }
        let mut matcher = HookMatcher::every(vec![id(index)]);
        matcher.matcher.clone_from(&hook.matcher);
        matcher.timeout = hook.timeout.map(|limit| limit.as_secs_f64());
        matcher.on_failure.clone_from(&hook.on_failure);
        registered.entry(hook.event.as_str().to_owned()).or_default().push(matcher);
    }
    Ok((!registered.is_empty()).then_some(registered))
}

fn id(index: usize) -> String {
    format!("hook_{index}")
}

pub(super) async fn answer(handlers: &Handlers, call: HookCallback, context: Context) -> Answer {
    let name = call.callback_id().unwrap_or_default();
    let hook = handlers.hooks.iter().enumerate().find(|(index, _)| id(*index) == name);
    let Some((_, hook)) = hook else {
        return Answer::Now(ControlResponse::error(format!("No hook callback found for ID: {name}")));
    };
    let HookInput { event, base, .. } = call.input().cloned().unwrap_or_default();
    let tool_use_id = call.tool_use_id.clone();
    let running = (hook.run)(HookCall { event, base, tool_use_id, context });
    let limit = hook.timeout.unwrap_or(HOOK_TIMEOUT);
    // The CLI's own timeout expires a little later, so this answer counts.
    let limit = limit.checked_sub(HOOK_MARGIN).filter(|limit| !limit.is_zero()).unwrap_or(limit / 2);
    Answer::Now(match tokio::time::timeout(limit, running).await {
        Ok(output) => match misdirected(&output, &hook.event) {
            Some(message) => {
                tracing::error!("{message}");
                failure(&call, &message)
            }
            None => ControlResponse::success(&output),
        },
        Err(_) => failure(&call, "The hook did not answer in time"),
    })
}

/// The answer of a failed hook: a tool does not run, for all other events it is an error.
pub(super) fn failure(call: &HookCallback, message: &str) -> ControlResponse {
    match call.event() {
        Some(event) if *event == HookEvent::PRE_TOOL_USE => {
            ControlResponse::success(&HookOutput::deny(message))
        }
        _ => ControlResponse::error(message),
    }
}

/// The error of an output for another event than the hook's: the CLI drops it without a word.
fn misdirected(output: &HookOutput, event: &HookEvent) -> Option<String> {
    let other = output.hook_specific_output.as_ref()?.event().filter(|other| other != event)?;
    Some(format!("The hook of `{}` returned an output for `{}`", event.as_str(), other.as_str()))
}

fn unreadable(event: &HookEvent) -> HookOutput {
    if *event == HookEvent::PRE_TOOL_USE {
        HookOutput::deny("The hook could not decode the tool call")
    } else {
        HookOutput::default()
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
