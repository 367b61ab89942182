//! Sub-agents, and other tasks that run in parallel to the conversation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_protocol::messages::{TaskNotification, TaskProgress, TaskStarted, TaskStatus, TaskUpdated};
use tidings_protocol::ui::{
    Progress, ProgressSource, SubAgentEnded, SubAgentOutcome, SubAgentProgressed, SubAgentStarted,
    TaskChanged, TurnId,
};

use super::calls::Calls;
use super::limits::{AGENTS_MAX, TASKS_MAX};
use super::out::Out;
use super::shown::ShownBlocks;
use super::tokens::Tokens;

/// The sub-agents of a session, by the call that started them, and its tasks, by their own ids.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SubAgents {
    agents: BTreeMap<String, SubAgent>,
    tasks: BTreeMap<String, Task>,
}

/// A sub-agent and its lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SubAgent {
    /// The turn in which it started.
    pub(super) turn_id: TurnId,
    pub(super) shown: ShownBlocks,
    pub(super) tokens: Tokens,
    is_background: bool,
    has_ended: bool,
}

/// A task of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Task {
    tool_use_id: Option<String>,
    kind: Option<String>,
    description: Option<String>,
    is_background: bool,
    /// Final status that was not reported yet: the result follows in another frame.
    ending: Option<String>,
    has_ended: bool,
}

impl Task {
    /// The sub-agent that the task is, if it is one.
    fn agent(&self) -> Option<&str> {
        let is_agent = self.kind.as_deref().is_some_and(|kind| kind.ends_with("_agent"));
        self.tool_use_id.as_deref().filter(|_| is_agent)
    }
}

/// Facts about a sub-agent from the frame that first mentions it.
#[derive(Debug, Default)]
pub(super) struct SubAgentFacts {
    pub(super) task_id: Option<String>,
    pub(super) agent_type: Option<String>,
    pub(super) description: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) is_background: bool,
}

impl SubAgents {
    /// A registered sub-agent.
    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut SubAgent> {
        self.agents.get_mut(id)
    }

    /// The token counts of all sub-agents.
    pub(super) fn tokens(&mut self) -> impl Iterator<Item = &mut Tokens> {
        self.agents.values_mut().map(|agent| &mut agent.tokens)
    }

    /// True if the session has had no sub-agent.
    pub(super) fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// True if a sub-agent is running.
    pub(super) fn is_running(&self, id: &str) -> bool {
        self.agents.get(id).is_some_and(|agent| !agent.has_ended)
    }

    /// Registers a sub-agent, and reports its start the first time.
    pub(super) fn register(
        &mut self,
        id: &str,
        turn_id: TurnId,
        facts: SubAgentFacts,
        calls: &Calls,
        out: &mut Out<'_>,
    ) {
        if self.agents.contains_key(id) {
            return;
        }
        self.make_room();
        let call = calls.get(id);
        let input = |key: &str| Some(call?.input.as_ref()?.get(key)?.as_str()?.to_owned());
        let mut event = SubAgentStarted::new(out.handle, id);
        event.task_id = facts.task_id;
        event.parent_agent_id = call.and_then(|call| call.agent.clone());
        event.agent_type = facts.agent_type.or_else(|| input("subagent_type"));
        event.description = facts.description.or_else(|| input("description"));
        event.prompt = facts.prompt.or_else(|| input("prompt"));
        event.background = facts.is_background;
        let agent = SubAgent {
            turn_id,
            shown: ShownBlocks::default(),
            tokens: Tokens::default(),
            is_background: facts.is_background,
            has_ended: false,
        };
        self.agents.insert(id.to_owned(), agent);
        out.unwrapped().push(event);
    }

    /// Handles the result of the call that started a sub-agent. A background agent goes on after it.
    pub(super) fn returned(&mut self, id: &str, is_error: bool, details: Option<&Value>, out: &mut Out<'_>) {
        let launched = details.and_then(|details| details.get("status")?.as_str()) == Some("async_launched");
        if let Some(agent) = self.agents.get_mut(id) {
            agent.is_background |= launched;
            if !launched {
                let outcome = if is_error { SubAgentOutcome::Failed } else { SubAgentOutcome::Completed };
                self.end(SubAgentEnded::new(out.handle, id, outcome), out);
            }
        }
    }

    /// Reports the end of a sub-agent, once.
    fn end(&mut self, event: SubAgentEnded, out: &mut Out<'_>) {
        if let Some(agent) = self.agents.get_mut(&event.agent_id)
            && !agent.has_ended
        {
            agent.has_ended = true;
            agent.shown.clear();
            out.unwrapped().push(event);
        }
    }

    /// Handles `task_started`.
    pub(super) fn task_started(
        &mut self,
        started: TaskStarted,
        turn_id: TurnId,
        calls: &Calls,
        out: &mut Out<'_>,
    ) {
        let task_id = started.task_id;
        let task = Task {
            tool_use_id: started.tool_use_id,
            kind: started.task_type.map(|kind| kind.to_string()),
            description: started.description,
            is_background: started.is_backgrounded.unwrap_or_default(),
            ending: None,
            has_ended: false,
        };
        if let Some(agent) = task.agent() {
            let facts = SubAgentFacts {
                task_id: Some(task_id.clone()),
                agent_type: started.subagent_type,
                description: task.description.clone(),
                prompt: started.prompt,
                is_background: task.is_background,
            };
            self.register(agent, turn_id, facts, calls, out);
        } else {
            out.push(changed(&task_id, &task, "running", out.handle));
        }
        if self.tasks.len() >= TASKS_MAX {
            self.tasks.retain(|_, task| !task.has_ended);
        }
        if self.tasks.len() < TASKS_MAX {
            self.tasks.insert(task_id, task);
        }
    }

    /// Handles `task_progress`.
    pub(super) fn task_progress(&mut self, progressed: TaskProgress, out: &mut Out<'_>) {
        let agent = progressed.tool_use_id.filter(|id| self.agents.contains_key(id));
        if let Some(agent) = &agent {
            let mut event = SubAgentProgressed::new(out.handle, agent.as_str());
            event.task_id = Some(progressed.task_id);
            event.agent_type = progressed.subagent_type;
            event.description.clone_from(&progressed.description);
            event.last_tool = progressed.last_tool_name;
            event.summary = progressed.summary;
            if let Some(usage) = progressed.usage {
                event.tool_uses = Some(usage.tool_uses);
                event.tokens = Some(usage.total_tokens);
                event.duration_ms = Some(usage.duration_ms);
            }
            out.push(event);
        }
        let mut progress = Progress::new(out.handle, ProgressSource::Task);
        progress.step = progressed.description;
        progress.agent_id = agent;
        out.push(progress);
    }

    /// Handles `task_updated`.
    pub(super) fn task_updated(&mut self, updated: TaskUpdated, out: &mut Out<'_>) {
        let TaskUpdated { task_id, patch, .. } = updated;
        let Some(task) = self.tasks.get_mut(&task_id) else { return };
        let was_background = task.is_background;
        if let Some(background) = patch.is_backgrounded {
            task.is_background = background;
        }
        if let Some(description) = patch.description {
            task.description = Some(description);
        }
        let status = patch.status.unwrap_or(TaskStatus::RUNNING);
        if status.is_terminal() {
            task.ending = Some(status.to_string());
        } else if task.agent().is_none()
            && (was_background != task.is_background || status != TaskStatus::RUNNING)
        {
            let event = changed(&task_id, task, status.as_str(), out.handle);
            out.push(event);
        }
    }

    /// Handles `task_notification`.
    pub(super) fn task_notification(&mut self, notification: TaskNotification, out: &mut Out<'_>) {
        let task_id = notification.task_id;
        let status = notification.status.unwrap_or(TaskStatus::COMPLETED);
        let mut task = self.tasks.get(&task_id).cloned().unwrap_or_default();
        task.tool_use_id = task.tool_use_id.or(notification.tool_use_id);
        let agent = task.tool_use_id.clone().filter(|id| self.agents.contains_key(id));
        if let Some(agent) = agent {
            let mut event = SubAgentEnded::new(out.handle, agent, outcome(status.as_str()));
            event.task_id = Some(task_id.clone());
            event.summary = notification.summary;
            if let Some(usage) = notification.usage {
                event.tool_uses = Some(usage.tool_uses);
                event.tokens = Some(usage.total_tokens);
                event.duration_ms = Some(usage.duration_ms);
            }
            self.end(event, out);
        } else if !task.has_ended {
            let mut event = changed(&task_id, &task, status.as_str(), out.handle);
            event.output_file = notification.output_file.filter(|file| !file.is_empty());
            event.summary = notification.summary;
            out.push(event);
        }
        if let Some(task) = self.tasks.get_mut(&task_id) {
            task.ending = None;
            task.has_ended = true;
        }
    }

    /// Reports tasks that ended without a notification about their result.
    pub(super) fn report_ended_tasks(&mut self, out: &mut Out<'_>) {
        let mut ended = Vec::new();
        for (task_id, task) in &mut self.tasks {
            if let Some(status) = task.ending.take() {
                task.has_ended = true;
                ended.push((task_id.clone(), task.clone(), status));
            }
        }
        for (task_id, task, status) in ended {
            match task.agent() {
                Some(agent) => {
                    let mut event = SubAgentEnded::new(out.handle, agent, outcome(&status));
                    event.task_id = Some(task_id);
                    self.end(event, out);
                }
                None => out.push(changed(&task_id, &task, &status, out.handle)),
            }
        }
    }

    /// Ends everything, after the process has ended.
    pub(super) fn end_all(&mut self, out: &mut Out<'_>) {
        self.report_ended_tasks(out);
        let running: Vec<String> =
            self.agents.iter().filter(|(_, agent)| !agent.has_ended).map(|(id, _)| id.clone()).collect();
        for id in running {
            self.end(SubAgentEnded::new(out.handle, id, SubAgentOutcome::Stopped), out);
        }
        for (task_id, task) in &mut self.tasks {
            if !task.has_ended && task.agent().is_none() {
                out.push(changed(task_id, task, "stopped", out.handle));
            }
        }
        self.tasks.clear();
    }

    fn make_room(&mut self) {
        if self.agents.len() < AGENTS_MAX {
            return;
        }
        self.agents.retain(|_, agent| !agent.has_ended);
        while self.agents.len() >= AGENTS_MAX {
            self.agents.pop_first();
        }
    }
}

fn changed(task_id: &str, task: &Task, status: &str, handle: i64) -> TaskChanged {
    let mut event = TaskChanged::new(handle, task_id, status);
    event.tool_use_id.clone_from(&task.tool_use_id);
    event.kind.clone_from(&task.kind);
    event.description.clone_from(&task.description);
    event.background = task.is_background;
    event
}

fn outcome(status: &str) -> SubAgentOutcome {
    match status {
        "completed" => SubAgentOutcome::Completed,
        "failed" => SubAgentOutcome::Failed,
        _ => SubAgentOutcome::Stopped,
    }
}
