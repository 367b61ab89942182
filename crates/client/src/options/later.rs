//! Options that the oldest supported version of Claude Code does not have.
//!
//! An earlier version ends with an unknown flag, or passes over an unknown field of the handshake without a
//! word. Both become the same error.

use super::{Arg, Plan};
use crate::error::{Error, ErrorKind};
use crate::find::{OLDEST, Version};

/// An option that came with a later version.
#[derive(Debug)]
pub(crate) struct LaterOption {
    /// The method of [`Options`](super::Options).
    name: &'static str,
    /// The first version that has it.
    since: Version,
    is_used: fn(&Plan) -> bool,
}

/// All of them. The versions are the first whose programs contain the flag or the name of the field.
///
/// Hooks that block when they fail are missing: the handshake tells if those are supported.
const LATER: &[LaterOption] = &[
    later("resume_drops_turn", 223, |plan| plan.has_flag("resume-drops-turn")),
    later("per_task_stop_affordance", 246, |plan| plan.initialize.per_task_stop_affordance.is_some()),
    // An earlier version would neither deny the tools that the settings name nor request permission for them.
    later("mcp_handler_settings", 248, |plan| plan.initialize.sdk_mcp_server_configs.is_some()),
    later("snapshot", 257, |plan| plan.initialize.system_prompt_snapshot.is_some()),
    later("permission_prompts", 259, |plan| plan.has_flag("permission-prompts")),
    later("plugins_by_handshake", 261, |plan| plan.initialize.plugins.is_some()),
    later("project_config_root", 275, |plan| plan.has_flag("project-config-root")),
    later("managed_settings", 323, |plan| plan.has_flag("managed-settings-in-initialize")),
    later("mcp_servers_by_handshake", 326, |plan| plan.initialize.mcp_servers.is_some()),
];

const fn later(name: &'static str, patch: u32, is_used: fn(&Plan) -> bool) -> LaterOption {
    LaterOption { name, since: Version { patch, ..OLDEST }, is_used }
}

impl Plan {
    /// The options of this plan that not every supported version has.
    pub(crate) fn later_options(&self) -> Vec<&'static LaterOption> {
        LATER.iter().filter(|option| (option.is_used)(self)).collect()
    }

    fn has_flag(&self, flag: &str) -> bool {
        self.launch.args.iter().any(|arg| match arg {
            Arg::Text(text) => text.strip_prefix("--").is_some_and(|text| {
                text.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            }),
            Arg::Path(_) | Arg::File { .. } => false,
        })
    }
}

/// Refuses options that this version does not have.
pub(crate) fn check(version: Version, used: &[&LaterOption]) -> Result<(), Error> {
    let Some(LaterOption { name, since, .. }) = used.iter().find(|option| version < option.since) else {
        return Ok(());
    };
    let message =
        format!("Claude Code {version} does not have the option `{name}`, at least {since} is needed");
    Err(Error::new(ErrorKind::VersionTooOld, message, "run `claude update`, or leave the option out"))
}
