//! Events beside the conversation: sub-agents, tasks, plans, retries, limits and errors.

use std::io;
use std::time::{Duration, Instant};

use tidings_protocol::ui::{Retrying, SessionPhase, UiMessage};

use super::super::line::Line;
use super::super::live::Agent;
use super::super::markdown::render;
use super::super::status::duration;
use super::super::style::Style;
use super::{Thoughts, View};

impl View {
    /// Shows events outside of the conversation: sub-agents, tasks, plans, retries, limits and errors.
    pub(super) fn side_event(&mut self, event: &UiMessage, now: Instant) -> io::Result<()> {
        match event {
            UiMessage::SubAgentStarted(agent) => {
                // The line of the sub-agent replaces that of the call.
                self.running.retain(|call| call.id != agent.agent_id);
                self.agents.push(Agent::new(agent, now));
            }
            UiMessage::SubAgentProgressed(progress) => {
                for agent in self.agents.iter_mut().filter(|agent| agent.is(&progress.agent_id)) {
                    agent.progressed(progress);
                }
            }
            UiMessage::SubAgentEnded(end) => {
                let at = self.agents.iter().position(|agent| agent.is(&end.agent_id));
                if let Some(agent) = at.map(|at| self.agents.remove(at)) {
                    let lines = agent.ended(end, now, self.card_columns());
                    self.after_text(None, lines)?;
                }
            }
            UiMessage::TaskChanged(task)
                if matches!(task.status.as_str(), "completed" | "failed" | "stopped" | "killed") =>
            {
                let text = task.description.as_deref().unwrap_or(&task.task_id);
                let text = format!("• in the background: {text}, {}", task.status);
                self.note_after_text(Line::styled(&text, Style::DIM))?;
            }
            UiMessage::PlanProposed(plan) => {
                self.end_text()?;
                let mut lines =
                    vec![Line::styled("The plan", Style::BOLD.and(Style::UNDERLINE)), Line::new()];
                lines.extend(render(&plan.plan, self.text_columns().saturating_sub(2)));
                self.cards(&lines.into_iter().map(|line| line.indented(2)).collect::<Vec<_>>())?;
            }
            UiMessage::Compacted(_) => {
                self.note_after_text(Line::styled("• the conversation was compacted", Style::DIM))?;
            }
            UiMessage::Retrying(retry) => self.note_after_text(retry_line(retry))?,
            UiMessage::RateLimit(limit) if limit.status != "allowed" => {
                let kind = limit.kind.as_deref().unwrap_or("usage").replace('_', " ");
                let share = limit
                    .utilization
                    .map(|share| format!(", {:.0} % used", share * 100.0))
                    .unwrap_or_default();
                let word = if limit.status == "rejected" { "is used up" } else { "is near" };
                let text = format!("• the {kind} limit {word}{share}");
                self.note_after_text(Line::styled(&text, Style::YELLOW))?;
            }
            UiMessage::Retracted(_) => {
                self.note(Line::styled("• the last answer was retracted and starts over", Style::DIM))?;
            }
            UiMessage::Error { message, .. } => {
                self.failed(message)?;
            }
            UiMessage::System { message, .. } if self.thoughts == Thoughts::Shown => {
                let line = Line::styled(&format!("• {message}"), Style::DIM);
                self.after_text(None, line.wrap(self.card_columns(), 2))?;
            }
            UiMessage::SessionStateChanged(state) if state.state == SessionPhase::Ended => {
                self.finish()?;
                self.running.clear();
                self.agents.clear();
            }
            _ => self.question(event)?,
        }
        Ok(())
    }
}

fn retry_line(retry: &Retrying) -> Line {
    let error =
        retry.error.as_deref().filter(|error| *error != "unknown").unwrap_or("no answer").replace('_', " ");
    let status = retry.status.map(|status| format!(" ({status})")).unwrap_or_default();
    let of = retry.max_attempts.map(|max| format!(" of {max}")).unwrap_or_default();
    let wait =
        retry.delay_ms.map(|ms| format!(" in {}", duration(Duration::from_millis(ms)))).unwrap_or_default();
    Line::styled(
        &format!("• the API failed: {error}{status}; try {}{of}{wait}", retry.attempt),
        Style::YELLOW,
    )
}
