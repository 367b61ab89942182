//! Options of the output and of the input.

use std::path::PathBuf;

use super::{Options, Plan};

/// The target of the CLI's debug log.
#[derive(Debug, Clone)]
enum Debug {
    Everything,
    Filtered(String),
}

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the CLI")]
pub(super) struct OutputOptions {
    partial_messages: bool,
    hook_events: bool,
    subagent_text: bool,
    replay_prompts: bool,
    auth_status: bool,
    pub(super) verbatim: bool,
    prompt_suggestions: bool,
    progress_summaries: bool,
    stop_affordance: bool,
    debug: Option<Debug>,
    debug_file: Option<PathBuf>,
}

impl Options {
    /// Streams the answer as `stream_event` frames while it is being written.
    pub fn include_partial_messages(mut self) -> Self {
        self.output.partial_messages = true;
        self
    }

    /// Sends events when command hooks start, progress and end.
    pub fn include_hook_events(mut self) -> Self {
        self.output.hook_events = true;
        self
    }

    /// Also sends the text and the thinking of sub-agents.
    pub fn forward_subagent_text(mut self) -> Self {
        self.output.subagent_text = true;
        self
    }

    /// Sends every prompt back when the CLI starts to process it.
    pub fn replay_user_messages(mut self) -> Self {
        self.output.replay_prompts = true;
        self
    }

    /// Sends the progress of a login.
    pub fn include_auth_status(mut self) -> Self {
        self.output.auth_status = true;
        self
    }

    /// Sends prompts verbatim: slash commands and `@path` references are not expanded.
    pub fn verbatim_prompts(mut self) -> Self {
        self.output.verbatim = true;
        self
    }

    /// Sends a suggestion for the next prompt after a turn.
    pub fn prompt_suggestions(mut self) -> Self {
        self.output.prompt_suggestions = true;
        self
    }

    /// Sends one-line progress summaries of background agents.
    pub fn agent_progress_summaries(mut self) -> Self {
        self.output.progress_summaries = true;
        self
    }

    /// Declares to the CLI that this host can stop single tasks.
    pub fn per_task_stop_affordance(mut self) -> Self {
        self.output.stop_affordance = true;
        self
    }

    /// Enables the CLI's debug log, for everything or for what `filter` names.
    pub fn debug(mut self, filter: Option<&str>) -> Self {
        self.output.debug =
            Some(filter.map_or(Debug::Everything, |filter| Debug::Filtered(filter.to_owned())));
        self
    }

    /// Sets the file of the CLI's debug log.
    pub fn debug_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.output.debug_file = Some(path.into());
        self
    }
}

impl OutputOptions {
    pub(super) fn add(&self, plan: &mut Plan) {
        let flags = [
            (self.partial_messages, "include-partial-messages"),
            (self.hook_events, "include-hook-events"),
            (self.replay_prompts, "replay-user-messages"),
            (self.auth_status, "enable-auth-status"),
        ];
        for (_, flag) in flags.into_iter().filter(|(on, _)| *on) {
            plan.flag(flag);
        }
        match &self.debug {
            Some(Debug::Filtered(filter)) => plan.value("debug", filter),
            Some(Debug::Everything) => plan.flag("debug"),
            None => {}
        }
        if let Some(path) = &self.debug_file {
            plan.path("debug-file", path);
        }
        let initialize = &mut plan.initialize;
        initialize.forward_subagent_text = self.subagent_text.then_some(true);
        initialize.prompt_suggestions = self.prompt_suggestions.then_some(true);
        initialize.agent_progress_summaries = self.progress_summaries.then_some(true);
        initialize.per_task_stop_affordance = self.stop_affordance.then_some(true);
    }
}
