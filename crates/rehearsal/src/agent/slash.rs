//! Slash commands that need no model.

use serde_json::{Value, json};

use super::frames::Frame;
use super::model::Answer;
use super::prompt::Prompt;
use super::result::Ending;
use super::session::{Session, full_name};
use super::stop::Flow;
use super::talk::Talk;
use super::usage::{Ledger, Tokens};

/// Commands that only a terminal can show.
const TERMINAL_ONLY: &[&str] = &["status", "help", "config", "login", "logout", "theme", "vim"];

impl Session {
    /// Runs a command; `None` means that the model reads it as text.
    pub(super) fn slash(
        &mut self,
        talk: &mut Talk,
        prompt: &Prompt,
        name: &str,
        arguments: &str,
    ) -> Flow<Option<Ending>> {
        let said = match name {
            "compact" => return self.compact(talk, prompt, arguments).map(Some),
            "clear" | "reset" | "new" => return self.clear(talk, prompt).map(Some),
            "cost" | "usage" | "stats" => {
                let text = self.cost_text();
                return self.local(talk, "usage", arguments, &text).map(Some);
            }
            "context" => {
                let used = self.context.context();
                format!("## Context Usage\n\n**Model:** {}\n**Tokens:** {used} / 1m", self.model)
            }
            "model" if arguments.is_empty() => format!("Current model: `{}`", self.model),
            "model" => {
                full_name(arguments).clone_into(&mut self.model);
                format!("Set model to `{}`", self.model)
            }
            "agents" => {
                "Ask Claude to create or update subagents, or edit the files in .claude/agents.".to_owned()
            }
            "recap" => self.recap(talk)?,
            "effort" => "Usage: /effort <low|medium|high|xhigh|max|auto>".to_owned(),
            "mcp" if self.servers.is_empty() => "No MCP servers are configured.".to_owned(),
            "mcp" => {
                let lines = self.servers.iter().map(|server| format!("{}: {}", server.name, server.state()));
                lines.collect::<Vec<_>>().join("\n")
            }
            "rename" | "name" => {
                self.title = Some(arguments.to_owned());
                self.note_title(arguments);
                self.emit(Frame::system("session_title_changed").with("title", arguments))?;
                format!("Session renamed to: {arguments}")
            }
            name if TERMINAL_ONLY.contains(&name) => return self.unavailable(talk, name).map(Some),
            _ => return Ok(None),
        };
        self.local(talk, name, arguments, &said).map(Some)
    }

    /// Requests a one-line summary from the model.
    fn recap(&mut self, talk: &mut Talk) -> Flow<String> {
        talk.say("Recap this session in one line.");
        let answer = self.ask_model(talk)?;
        talk.said.pop();
        Ok(match answer {
            Answer::Turn(turn) => {
                let said = super::compact::spoken(&turn);
                let asked = talk.said.iter().map(String::len).sum();
                let model = self.model.clone();
                self.ledger.spend(&model, Tokens::of(turn.usage, asked, said.len()));
                said
            }
            Answer::Failed(failure) => failure.text,
        })
    }

    /// Sends the output of a command as a message of the model.
    fn local(&mut self, talk: &mut Talk, name: &str, arguments: &str, said: &str) -> Flow<Ending> {
        let run = ("local_command_run", json!({"command": name, "args": arguments}));
        self.show_local(talk, said, run)?;
        Ok(Ending::local(said, Some(name)))
    }

    fn unavailable(&mut self, talk: &mut Talk, name: &str) -> Flow<Ending> {
        let said = format!("/{name} isn't available in this environment.");
        self.show_local(talk, &said, ("local_command_outcome", json!({"kind": "unavailable_headless"})))?;
        Ok(Ending::local(&said, None))
    }

    fn show_local(&mut self, talk: &mut Talk, said: &str, (key, value): (&str, Value)) -> Flow {
        self.emit_init()?;
        let message = self.synthetic_message(said, "end_turn", None);
        let stamp = self.stamp();
        let source = format!("<local-command-stdout>{said}</local-command-stdout>");
        let frame = Frame::new("assistant")
            .with("message", message)
            .with("parent_tool_use_id", Value::Null)
            .with("session_id", self.id.as_str())
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("local_command_source", source.as_str())
            .with(key, value);
        let frame = if said.starts_with("## Context") {
            frame.with("context_usage", self.context_report())
        } else {
            frame
        };
        let uuid = self.emit(frame)?;
        let message = json!({"role": "user", "content": source});
        self.note_user(talk, &message, &uuid)
    }

    /// The `/context` report as data.
    fn context_report(&self) -> Value {
        json!({
            "model": self.model, "total_tokens": self.context.context(), "raw_max_tokens": 1_000_000, "percentage": 0,
            "categories": [{"name": "Messages", "tokens": self.context.context(), "kind": "used"}],
            "mcp_tools": [], "memory_files": [], "agents": [],
        })
    }

    /// `/clear`: a new session in the same process.
    fn clear(&mut self, talk: &mut Talk, prompt: &Prompt) -> Flow<Ending> {
        self.run_hooks("SessionEnd", Some("clear"), None, None, &json!({"reason": "clear"}))?;
        let stamp = self.stamp();
        let next = self.ids.uuid();
        let uuid = prompt.uuid.clone().unwrap_or_else(|| self.ids.uuid());
        let frame = Frame::new("conversation_reset")
            .with("new_conversation_id", self.ids.uuid())
            .with("uuid", self.ids.uuid())
            .with("trigger", "clear")
            .with("user_message_uuid", uuid)
            .with("timestamp", stamp)
            .with("session_id", self.id.as_str());
        self.emit(frame)?;
        self.close_transcript();
        self.id = next;
        *talk = Talk::default();
        self.ledger = Ledger::default();
        self.tasks.clear();
        self.emit_tasks()?;
        self.run_hooks("SessionStart", Some("clear"), None, None, &json!({"source": "clear"}))?;
        self.emit_init()?;
        Ok(Ending::local("", Some("clear")))
    }
}
