//! The messages of the phone protocol.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tidings_protocol::json::Json;
use tidings_protocol::mobile::{
    ClaudeResponse, ErrorMessage, MobileMessage, MobilePermissionRequest, PermissionResponse,
    ProgressUpdateMessage, RiskLevel, SessionReady, SessionState, SessionStatus, StateReport, StatusReport,
    SubAgentProgress, SubAgentStatus,
};
use tidings_protocol::tools::ToolInput;
use tidings_protocol::ui::{
    self, PermissionDetails, Progress, Resolution, SessionPhase, SubAgentOutcome, TurnResult, UiMessage,
};

use crate::progress::{share_of_tools, sub_agent_type};

/// Sub-agents that are stored; the oldest is dropped first.
const AGENTS_MAX: usize = 512;

/// Converts the events of one session into messages for a phone.
#[derive(Debug, Clone, Default)]
pub struct Mobile {
    conversation_id: Option<String>,
    model: Option<String>,
    now_ms: Option<i64>,
    /// Details of the requests that follow in the same step.
    details: Vec<PermissionDetails>,
    result: Option<TurnResult>,
    turns: u64,
    agents: BTreeMap<String, SubAgentProgress>,
    /// True if the last text message was partial.
    is_partial: bool,
    state: Option<SessionState>,
}

impl Mobile {
    /// Sets the time, in milliseconds since the Unix epoch, for deadlines and for the start times of
    /// sub-agents.
    pub fn tick(&mut self, now_ms: i64) {
        self.now_ms = Some(now_ms);
    }

    /// Sets the conversation and the model of a session whose first events are no longer stored.
    pub fn assume(&mut self, conversation_id: &str, model: Option<&str>) {
        self.conversation_id = Some(conversation_id.to_owned());
        self.model = model.map(str::to_owned);
    }

    /// Appends the messages for the events of one step of a fold.
    pub fn translate(&mut self, events: &[UiMessage], out: &mut Vec<MobileMessage>) {
        for (at, event) in events.iter().enumerate().filter(|(_, event)| event.facts().phone) {
            let next = events.get(at + 1);
            match event {
                UiMessage::TextChunk { text, turn_id, .. } => {
                    let is_whole = matches!(next, Some(UiMessage::TextEnded(_)));
                    self.is_partial = !is_whole;
                    out.push(self.response(text.clone(), turn_id.sequence));
                }
                UiMessage::TextEnded(event) => {
                    if std::mem::take(&mut self.is_partial) {
                        out.push(self.response(String::new(), event.turn_id.sequence));
                    }
                }
                UiMessage::Display { content, .. } => {
                    self.is_partial = false;
                    out.push(self.response(content.clone(), self.turns));
                }
                UiMessage::SessionStarted(event) => {
                    self.conversation_id = Some(event.cli_session_id.clone());
                    self.model.clone_from(&event.model);
                    if event.model.is_some() {
                        let session_id = event.cli_session_id.clone();
                        out.push(MobileMessage::new(SessionReady { session_id }));
                    }
                }
                UiMessage::TurnStarted(event) => self.turns = event.turn_id.sequence,
                UiMessage::TurnResult(event) => self.result = Some(event.clone()),
                UiMessage::ToolExecuting { tool_name, input, .. } => {
                    self.status(SessionState::Processing, Some(doing(tool_name, input)), out);
                }
                UiMessage::Complete { turn_id, .. } => {
                    if self.turns == 0 {
                        self.turns = turn_id.sequence;
                    }
                    self.complete(out);
                }
                UiMessage::SessionStateChanged(event) => self.phase(event, out),
                UiMessage::Compacted(_) => {
                    self.status(
                        SessionState::Processing,
                        Some("The conversation was compacted".to_owned()),
                        out,
                    );
                }
                UiMessage::Retrying(event) => {
                    self.status(
                        SessionState::Processing,
                        Some(format!("Retrying, attempt {}", event.attempt)),
                        out,
                    );
                }
                UiMessage::Retracted(event) if !event.text.is_empty() => {
                    self.is_partial = false;
                    self.status(
                        SessionState::Processing,
                        Some("The last text was retracted".to_owned()),
                        out,
                    );
                }
                UiMessage::Progress(event) => out.extend(progress(event)),
                UiMessage::Error { message, .. } => out.push(error("EXECUTION_FAILED", message)),
                UiMessage::RateLimit(event) if event.status != "allowed" => {
                    out.push(error("RATE_LIMIT", &format!("Rate limit: {}", event.status)));
                }
                _ => {
                    self.questions(event, out);
                    self.sub_agents(event, out);
                }
            }
        }
    }

    fn response(&self, content: String, turn: u64) -> MobileMessage {
        let mut metadata = BTreeMap::new();
        if let (Some(model), false) = (&self.model, self.is_partial) {
            metadata.insert("model".to_owned(), model.clone());
            metadata.insert("turnNumber".to_owned(), turn.to_string());
        }
        MobileMessage::new(ClaudeResponse {
            content,
            is_partial: self.is_partial,
            conversation_id: self.conversation_id.clone(),
            metadata,
        })
    }

    fn status(&mut self, state: SessionState, message: Option<String>, out: &mut Vec<MobileMessage>) {
        self.state = Some(state);
        out.push(MobileMessage::new(SessionStatus {
            status: StatusReport::State(StateReport { state, message }),
            progress: None,
            session_id: self.conversation_id.clone(),
            total_turns: None,
            execution_time: None,
            error: None,
        }));
    }

    fn complete(&mut self, out: &mut Vec<MobileMessage>) {
        let result = self.result.take();
        let error = result.as_ref().and_then(|result| result.error.clone());
        let state = if error.is_some() { SessionState::Error } else { SessionState::Completed };
        self.state = Some(state);
        self.is_partial = false;
        out.push(MobileMessage::new(SessionStatus {
            status: StatusReport::State(StateReport { state, message: error.clone() }),
            progress: None,
            session_id: self.conversation_id.clone(),
            total_turns: Some(self.turns),
            execution_time: result.and_then(|result| result.duration_ms).map(seconds),
            error,
        }));
    }

    fn phase(&mut self, event: &ui::SessionStateChanged, out: &mut Vec<MobileMessage>) {
        match event.state {
            SessionPhase::WaitingForPerson => self.status(SessionState::WaitingForPermission, None, out),
            // The request was answered.
            SessionPhase::Running if self.state == Some(SessionState::WaitingForPermission) => {
                self.status(SessionState::Processing, None, out);
            }
            SessionPhase::Compacting => {
                self.status(SessionState::Processing, Some("Compacting the conversation".to_owned()), out);
            }
            SessionPhase::Ended if event.error.is_some() => {
                self.status(SessionState::Error, event.error.clone(), out);
            }
            SessionPhase::Ended => self.status(SessionState::Completed, None, out),
            _ => {}
        }
    }

    fn questions(&mut self, event: &UiMessage, out: &mut Vec<MobileMessage>) {
        match event {
            UiMessage::PermissionDetails(details) => {
                self.details.push(details.clone());
            }
            UiMessage::PermissionRequired { tool_use_id, request, .. } => {
                let asked = std::mem::take(&mut self.details);
                let details = asked.into_iter().find(|details| details.tool_use_id == *tool_use_id);
                out.push(self.permission(tool_use_id, request, details.as_ref()));
            }
            UiMessage::BatchPermissionRequired { requests, .. } => {
                let asked = std::mem::take(&mut self.details);
                for (request, details) in requests.iter().zip(&asked) {
                    out.push(self.permission(&details.tool_use_id, request, Some(details)));
                }
            }
            UiMessage::UserInteractionRequired { tool_use_id, request, .. } => {
                let mut details = Map::new();
                let questions = serde_json::to_value(&request.questions).unwrap_or_default();
                details.insert("questions".to_owned(), questions);
                let body = MobilePermissionRequest {
                    tool: "AskUserQuestion".to_owned(),
                    action: "answer".to_owned(),
                    details,
                    risk: RiskLevel::Low,
                    timeout: None,
                };
                out.push(named(tool_use_id, MobileMessage::new(body)));
            }
            UiMessage::PermissionResolved(event) => {
                let approved = matches!(event.outcome, Resolution::Allowed | Resolution::Answered);
                let remember = event.scope.as_deref().is_some_and(|scope| scope != "once");
                let request_id = event.tool_use_id.clone();
                out.push(MobileMessage::new(PermissionResponse { request_id, approved, remember }));
            }
            UiMessage::InteractionResolved(event) => {
                let approved = event.outcome == Resolution::Answered;
                let request_id = event.tool_use_id.clone();
                out.push(MobileMessage::new(PermissionResponse { request_id, approved, remember: false }));
            }
            _ => {}
        }
    }

    fn permission(
        &self,
        id: &str,
        request: &ui::PermissionRequest,
        details: Option<&PermissionDetails>,
    ) -> MobileMessage {
        let mut facts = Map::new();
        let mut fact = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                facts.insert(key.to_owned(), value.into());
            }
        };
        let key = match request.target_type {
            ui::TargetType::Path => "file",
            ui::TargetType::Domain => "domain",
            ui::TargetType::Command => "command",
            _ => "target",
        };
        fact(key, Some(&request.target));
        fact("description", Some(&request.description));
        fact("reason", request.reason.as_deref());
        let deadline = details.and_then(|details| details.deadline_ms);
        if let Some(details) = details {
            facts.insert("input".to_owned(), details.input.clone());
        }
        let left = deadline.zip(self.now_ms).map(|(deadline, now)| deadline.saturating_sub(now) / 1000);
        let body = MobilePermissionRequest {
            tool: details.map(|details| details.tool_name.clone()).unwrap_or_default(),
            action: action(request.level).to_owned(),
            details: facts,
            risk: details.map(|details| details.risk).unwrap_or_default(),
            timeout: left.map(|seconds| u64::try_from(seconds).unwrap_or_default()),
        };
        named(id, MobileMessage::new(body))
    }

    fn sub_agents(&mut self, event: &UiMessage, out: &mut Vec<MobileMessage>) {
        match event {
            UiMessage::SubAgentStarted(event) => {
                let kind = event.agent_type.as_deref().unwrap_or_default();
                let task = event.description.clone().unwrap_or_default();
                let mut agent = self.new_agent(&event.agent_id);
                agent.agent_type = sub_agent_type(kind, &task);
                agent.parent_agent_id.clone_from(&event.parent_agent_id);
                agent.current_task = task;
                out.push(MobileMessage::new(agent.clone()));
                self.agents.insert(event.agent_id.clone(), agent);
            }
            UiMessage::SubAgentProgressed(event) => {
                let mut agent = self.known_agent(&event.agent_id);
                agent.status = SubAgentStatus::Running;
                agent.progress = agent.progress.max(event.tool_uses.map_or(0.0, share_of_tools));
                if let Some(task) = event.summary.clone().or_else(|| event.description.clone()) {
                    agent.current_task = task;
                }
                out.push(MobileMessage::new(agent.clone()));
                self.agents.insert(event.agent_id.clone(), agent);
            }
            UiMessage::SubAgentEnded(event) => {
                let mut agent = self.known_agent(&event.agent_id);
                self.agents.remove(&event.agent_id);
                // A failed sub-agent keeps its progress.
                (agent.status, agent.progress) = match event.outcome {
                    SubAgentOutcome::Completed => (SubAgentStatus::Completed, 1.0),
                    _ => (SubAgentStatus::Failed, agent.progress),
                };
                agent.completion_time = self.now_ms;
                if let Some(summary) = &event.summary {
                    agent.current_task.clone_from(summary);
                }
                out.push(MobileMessage::new(agent));
            }
            _ => {}
        }
    }

    /// The last state of a sub-agent, or a new one if its start is missing because old events were removed.
    fn known_agent(&mut self, id: &str) -> SubAgentProgress {
        self.agents.get(id).cloned().unwrap_or_else(|| self.new_agent(id))
    }

    /// Creates the state of a sub-agent that starts now, and makes room for it.
    fn new_agent(&mut self, id: &str) -> SubAgentProgress {
        if self.agents.len() >= AGENTS_MAX && !self.agents.contains_key(id) {
            self.agents.pop_first();
        }
        SubAgentProgress {
            agent_id: id.to_owned(),
            agent_type: sub_agent_type("", ""),
            parent_agent_id: None,
            project_id: self.conversation_id.clone().unwrap_or_default(),
            status: SubAgentStatus::Starting,
            progress: 0.0,
            current_task: String::new(),
            start_time: self.now_ms.unwrap_or_default(),
            completion_time: None,
        }
    }
}

/// Sets the id of a request, which its answer refers to.
fn named(id: &str, message: MobileMessage) -> MobileMessage {
    MobileMessage { id: Some(id.to_owned()), ..message }
}

fn progress(event: &Progress) -> Option<MobileMessage> {
    // A sub-agent's progress has a message of its own.
    if event.agent_id.is_some() {
        return None;
    }
    Some(MobileMessage::new(ProgressUpdateMessage {
        current_step: event.step.clone(),
        completed_steps: event.completed,
        total_steps: event.total,
        percentage: event.percentage,
        ..ProgressUpdateMessage::default()
    }))
}

fn error(code: &str, message: &str) -> MobileMessage {
    MobileMessage::new(ErrorMessage {
        code: code.to_owned(),
        message: message.to_owned(),
        details: Map::new(),
        recoverable: true,
    })
}

fn action(level: ui::PermissionLevel) -> &'static str {
    match level {
        ui::PermissionLevel::Read => "read",
        ui::PermissionLevel::Write => "write",
        ui::PermissionLevel::Execute => "execute",
        ui::PermissionLevel::Admin => "admin",
    }
}

fn doing(tool: &str, input: &Value) -> String {
    match ToolInput::read(tool, Json::from(input).raw()) {
        Ok(input) => format!("{tool}: {}", input.summary()),
        Err(_) => tool.to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a turn does not take millions of years")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
