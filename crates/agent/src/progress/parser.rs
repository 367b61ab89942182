//! Detection of progress in streamed text.

use std::collections::VecDeque;

use super::limits::{DONE_LINES, MENTIONS_MAX};
use super::mention::{AgentMention, mentions};
use super::segments::{Segment, SegmentEnd, Segments};
use super::steps::{Progress, ProgressSource, Step, keyword, steps};
use super::task::{marked_task, plain_task};

/// Tells if text is searched for progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextProgress {
    /// Progress in text is reported, marked as an estimate.
    #[default]
    Guess,
    /// Only the reports of the CLI count.
    Ignore,
}

/// A finding in a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// Progress of the work.
    Progress(Progress),
    /// The current task.
    Task(String),
    /// A sub-agent is mentioned as working.
    Agent(AgentMention),
}

/// Detects progress in the agent's text, independent of how the text is split into deltas.
///
/// A sentence is searched when it is complete, so that "1 of 20" is not mistaken for "1 of 2";
/// [`ProgressParser::finish`] marks the end of the text.
/// Repeated findings are not reported again, and nonsense (5 of 0, 150 %) is not reported at all.
/// Time is linear in the text, and memory is limited to a few kilobytes.
///
/// ```
/// use tidings_agent::progress::{Finding, ProgressParser};
///
/// let mut parser = ProgressParser::default();
/// assert!(parser.push("Running test 5 of").is_empty());
/// let findings = parser.push(" 20...\n");
/// let Some(Finding::Progress(progress)) = findings.first() else { panic!() };
/// assert_eq!((progress.step.as_deref(), progress.percentage), (Some("Running tests"), 25.0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProgressParser {
    mode: TextProgress,
    segments: Segments,
    last: Option<Progress>,
    last_task: Option<String>,
    mentioned_before: VecDeque<AgentMention>,
    /// The count of "Done: 5", and the number of lines in which its total may follow.
    done: Option<(u64, usize)>,
}

impl ProgressParser {
    /// Creates a parser with this mode.
    pub fn new(mode: TextProgress) -> Self {
        ProgressParser { mode, ..ProgressParser::default() }
    }

    /// Processes a text delta.
    pub fn push(&mut self, text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.mode == TextProgress::Guess {
            self.segments.push(text);
            while let Some(segment) = self.segments.next() {
                self.search(&segment, &mut findings);
            }
        }
        findings
    }

    /// Processes the end of a text block: searches the buffered rest.
    pub fn finish(&mut self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(segment) = self.segments.finish() {
            self.search(&segment, &mut findings);
        }
        findings
    }

    /// Resets the state at the start of a turn, so that findings may repeat.
    pub fn reset(&mut self) {
        *self = ProgressParser::new(self.mode);
    }

    fn search(&mut self, segment: &Segment, findings: &mut Vec<Finding>) {
        let text = segment.text.as_str();
        let limit = if segment.end == SegmentEnd::Cut { text.len() } else { usize::MAX };
        let mentioned = mentions(text);
        let steps = steps(text, limit);
        let silent = mentioned.is_empty() && steps.is_empty();
        // The task of a mention extends to the end of the segment, so the segment is not searched again.
        let mut used = if mentioned.is_empty() { 0 } else { text.len() };
        for mention in mentioned {
            self.mention(mention, findings);
        }
        for (end, step) in steps {
            used = used.max(end);
            self.step(step, findings);
        }
        if silent && let Some(progress) = keyword(text) {
            self.keyword(progress, findings);
        }
        if segment.end == SegmentEnd::Cut {
            self.segments.put_back(text, used);
            return;
        }
        self.task(text, silent, findings);
        if segment.end == SegmentEnd::Line {
            self.done = self.done.and_then(|(done, lines)| Some((done, lines.checked_sub(1)?)));
        }
    }

    fn mention(&mut self, mention: AgentMention, findings: &mut Vec<Finding>) {
        if self.mentioned_before.contains(&mention) {
            return;
        }
        if self.mentioned_before.len() == MENTIONS_MAX {
            self.mentioned_before.pop_front();
        }
        self.mentioned_before.push_back(mention.clone());
        findings.push(Finding::Agent(mention));
    }

    fn step(&mut self, step: Step, findings: &mut Vec<Finding>) {
        let progress = match step {
            Step::Whole(progress) => Some(progress),
            Step::Done(done) => {
                self.done = Some((done, DONE_LINES));
                None
            }
            Step::Rest { number, word } => self.done.take().and_then(|(done, _)| word.after(done, number)),
        };
        if let Some(progress) = progress.filter(|progress| self.last.as_ref() != Some(progress)) {
            self.last = Some(progress.clone());
            findings.push(Finding::Progress(progress));
        }
    }

    /// Reports an estimate from a keyword, unless a number was reported before or the estimate goes back.
    fn keyword(&mut self, progress: Progress, findings: &mut Vec<Finding>) {
        let news = self.last.as_ref().is_none_or(|last| {
            last.source == ProgressSource::Keyword && last.percentage < progress.percentage
        });
        if news {
            self.last = Some(progress.clone());
            findings.push(Finding::Progress(progress));
        }
    }

    /// Reports the task. A marked task always counts; a plain line counts only if no task is known and it
    /// contains nothing else.
    fn task(&mut self, text: &str, silent: bool, findings: &mut Vec<Finding>) {
        let plain = || (silent && self.last_task.is_none()).then(|| plain_task(text)).flatten();
        let Some(task) = marked_task(text).or_else(plain) else { return };
        if self.last_task.as_ref() != Some(&task) {
            self.last_task = Some(task.clone());
            findings.push(Finding::Task(task));
        }
    }
}
