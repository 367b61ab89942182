//! Options of permissions.

use std::time::Duration;

use tidings_protocol::permissions::PermissionMode;

use super::{Options, Plan};
use crate::error::Error;
use crate::handlers::{Handlers, PermissionHandler};

/// The recipient of permission requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// Requests are sent to the host.
    Host,
    /// There is no recipient: tools that need a request are denied.
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
    /// Sets the permission mode.
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission.mode = Some(mode);
        self
    }

    /// Allows the mode [`PermissionMode::BYPASS_PERMISSIONS`], in which no permission is requested.
    pub fn allow_bypass_permissions(mut self) -> Self {
        self.permission.allow_bypass = true;
        self
    }

    /// Sets the handler of permission requests: a closure, [`AllowAll`](crate::AllowAll) or
    /// [`DenyAll`](crate::DenyAll). Without one, they are denied.
    pub fn on_permission(mut self, handler: impl PermissionHandler + 'static) -> Self {
        self.handlers.set_permission(handler);
        self
    }

    /// Denies a permission request that is not answered within this time. Without it, requests wait for ever.
    pub fn permission_timeout(mut self, limit: Duration) -> Self {
        self.handlers.permission_timeout = Some(limit);
        self
    }

    /// Sets an MCP tool that decides permission requests, in place of a handler.
    pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
        self.permission.prompt_tool = Some(tool.into());
        self
    }

    /// Sets the recipient of permission requests.
    pub fn permission_prompts(mut self, prompts: PermissionPrompts) -> Self {
        self.permission.prompts = Some(prompts);
        self
    }

    /// Sets the instructions for plan mode.
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.permission.plan_mode_instructions = Some(text.into());
        self
    }
}

impl PermissionOptions {
    /// True if no permission is ever requested.
    pub(super) fn bypasses(&self) -> bool {
        self.mode.as_ref().is_some_and(|mode| *mode == PermissionMode::BYPASS_PERMISSIONS)
    }

    pub(super) fn add(&self, plan: &mut Plan, handlers: &Handlers) -> Result<(), Error> {
        if self.bypasses() && !self.allow_bypass {
            let message = "The mode `bypassPermissions` allows every tool, and is not enabled";
            return Err(Error::invalid(
                message,
                "call `Options::allow_bypass_permissions` if this is intended",
            ));
        }
        match (&self.prompt_tool, handlers.has_permission()) {
            (Some(tool), true) => {
                let message = format!("Both a handler and a tool are set for permission requests: `{tool}`");
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
            // The help of newer versions calls `default` `manual`; every version accepts `default`.
            plan.value("permission-mode", mode.as_str());
        }
        if self.allow_bypass {
            plan.flag("allow-dangerously-skip-permissions");
        }
        plan.initialize.plan_mode_instructions.clone_from(&self.plan_mode_instructions);
        Ok(())
    }
}
