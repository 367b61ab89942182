//! Options of tools, skills, plugins and agents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tidings_protocol::control::{AgentDefinition, PluginDelivery};

use super::{Options, Plan};
use crate::error::Error;

/// The set of available tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolSet {
    /// Claude Code's choice.
    #[default]
    Unset,
    /// The default tools, set explicitly.
    Default,
    /// Only these; an empty list for none.
    Only(Vec<String>),
}

/// The set of available skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Skills {
    /// The skills that the settings enable.
    #[default]
    Unset,
    /// All skills.
    All,
    /// Only these.
    Only(Vec<String>),
}

/// A plugin in a local folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginSource {
    /// The folder of the plugin.
    pub path: PathBuf,
    /// Does not start the plugin's MCP servers.
    pub skip_mcp_discovery: bool,
}

/// The format of previews in questions of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionPreview {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ToolOptions {
    set: ToolSet,
    allowed: Vec<String>,
    disallowed: Vec<String>,
    aliases: BTreeMap<String, String>,
    preview: Option<QuestionPreview>,
    skills: Skills,
    plugins: Vec<PluginSource>,
    plugins_by_handshake: bool,
    agent: Option<String>,
    agents: BTreeMap<String, AgentDefinition>,
}

impl PluginSource {
    /// A plugin with all its parts.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        PluginSource { path: path.into(), skip_mcp_discovery: false }
    }

    /// A plugin without its MCP servers.
    pub fn without_mcp(path: impl Into<PathBuf>) -> Self {
        PluginSource { path: path.into(), skip_mcp_discovery: true }
    }
}

impl Options {
    /// Sets the available tools.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.tools.set = tools;
        self
    }

    /// Adds tools, or patterns of tool calls, that run without a permission request: `Read`, `Bash(git
    /// log:*)`.
    pub fn allowed_tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.tools.allowed.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Adds tools, or patterns of tool calls, that are denied.
    pub fn disallowed_tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.tools.disallowed.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Adds another name for a tool.
    pub fn tool_alias(mut self, alias: impl Into<String>, tool: impl Into<String>) -> Self {
        self.tools.aliases.insert(alias.into(), tool.into());
        self
    }

    /// Sets the format of previews in questions of the agent.
    pub fn question_preview(mut self, preview: QuestionPreview) -> Self {
        self.tools.preview = Some(preview);
        self
    }

    /// Sets the available skills.
    pub fn skills(mut self, skills: Skills) -> Self {
        self.tools.skills = skills;
        self
    }

    /// Adds a plugin.
    pub fn plugin(mut self, plugin: PluginSource) -> Self {
        self.tools.plugins.push(plugin);
        self
    }

    /// Sends plugins in the handshake instead of on the command line.
    pub fn plugins_by_handshake(mut self) -> Self {
        self.tools.plugins_by_handshake = true;
        self
    }

    /// Sets the main agent of the conversation.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.tools.agent = Some(name.into());
        self
    }

    /// Defines a sub-agent. Agents are sent in the handshake, so their prompts may be long.
    pub fn define_agent(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.tools.agents.insert(name.into(), agent);
        self
    }
}

impl ToolOptions {
    /// Tools that are allowed without a pattern, or with one that matches every call.
    pub(super) fn allowed_outright(&self) -> Vec<&str> {
        let rules = self.allowed.iter().map(|rule| rule.trim());
        rules
            .map(|rule| rule.strip_suffix("(*)").or_else(|| rule.strip_suffix("()")).unwrap_or(rule))
            .filter(|rule| !rule.contains('('))
            .collect()
    }

    pub(super) fn add(&self, plan: &mut Plan) -> Result<(), Error> {
        match &self.set {
            ToolSet::Unset => {}
            ToolSet::Default => plan.value("tools", "default"),
            ToolSet::Only(tools) => plan.value("tools", names("tools", tools)?),
        }
        let mut allowed = self.allowed.clone();
        match &self.skills {
            Skills::Unset => {}
            Skills::All => allowed.push("Skill".to_owned()),
            Skills::Only(skills) => {
                for skill in skills {
                    check_skill(skill)?;
                    allowed.push(format!("Skill({skill})"));
                }
                plan.initialize.skills = Some(skills.clone());
            }
        }
        if !allowed.is_empty() {
            plan.value("allowedTools", names("allowed_tools", &allowed)?);
        }
        if !self.disallowed.is_empty() {
            plan.value("disallowedTools", names("disallowed_tools", &self.disallowed)?);
        }
        if !self.aliases.is_empty() {
            plan.initialize.tool_aliases = Some(self.aliases.clone());
        }
        match self.preview {
            Some(QuestionPreview::Markdown) => plan.env("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", "markdown"),
            Some(QuestionPreview::Html) => plan.env("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", "html"),
            None => {}
        }
        if let Some(agent) = &self.agent {
            plan.value("agent", agent);
        }
        if !self.agents.is_empty() {
            plan.initialize.agents = Some(self.agents.clone());
        }
        self.add_plugins(plan);
        Ok(())
    }

    fn add_plugins(&self, plan: &mut Plan) {
        if self.plugins.is_empty() {
            return;
        }
        if self.plugins_by_handshake {
            plan.await_initialize();
            plan.initialize.plugins = Some(self.plugins.iter().map(delivery).collect());
            return;
        }
        for plugin in &self.plugins {
            let flag = if plugin.skip_mcp_discovery { "plugin-dir-no-mcp" } else { "plugin-dir" };
            plan.path(flag, &plugin.path);
        }
    }
}

fn delivery(plugin: &PluginSource) -> PluginDelivery {
    let mut delivery = PluginDelivery::default();
    delivery.kind = Some("local".to_owned());
    delivery.path = plugin.path.to_string_lossy().into_owned();
    delivery.skip_mcp_discovery = plugin.skip_mcp_discovery.then_some(true);
    delivery
}

fn names(option: &str, names: &[String]) -> Result<String, Error> {
    if names.iter().any(|name| name.trim().is_empty()) {
        return Err(Error::invalid(format!("`{option}` contains an empty name"), "remove it"));
    }
    Ok(names.join(","))
}

/// Checks a skill name, which becomes part of a rule, `Skill(name)`, and must not end that rule or begin
/// another.
fn check_skill(name: &str) -> Result<(), Error> {
    let wrong = name.is_empty()
        || name.starts_with('/')
        || name.contains(['(', ')', ','])
        || name.contains(char::is_control)
        || name.ends_with('*')
        || name.ends_with('\\')
        || name.contains("\\\\");
    if wrong {
        let message = format!("Not a valid skill name: `{}`", name.escape_debug());
        return Err(Error::invalid(message, "use the name as `claude` lists it, without a slash"));
    }
    Ok(())
}
