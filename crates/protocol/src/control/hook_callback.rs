//! `hook_callback`: a hook of the host is due.

use crate::hooks::{HookEvent, HookInput};
use crate::json::object;

object! {
    /// A hook of the host is due.
    ///
    /// The CLI waits as long as the matcher's `timeout` says, then takes the call back.
    pub struct HookCallback {
        /// See [`HookCallback::callback_id`], which knows both spellings.
        opt callback_id: String,
        /// See [`HookCallback::input`], which knows both spellings.
        opt input: Box<HookInput>,
        /// The tool call that the event belongs to; a made-up id for events that belong to none.
        opt tool_use_id: String,
        /// The flat spelling of `callback_id`.
        opt hook_id: String,
        /// The flat spelling of the input's event name.
        opt hook_event: HookEvent,
        /// The flat spelling of `input`.
        opt hook_input: Box<HookInput>,
    }
}

impl HookCallback {
    /// A call of the hook that the host registered under `callback_id`.
    pub fn new(callback_id: impl Into<String>, input: HookInput) -> Self {
        HookCallback {
            callback_id: Some(callback_id.into()),
            input: Some(Box::new(input)),
            ..HookCallback::default()
        }
    }

    /// The id under which the host registered the hook, in whichever spelling it came.
    pub fn callback_id(&self) -> Option<&str> {
        self.callback_id.as_deref().or(self.hook_id.as_deref())
    }

    /// What happened, in whichever spelling it came.
    pub fn input(&self) -> Option<&HookInput> {
        self.input.as_deref().or(self.hook_input.as_deref())
    }

    /// The event, in whichever spelling it came.
    pub fn event(&self) -> Option<&HookEvent> {
        self.hook_event.as_ref().or_else(|| self.input()?.base.hook_event_name.as_ref())
    }
}
