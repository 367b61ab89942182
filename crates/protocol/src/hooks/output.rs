//! What a hook says.

use super::event::HookEvent;
use super::specific::{HookPermissionDecision, HookSpecificOutput, PreToolUseOutput};
use crate::json::{Json, object, open_string};

open_string! {
    /// What a hook says about what happened.
    pub struct HookDecision {
        APPROVE = "approve",
        BLOCK = "block",
    }
}

object! {
    /// What a hook says. Nothing at all, the default, is no opinion.
    ///
    /// Either it answers now, or it says with `async` that its work goes on and that nobody should wait.
    pub struct HookOutput {
        /// `false` ends the turn.
        opt keep_going: bool as "continue",
        opt suppress_output: bool as "suppressOutput",
        /// What the user is told when the turn ends by `continue`.
        opt stop_reason: String as "stopReason",
        opt decision: HookDecision,
        /// What the user is told.
        opt system_message: String as "systemMessage",
        /// A sequence for the terminal; the CLI lets titles, notifications and the bell through.
        opt terminal_sequence: String as "terminalSequence",
        /// Why, for `decision`.
        opt reason: String,
        /// What the hook says to its event.
        opt hook_specific_output: HookSpecificOutput as "hookSpecificOutput",
        /// Whether the hook's work goes on.
        opt is_async: bool as "async",
        /// How long that may take, in milliseconds.
        opt async_timeout: u64 as "asyncTimeout",
    }
}

impl HookOutput {
    /// The tool may run, without a question.
    pub fn allow() -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::ALLOW, None)
    }

    /// The tool may not run, and the model is told why.
    pub fn deny(reason: impl Into<String>) -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::DENY, Some(reason.into()))
    }

    /// Somebody is asked whether the tool may run.
    pub fn ask(reason: impl Into<String>) -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::ASK, Some(reason.into()))
    }

    /// The turn ends with the call undone, so that it can be taken up later.
    pub fn defer(reason: impl Into<String>) -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::DEFER, Some(reason.into()))
    }

    /// Replaces the input of the tool and decides nothing: rules, modes and the permission handler still apply.
    ///
    /// [`HookOutput::allow_with`] also lets the call run without a permission request.
    pub fn updated_input(input: impl Into<Json>) -> Self {
        HookOutput::specific(HookSpecificOutput::PreToolUse(PreToolUseOutput {
            updated_input: Some(input.into()),
            ..PreToolUseOutput::default()
        }))
    }

    /// Replaces the input of the tool and lets the call run without a permission request.
    pub fn allow_with(input: impl Into<Json>) -> Self {
        HookOutput::specific(HookSpecificOutput::PreToolUse(PreToolUseOutput {
            permission_decision: Some(HookPermissionDecision::ALLOW),
            updated_input: Some(input.into()),
            ..PreToolUseOutput::default()
        }))
    }

    /// The model is told something besides. Nothing comes of it with events that take no words.
    pub fn additional_context(event: &HookEvent, text: impl Into<String>) -> Self {
        HookOutput::specific(HookSpecificOutput::additional_context(event, text))
    }

    /// What happened must not stand: a prompt is dropped, a turn goes on, a tool's result is objected to.
    pub fn block(reason: impl Into<String>) -> Self {
        HookOutput {
            decision: Some(HookDecision::BLOCK),
            reason: Some(reason.into()),
            ..HookOutput::default()
        }
    }

    /// The turn ends.
    pub fn stop(reason: impl Into<String>) -> Self {
        HookOutput { keep_going: Some(false), stop_reason: Some(reason.into()), ..HookOutput::default() }
    }

    /// The hook's work goes on, and nobody should wait.
    pub fn in_background(timeout_ms: Option<u64>) -> Self {
        HookOutput { is_async: Some(true), async_timeout: timeout_ms, ..HookOutput::default() }
    }

    /// What the hook says to its event.
    pub fn specific(output: HookSpecificOutput) -> Self {
        HookOutput { hook_specific_output: Some(output), ..HookOutput::default() }
    }

    fn pre_tool_use(decision: HookPermissionDecision, reason: Option<String>) -> Self {
        HookOutput::specific(HookSpecificOutput::PreToolUse(PreToolUseOutput {
            permission_decision: Some(decision),
            permission_decision_reason: reason,
            ..PreToolUseOutput::default()
        }))
    }
}
