//! Sub-agents and background tasks.

use tidings_protocol::ui::{SubAgentProgressed, TaskChanged, UiMessage};

use super::SnapshotBuilder;

/// A sub-agent.
#[derive(Debug, Default)]
pub(super) struct SubAgent {
    /// Entries of its start and of its progress.
    pub(super) entries: Vec<usize>,
    progressed: Option<usize>,
    pub(super) is_over: bool,
}

impl SnapshotBuilder {
    pub(super) fn sub_agent(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let id = match &event {
            UiMessage::SubAgentStarted(event) => event.agent_id.clone(),
            UiMessage::SubAgentProgressed(event) => event.agent_id.clone(),
            UiMessage::SubAgentEnded(event) => event.agent_id.clone(),
            _ => return,
        };
        let at = self.entries.len();
        let is_new = !self.agents.contains_key(&id);
        let agent = self.agents.entry(id).or_default();
        match &event {
            UiMessage::SubAgentProgressed(new) => {
                if let Some(known) = agent.progressed
                    && let Some(UiMessage::SubAgentProgressed(known)) = &mut self.entries[known].event
                {
                    return progress(known, new.clone());
                }
                agent.progressed = Some(at);
                agent.entries.push(at);
            }
            UiMessage::SubAgentEnded(_) => agent.is_over = true,
            _ => agent.entries.push(at),
        }
        if is_new {
            self.push_item(seq, lane, event);
        } else {
            self.push(seq, lane, event);
        }
    }

    pub(super) fn task(&mut self, seq: u64, lane: usize, event: UiMessage) {
        let UiMessage::TaskChanged(changed) = event else { return };
        let earlier = self.tasks.get(&changed.task_id).copied();
        if let Some(at) = earlier
            && let Some(UiMessage::TaskChanged(task)) = &mut self.entries[at].event
        {
            change(task, changed);
            self.entries[at].last_seq = seq;
            return;
        }
        self.tasks.insert(changed.task_id.clone(), self.entries.len());
        self.push_item(seq, lane, changed.into());
    }
}

/// Merges a report into the state of a sub-agent.
fn progress(known: &mut SubAgentProgressed, new: SubAgentProgressed) {
    known.task_id = new.task_id.or(known.task_id.take());
    known.agent_type = new.agent_type.or(known.agent_type.take());
    known.description = new.description.or(known.description.take());
    known.last_tool = new.last_tool.or(known.last_tool.take());
    known.tool_uses = new.tool_uses.or(known.tool_uses);
    known.tokens = new.tokens.or(known.tokens);
    known.duration_ms = new.duration_ms.or(known.duration_ms);
    known.summary = new.summary.or(known.summary.take());
}

/// Merges a change into the state of a task.
fn change(task: &mut TaskChanged, new: TaskChanged) {
    task.status = new.status;
    task.background = new.background;
    task.tool_use_id = new.tool_use_id.or(task.tool_use_id.take());
    task.kind = new.kind.or(task.kind.take());
    task.description = new.description.or(task.description.take());
    task.output_file = new.output_file.or(task.output_file.take());
    task.summary = new.summary.or(task.summary.take());
}

/// True if the event is about a task that is still running.
pub(super) fn is_running(event: Option<&UiMessage>) -> bool {
    matches!(event, Some(UiMessage::TaskChanged(task)) if matches!(&*task.status, "running" | "pending"))
}
