//! Background tasks, and the turns that they start when they end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::Agent;
use super::frames::{Frame, text};
use super::prompt::Prompt;
use super::session::Session;
use super::stop::Flow;
use super::tools::{Call, Outcome};
use super::usage::Tokens;

/// A background task.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// Ids and description; a shell command has no prompt.
    pub(super) agent: Agent,
    pub(super) work: Work,
}

/// Kind of work of a task.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Agent,
    /// A shell command, which runs from its start on, independent of turns.
    Shell {
        done: Instant,
    },
}

impl Session {
    /// Starts a task for `Bash` with `run_in_background`.
    pub(super) fn run_shell_task(&mut self, call: &Call) -> Flow<Outcome> {
        let agent = Agent {
            id: self.ids.shell(),
            run_id: self.ids.run(),
            call_id: call.id.clone(),
            description: text(&call.input, "description").to_owned(),
            started_ms: self.now(),
            ..Agent::default()
        };
        let message = format!(
            "Command running in background with ID: {}. You will be notified when it completes.",
            agent.id
        );
        let output = json!({
            "stdout": "", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
            "backgroundTaskId": agent.id,
        });
        let done = Instant::now() + Duration::from_millis(call.block.takes_ms);
        self.tasks.push(Task { agent: agent.clone(), work: Work::Shell { done } });
        self.emit_tasks()?;
        self.emit_started(&agent)?;
        Ok(Outcome { content: json!(message), is_error: Some(false), output, ..Outcome::default() })
    }

    /// Completes the oldest task; the model is notified in a separate turn.
    ///
    /// The real CLI works on tasks during turns too. Here they end when the turn is over, so that a script
    /// plays the same every time.
    pub(super) fn finish_task(&mut self) -> Flow {
        let Some(task) = self.tasks.first().cloned() else { return Ok(()) };
        let (agent, summary, tokens) = match task.work {
            Work::Agent => self.run_subagent(task.agent)?,
            Work::Shell { done } => {
                if !self.is_done_by(done)? {
                    return Ok(());
                }
                let summary =
                    format!("Background command \"{}\" completed (exit code 0)", task.agent.description);
                (task.agent, summary, Tokens::default())
            }
        };
        if !self.tasks.iter().any(|open| open.agent.id == agent.id) {
            // The host stopped it in the meantime.
            return Ok(());
        }
        self.tasks.retain(|open| open.agent.id != agent.id);
        self.emit_ended(&agent, "completed", &summary, tokens)?;
        self.emit_tasks()?;
        let text = format!(
            "<task-notification>\n<task-id>{}</task-id>\n<status>completed</status>\n<summary>{summary}</summary>\n\
             </task-notification>",
            agent.id
        );
        let origin = json!({"kind": "task-notification", "producer": "session-task", "runId": agent.run_id});
        self.queue.push_back(Prompt { origin: Some(origin), ..Prompt::plain(&text) });
        Ok(())
    }

    /// Waits for a command; false when other work comes first, such as a prompt.
    fn is_done_by(&mut self, done: Instant) -> Flow<bool> {
        let tasks = self.tasks.len();
        while self.queue.is_empty() && !self.leaving && self.tasks.len() == tasks {
            if Instant::now() >= done {
                return Ok(true);
            }
            self.pump(Some(done))?;
        }
        Ok(false)
    }

    /// `stop_task`: an unknown task counts as stopped.
    pub(super) fn stop_task(&mut self, id: Option<&Value>, task_id: &str) -> Flow {
        if let Some(at) = self.tasks.iter().position(|task| task.agent.id == task_id) {
            let task = self.tasks.remove(at);
            self.stats.killed += 1;
            self.emit_ended(&task.agent, "stopped", "Stopped by the user", Tokens::default())?;
            self.emit_tasks()?;
        }
        self.answer(id, Some(json!({})))
    }

    /// Sends the list of background tasks.
    pub(super) fn emit_tasks(&mut self) -> Flow {
        let shown = |task: &Task| {
            let agent = &task.agent;
            let mut shown = json!({
                "task_id": agent.id, "run_id": agent.run_id, "task_type": kind(agent), "description": agent.description,
            });
            if !agent.kind.is_empty() {
                shown["subagent_type"] = json!(agent.kind);
            }
            shown
        };
        let tasks: Vec<Value> = self.tasks.iter().map(shown).collect();
        self.emit(Frame::system("background_tasks_changed").with("tasks", tasks)).map(drop)
    }

    pub(super) fn emit_started(&mut self, agent: &Agent) -> Flow {
        let is_agent = !agent.kind.is_empty();
        let frame = Frame::system("task_started")
            .with("task_id", agent.id.as_str())
            .with("run_id", agent.run_id.as_str())
            .with("tool_use_id", agent.call_id.as_str())
            .with("description", agent.description.as_str())
            .maybe("subagent_type", is_agent.then_some(agent.kind.as_str()))
            .with("is_backgrounded", agent.background || !is_agent)
            .maybe("spawn_depth", is_agent.then_some(1))
            .with("task_type", kind(agent))
            .maybe("prompt", is_agent.then_some(agent.prompt.as_str()));
        self.emit(frame).map(drop)
    }

    pub(super) fn emit_ended(&mut self, agent: &Agent, status: &str, summary: &str, tokens: Tokens) -> Flow {
        let now = self.now();
        let state = if status == "stopped" { "killed" } else { status };
        let updated = Frame::system("task_updated")
            .with("task_id", agent.id.as_str())
            .with("run_id", agent.run_id.as_str())
            .with("patch", json!({"status": state, "end_time": now}));
        self.emit(updated)?;
        let usage = (!agent.kind.is_empty()).then(|| self.task_usage(agent, tokens));
        let file = self.transcript_path(Some(&agent.id));
        let frame = Frame::system("task_notification")
            .with("task_id", agent.id.as_str())
            .with("run_id", agent.run_id.as_str())
            .with("tool_use_id", agent.call_id.as_str())
            .with("status", status)
            .with("output_file", json!(file))
            .with("summary", summary)
            .maybe("usage", usage);
        self.emit(frame).map(drop)
    }

    pub(super) fn task_usage(&mut self, agent: &Agent, tokens: Tokens) -> Value {
        let duration_ms = self.now().saturating_sub(agent.started_ms);
        json!({"total_tokens": tokens.context(), "tool_uses": agent.tools_used.len(), "duration_ms": duration_ms})
    }
}

fn kind(agent: &Agent) -> &'static str {
    if agent.kind.is_empty() { "local_bash" } else { "local_agent" }
}
