//! Options for the handlers of the CLI's requests other than permissions.

use tidings_protocol::control::DialogKind;

use super::Options;
use crate::handlers::{DialogHandler, ElicitationHandler, Hook};

impl Options {
    /// Adds a hook: a callback for events of the session.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.handlers.hooks.push(hook);
        self
    }

    /// Sets the handler for elicitations of MCP servers. Without one they are declined.
    pub fn on_elicitation(mut self, handler: impl ElicitationHandler + 'static) -> Self {
        self.handlers.set_elicitation(handler);
        self
    }

    /// Sets the handler for dialogs of these kinds.
    pub fn on_dialog(
        mut self,
        kinds: impl IntoIterator<Item = DialogKind>,
        handler: impl DialogHandler + 'static,
    ) -> Self {
        self.handlers.set_dialog(kinds, handler);
        self
    }
}
