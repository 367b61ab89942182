//! Progress out of text that is still being written.

use std::collections::VecDeque;

use super::limits::{DONE_LINES, MENTIONS_MAX};
use super::mention::{AgentMention, mentions};
use super::pieces::{End, Piece, Pieces};
use super::steps::{Progress, ProgressSource, Step, keyword, steps};
use super::task::{marked_task, plain_task};

/// Whether text is read for progress at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextProgress {
    /// What text says is passed on, marked as a guess.
    #[default]
    Guess,
    /// Only what the CLI reports counts.
    Ignore,
}

/// Something that a text says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Noticed {
    /// How far the work has come.
    Progress(Progress),
    /// What is being worked on.
    Task(String),
    /// A sub-agent is said to be at work.
    Agent(AgentMention),
}

/// Reads progress out of what an agent writes, however the text is cut into deltas.
///
/// A sentence is looked at once it is whole, so that "1 of 20" is not taken for "1 of 2"; [`ProgressParser::finish`]
/// says that nothing follows. The same thing said again is not noticed again, and what makes no sense (5 of 0, 150 %)
/// is not noticed at all. Time and memory are bounded by the text and by a few kilobytes.
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
    /// "Done: 5" and how many more lines may pass until its total.
    done: Option<(u64, usize)>,
}

impl ProgressParser {
    /// A parser that reads, or one that notices nothing.
    pub fn new(reading: TextProgress) -> Self {
        ProgressParser { reading, ..ProgressParser::default() }
    }

    /// More text.
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

    /// The text is over, as at the end of a block: what is held is looked at as it is.
    pub fn finish(&mut self) -> Vec<Noticed> {
        let mut noticed = Vec::new();
        if let Some(piece) = self.pieces.finish() {
            self.look(&piece, &mut noticed);
        }
        noticed
    }

    /// A new turn: what was said before may be said again.
    pub fn reset(&mut self) {
        *self = ProgressParser::new(self.reading);
    }

    fn look(&mut self, piece: &Piece, noticed: &mut Vec<Noticed>) {
        let text = piece.text.as_str();
        let limit = if piece.end == End::Cut { text.len() } else { usize::MAX };
        let mentioned = mentions(text);
        let steps = steps(text, limit);
        let silent = mentioned.is_empty() && steps.is_empty();
        // The task of a mention goes on to the end of the piece, so nothing of that is looked at again.
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

    /// A guess from mere words never follows a number, nor goes back.
    fn keyword(&mut self, progress: Progress, noticed: &mut Vec<Noticed>) {
        let news = self.last.as_ref().is_none_or(|last| {
            last.source == ProgressSource::Keyword && last.percentage < progress.percentage
        });
        if news {
            self.last = Some(progress.clone());
            noticed.push(Noticed::Progress(progress));
        }
    }

    /// A named task always counts; a line that merely is long enough counts where none is known and it says nothing else.
    fn task(&mut self, text: &str, silent: bool, noticed: &mut Vec<Noticed>) {
        let plain = || (silent && self.last_task.is_none()).then(|| plain_task(text)).flatten();
        let Some(task) = marked_task(text).or_else(plain) else { return };
        if self.last_task.as_ref() != Some(&task) {
            self.last_task = Some(task.clone());
            noticed.push(Noticed::Task(task));
        }
    }
}
