//! An agent that writes the time into its deltas.
//!
//! It speaks as much of the CLI's protocol as a host needs, and answers a prompt `deltas=N gap_us=G` with N
//! deltas, G microseconds apart. Its lines are spelt as those of the CLI.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

use crate::Failure;
use crate::workload::Workload;

const MODEL: &str = "claude-opus-5-5";

/// Plays the CLI until its input ends.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Failure> {
    if arguments.iter().any(|argument| argument == "--version" || argument == "-v") {
        println!("2.1.327 (Claude Code)");
        return Ok(true);
    }
    // Some bridges ask for the login first.
    if arguments.iter().any(|argument| argument == "auth") {
        println!(r#"{{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty"}}"#);
        return Ok(true);
    }
    let named = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    let session = named("--session-id").or_else(|| named("--resume"));
    let mut agent = Agent {
        session: session.unwrap_or_else(|| format!("00000000-0000-4000-8000-{:012x}", std::process::id())),
        lines_written: 0,
    };
    for line in std::io::stdin().lock().lines() {
        let frame: Value = serde_json::from_str(&line?)?;
        match frame["type"].as_str() {
            Some("control_request") => agent.answer(&frame)?,
            Some("user") => agent.run(&frame)?,
            _ => {}
        }
    }
    Ok(true)
}

struct Agent {
    session: String,
    /// Number of lines that were written; each has an id.
    lines_written: u64,
}

impl Agent {
    fn answer(&mut self, frame: &Value) -> Result<(), Failure> {
        let model = json!({"value": "default", "displayName": "Default", "description": MODEL});
        let response = match frame["request"]["subtype"].as_str() {
            Some("initialize") => json!({
                "commands": [], "agents": [], "output_style": "default", "available_output_styles": ["default"],
                "models": [model], "account": {"apiKeySource": "ANTHROPIC_API_KEY"}, "pid": std::process::id(),
            }),
            _ => json!({}),
        };
        let id = &frame["request_id"];
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        write(&json!({"type": "control_response", "response": response}).to_string())
    }

    fn run(&mut self, frame: &Value) -> Result<(), Failure> {
        let workload = Workload::asked(&frame["message"]["content"].to_string());
        self.begin()?;
        self.deltas(workload)?;
        self.end()
    }

    fn begin(&mut self) -> Result<(), Failure> {
        let cwd = std::env::current_dir()?.display().to_string();
        self.frame(json!({
            "type": "system", "subtype": "init", "cwd": cwd, "tools": ["Bash"], "mcp_servers": [], "model": MODEL,
            "permissionMode": "default", "slash_commands": [], "apiKeySource": "ANTHROPIC_API_KEY",
            "claude_code_version": "2.1.327", "output_style": "default", "agents": [], "skills": [], "plugins": [],
        }))?;
        let message = json!({
            "model": MODEL, "id": "msg_01", "type": "message", "role": "assistant", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1},
        });
        self.event(&json!({"type": "message_start", "message": message}))?;
        let block = json!({"type": "text", "text": ""});
        self.event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))
    }

    fn deltas(&mut self, workload: Workload) -> Result<(), Failure> {
        let (session, mut id) = (&self.session, self.lines_written);
        workload.run(|text| {
            id += 1;
            write(&format!(
                r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}},"session_id":"{session}","parent_tool_use_id":null,"uuid":"00000000-0000-4000-9000-{id:012x}","api_message_id":"msg_01"}}"#,
            ))
        })?;
        self.lines_written = id;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        let message = json!({
            "model": MODEL, "id": "msg_01", "type": "message", "role": "assistant",
            "content": [{"type": "text", "text": "and so on"}], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        });
        self.frame(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))?;
        self.event(&json!({"type": "content_block_stop", "index": 0}))?;
        let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
        let usage = json!({"input_tokens": 10, "output_tokens": 10});
        self.event(&json!({"type": "message_delta", "delta": delta, "usage": usage}))?;
        self.event(&json!({"type": "message_stop"}))?;
        self.frame(json!({
            "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1,
            "num_turns": 1, "result": "and so on", "stop_reason": "end_turn", "total_cost_usd": 0.0,
            "usage": {"input_tokens": 10, "output_tokens": 10, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0}, "modelUsage": {}, "permission_denials": [],
        }))
    }

    fn event(&mut self, event: &Value) -> Result<(), Failure> {
        self.frame(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
    }

    fn frame(&mut self, mut frame: Value) -> Result<(), Failure> {
        self.lines_written += 1;
        frame["session_id"] = json!(self.session);
        frame["uuid"] = json!(format!("00000000-0000-4000-9000-{:012x}", self.lines_written));
        write(&frame.to_string())
    }
}

/// Writes one line in one call, as the CLI does.
fn write(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    Ok(out.flush()?)
}
