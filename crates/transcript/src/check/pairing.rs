//! Matches the tool calls of a file with their results.

use std::collections::{HashMap, HashSet, VecDeque};

use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};

use super::links::{LaneKey, Links};
use super::names::NameId;

/// Calls and results of one file, in the order of its lines.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    /// Calls without a result, by id. Some servers repeat ids, so each is a queue.
    open: HashMap<Box<str>, VecDeque<CallRef>>,
    /// Results without a call, by id; the call may come later in the file.
    early: HashMap<Box<str>, VecDeque<ResultRef>>,
    /// The flat dialect has no ids: a result answers its parent, or else the oldest open call of its lane.
    open_seed: HashMap<LaneKey, VecDeque<CallRef>>,
    early_seed: Vec<ResultRef>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct CallRef {
    /// The entry's number in [`Links`].
    pub(crate) link: usize,
    /// The call's id; in the flat dialect, the entry's uuid.
    pub(crate) id: Box<str>,
    pub(crate) tool: Box<str>,
    /// True if the API requires a result; calls in the flat dialect do not.
    pub(crate) is_api: bool,
}

/// A result.
#[derive(Debug, Clone)]
pub(crate) struct ResultRef {
    pub(crate) link: usize,
    /// The id of the call that it answers; `None` in the flat dialect.
    pub(crate) id: Option<Box<str>>,
}

/// Calls and results without a counterpart.
#[derive(Debug, Default)]
pub(crate) struct Unpaired {
    /// Calls that the model continued after, so that there was a result once.
    pub(crate) lost_results: Vec<CallRef>,
    /// Calls at the open end of a conversation.
    pub(crate) waiting: Vec<CallRef>,
    pub(crate) lost_calls: Vec<ResultRef>,
}

/// The tool calls and results in an entry.
#[derive(Debug, Default)]
pub(crate) struct EntryTools {
    /// Ids and names of the tools that are called.
    calls: Vec<(Box<str>, Box<str>)>,
    /// Ids of the calls that results belong to.
    answers: Vec<Box<str>>,
    seed: Option<SeedTools>,
}

/// The role of an entry in the flat dialect, where calls have no ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeedTools {
    Call,
    Result,
    /// An error entry after a call: its outcome.
    Error,
}

impl EntryTools {
    pub(crate) fn of(entry: &EntryRef<'_>) -> Self {
        let calls = entry.tool_calls().into_iter().map(|call| (Box::from(&*call.id), Box::from(&*call.name)));
        let calls: Vec<_> = calls.collect();
        if entry.dialect() == Dialect::Seed {
            let subtype = entry.subtype().filter(|_| entry.kind() == EntryKind::System);
            let seed = match subtype.as_deref() {
                _ if !calls.is_empty() => Some(SeedTools::Call),
                Some("tool_result") => Some(SeedTools::Result),
                Some("error") => Some(SeedTools::Error),
                _ => None,
            };
            return EntryTools { calls, answers: Vec::new(), seed };
        }
        let answers = entry.tool_results().into_iter();
        let answers = answers.map(|result| result.tool_use_id.unwrap_or_default().into()).collect();
        EntryTools { calls, answers, seed: None }
    }

    /// The ids of calls and of answered calls; the flat dialect has none.
    pub(crate) fn into_ids(self) -> (Vec<Box<str>>, Vec<Box<str>>) {
        if self.seed.is_some() {
            return (Vec::new(), Vec::new());
        }
        (self.calls.into_iter().map(|(id, _)| id).collect(), self.answers)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.answers.is_empty() && self.seed.is_none()
    }

    /// Returns true if the entry is the result of a call.
    pub(crate) fn is_result(&self) -> bool {
        !self.answers.is_empty() || matches!(self.seed, Some(SeedTools::Result | SeedTools::Error))
    }
}

impl Pairing {
    /// Adds an entry by its `number` in [`Links`]. The caller must skip copies of an entry.
    pub(crate) fn add(&mut self, tools: EntryTools, number: usize, links: &Links) {
        for (id, tool) in tools.calls {
            let call = CallRef { link: number, id, tool, is_api: tools.seed.is_none() };
            if tools.seed.is_some() {
                self.open_seed.entry(links.list[number].lane).or_default().push_back(call);
            } else if !take(&mut self.early, &call.id) {
                self.open.entry(call.id.clone()).or_default().push_back(call);
            }
        }
        for id in tools.answers {
            if !take(&mut self.open, &id) {
                let answer = ResultRef { link: number, id: Some(id.clone()) };
                self.early.entry(id).or_default().push_back(answer);
            }
        }
        match tools.seed {
            Some(answer @ (SeedTools::Result | SeedTools::Error)) => self.seed_answer(answer, number, links),
            Some(SeedTools::Call) | None => {}
        }
    }

    fn seed_answer(&mut self, answer: SeedTools, number: usize, links: &Links) {
        let is_result = answer == SeedTools::Result;
        let parent = links.list[number].parent.and_then(|parent| links.first(parent));
        let open = self.open_seed.entry(links.list[number].lane).or_default();
        let own = open.iter().position(|call| Some(call.link) == parent);
        match own.or((is_result && !open.is_empty()).then_some(0)) {
            Some(at) => drop(open.remove(at)),
            None if is_result => self.early_seed.push(ResultRef { link: number, id: None }),
            None => {}
        }
    }

    /// The calls and results without a counterpart at the end of the file.
    pub(crate) fn finish(self, links: &Links) -> Unpaired {
        let mut unpaired = Unpaired::default();
        let open = self.open.into_values().chain(self.open_seed.into_values()).flatten();
        let mut open: Vec<CallRef> = open.collect();
        open.sort_by_key(|call| call.link);
        if !open.is_empty() {
            let answered = answered(links);
            for call in open {
                let link = &links.list[call.link];
                let lost = answered.links[call.link]
                    || link.response.is_some_and(|response| answered.responses.contains(&response));
                if lost { &mut unpaired.lost_results } else { &mut unpaired.waiting }.push(call);
            }
        }
        unpaired.lost_calls = self.early.into_values().flatten().chain(self.early_seed).collect();
        unpaired.lost_calls.sort_by_key(|answer| answer.link);
        unpaired
    }
}

fn take<T>(waiting: &mut HashMap<Box<str>, VecDeque<T>>, id: &str) -> bool {
    waiting.get_mut(id).is_some_and(|queue| queue.pop_front().is_some())
}

/// The entries and responses that are followed by another response of the model.
struct Answered {
    links: Vec<bool>,
    responses: HashSet<NameId>,
}

fn answered(links: &Links) -> Answered {
    let followed = links.followed();
    let mut answered = Answered { links: vec![false; links.list.len()], responses: HashSet::new() };
    // Entries whose ancestors were already visited for their own response, so that each is passed once.
    let mut gone = vec![false; links.list.len()];
    for (number, link) in links.list.iter().enumerate() {
        let Some(response) = link.response else { continue };
        gone[number] = true;
        let mut at = followed[number];
        while let Some(here) = at {
            if links.list[here].response == Some(response) {
                // Blocks of one response do not answer each other.
                if std::mem::replace(&mut gone[here], true) {
                    break;
                }
            } else {
                if std::mem::replace(&mut answered.links[here], true) {
                    break;
                }
                answered.responses.extend(links.list[here].response);
            }
            at = followed[here];
        }
    }
    answered
}
