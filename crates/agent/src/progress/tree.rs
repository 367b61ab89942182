//! The tree of sub-agents of a session.

use tidings_protocol::mobile::{SubAgentProgress, SubAgentStatus};

use super::limits::AGENTS_MAX;

/// One sub-agent.
#[derive(Debug, Clone)]
pub(super) struct AgentNode {
    pub(super) progress: SubAgentProgress,
    /// The CLI's id of its task, if known.
    pub(super) task_id: Option<String>,
    pub(super) run_id: Option<String>,
    pub(super) tool_use_id: Option<String>,
}

impl AgentNode {
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.progress.status, SubAgentStatus::Completed | SubAgentStatus::Failed)
    }

    pub(super) fn has_id(&self, id: &str) -> bool {
        self.progress.agent_id == id
            || self.task_id.as_deref() == Some(id)
            || self.tool_use_id.as_deref() == Some(id)
    }
}

/// All sub-agents, in the order in which they started.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentTree {
    agents: Vec<AgentNode>,
}

impl AgentTree {
    pub(super) fn agents(&self) -> impl Iterator<Item = &AgentNode> {
        self.agents.iter()
    }

    pub(super) fn get(&self, id: &str) -> Option<&AgentNode> {
        self.agents.iter().rev().find(|agent| agent.has_id(id))
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut AgentNode> {
        self.agents.iter_mut().rev().find(|agent| agent.has_id(id))
    }

    /// The first that is known from text only and has not ended.
    pub(super) fn mentioned_mut(&mut self) -> Option<&mut AgentNode> {
        self.agents.iter_mut().find(|agent| agent.task_id.is_none() && !agent.has_ended())
    }

    /// Adds an agent under its parent. A parent that would form a cycle is dropped.
    pub(super) fn add(&mut self, mut agent: AgentNode) {
        if agent
            .progress
            .parent_agent_id
            .as_deref()
            .is_some_and(|parent| self.descends(parent, &agent.progress.agent_id))
        {
            agent.progress.parent_agent_id = None;
        }
        if self.agents.len() >= AGENTS_MAX {
            let oldest = self.agents.iter().position(AgentNode::has_ended).unwrap_or(0);
            self.agents.remove(oldest);
        }
        self.agents.push(agent);
    }

    /// The agents without a known parent.
    pub(super) fn roots(&self) -> impl Iterator<Item = &SubAgentProgress> {
        self.agents.iter().map(|agent| &agent.progress).filter(|progress| {
            progress.parent_agent_id.as_deref().is_none_or(|parent| self.get(parent).is_none())
        })
    }

    pub(super) fn children(&self, id: &str) -> impl Iterator<Item = &SubAgentProgress> {
        self.agents
            .iter()
            .map(|agent| &agent.progress)
            .filter(move |progress| progress.parent_agent_id.as_deref() == Some(id))
    }

    /// True if `id` is `ancestor` or one of its descendants.
    fn descends(&self, id: &str, ancestor: &str) -> bool {
        let mut at = Some(id.to_owned());
        // A path to the root has at most as many steps as there are agents.
        for _ in 0..=self.agents.len() {
            let Some(id) = at else { return false };
            if id == ancestor {
                return true;
            }
            at = self.get(&id).and_then(|agent| agent.progress.parent_agent_id.clone());
        }
        at.is_some()
    }
}
