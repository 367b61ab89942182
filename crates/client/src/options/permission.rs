//! What the agent may do, and who is asked.

use std::time::Duration;

use tidings_protocol::permissions::PermissionMode;

use super::{Options, Plan};
use crate::error::Error;
use crate::handlers::{Handlers, PermissionHandler};

/// Whether anybody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// The host is asked.
    Host,
    /// Nobody is: what would be asked is refused.
    None,
}

#[derive(Debug, Clone, Default)]
pub(super) struct PermissionOptions {
    mode: Option<PermissionMode>,
    allow_bypass: bool,
    prompt_tool: Option<String>,
    prompts: Option<PermissionPrompts>,
    plan_mode_instructions: Option<String>,
}

impl Options {
    /// How much the agent may do without asking.
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission.mode = Some(mode);
        self
    }

    /// Lets the mode [`PermissionMode::BYPASS_PERMISSIONS`] be chosen: then nobody is asked anything.
    pub fn allow_bypass_permissions(mut self) -> Self {
        self.permission.allow_bypass = true;
        self
    }

    /// Who decides whether a tool may run: a closure, [`AllowAll`](crate::AllowAll) or [`DenyAll`](crate::DenyAll).
    /// Without one, what would be asked is refused.
    pub fn on_permission(mut self, handler: impl PermissionHandler + 'static) -> Self {
        self.handlers.set_permission(handler);
        self
    }

    /// After this time a question that nobody answered is refused. They wait for ever unless this is set.
    pub fn permission_timeout(mut self, limit: Duration) -> Self {
        self.handlers.permission_timeout = Some(limit);
        self
    }

    /// An MCP tool that decides whether a tool may run, in place of a handler.
    pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
        self.permission.prompt_tool = Some(tool.into());
        self
    }

    /// Whether anybody can be asked.
    pub fn permission_prompts(mut self, prompts: PermissionPrompts) -> Self {
        self.permission.prompts = Some(prompts);
        self
    }

    /// What the agent is told when it plans.
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.permission.plan_mode_instructions = Some(text.into());
        self
    }
}

impl PermissionOptions {
    /// Whether nobody is asked anything.
    pub(super) fn bypasses(&self) -> bool {
        self.mode.as_ref().is_some_and(|mode| *mode == PermissionMode::BYPASS_PERMISSIONS)
    }

    pub(super) fn add(&self, plan: &mut Plan, handlers: &Handlers) -> Result<(), Error> {
        if self.bypasses() && !self.allow_bypass {
            let message = "The mode `bypassPermissions` lets every tool run, and was not allowed";
            return Err(Error::invalid(message, "call `Options::allow_bypass_permissions` if that is meant"));
        }
        match (&self.prompt_tool, handlers.has_permission()) {
            (Some(tool), true) => {
                let message = format!("Both a handler and a tool decide about permissions: `{tool}`");
                return Err(Error::invalid(
                    message,
                    "choose one of `on_permission` and `permission_prompt_tool`",
                ));
            }
            (Some(tool), false) => plan.value("permission-prompt-tool", tool),
            (None, true) => plan.value("permission-prompt-tool", "stdio"),
            (None, false) => {}
        }
        match self.prompts {
            Some(PermissionPrompts::Host) => plan.value("permission-prompts", "host"),
            Some(PermissionPrompts::None) => plan.value("permission-prompts", "none"),
            None => {}
        }
        if let Some(mode) = &self.mode {
            // The command line has another word for the mode that the wire calls default.
            let name = if *mode == PermissionMode::DEFAULT { "manual" } else { mode.as_str() };
            plan.value("permission-mode", name);
        }
        if self.allow_bypass {
            plan.flag("allow-dangerously-skip-permissions");
        }
        plan.initialize.plan_mode_instructions.clone_from(&self.plan_mode_instructions);
        Ok(())
    }
}
