//! Sessions that begin with a copy of another one.

use std::collections::{HashMap, HashSet};

use super::{LaneId, NodeId, Session};
use crate::limits::SHARERS_MAX;

/// A session that begins with a copy of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fork {
    /// Index of the copy among the sessions.
    pub copy: usize,
    /// Index of the original. Of several candidates, the one that shares most entries.
    pub original: usize,
    /// Evidence for the fork.
    pub by: ForkSign,
    /// Number of shared entries.
    pub shared: usize,
    /// The last shared entry, in the copy.
    pub until: NodeId,
    /// The last shared entry, in the original.
    pub until_in_original: NodeId,
}

/// Evidence that a session was copied from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ForkSign {
    /// Entries have the same uuids: a copy by the CLI.
    SameUuids,
    /// Entries still contain the id of the original session: a session resumed by an older version.
    SessionId,
    /// Entries refer to their originals: a copy by an SDK.
    ForkedFrom,
}

/// Finds the copies among these sessions, sorted by index of the copy.
pub fn forks(sessions: &[&Session]) -> Vec<Fork> {
    let mut pairs: HashMap<(usize, usize), Shared> = HashMap::new();
    by_uuid(sessions, &mut pairs);
    by_mark(sessions, &mut pairs);
    let mut best: HashMap<usize, (Fork, usize)> = HashMap::new();
    for ((a, b), shared) in pairs {
        let (fork, side_records) = shared.determine_copy(sessions, a, b);
        // Two copies share as much with each other as with the original, but neither has its side records.
        let worth = |fork: &Fork, side_records| {
            (fork.by, fork.shared, side_records, std::cmp::Reverse(fork.original))
        };
        if best.get(&fork.copy).is_none_or(|(known, kept)| worth(&fork, side_records) > worth(known, *kept)) {
            best.insert(fork.copy, (fork, side_records));
        }
    }
    let mut forks: Vec<Fork> = best.into_values().map(|(fork, _)| fork).collect();
    forks.sort_by_key(|fork| fork.copy);
    forks
}

/// The shared entries of two sessions, in the first and in the second.
#[derive(Debug)]
struct Shared {
    entries: Vec<(NodeId, NodeId)>,
    /// The original session, if an entry names it.
    marked_original: Option<(usize, ForkSign)>,
}

fn by_uuid(sessions: &[&Session], pairs: &mut HashMap<(usize, usize), Shared>) {
    let mut holders: HashMap<&str, Vec<(usize, NodeId)>> = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        for id in &session.lane(LaneId::MAIN).nodes {
            if let Some(uuid) = session.node(*id).uuid.as_deref() {
                let holders = holders.entry(uuid).or_default();
                if holders.len() < SHARERS_MAX {
                    holders.push((index, *id));
                }
            }
        }
    }
    for holders in holders.values() {
        for (at, (a, in_a)) in holders.iter().enumerate() {
            for (b, in_b) in &holders[at + 1..] {
                let shared = pairs.entry((*a, *b));
                let shared = shared.or_insert_with(|| Shared { entries: Vec::new(), marked_original: None });
                shared.entries.push((*in_a, *in_b));
            }
        }
    }
    for ((a, b), shared) in pairs.iter_mut() {
        if names_session(sessions[*a], sessions[*b].id()) {
            shared.marked_original = Some((*b, ForkSign::SessionId));
        } else if names_session(sessions[*b], sessions[*a].id()) {
            shared.marked_original = Some((*a, ForkSign::SessionId));
        }
    }
}

fn names_session(session: &Session, other: &str) -> bool {
    session.foreign.iter().any(|(id, name)| **name == *other && session.node(*id).lane == LaneId::MAIN)
}

fn by_mark(sessions: &[&Session], pairs: &mut HashMap<(usize, usize), Shared>) {
    let by_id: HashMap<&str, usize> =
        sessions.iter().enumerate().map(|(index, session)| (session.id(), index)).collect();
    for (copy, session) in sessions.iter().enumerate() {
        for (id, from, uuid) in &session.forked_from {
            let Some(original) = by_id.get(&**from).copied().filter(|original| *original != copy) else {
                continue;
            };
            let Some(in_original) = sessions[original].by_uuid(LaneId::MAIN, uuid) else { continue };
            let key = (copy.min(original), copy.max(original));
            let pair = if key.0 == copy { (*id, in_original) } else { (in_original, *id) };
            let shared = pairs.entry(key);
            let shared = shared.or_insert_with(|| Shared { entries: Vec::new(), marked_original: None });
            if shared.marked_original.is_none_or(|(_, sign)| sign != ForkSign::ForkedFrom) {
                shared.entries.clear();
            }
            shared.marked_original = Some((original, ForkSign::ForkedFrom));
            shared.entries.push(pair);
        }
    }
}

impl Shared {
    /// Determines the copy, and the number of side records that the original wrote during the shared entries.
    fn determine_copy(&self, sessions: &[&Session], a: usize, b: usize) -> (Fork, usize) {
        let of_a: Vec<NodeId> = self.entries.iter().map(|(in_a, _)| *in_a).collect();
        let of_b: Vec<NodeId> = self.entries.iter().map(|(_, in_b)| *in_b).collect();
        let (sign_of_a, sign_of_b) = (evidence(sessions[a], &of_a), evidence(sessions[b], &of_b));
        let likely = if sign_of_a >= sign_of_b { a } else { b };
        let (original, by) = self.marked_original.unwrap_or((likely, ForkSign::SameUuids));
        let last = self.entries.iter().max_by_key(|(in_a, in_b)| if original == a { *in_b } else { *in_a });
        let (in_a, in_b) = last.copied().unwrap_or((NodeId(0), NodeId(0)));
        let (copy, until, until_in_original) = if original == a { (b, in_b, in_a) } else { (a, in_a, in_b) };
        let (side_records, _) = if original == a { sign_of_a } else { sign_of_b };
        (Fork { copy, original, by, shared: self.entries.len(), until, until_in_original }, side_records)
    }
}

/// Evidence that a session is the original of shared entries: side records are written during a conversation
/// and are not copied; and the rest of a copy is newer than the copied part.
fn evidence(session: &Session, shared: &[NodeId]) -> (usize, std::cmp::Reverse<Option<jiff::Timestamp>>) {
    let offsets = shared.iter().map(|id| session.node(*id).place.offset);
    let (first, last) = offsets.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
    let file = session.lane(LaneId::MAIN).file;
    let records = session.side().records.iter().filter(|record| Some(record.file) == file);
    let side_records = records.filter(|record| (first..last).contains(&record.place.offset)).count();
    let shared: HashSet<&NodeId> = shared.iter().collect();
    let own = session.lane(LaneId::MAIN).nodes.iter().filter(|id| !shared.contains(id));
    (side_records, std::cmp::Reverse(own.filter_map(|id| session.node(*id).at).min()))
}
