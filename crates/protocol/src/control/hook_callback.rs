//! `hook_callback`: call of a hook of the host.

use crate::hooks::{HookEvent, HookInput};
use crate::json::object;

object! {
    /// Call of a hook of the host.
    ///
    /// The CLI waits for the matcher's `timeout`, then cancels the call.
    pub struct HookCallback {
        /// Use [`HookCallback::callback_id`], which reads both spellings.
        opt callback_id: String,
        /// Use [`HookCallback::input`], which reads both spellings.
        opt input: Box<HookInput>,
        /// Tool call that the event belongs to; a generated id if there is none.
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
    /// Call of the hook that the host registered under `callback_id`.
    pub fn new(callback_id: impl Into<String>, input: HookInput) -> Self {
        HookCallback {
            callback_id: Some(callback_id.into()),
            input: Some(Box::new(input)),
            ..HookCallback::default()
        }
    }

    /// Id under which the host registered the hook, in either spelling.
    pub fn callback_id(&self) -> Option<&str> {
        self.callback_id.as_deref().or(self.hook_id.as_deref())
    }

    /// Input of the hook, in either spelling.
    pub fn input(&self) -> Option<&HookInput> {
        self.input.as_deref().or(self.hook_input.as_deref())
    }

    /// Event of the hook, in either spelling.
    pub fn event(&self) -> Option<&HookEvent> {
        self.hook_event.as_ref().or_else(|| self.input()?.base.hook_event_name.as_ref())
    }
}
