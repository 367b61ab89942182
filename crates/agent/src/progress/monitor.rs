//! Progress of the sub-agents of a session.

use jiff::Timestamp;
use tidings_protocol::messages::{
    SystemMessage, TaskNotification, TaskProgress, TaskStarted, TaskStatus, TaskType, TaskUpdated,
};
use tidings_protocol::mobile::{SubAgentProgress, SubAgentStatus};

use super::mention::{AgentMention, sub_agent_type};
use super::steps::Progress;
use super::task::shortened;
use super::tree::{AgentNode, AgentTree};

/// An update about one sub-agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SubAgentUpdate {
    /// It started.
    Started(SubAgentProgress),
    /// It is working.
    Progress(SubAgentProgress),
    /// It completed, with its summary.
    Completed(SubAgentProgress, Option<String>),
    /// It failed or was stopped, with the reason.
    Failed(SubAgentProgress, Option<String>),
}

impl SubAgentUpdate {
    /// The current state of the sub-agent.
    pub fn agent(&self) -> &SubAgentProgress {
        match self {
            SubAgentUpdate::Started(agent)
            | SubAgentUpdate::Progress(agent)
            | SubAgentUpdate::Completed(agent, _)
            | SubAgentUpdate::Failed(agent, _) => agent,
        }
    }
}

/// The tree of sub-agents of a session, which returns updates.
///
/// The CLI's reports about its tasks take precedence. A mention in text counts only until the first such
/// report, and the first reported task is assumed to be the mentioned one.
/// Claude Code does not report the size of a task: [`SubAgentProgress::progress`] is an estimate that grows
/// with every tool use, and stays below one until the end.
/// Times are parameters.
#[derive(Debug, Clone)]
pub struct SubAgentProgressMonitor {
    project_id: String,
    tree: AgentTree,
    mentions: u64,
    reported: bool,
}

impl SubAgentProgressMonitor {
    /// Creates a monitor for one session of a project.
    pub fn new(project_id: impl Into<String>) -> Self {
        SubAgentProgressMonitor {
            project_id: project_id.into(),
            tree: AgentTree::default(),
            mentions: 0,
            reported: false,
        }
    }

    /// Processes a system frame; those about tasks give updates.
    pub fn system(&mut self, message: &SystemMessage, at: Timestamp) -> Option<SubAgentUpdate> {
        match message {
            SystemMessage::TaskStarted(task) => self.started(task, at),
            SystemMessage::TaskProgress(task) => self.progressed(task),
            SystemMessage::TaskUpdated(task) => self.updated(task, at),
            SystemMessage::TaskNotification(task) => self.notified(task, at),
            _ => None,
        }
    }

    /// Processes a mention of a sub-agent in text.
    pub fn mentioned(&mut self, mention: &AgentMention, at: Timestamp) -> Option<SubAgentUpdate> {
        if self.reported {
            return None;
        }
        self.mentions += 1;
        let progress = SubAgentProgress {
            agent_id: format!("mentioned-{}", self.mentions),
            agent_type: mention.agent_type,
            parent_agent_id: None,
            project_id: self.project_id.clone(),
            status: SubAgentStatus::Starting,
            progress: 0.0,
            current_task: mention.task.clone(),
            start_time: at.as_millisecond(),
            completion_time: None,
        };
        self.tree.add(AgentNode {
            progress: progress.clone(),
            task_id: None,
            run_id: None,
            tool_use_id: None,
        });
        Some(SubAgentUpdate::Started(progress))
    }

    /// Processes progress in the text of a sub-agent. `id` is the agent's, its task's, or that of the tool
    /// call which started it.
    pub fn counted(&mut self, id: &str, progress: &Progress) -> Option<SubAgentUpdate> {
        let agent = self.tree.get_mut(id).filter(|agent| !agent.has_ended())?;
        let share = progress.percentage / 100.0;
        agent.progress.status = SubAgentStatus::Running;
        agent.progress.progress = agent.progress.progress.max(share.clamp(0.0, UNFINISHED_MAX));
        if let Some(step) = &progress.step {
            agent.progress.current_task.clone_from(step);
        }
        Some(SubAgentUpdate::Progress(agent.progress.clone()))
    }

    /// Ends all running sub-agents at the end of the session.
    pub fn ended(&mut self, at: Timestamp) -> Vec<SubAgentUpdate> {
        let open: Vec<String> = self
            .tree
            .agents()
            .filter(|agent| !agent.has_ended())
            .map(|agent| agent.progress.agent_id.clone())
            .collect();
        open.iter()
            .filter_map(|id| {
                self.end(id, &TaskStatus::STOPPED, Some("The session ended".to_owned()), at.as_millisecond())
            })
            .collect()
    }

    /// A sub-agent by its id, its task's, or that of the tool call which started it.
    pub fn agent(&self, id: &str) -> Option<&SubAgentProgress> {
        self.tree.get(id).map(|agent| &agent.progress)
    }

    /// All sub-agents in the order in which they started.
    pub fn agents(&self) -> impl Iterator<Item = &SubAgentProgress> {
        self.tree.agents().map(|agent| &agent.progress)
    }

    /// The sub-agents that the main agent started.
    pub fn roots(&self) -> impl Iterator<Item = &SubAgentProgress> {
        self.tree.roots()
    }

    /// The sub-agents that a sub-agent started.
    pub fn children(&self, id: &str) -> impl Iterator<Item = &SubAgentProgress> {
        self.tree.children(id)
    }

    fn started(&mut self, task: &TaskStarted, at: Timestamp) -> Option<SubAgentUpdate> {
        let is_agent = match &task.task_type {
            Some(kind) => {
                *kind == TaskType::LOCAL_AGENT
                    || *kind == TaskType::REMOTE_AGENT
                    || *kind == TaskType::LOCAL_WORKFLOW
            }
            None => task.subagent_type.is_some(),
        };
        if !is_agent {
            return None;
        }
        let first = !std::mem::replace(&mut self.reported, true);
        let name = task.subagent_type.as_deref().unwrap_or_default();
        let description = shortened(task.description.as_deref().unwrap_or_default());
        let agent_type = sub_agent_type(name, &description);
        if let Some(agent) = self.tree.get_mut(&task.task_id) {
            // A repeated report of the same start is ignored; a new run of an ended agent is not.
            if !agent.has_ended() || (agent.run_id == task.run_id && task.run_id.is_some()) {
                return None;
            }
            agent.run_id.clone_from(&task.run_id);
            agent.tool_use_id.clone_from(&task.tool_use_id);
            let progress = &mut agent.progress;
            (progress.status, progress.progress, progress.current_task) =
                (SubAgentStatus::Starting, 0.0, description);
            (progress.start_time, progress.completion_time) = (at.as_millisecond(), None);
            return Some(SubAgentUpdate::Started(agent.progress.clone()));
        }
        if first && let Some(agent) = self.tree.mentioned_mut() {
            agent.task_id = Some(task.task_id.clone());
            agent.run_id.clone_from(&task.run_id);
            agent.tool_use_id.clone_from(&task.tool_use_id);
            agent.progress.status = SubAgentStatus::Running;
            return Some(SubAgentUpdate::Progress(agent.progress.clone()));
        }
        let progress = SubAgentProgress {
            agent_id: task.task_id.clone(),
            agent_type,
            parent_agent_id: task.parent_task_id.clone(),
            project_id: self.project_id.clone(),
            status: SubAgentStatus::Starting,
            progress: 0.0,
            current_task: description,
            start_time: at.as_millisecond(),
            completion_time: None,
        };
        self.tree.add(AgentNode {
            progress,
            task_id: Some(task.task_id.clone()),
            run_id: task.run_id.clone(),
            tool_use_id: task.tool_use_id.clone(),
        });
        self.tree.get(&task.task_id).map(|agent| SubAgentUpdate::Started(agent.progress.clone()))
    }

    fn progressed(&mut self, task: &TaskProgress) -> Option<SubAgentUpdate> {
        let agent = self.tree.get_mut(&task.task_id).filter(|agent| !agent.has_ended())?;
        agent.progress.status = SubAgentStatus::Running;
        if let Some(usage) = &task.usage {
            agent.progress.progress = agent.progress.progress.max(share_of_tools(usage.tool_uses));
        }
        if let Some(description) = &task.description {
            agent.progress.current_task = shortened(description);
        }
        Some(SubAgentUpdate::Progress(agent.progress.clone()))
    }

    fn updated(&mut self, task: &TaskUpdated, at: Timestamp) -> Option<SubAgentUpdate> {
        if let Some(status) = task.patch.status.as_ref().filter(|status| status.is_terminal()) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the cast saturates, and milliseconds are whole"
            )]
            let end = task.patch.end_time.map_or(at.as_millisecond(), |end| end as i64);
            return self.end(&task.task_id, status, task.patch.error.clone(), end);
        }
        let agent = self.tree.get_mut(&task.task_id).filter(|agent| !agent.has_ended())?;
        let description = task.patch.description.as_deref().map(shortened);
        let before = agent.progress.clone();
        if let Some(description) = description {
            agent.progress.current_task = description;
        }
        if task.patch.status.as_ref().is_some_and(|status| *status == TaskStatus::RUNNING) {
            agent.progress.status = SubAgentStatus::Running;
        }
        (agent.progress != before).then(|| SubAgentUpdate::Progress(agent.progress.clone()))
    }

    fn notified(&mut self, task: &TaskNotification, at: Timestamp) -> Option<SubAgentUpdate> {
        let status = task.status.as_ref().filter(|status| status.is_terminal())?;
        let summary = if *status == TaskStatus::COMPLETED { &task.summary } else { &task.reason };
        let summary = summary.clone().or_else(|| task.summary.clone());
        self.end(&task.task_id, status, summary, at.as_millisecond())
    }

    /// Ends an agent, once.
    fn end(
        &mut self,
        id: &str,
        status: &TaskStatus,
        summary: Option<String>,
        at_ms: i64,
    ) -> Option<SubAgentUpdate> {
        let agent = self.tree.get_mut(id).filter(|agent| !agent.has_ended())?;
        let progress = &mut agent.progress;
        progress.completion_time = Some(at_ms.max(progress.start_time));
        if *status == TaskStatus::COMPLETED {
            (progress.status, progress.progress) = (SubAgentStatus::Completed, 1.0);
            Some(SubAgentUpdate::Completed(progress.clone(), summary))
        } else {
            progress.status = SubAgentStatus::Failed;
            Some(SubAgentUpdate::Failed(progress.clone(), summary))
        }
    }
}

/// Upper limit for the progress of an agent that has not ended, whatever its text says.
const UNFINISHED_MAX: f64 = 0.95;

/// An estimate that grows with every tool use and stays below one: most sub-agents need a handful.
#[expect(clippy::cast_precision_loss, reason = "a guess needs no precision")]
pub(crate) fn share_of_tools(tool_uses: u64) -> f64 {
    const HALF_WAY: f64 = 4.0;
    let uses = tool_uses as f64;
    (uses / (uses + HALF_WAY)).min(UNFINISHED_MAX)
}
