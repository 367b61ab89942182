//! Control requests of the host.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};

use super::frames::{Frame, text};
use super::hooks::Hooks;
use super::mcp::McpServer;
use super::session::{MODEL, Session, full_name};
use super::stop::{Flow, Stop};

/// Modes that `set_permission_mode` accepts.
const MODES: &[&str] = &["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

impl Session {
    /// Answers one request.
    pub(super) fn control(&mut self, id: Option<&Value>, request: &Value) -> Flow {
        match text(request, "subtype") {
            "initialize" => self.initialize(id, request),
            "interrupt" => self.interrupt(id, request),
            "set_model" => self.set_model(id, request),
            "set_permission_mode" => self.set_mode(id, text(request, "mode")),
            "mcp_status" => {
                let servers: Vec<Value> = self.servers.iter().map(McpServer::status).collect();
                self.answer(id, Some(json!({"mcpServers": servers})))
            }
            "rewind_files" => self.rewind_files(id, request),
            "get_context_usage" => {
                let usage = self.context_usage();
                self.answer(id, Some(usage))
            }
            "get_session_cost" => {
                let text = self.cost_text();
                self.answer(id, Some(json!({"text": text})))
            }
            "get_settings" => {
                let applied =
                    json!({"model": self.model, "effort": "medium", "advisor": null, "ultracode": false});
                self.answer(id, Some(json!({"effective": {}, "sources": [], "applied": applied})))
            }
            "list_models" => self.answer(id, Some(json!({"models": super::catalog::models()}))),
            "get_binary_version" => {
                let version = self.version();
                self.answer(
                    id,
                    Some(json!({
                        "version": version, "buildTime": "2026-11-13T18:52:23Z", "oldestDesktopSdk": "0.2.0",
                    })),
                )
            }
            "list_permission_rules" => {
                let state = self.rules_state();
                self.answer(id, Some(json!({"state": state})))
            }
            "file_suggestions" => {
                let cwd = self.cwd.clone();
                self.answer(id, Some(json!({"suggestions": [], "cwd": cwd})))
            }
            "get_usage" => {
                let usage = self.usage_report();
                self.answer(id, Some(usage))
            }
            "get_plan" => self.answer(id, Some(json!({"exists": false}))),
            "reload_plugins" => {
                let servers: Vec<Value> = self.servers.iter().map(McpServer::status).collect();
                let body = json!({
                    "commands": super::catalog::commands(), "agents": super::catalog::agents(), "plugins": [],
                    "mcpServers": servers, "error_count": 0,
                });
                self.answer(id, Some(body))
            }
            "reload_skills" => self.answer(id, Some(json!({"skills": super::catalog::commands()}))),
            "background_tasks" if request.get("tool_use_id").is_none() => self.answer(id, Some(json!({}))),
            "background_tasks" => self.answer(id, Some(json!({"backgrounded": false}))),
            "read_file" => self.read_file(id, text(request, "path")),
            "get_task_output" => {
                let error = "get_task_output: no shell or Monitor task with that task_id in this session";
                self.refuse(id, error, None)
            }
            "mcp_set_servers" => self.set_servers(id, request),
            "cancel_async_message" => self.cancel_message(id, text(request, "message_uuid")),
            "stop_task" => self.stop_task(id, text(request, "task_id")),
            "rename_session" => self.rename(id, text(request, "title")),
            "end_session" => {
                self.answer(id, None)?;
                Err(Stop::Exit(i32::from(self.turn.is_some())))
            }
            "mcp_reconnect" => {
                let name = text(request, "serverName").to_owned();
                if self.servers.iter().any(|server| server.name == name) {
                    self.answer(id, None)
                } else {
                    self.refuse(id, &format!("Server not found: {name}"), None)
                }
            }
            "set_max_thinking_tokens"
            | "mcp_toggle"
            | "apply_flag_settings"
            | "update_settings"
            | "seed_read_state"
            | "set_has_subscribers"
            | "message_rated" => self.answer(id, None),
            // A message that a server of the host sends on its own; the stand-in ignores it.
            "mcp_message" => self.answer(id, Some(json!({}))),
            other => {
                let message = format!("Unsupported control request subtype: {other}");
                self.refuse(id, &message, Some("unsupported_request"))
            }
        }
    }

    /// Sends a success, with or without a body.
    pub(super) fn answer(&mut self, id: Option<&Value>, body: Option<Value>) -> Flow {
        let mut response = json!({"subtype": "success"});
        if let Some(id) = id {
            response["request_id"] = id.clone();
        }
        if let Some(body) = body {
            response["response"] = body;
        }
        self.out.frame(Frame::new("control_response").with("response", response))
    }

    fn refuse(&mut self, id: Option<&Value>, error: &str, code: Option<&str>) -> Flow {
        let mut response = json!({"subtype": "error", "error": error});
        if let Some(id) = id {
            response["request_id"] = id.clone();
        }
        if let Some(code) = code {
            response["error_code"] = json!(code);
        }
        self.out.frame(Frame::new("control_response").with("response", response))
    }

    fn initialize(&mut self, id: Option<&Value>, request: &Value) -> Flow {
        let again = std::mem::replace(&mut self.initialized, true);
        self.hooks = Hooks::parse(&request["hooks"]);
        for name in request["sdkMcpServers"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !self.servers.iter().any(|server| server.name == name) {
                self.servers.push(McpServer::named(name));
            }
        }
        for key in ["systemPrompt", "appendSystemPrompt"] {
            self.system.extend(request.get(key).map(super::prompt::content_text));
        }
        self.agents = request["agents"].as_object().cloned().unwrap_or_default();
        if let Some(schema) = request.get("jsonSchema").filter(|schema| schema.is_object()) {
            self.schema = Some(schema.clone());
        }
        if let Some(title) = request.get("title").and_then(Value::as_str) {
            self.title = Some(title.to_owned());
            self.emit(Frame::system("session_title_changed").with("title", title))?;
        }
        self.initialize_servers()?;
        let body = self.initialize_body(request["hooks"].is_object());
        let mut response = json!({"subtype": "success", "response": body});
        if let Some(id) = id {
            response["request_id"] = id.clone();
        }
        response["pending_permission_requests"] = json!([]);
        response["pending_user_dialog_requests"] = json!([]);
        self.out.frame(Frame::new("control_response").with("response", response))?;
        if again {
            self.emit(Frame::system("background_tasks_changed").with("tasks", json!([])))?;
        }
        self.list_server_tools()
    }

    fn set_model(&mut self, id: Option<&Value>, request: &Value) -> Flow {
        let model = match &request["model"] {
            Value::Null => MODEL.to_owned(),
            Value::String(name) => full_name(name).to_owned(),
            _ => {
                let mut response = json!({"subtype": "error", "error": "set_model: model must be a string"});
                response["request_id"] = id.cloned().unwrap_or_default();
                response["error_code"] = json!("invalid_request");
                response["model"] = json!(self.model);
                return self.out.frame(Frame::new("control_response").with("response", response));
            }
        };
        let (from, to) = (std::mem::replace(&mut self.model, model.clone()), model.clone());
        let switch = json!({
            "from_model": from, "to_model": to, "requested_model": request["model"], "source": "sdk",
            "context_tokens": self.context.context(), "prompt_cache_warm": false, "cache_ttl": "5m",
            "estimated_cache_write_usd": 0, "pricing": "catalog",
        });
        self.run_hooks("PreModelSwitch", None, None, None, &switch)?;
        let output = format!("<local-command-stdout>Set model to `{model}`</local-command-stdout>");
        self.replayed_text(&output)?;
        self.answer(id, Some(json!({"model": model})))?;
        self.run_hooks("PostModelSwitch", None, None, None, &switch).map(drop)
    }

    /// Sends a `user` frame with the output of a command.
    pub(super) fn replayed_text(&mut self, output: &str) -> Flow {
        let stamp = self.stamp();
        let frame = Frame::new("user")
            .with("message", json!({"role": "user", "content": output}))
            .with("session_id", self.id.as_str())
            .with("parent_tool_use_id", Value::Null)
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("isReplay", true);
        self.emit(frame).map(drop)
    }

    fn set_mode(&mut self, id: Option<&Value>, mode: &str) -> Flow {
        if !MODES.contains(&mode) {
            let error = format!("Cannot set permission mode: must be one of {}", MODES.join(", "));
            return self.refuse(id, &error, Some("invalid_mode"));
        }
        let launched =
            self.args.has("skip") || self.args.has("allow-skip") || self.args.mode() == "bypassPermissions";
        if mode == "bypassPermissions" && !launched {
            let error = "Cannot set permission mode to bypassPermissions because the session was not launched with \
                         --dangerously-skip-permissions";
            return self.refuse(id, error, Some("bypass_not_launched"));
        }
        self.answer(id, Some(json!({"mode": mode})))?;
        self.change_mode(mode)
    }

    /// Any message with a uuid can be rewound to. Tools change no files here, so there is nothing to restore.
    fn rewind_files(&mut self, id: Option<&Value>, request: &Value) -> Flow {
        let known = self.taken.iter().any(|uuid| uuid == text(request, "user_message_id"));
        if !known {
            return self.refuse(id, "No file checkpoint found for this message.", None);
        }
        let body = if request["dry_run"] == true {
            json!({"canRewind": true, "filesChanged": [], "insertions": 0, "deletions": 0})
        } else {
            json!({"canRewind": true, "skippedLinks": 0})
        };
        self.answer(id, Some(body))
    }

    fn set_servers(&mut self, id: Option<&Value>, request: &Value) -> Flow {
        let wanted = request["servers"].as_object().cloned().unwrap_or_default();
        let removed: Vec<String> = self
            .servers
            .iter()
            .map(|server| server.name.clone())
            .filter(|name| !wanted.contains_key(name))
            .collect();
        self.servers.retain(|server| wanted.contains_key(&server.name));
        let mut added = Vec::new();
        for (name, config) in &wanted {
            if config["type"] == "sdk" && !self.servers.iter().any(|server| server.name == *name) {
                self.servers.push(McpServer::named(name));
                added.push(name.clone());
            }
        }
        self.initialize_servers()?;
        self.list_server_tools()?;
        self.answer(id, Some(json!({"added": added, "removed": removed, "errors": {}})))
    }

    /// Reads a file, only inside of the working directory.
    fn read_file(&mut self, id: Option<&Value>, path: &str) -> Flow {
        let full = Path::new(&self.cwd).join(path);
        let inside = full.starts_with(&self.cwd) && !path.contains("..");
        match std::fs::read(&full).ok().filter(|_| inside) {
            Some(bytes) => {
                let contents = String::from_utf8_lossy(&bytes);
                let lossy = matches!(contents, Cow::Owned(_));
                let body =
                    json!({"contents": contents, "absPath": full, "lossy": lossy, "requested_path": path});
                self.answer(id, Some(body))
            }
            None => self.refuse(id, &format!("read_file: cannot read {path}"), None),
        }
    }

    fn cancel_message(&mut self, id: Option<&Value>, uuid: &str) -> Flow {
        let waiting = self.queue.len();
        self.queue.retain(|prompt| prompt.uuid.as_deref() != Some(uuid));
        let cancelled = self.queue.len() < waiting;
        if cancelled {
            self.lifecycle(uuid, "cancelled")?;
        }
        self.answer(id, Some(json!({"cancelled": cancelled})))
    }

    fn rename(&mut self, id: Option<&Value>, title: &str) -> Flow {
        self.title = Some(title.to_owned());
        self.note_title(title);
        self.emit(Frame::system("session_title_changed").with("title", title))?;
        self.answer(id, None)
    }

    fn rules_state(&self) -> Value {
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|rule| json!({"behavior": "allow", "source": "session", "rule": rule, "editability": "session"}))
            .collect();
        json!({"rules": rules, "workspaceDirectories": [], "originalCwd": self.cwd, "managedOnly": false})
    }
}
