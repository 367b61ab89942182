//! Options of a session.
//!
//! Every option of the official SDKs has its method on [`Options`], grouped in the files of this folder.
//! [`Options::plan`] turns them into a command line, an environment and a handshake; nothing long and nothing
//! secret is put on the command line, where every user of the machine can read it.

mod conversation;
mod handling;
pub(crate) mod later;
mod launch;
mod mcp;
mod model;
mod output;
mod permission;
mod process;
mod schema;
mod settings;
mod system_prompt;
mod telemetry;
mod tools;

pub use launch::{Arg, EnvBase, Environment, Launch, Orphans, Plan, User};
pub use model::Thinking;
pub use permission::PermissionPrompts;
pub(crate) use process::StderrHandler;
pub use settings::SettingSource;
pub use system_prompt::SystemPrompt;
pub use tools::{PluginSource, QuestionPreview, Skills, ToolSet};

use crate::error::Error;
use crate::handlers::Handlers;
use crate::ids::Ids;

/// Options of a session.
///
/// ```
/// use tidings::Options;
///
/// let options = Options::new().model("haiku").max_turns(3).allowed_tools(["Read", "Grep"]);
/// let plan = options.plan()?;
/// assert!(plan.launch.inline_args().contains(&"--model=haiku".to_owned()));
/// # Ok::<(), tidings::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Options {
    model: model::ModelOptions,
    tools: tools::ToolOptions,
    permission: permission::PermissionOptions,
    conversation: conversation::ConversationOptions,
    system_prompt: SystemPrompt,
    mcp: mcp::McpOptions,
    settings: settings::SettingsOptions,
    output: output::OutputOptions,
    telemetry: telemetry::TelemetryOptions,
    pub(crate) process: process::ProcessOptions,
    pub(crate) handlers: Handlers,
    pub(crate) ids: Ids,
}

impl Options {
    /// Default options: Claude Code's own model, tools and settings, and an empty system prompt, as in the
    /// official SDKs.
    pub fn new() -> Self {
        Options::default()
    }

    /// Checks the options and turns them into a process to start and a handshake.
    pub fn plan(&self) -> Result<Plan, Error> {
        let mut plan = Plan::new(self.ids.next());
        for flag in ["--output-format=stream-json", "--verbose", "--input-format=stream-json"] {
            plan.launch.args.push(Arg::Text(flag.to_owned()));
        }
        self.model.add(&mut plan)?;
        self.system_prompt.add(&mut plan)?;
        self.tools.add(&mut plan)?;
        self.permission.add(&mut plan, &self.handlers)?;
        self.conversation.add(&mut plan)?;
        self.mcp.add(&mut plan, &self.handlers)?;
        self.settings.add(&mut plan)?;
        self.output.add(&mut plan);
        self.handlers.add(&mut plan)?;
        self.telemetry.add(&mut plan)?;
        self.process.add(&mut plan)?;
        self.check_together()?;
        plan.warnings.extend(self.unused_handler_warning());
        plan.check()?;
        Ok(plan)
    }

    /// Refuses combinations of options of several groups.
    fn check_together(&self) -> Result<(), Error> {
        if self.settings.checkpoints && self.conversation.mirror {
            let message = "File checkpoints cannot be kept together with a mirrored session";
            return Err(Error::invalid(message, "remove one of the two"));
        }
        Ok(())
    }

    /// A warning about tools for which the permission handler is never called, since the options already
    /// allow them.
    fn unused_handler_warning(&self) -> Option<String> {
        if !self.handlers.has_permission() {
            return None;
        }
        if self.permission.bypasses() {
            return Some("In the mode `bypassPermissions` the permission handler is never called".to_owned());
        }
        let tools = self.tools.allowed_outright();
        let names = tools.join("`, `");
        (!tools.is_empty())
            .then(|| format!("The permission handler is never called for `{names}`: always allowed"))
    }

    /// Refuses options that many conversations cannot share.
    pub(crate) fn check_shared(&self) -> Result<(), Error> {
        self.conversation.check_shared()
    }

    /// True if the handshake contains MCP servers.
    pub(crate) fn sends_mcp_servers(&self) -> bool {
        self.mcp.in_handshake()
    }

    /// True if every turn must end with an output that matches a schema.
    pub(crate) fn wants_output(&self) -> bool {
        self.model.wants_output()
    }

    /// True if all prompts are sent verbatim.
    pub(crate) fn takes_prompts_verbatim(&self) -> bool {
        self.output.verbatim
    }
}
