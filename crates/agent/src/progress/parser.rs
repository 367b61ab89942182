//! Detection of progress in streamed text.

use std::collections::VecDeque;

use super::limits::{DONE_LINES, MENTIONS_MAX};
use super::mention::{AgentMention, mentions};
use super::pieces::{End, Piece, Pieces};
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
pub enum Noticed {
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
/// use tidings_agent::progress::{Noticed, ProgressParser};
///
/// let mut parser = ProgressParser::default();
/// assert!(parser.push("Running test 5 of").is_empty());
/// let noticed = parser.push(" 20...\n");
/// let Some(Noticed::Progress(progress)) = noticed.first() else { panic!() };
/// assert_eq!((progress.step.as_deref(), progress.percentage), (Some("Running tests"), 25.0));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProgressParser {
    reading: TextProgress,
    pieces: Pieces,
    last: Option<Progress>,
    last_task: Option<String>,
    said: VecDeque<AgentMention>,
    /// The count of "Done: 5", and the number of lines in which its total may follow.
    done: Option<(u64, usize)>,
}

impl ProgressParser {
    /// Creates a parser with this mode.
    pub fn new(reading: TextProgress) -> Self {
        ProgressParser { reading, ..ProgressParser::default() }
    }

    /// Processes a text delta.
    pub fn push(&mut self, text: &str) -> Vec<Noticed> {
        let mut noticed = Vec::new();
        if self.reading == TextProgress::Guess {
            self.pieces.push(text);
            while let Some(piece) = self.pieces.next() {
                self.look(&piece, &mut noticed);
            }
        }
        noticed
    }

    /// Processes the end of a text block: searches the buffered rest.
    pub fn finish(&mut self) -> Vec<Noticed> {
        let mut noticed = Vec::new();
        if let Some(piece) = self.pieces.finish() {
            self.look(&piece, &mut noticed);
        }
        noticed
    }

    /// Resets the state at the start of a turn, so that findings may repeat.
    pub fn reset(&mut self) {
        *self = ProgressParser::new(self.reading);
    }

    fn look(&mut self, piece: &Piece, noticed: &mut Vec<Noticed>) {
        let text = piece.text.as_str();
        let limit = if piece.end == End::Cut { text.len() } else { usize::MAX };
        let mentioned = mentions(text);
        let steps = steps(text, limit);
        let silent = mentioned.is_empty() && steps.is_empty();
        // The task of a mention extends to the end of the segment, so the segment is not searched again.
        let mut used = if mentioned.is_empty() { 0 } else { text.len() };
        for mention in mentioned {
            self.mention(mention, noticed);
        }
        for (end, step) in steps {
            used = used.max(end);
            self.step(step, noticed);
        }
        if silent && let Some(progress) = keyword(text) {
            self.keyword(progress, noticed);
        }
        if piece.end == End::Cut {
            self.pieces.put_back(text, used);
            return;
        }
        self.task(text, silent, noticed);
        if piece.end == End::Line {
            self.done = self.done.and_then(|(done, lines)| Some((done, lines.checked_sub(1)?)));
        }
    }

    fn mention(&mut self, mention: AgentMention, noticed: &mut Vec<Noticed>) {
        if self.said.contains(&mention) {
            return;
        }
        if self.said.len() == MENTIONS_MAX {
            self.said.pop_front();
        }
        self.said.push_back(mention.clone());
        noticed.push(Noticed::Agent(mention));
    }

    fn step(&mut self, step: Step, noticed: &mut Vec<Noticed>) {
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
            noticed.push(Noticed::Progress(progress));
        }
    }

    /// Reports an estimate from a keyword, unless a number was reported before or the estimate goes back.
    fn keyword(&mut self, progress: Progress, noticed: &mut Vec<Noticed>) {
        let news = self.last.as_ref().is_none_or(|last| {
            last.source == ProgressSource::Keyword && last.percentage < progress.percentage
        });
        if news {
            self.last = Some(progress.clone());
            noticed.push(Noticed::Progress(progress));
        }
    }

    /// Reports the task. A marked task always counts; a plain line counts only if no task is known and it
    /// contains nothing else.
    fn task(&mut self, text: &str, silent: bool, noticed: &mut Vec<Noticed>) {
        let plain = || (silent && self.last_task.is_none()).then(|| plain_task(text)).flatten();
        let Some(task) = marked_task(text).or_else(plain) else { return };
        if self.last_task.as_ref() != Some(&task) {
            self.last_task = Some(task.clone());
            noticed.push(Noticed::Task(task));
        }
    }
}
