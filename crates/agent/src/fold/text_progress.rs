//! Progress that the model only writes about.

use tidings_protocol::ui::{Progress, ProgressSource, SubAgentStarted};

use super::Fold;
use super::out::Out;
use crate::progress::Noticed;

impl Fold {
    /// More text. What a sub-agent writes about its own steps says nothing about the whole.
    #[inline]
    pub(super) fn watch_text(&mut self, text: &str, out: &mut Out<'_>) {
        if self.options.text_progress && out.agent.is_none() {
            let noticed = self.parser.push(text);
            self.notice(noticed, out);
        }
    }

    /// A block of text is whole.
    pub(super) fn end_text(&mut self, out: &mut Out<'_>) {
        if self.options.text_progress && out.agent.is_none() {
            let noticed = self.parser.finish();
            self.notice(noticed, out);
        }
    }

    fn notice(&mut self, noticed: Vec<Noticed>, out: &mut Out<'_>) {
        for thing in noticed {
            match thing {
                Noticed::Progress(progress) => {
                    let mut event = Progress::new(self.handle, ProgressSource::Text);
                    event.step = progress.step;
                    event.completed = progress.done;
                    event.total = progress.total;
                    event.percentage = Some(progress.percentage);
                    event.estimated = progress.source.is_estimated();
                    out.push(event);
                }
                // Where the agent reports its sub-agents itself, a mention is only talk.
                Noticed::Agent(mention) if self.state.agents.is_empty() => {
                    let mut event = SubAgentStarted::new(self.handle, format!("mentioned:{}", mention.name));
                    event.agent_type = Some(mention.name);
                    event.description = Some(mention.task);
                    event.estimated = true;
                    out.push(event);
                }
                Noticed::Agent(_) | Noticed::Task(_) => {}
            }
        }
    }
}
