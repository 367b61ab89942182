//! The data stored per entry of the tree: numbers, so that a long file fits into memory.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::Text;

use super::names::{NameId, NameTable};
use super::time;
use crate::Position;

/// An entry of the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) place: Position,
    pub(crate) uuid: NameId,
    pub(crate) parent: Option<NameId>,
    pub(crate) kind: EntryKind,
    pub(crate) lane: LaneKey,
    /// The API response that the entry is a block of; `None` for entries without a model.
    pub(crate) response: Option<NameId>,
    pub(crate) at_millis: Option<i64>,
    /// Fingerprints of the entry's message, and of everything else on its line.
    payload: u64,
    around: u64,
}

/// The conversation that an entry belongs to: the main one, or that of a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LaneKey {
    Main,
    /// A sub-agent; older files and the session specification do not identify it.
    Side(Option<NameId>),
}

/// Result of comparing two entries with one uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Equal byte for byte.
    Same,
    /// Equal messages with different metadata.
    SaysTheSame,
    Different,
}

/// The entries of one file that are part of the tree, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) names: NameTable,
    pub(crate) list: Vec<Link>,
    /// By name: number of the first entry with that uuid, counted from 1.
    first: Vec<u32>,
}

impl Links {
    /// Adds an entry if it is part of the tree, and returns its number.
    pub(crate) fn add(&mut self, entry: &EntryRef<'_>, place: Position) -> Option<usize> {
        // An empty uuid is not an identity: several entries with one are not copies of each other.
        let uuid = entry.uuid().filter(|uuid| entry.is_chained() && !uuid.is_empty())?;
        let said = entry.message_view();
        let mut payload = DefaultHasher::new();
        let mut around = DefaultHasher::new();
        let raw = entry.raw();
        match said.content.or_else(|| entry.get("attachment")) {
            Some(content) => {
                let text = content.as_str().as_bytes();
                let start = text.as_ptr() as usize - raw.as_ptr() as usize;
                payload.write(text);
                around.write(&raw[..start]);
                around.write(&raw[start + text.len()..]);
            }
            None => around.write(raw),
        }
        // The flat dialect has one entry per call, and several calls make one response.
        let answered = entry.kind() == EntryKind::Assistant
            && said.model.is_none_or(|model| model != "<synthetic>")
            && entry.subtype().as_deref() != Some("tool_use");
        let link = Link {
            place,
            uuid: self.names.of(&uuid),
            parent: entry.parent_uuid().map(|parent| self.names.of(&parent)),
            kind: entry.kind(),
            lane: match (entry.is_sidechain(), entry.agent_id()) {
                (false, _) => LaneKey::Main,
                (true, agent) => LaneKey::Side(agent.map(|agent| self.names.of(&agent))),
            },
            // A response without an id counts as one of its own.
            response: answered.then(|| self.names.of(&said.message_id.map_or(uuid, Text::get))),
            at_millis: entry.timestamp().and_then(|at| time::millis(&at)),
            payload: payload.finish(),
            around: around.finish(),
        };
        Some(self.push(link))
    }

    /// Rebuilds the list from a selection of its entries.
    pub(crate) fn rebuilt(names: NameTable, list: impl IntoIterator<Item = Link>) -> Self {
        let mut links = Links { names, ..Links::default() };
        for link in list {
            links.push(link);
        }
        links
    }

    fn push(&mut self, link: Link) -> usize {
        let number = self.list.len();
        self.list.push(link);
        let index = link.uuid.index();
        if self.first.len() <= index {
            self.first.resize(index + 1, 0);
        }
        if self.first[index] == 0 {
            self.first[index] = u32::try_from(number + 1).unwrap_or(u32::MAX);
        }
        number
    }

    /// The number of the first entry with that uuid.
    pub(crate) fn first(&self, uuid: NameId) -> Option<usize> {
        let found = *self.first.get(uuid.index())?;
        (found > 0).then(|| found as usize - 1)
    }

    /// Returns true if an entry has that uuid.
    pub(crate) fn has(&self, uuid: &str) -> bool {
        self.names.find(uuid).is_some_and(|name| self.first(name).is_some())
    }

    /// The parent of every entry, where it is in the file.
    pub(crate) fn parents(&self) -> Vec<Option<usize>> {
        self.list.iter().map(|link| self.first(link.parent?)).collect()
    }

    /// For every entry, the preceding one in its lane.
    pub(crate) fn before(&self) -> Vec<Option<usize>> {
        let mut last = HashMap::new();
        self.list.iter().enumerate().map(|(number, link)| last.insert(link.lane, number)).collect()
    }

    /// For every entry, the one that it follows: its parent, or the preceding one in its lane if the parent
    /// does not exist.
    pub(crate) fn followed(&self) -> Vec<Option<usize>> {
        let before = self.before();
        let followed = self.list.iter().zip(before).map(|(link, before)| self.first(link.parent?).or(before));
        followed.collect()
    }
}

impl Link {
    pub(crate) fn likeness(&self, other: &Link) -> Likeness {
        if self.payload != other.payload {
            Likeness::Different
        } else if self.around != other.around {
            Likeness::SaysTheSame
        } else {
            Likeness::Same
        }
    }
}
