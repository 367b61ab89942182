//! Progress that the model mentions in its text.

use tidings_protocol::ui::{Progress, ProgressSource, SubAgentStarted};

use super::Fold;
use super::out::Out;
use crate::progress::Finding;

impl Fold {
    /// Processes a text delta. The steps of a sub-agent say nothing about the whole, so its text is ignored.
    #[inline]
    pub(super) fn detect_progress(&mut self, text: &str, out: &mut Out<'_>) {
        if self.options.text_progress && out.agent.is_none() {
            let findings = self.parser.push(text);
            self.report_findings(findings, out);
        }
    }

    /// Processes the end of a text block.
    pub(super) fn finish_progress_text(&mut self, out: &mut Out<'_>) {
        if self.options.text_progress && out.agent.is_none() {
            let findings = self.parser.finish();
            self.report_findings(findings, out);
        }
    }

    fn report_findings(&mut self, findings: Vec<Finding>, out: &mut Out<'_>) {
        for finding in findings {
            match finding {
                Finding::Progress(progress) => {
                    let mut event = Progress::new(self.handle, ProgressSource::Text);
                    event.step = progress.step;
                    event.completed = progress.done;
                    event.total = progress.total;
                    event.percentage = Some(progress.percentage);
                    event.estimated = progress.source.is_estimated();
                    out.push(event);
                }
                // A mention counts only if the agent does not report its sub-agents itself.
                Finding::Agent(mention) if self.state.agents.is_empty() => {
                    let mut event = SubAgentStarted::new(self.handle, format!("mentioned:{}", mention.name));
                    event.agent_type = Some(mention.name);
                    event.description = Some(mention.task);
                    event.estimated = true;
                    out.push(event);
                }
                Finding::Agent(_) | Finding::Task(_) => {}
            }
        }
    }
}
