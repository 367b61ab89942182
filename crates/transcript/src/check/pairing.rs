//! Which tool calls of a file have their results.

use std::collections::{HashMap, HashSet, VecDeque};

use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};

use super::links::{Lane, Links};
use super::names::Name;

/// Calls and results of one file, as they come.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    /// Calls by id that wait for a result. Ids are repeated by odd servers, so each is a queue.
    open: HashMap<Box<str>, VecDeque<Call>>,
    /// Results by id whose call was not seen; it may come later in the file.
    early: HashMap<Box<str>, VecDeque<Answer>>,
    /// Seed 001 has no ids: there a result answers its parent, or else the oldest open call of its lane.
    open_seed: HashMap<Lane, VecDeque<Call>>,
    early_seed: Vec<Answer>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The entry's number in [`Links`].
    pub(crate) link: usize,
    /// The call's id; in seed 001 the entry's.
    pub(crate) id: Box<str>,
    pub(crate) tool: Box<str>,
}

/// A result.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) link: usize,
    /// The id of the call that it answers; seed 001 has none.
    pub(crate) id: Option<Box<str>>,
}

/// What is without a counterpart.
#[derive(Debug, Default)]
pub(crate) struct Unpaired {
    /// Calls after which the model answered all the same, so that there was a result once.
    pub(crate) lost_results: Vec<Call>,
    /// Calls at the open end of a conversation.
    pub(crate) waiting: Vec<Call>,
    pub(crate) lost_calls: Vec<Answer>,
}

impl Pairing {
    /// Takes in an entry that [`Links`] knows by `number`. Copies of an entry must be left out.
    pub(crate) fn add(&mut self, entry: &EntryRef<'_>, number: usize, links: &Links) {
        let seed = entry.dialect() == Dialect::Seed;
        for call in entry.tool_calls() {
            let (id, tool) = (call.id.as_ref().into(), call.name.as_ref().into());
            let call = Call { link: number, id, tool };
            if seed {
                self.open_seed.entry(links.list[number].lane).or_default().push_back(call);
            } else if !take(&mut self.early, &call.id) {
                self.open.entry(call.id.clone()).or_default().push_back(call);
            }
        }
        if seed && entry.kind() == EntryKind::System {
            self.add_seed_answer(entry, number, links);
            return;
        }
        for result in entry.tool_results() {
            let id: Box<str> = result.tool_use_id.unwrap_or_default().into();
            if !take(&mut self.open, &id) {
                let answer = Answer { link: number, id: Some(id.clone()) };
                self.early.entry(id).or_default().push_back(answer);
            }
        }
    }

    fn add_seed_answer(&mut self, entry: &EntryRef<'_>, number: usize, links: &Links) {
        let subtype = entry.subtype();
        // An error that follows a call is what became of it.
        let (is_result, is_error) =
            (subtype.as_deref() == Some("tool_result"), subtype.as_deref() == Some("error"));
        if !is_result && !is_error {
            return;
        }
        let parent = links.list[number].parent.and_then(|parent| links.first(parent));
        let open = self.open_seed.entry(links.list[number].lane).or_default();
        let own = open.iter().position(|call| Some(call.link) == parent);
        match own.or((is_result && !open.is_empty()).then_some(0)) {
            Some(at) => drop(open.remove(at)),
            None if is_result => self.early_seed.push(Answer { link: number, id: None }),
            None => {}
        }
    }

    /// What is left over when the file is over.
    pub(crate) fn finish(self, links: &Links) -> Unpaired {
        let mut unpaired = Unpaired::default();
        let open = self.open.into_values().chain(self.open_seed.into_values()).flatten();
        let mut open: Vec<Call> = open.collect();
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

/// The entries and responses after which the model said something else.
struct Answered {
    links: Vec<bool>,
    responses: HashSet<Name>,
}

fn answered(links: &Links) -> Answered {
    let followed = links.followed();
    let mut answered = Answered { links: vec![false; links.list.len()], responses: HashSet::new() };
    // Entries from which the way up was gone already for their own response, so that none is passed twice for it.
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
