//! Self-description of the stand-in: `system/init`, `initialize`, context and cost.

use serde_json::{Value, json};

use super::catalog::{AGENTS, CAPABILITIES, TOOLS, agents, command_names, commands, models};
use super::frames::{Frame, members};
use super::session::Session;
use super::stop::Flow;
use super::usage::{dollars, shown_dollars};

/// Size of the context window in tokens.
const WINDOW: u64 = 1_000_000;

impl Session {
    /// Tools of this session.
    pub(super) fn tool_names(&self) -> Vec<String> {
        let all = || TOOLS.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let mut tools = match (&self.script.agent.tools, self.args.has("tools")) {
            (Some(tools), _) => tools.clone(),
            (None, true) if self.args.get("tools") != Some("default") => self.args.list("tools"),
            (None, _) => all(),
        };
        let forbidden = self.args.list("disallowed-tools");
        tools.retain(|tool| !forbidden.contains(tool));
        if self.schema.is_some() {
            tools.push("StructuredOutput".to_owned());
        }
        tools.extend(self.servers.iter().flat_map(super::mcp::McpServer::tool_names));
        tools
    }

    fn agent_names(&self) -> Vec<String> {
        AGENTS.iter().map(ToString::to_string).chain(self.agents.keys().cloned()).collect()
    }

    fn agent_list(&self) -> Value {
        let mut list = agents();
        for (name, agent) in &self.agents {
            if let Some(list) = list.as_array_mut() {
                list.push(json!({"name": name, "description": agent["description"]}));
            }
        }
        list
    }

    /// Sends `system/init`, at the start of every turn.
    pub(super) fn emit_init(&mut self) -> Flow {
        let servers: Vec<Value> = self
            .servers
            .iter()
            .map(|server| json!({"name": server.name, "status": server.state(), "source": "sdk"}))
            .collect();
        let memory = self.config_dir.join("projects").join(self.project_key()).join("memory/");
        let uuids = self.uuids_once().map(|(_, all)| all);
        let frame = Frame::system("init")
            .with("cwd", self.cwd.as_str())
            .with("session_id", self.id.as_str())
            .with("tools", self.tool_names())
            .with("mcp_servers", servers)
            .with("model", self.model.as_str())
            .with("permissionMode", self.mode.as_str())
            .with("slash_commands", command_names())
            .with("terminal_slash_commands", json!([]))
            .with("apiKeySource", "ANTHROPIC_API_KEY")
            .with("claude_code_version", self.version())
            .with("output_style", "default")
            .with("agents", self.agent_names())
            .with("skills", json!([]))
            .with("plugins", json!([]))
            .with("capabilities", CAPABILITIES.to_vec())
            .with("analytics_disabled", true)
            .with("product_feedback_disabled", true)
            .with("uuid", self.ids.uuid())
            .with("memory_paths", json!({"auto": memory}))
            .with("original_cwd", self.cwd.as_str())
            .with("additional_directories", self.args.values("add-dir").to_vec())
            .with("messaging_socket_path", format!("cc-socks/{}.sock", self.pid))
            .with("fast_mode_state", "off")
            .with("fast_mode_disabled_reason", "sdk_opt_in_required")
            .with("per_turn_effort_active", true)
            .with("ultrathink_available", false)
            .with("ultrathink_typed_raises", false)
            .with("view_mode", "default")
            .maybe("user_message_uuids", uuids)
            .merged(&self.script.agent.init);
        self.emit(frame).map(drop)
    }

    /// Reply to `initialize`.
    pub(super) fn initialize_body(&self, hooks: bool) -> Value {
        let body = json!({
            "commands": commands(),
            "agents": self.agent_list(),
            "output_style": "default",
            "available_output_styles": ["default"],
            "user_output_styles_dir": self.config_dir.join("output-styles"),
            "models": models(),
            "account": {"tokenSource": "none", "apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"},
            "pid": self.pid,
            "claude_code_version": self.version(),
            "current_permission_mode": self.mode,
            "hook_on_failure_supported": true,
            "hooks_when_unanswered_kept": 0,
            "other_hook_ask_outranks_host": true,
            "feedback_mode": {"kind": "disabled"},
            "analytics_disabled": true,
            "remote_control_auto_enable": false,
            "remote_control_auto_connect_default": false,
            "remote_control_available": false,
            "remote_control_auto_on_by_default": false,
            "ide_rc_auto_enable_gate": false,
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "session_state": if self.turn.is_some() { "running" } else { "idle" },
            "capabilities": [],
        });
        let mut body = members(&body);
        if hooks {
            body.insert("hooks_applied".to_owned(), json!(true));
        }
        body.extend(self.script.agent.initialize.clone());
        Value::Object(body)
    }

    /// Usage of the context window.
    pub(super) fn context_usage(&self) -> Value {
        let used = self.context.context();
        let free = WINDOW.saturating_sub(used);
        let category = |id: &str, name: &str, tokens: u64, kind: &str| json!({"id": id, "name": name, "tokens": tokens, "color": "inactive", "kind": kind});
        json!({
            "categories": [
                category("messages", "Messages", used, "used"),
                category("free_space", "Free space", free, "free"),
            ],
            "totalTokens": used,
            "maxTokens": WINDOW,
            "rawMaxTokens": WINDOW,
            "autocompactSource": "model-default",
            "percentage": used * 100 / WINDOW,
            "gridRows": [],
            "model": self.model,
            "memoryFiles": [],
            "mcpTools": [],
            "mcpInstructions": [],
            "agents": [],
            "slashCommands": {"totalCommands": command_names().len(), "includedCommands": command_names().len(), "tokens": 0},
            "skills": {"totalSkills": 0, "includedSkills": 0, "tokens": 0, "skillFrontmatter": []},
            "autoCompactThreshold": WINDOW - 33_000,
            "isAutoCompactEnabled": true,
            "messageBreakdown": {
                "toolCallTokens": 0, "toolResultTokens": 0, "attachmentTokens": 0, "assistantMessageTokens": 0,
                "userMessageTokens": used, "toolCallsByType": [], "attachmentsByType": [],
            },
            "apiUsage": {
                "input_tokens": self.context.input, "output_tokens": self.context.output,
                "cache_creation_input_tokens": self.context.write_5m + self.context.write_1h,
                "cache_read_input_tokens": self.context.cache_read,
            },
        })
    }

    /// Cost of the session, as data.
    pub(super) fn usage_report(&self) -> Value {
        json!({
            "session": {
                "total_cost_usd": shown_dollars(self.ledger.cost_nano()), "total_api_duration_ms": self.api_ms,
                "total_duration_ms": self.api_ms, "total_lines_added": 0, "total_lines_removed": 0,
                "model_usage": self.ledger.by_model(),
            },
            "subscription_type": null, "rate_limits_available": false, "rate_limits": null, "behaviors": null,
        })
    }

    /// Cost of the session, as text.
    pub(super) fn cost_text(&self) -> String {
        let mut text = format!("Total cost:            ${:.4}\n", dollars(self.ledger.cost_nano()));
        text.push_str("Total code changes:    0 lines added, 0 lines removed\nUsage by model:");
        for (model, tokens) in self.ledger.models() {
            let line = format!(
                "\n     {model}:  {} input, {} output, {} cache read, {} cache write",
                tokens.input,
                tokens.output,
                tokens.cache_read,
                tokens.write_5m + tokens.write_1h,
            );
            text.push_str(&line);
        }
        text
    }
}
