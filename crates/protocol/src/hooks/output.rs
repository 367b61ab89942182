//! Output of hooks.

use super::specific::{HookPermissionDecision, PreToolUseOutput};
use super::table::{HookEvent, HookSpecificOutput};
use crate::json::{Json, object, open_string};

open_string! {
    /// Decision of a hook about an event.
    pub struct HookDecision {
        APPROVE = "approve",
        BLOCK = "block",
    }
}

object! {
    /// Output of a hook. The default, an empty object, has no effect.
    ///
    /// The hook either answers now, or sets `async` to continue its work without delaying the CLI.
    pub struct HookOutput {
        /// `false` ends the turn.
        opt keep_going: bool as "continue",
        opt suppress_output: bool as "suppressOutput",
        /// Message for the user when `continue` ends the turn.
        opt stop_reason: String as "stopReason",
        opt decision: HookDecision,
        /// Message for the user.
        opt system_message: String as "systemMessage",
        /// Escape sequence for the terminal; the CLI passes titles, notifications and the bell.
        opt terminal_sequence: String as "terminalSequence",
        /// Reason of `decision`.
        opt reason: String,
        /// Output for the event at hand.
        opt hook_specific_output: HookSpecificOutput as "hookSpecificOutput",
        /// True if the hook continues in the background.
        opt is_async: bool as "async",
        /// Timeout of the background work, in milliseconds.
        opt async_timeout: u64 as "asyncTimeout",
    }
}

impl HookOutput {
    /// Allows the tool call without a permission request.
    pub fn allow() -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::ALLOW, None)
    }

    /// Denies the tool call, with a reason for the model.
    pub fn deny(reason: impl Into<String>) -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::DENY, Some(reason.into()))
    }

    /// Asks the user for permission.
    pub fn ask(reason: impl Into<String>) -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::ASK, Some(reason.into()))
    }

    /// Ends the turn with the call unexecuted, so that it can be resumed later.
    pub fn defer(reason: impl Into<String>) -> Self {
        HookOutput::pre_tool_use(HookPermissionDecision::DEFER, Some(reason.into()))
    }

    /// Replaces the input of the tool and decides nothing: rules, modes and the permission handler still
    /// apply.
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

    /// Adds context for the model. It has no effect for events that take no context, and is an error in a
    /// hook of another event.
    pub fn additional_context(event: &HookEvent, text: impl Into<String>) -> Self {
        HookOutput::specific(HookSpecificOutput::additional_context(event, text))
    }

    /// Blocks the event: a prompt is dropped, a turn continues, a tool's result is rejected.
    pub fn block(reason: impl Into<String>) -> Self {
        HookOutput {
            decision: Some(HookDecision::BLOCK),
            reason: Some(reason.into()),
            ..HookOutput::default()
        }
    }

    /// Ends the turn.
    pub fn stop(reason: impl Into<String>) -> Self {
        HookOutput { keep_going: Some(false), stop_reason: Some(reason.into()), ..HookOutput::default() }
    }

    /// Continues the hook's work in the background, without delaying the CLI.
    pub fn in_background(timeout_ms: Option<u64>) -> Self {
        HookOutput { is_async: Some(true), async_timeout: timeout_ms, ..HookOutput::default() }
    }

    /// Output for the event at hand.
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
