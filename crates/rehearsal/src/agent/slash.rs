//! Slash commands that need no model.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::Frame;
use super::model::ModelAnswer;
use super::prompt::Prompt;
use super::result::Ending;
use super::session::{Session, full_name};
use super::stop::Flow;
use super::usage::{Ledger, Tokens};

/// Commands that only a terminal can show.
const TERMINAL_ONLY: &[&str] = &["status", "help", "config", "login", "logout", "theme", "vim"];

impl Session {
    /// Runs a command; `None` means that the model reads it as text.
    pub(super) fn slash(
        &mut self,
        conversation: &mut Conversation,
        prompt: &Prompt,
        name: &str,
        arguments: &str,
    ) -> Flow<Option<Ending>> {
        let output = match name {
            "compact" => return self.compact(conversation, prompt, arguments).map(Some),
            "clear" | "reset" | "new" => return self.clear(conversation, prompt).map(Some),
            "cost" | "usage" | "stats" => {
                let text = self.cost_text();
                return self.local(conversation, "usage", arguments, &text).map(Some);
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
            "recap" => self.recap(conversation)?,
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
            name if TERMINAL_ONLY.contains(&name) => return self.unavailable(conversation, name).map(Some),
            _ => return Ok(None),
        };
        self.local(conversation, name, arguments, &output).map(Some)
    }

    /// Requests a one-line summary from the model.
    fn recap(&mut self, conversation: &mut Conversation) -> Flow<String> {
        conversation.add("Recap this session in one line.");
        let answer = self.ask_model(conversation)?;
        conversation.texts.pop();
        Ok(match answer {
            ModelAnswer::Turn(turn) => {
                let output = super::compact::answer_text(&turn);
                let asked = conversation.texts.iter().map(String::len).sum();
                let model = self.model.clone();
                self.ledger.spend(&model, Tokens::of(turn.usage, asked, output.len()));
                output
            }
            ModelAnswer::Failed(failure) => failure.text,
        })
    }

    /// Sends the output of a command as a message of the model.
    fn local(
        &mut self,
        conversation: &mut Conversation,
        name: &str,
        arguments: &str,
        output: &str,
    ) -> Flow<Ending> {
        let run = ("local_command_run", json!({"command": name, "args": arguments}));
        self.show_local(conversation, output, run)?;
        Ok(Ending::local(output, Some(name)))
    }

    fn unavailable(&mut self, conversation: &mut Conversation, name: &str) -> Flow<Ending> {
        let output = format!("/{name} isn't available in this environment.");
        self.show_local(
            conversation,
            &output,
            ("local_command_outcome", json!({"kind": "unavailable_headless"})),
        )?;
        Ok(Ending::local(&output, None))
    }

    fn show_local(
        &mut self,
        conversation: &mut Conversation,
        output: &str,
        (key, value): (&str, Value),
    ) -> Flow {
        self.emit_init()?;
        let message = self.synthetic_message(output, "end_turn", None);
        let stamp = self.stamp();
        let source = format!("<local-command-stdout>{output}</local-command-stdout>");
        let frame = Frame::new("assistant")
            .with("message", message)
            .with("parent_tool_use_id", Value::Null)
            .with("session_id", self.id.as_str())
            .with("uuid", self.ids.uuid())
            .with("timestamp", stamp)
            .with("local_command_source", source.as_str())
            .with(key, value);
        let frame = if output.starts_with("## Context") {
            frame.with("context_usage", self.context_report())
        } else {
            frame
        };
        let uuid = self.emit(frame)?;
        let message = json!({"role": "user", "content": source});
        self.note_user(conversation, &message, &uuid)
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
    fn clear(&mut self, conversation: &mut Conversation, prompt: &Prompt) -> Flow<Ending> {
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
        *conversation = Conversation::default();
        self.ledger = Ledger::default();
        self.tasks.clear();
        self.emit_tasks()?;
        self.run_hooks("SessionStart", Some("clear"), None, None, &json!({"source": "clear"}))?;
        self.emit_init()?;
        Ok(Ending::local("", Some("clear")))
    }
}
