//! Who answers what the CLI asks, besides permissions.

use tidings_protocol::control::DialogKind;

use super::Options;
use crate::handlers::{DialogHandler, ElicitationHandler, Hook};

impl Options {
    /// A hook: something of yours that is called when something happens in the session.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.handlers.hooks.push(hook);
        self
    }

    /// Who answers the questions of MCP servers. Without one they are declined.
    pub fn on_elicitation(mut self, handler: impl ElicitationHandler + 'static) -> Self {
        self.handlers.set_elicitation(handler);
        self
    }

    /// Who shows dialogs of these kinds.
    pub fn on_dialog(
        mut self,
        kinds: impl IntoIterator<Item = DialogKind>,
        handler: impl DialogHandler + 'static,
    ) -> Self {
        self.handlers.set_dialog(kinds, handler);
        self
    }
}
