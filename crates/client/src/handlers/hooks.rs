//! Hooks: something of the host that is called when something happens in the session.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, HookCallback, HookMatcher, HookOnFailure};
use tidings_protocol::hooks::{self, HookBase, HookEvent, HookEventInput, HookInput, HookOutput};

use super::{Answer, Context, Handlers};
use crate::error::Error;
use crate::limits::{HOOK_MARGIN, HOOK_TIMEOUT};

/// A hook: an event, which of its occurrences, and what is called then.
///
/// ```
/// use tidings::hooks::{HookOutput, PreToolUse};
/// use tidings::{Hook, HookCall, Options};
///
/// let guard = Hook::on(|call: HookCall<PreToolUse>| async move {
///     let asked = call.event.tool_input.to_string();
///     if asked.contains("rm -rf") { HookOutput::deny("Nothing is deleted here") } else { HookOutput::default() }
/// });
/// let options = Options::new().hook(guard.matching("Bash"));
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
    /// What happened.
    pub event: E,
    /// What every event has: the session, the folder, the mode.
    pub base: HookBase,
    /// The tool call that the event is about.
    pub tool_use_id: Option<String>,
    /// The call's name, its session, and whether the CLI still waits for it.
    pub context: Context,
}

/// An event that hooks can be made for: each of the types in [`hooks`] that says what happened.
pub trait HookKind: Sized + Send + 'static {
    /// The event.
    const EVENT: HookEvent;

    /// What happened, if it is this event.
    fn of(input: HookEventInput) -> Option<Self>;
}

macro_rules! kinds {
    ($($Kind:ident = $CONST:ident,)+) => {
        $(
            impl HookKind for hooks::$Kind {
                const EVENT: HookEvent = HookEvent::$CONST;

                fn of(input: HookEventInput) -> Option<Self> {
                    match input {
                        HookEventInput::$Kind(event) => Some(event),
                        _ => None,
                    }
                }
            }
        )+

        #[cfg(test)]
        pub(super) const KINDS: &[HookEvent] = &[$(<hooks::$Kind as HookKind>::EVENT),+];
    };
}

kinds! {
    PreToolUse = PRE_TOOL_USE,
    PostToolUse = POST_TOOL_USE,
    PostToolUseFailure = POST_TOOL_USE_FAILURE,
    PostToolBatch = POST_TOOL_BATCH,
    Notification = NOTIFICATION,
    UserPromptSubmit = USER_PROMPT_SUBMIT,
    UserPromptExpansion = USER_PROMPT_EXPANSION,
    SessionStart = SESSION_START,
    SessionEnd = SESSION_END,
    Stop = STOP,
    StopFailure = STOP_FAILURE,
    SubagentStart = SUBAGENT_START,
    SubagentStop = SUBAGENT_STOP,
    PreCompact = PRE_COMPACT,
    PostCompact = POST_COMPACT,
    PreModelSwitch = PRE_MODEL_SWITCH,
    PostModelSwitch = POST_MODEL_SWITCH,
    PermissionRequested = PERMISSION_REQUEST,
    PermissionDenied = PERMISSION_DENIED,
    Setup = SETUP,
    TeammateIdle = TEAMMATE_IDLE,
    TaskCreated = TASK_CREATED,
    TaskCompleted = TASK_COMPLETED,
    ElicitationRequested = ELICITATION,
    ElicitationResult = ELICITATION_RESULT,
    ConfigChange = CONFIG_CHANGE,
    WorktreeCreate = WORKTREE_CREATE,
    WorktreeRemove = WORKTREE_REMOVE,
    InstructionsLoaded = INSTRUCTIONS_LOADED,
    CwdChanged = CWD_CHANGED,
    FileChanged = FILE_CHANGED,
    DirectoryAdded = DIRECTORY_ADDED,
    MessageDisplay = MESSAGE_DISPLAY,
}

impl Hook {
    /// A hook for the event that `run` takes.
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
                    // The members of the event did not fit; a guard that cannot read must not wave it through.
                    None => unreadable(&E::EVENT),
                }
            }
        })
    }

    /// A hook for an event by its name, also one that has no type here.
    pub fn any<F, O>(event: HookEvent, run: F) -> Self
    where
        F: Fn(HookCall<HookEventInput>) -> O + Send + Sync + 'static,
        O: Future<Output = HookOutput> + Send + 'static,
    {
        let run = Arc::new(move |call| Box::pin(run(call)) as BoxFuture<'static, HookOutput>);
        Hook { event, matcher: None, timeout: None, on_failure: None, run }
    }

    /// Only for occurrences that `matcher` fits: most often the name of a tool, or several as `Edit|Write`.
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// How long it may take; a minute unless set. A tool whose hook takes longer does not run.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// If the hook fails, what it was asked about is blocked. The session is refused if the CLI cannot promise that.
    pub fn block_on_failure(mut self) -> Self {
        self.on_failure = Some(HookOnFailure::BLOCK);
        self
    }

    pub(crate) fn must_block(&self) -> bool {
        self.on_failure.is_some()
    }
}

/// What the handshake says of the hooks. Their ids count up in the order in which they were registered.
pub(super) fn registration(hooks: &[Hook]) -> Result<Option<BTreeMap<String, Vec<HookMatcher>>>, Error> {
    let mut registered: BTreeMap<String, Vec<HookMatcher>> = BTreeMap::new();
    for (index, hook) in hooks.iter().enumerate() {
        if hook.timeout.is_some_and(|limit| limit.is_zero()) {
            let message = format!("A hook has no time at all: `{}`", hook.event.as_str());
            return Err(Error::invalid(message, "give it some, or leave `timeout` out"));
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
    // The CLI's own end of waiting comes a little later, so it is this answer that counts.
    let limit = limit.checked_sub(HOOK_MARGIN).filter(|limit| !limit.is_zero()).unwrap_or(limit / 2);
    Answer::Now(match tokio::time::timeout(limit, running).await {
        Ok(output) => ControlResponse::success(&output),
        Err(_) => failure(&call, "The hook did not answer in time"),
    })
}

/// What is said in place of a hook that failed: a tool does not run, everything else is told.
pub(super) fn failure(call: &HookCallback, message: &str) -> ControlResponse {
    match call.event() {
        Some(event) if *event == HookEvent::PRE_TOOL_USE => {
            ControlResponse::success(&HookOutput::deny(message))
        }
        _ => ControlResponse::error(message),
    }
}

fn unreadable(event: &HookEvent) -> HookOutput {
    if *event == HookEvent::PRE_TOOL_USE {
        HookOutput::deny("The hook could not read what the tool is asked to do")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_typed_hook() {
        let typed: Vec<&str> = KINDS.iter().map(HookEvent::as_str).collect();
        assert_eq!(typed, HookEvent::KNOWN);
        assert_eq!(typed.len(), 33);
    }
}
