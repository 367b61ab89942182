//! Sub-agents started by the model: a conversation inside the conversation.

use serde_json::{Value, json};

use super::conversation::{Agent, Conversation};
use super::frames::{Frame, text};
use super::model::ModelAnswer;
use super::session::Session;
use super::stop::Flow;
use super::tasks::{Task, Work};
use super::tools::{AfterTools, Call, Outcome};
use super::transcript::Transcript;
use super::usage::Tokens;

/// Maximum number of answers of one agent, so that a script with endless tool calls ends.
const ROUNDS_MAX: usize = 200;

impl Session {
    /// Runs an `Agent` call: at once with `run_in_background: false`, later otherwise.
    pub(super) fn run_agent(&mut self, conversation: &Conversation, call: &Call) -> Flow<Outcome> {
        let wanted = call.input.get("run_in_background").and_then(Value::as_bool);
        let kind =
            call.input.get("subagent_type").and_then(Value::as_str).unwrap_or("general-purpose").to_owned();
        let agent = Agent {
            id: self.ids.agent(),
            run_id: self.ids.run(),
            call_id: call.id.clone(),
            description: text(&call.input, "description").to_owned(),
            prompt: text(&call.input, "prompt").to_owned(),
            // A sub-agent waits for its own sub-agents, since it would not receive a notification later.
            background: wanted != Some(false) && conversation.agent.is_none(),
            started_ms: self.now(),
            kind,
            ..Agent::default()
        };
        match wanted {
            Some(true) => self.stats.background += 1,
            Some(false) => self.stats.foreground += 1,
            None => self.stats.unset += 1,
        }
        let count = self.stats.by_type.get(&agent.kind).and_then(Value::as_u64).unwrap_or_default();
        self.stats.by_type.insert(agent.kind.clone(), json!(count + 1));
        if agent.background {
            return self.launch_agent(&agent);
        }
        self.emit_started(&agent)?;
        let (agent, report, tokens) = self.run_subagent(agent)?;
        self.emit_ended(&agent, "completed", &report, tokens)?;
        Ok(self.report_outcome(&agent, &report, tokens))
    }

    /// Plays the conversation of the agent; its last text is its report.
    pub(super) fn run_subagent(&mut self, agent: Agent) -> Flow<(Agent, String, Tokens)> {
        let file = Transcript { agent: Some(agent.id.clone()), ..Transcript::default() };
        let mut conversation = Conversation { texts: Vec::new(), file, agent: Some(agent) };
        let result = self.run_subagent_in(&mut conversation);
        let agent = conversation.agent.take().unwrap_or_default();
        let (report, tokens) = result?;
        Ok((agent, report, tokens))
    }

    fn run_subagent_in(&mut self, conversation: &mut Conversation) -> Flow<(String, Tokens)> {
        let agent = conversation.agent.clone().unwrap_or_default();
        self.run_hooks("SubagentStart", Some(&agent.kind), None, Some(&agent), &json!({}))?;
        self.agent_prompt(conversation, &agent)?;
        let mut report = String::new();
        for _ in 0..ROUNDS_MAX {
            let turn = match self.ask_model(conversation)? {
                ModelAnswer::Turn(turn) => turn,
                ModelAnswer::Failed(failure) => {
                    report = failure.text;
                    break;
                }
            };
            let tools = turn.content().iter().filter_map(|block| block.tool.clone()).collect::<Vec<_>>();
            if let Some(tool) = tools.last() {
                self.emit_progress(conversation, &turn, tool)?;
            }
            let calls = self.send_answer(conversation, &turn)?;
            report = conversation.texts.last().cloned().unwrap_or_default();
            match self.run_calls(conversation, calls)? {
                AfterTools::Continue => {}
                _ => break,
            }
        }
        let agent = conversation.agent.clone().unwrap_or_default();
        let input = json!({
            "stop_hook_active": false, "agent_transcript_path": self.transcript_path(Some(&agent.id)),
            "last_assistant_message": report, "background_tasks": [], "session_crons": [],
        });
        self.run_hooks("SubagentStop", Some(&agent.kind), None, Some(&agent), &input)?;
        self.stats.completed += 1;
        let chars = conversation.texts.iter().map(String::len).sum();
        Ok((report.clone(), Tokens::of(None, chars, report.len())))
    }

    /// Sends the first prompt; hosts see it only for agents in the foreground.
    fn agent_prompt(&mut self, conversation: &mut Conversation, agent: &Agent) -> Flow {
        let message = json!({"role": "user", "content": [{"type": "text", "text": agent.prompt}]});
        let stamp = self.stamp();
        let mut uuid = self.ids.uuid();
        if !agent.background {
            let frame = Frame::new("user")
                .with("message", message.clone())
                .with("parent_tool_use_id", conversation.parent())
                .with("agent_id", agent.id.as_str())
                .with("session_id", self.id.as_str())
                .with("uuid", uuid.as_str())
                .with("timestamp", stamp)
                .with("subagent_type", agent.kind.as_str())
                .with("task_description", agent.description.as_str());
            uuid = self.emit(frame)?;
        }
        self.note_user(conversation, &message, &uuid)?;
        conversation.add(agent.prompt.as_str());
        Ok(())
    }

    fn launch_agent(&mut self, agent: &Agent) -> Flow<Outcome> {
        self.stats.started_in_background += 1;
        let file = self.transcript_path(Some(&agent.id));
        let message = format!(
            "Async agent launched successfully.\nagentId: {}\nYou will be notified when it completes.",
            agent.id
        );
        let output = json!({
            "isAsync": true, "status": "async_launched", "agentId": agent.id, "description": agent.description,
            "resolvedModel": self.model, "prompt": agent.prompt, "outputFile": file, "canReadOutputFile": true,
            "canContinueAgent": true,
        });
        self.tasks.push(Task { agent: agent.clone(), work: Work::Agent });
        self.emit_tasks()?;
        self.emit_started(agent)?;
        let content = json!([{"type": "text", "text": message}]);
        Ok(Outcome { content, output, ..Outcome::default() })
    }

    fn emit_progress(
        &mut self,
        conversation: &mut Conversation,
        turn: &crate::script::Turn,
        tool: &str,
    ) -> Flow {
        let chars = conversation.texts.iter().map(String::len).sum();
        let Some(agent) = &mut conversation.agent else { return Ok(()) };
        agent.tools_used.push(tool.to_owned());
        let agent = agent.clone();
        let block = turn.content().into_iter().rev().find(|block| block.tool.is_some()).unwrap_or_default();
        let doing = block.input.get("description").and_then(Value::as_str).unwrap_or(tool).to_owned();
        let usage = self.task_usage(&agent, Tokens::of(turn.usage, chars, 0));
        let frame = Frame::system("task_progress")
            .with("task_id", agent.id.as_str())
            .with("run_id", agent.run_id.as_str())
            .with("tool_use_id", agent.call_id.as_str())
            .with("description", format!("Running {doing}"))
            .with("subagent_type", agent.kind.as_str())
            .with("usage", usage)
            .with("last_tool_name", tool);
        self.emit(frame).map(drop)
    }

    fn report_outcome(&mut self, agent: &Agent, report: &str, tokens: Tokens) -> Outcome {
        let duration_ms = self.now().saturating_sub(agent.started_ms);
        let message = format!(
            "[Subagent hand-back] The report of a subagent follows; it is model output, not the user's words.\n  {report}\n\
             agentId: {}\n<usage>subagent_tokens: {}\ntool_uses: {}\nduration_ms: {duration_ms}</usage>",
            agent.id,
            tokens.context(),
            agent.tools_used.len(),
        );
        let output = json!({
            "status": "completed", "prompt": agent.prompt, "agentId": agent.id, "agentType": agent.kind,
            "toolsUsed": agent.tools_used, "content": [{"type": "text", "text": report}], "resolvedModel": self.model,
            "totalDurationMs": duration_ms, "totalTokens": tokens.context(),
            "totalToolUseCount": agent.tools_used.len(), "usage": tokens.at_end(), "canContinueAgent": true,
        });
        Outcome { content: json!([{"type": "text", "text": message}]), output, ..Outcome::default() }
    }
}
