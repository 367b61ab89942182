//! Data carried from file to file of one session.

use std::collections::HashSet;

use tidings_protocol::json::Raw;

use super::context::{CheckedEntry, MissingItem};
use super::links::Links;
use crate::{Finding, Position};

/// Facts from the files of a session that were read so far.
#[derive(Debug, Default)]
pub(super) struct SessionFacts {
    /// The entries of the files that were read before.
    earlier: Vec<Links>,
    /// Numbers of files whose first entry follows an entry of an earlier file.
    forked_off: HashSet<usize>,
    /// Results that name a sub-agent.
    pub(super) agent_calls: Vec<AgentCall>,
    /// The tool calls of the files that were read before, by id.
    pub(super) call_ids: HashSet<Box<str>>,
    /// The tool calls of the current file.
    own_call_ids: Vec<Box<str>>,
    /// Results whose call is not in their file, by the id of the call.
    lost_calls: HashSet<Box<str>>,
    /// Findings that other files of the session may refute, with the number of their file.
    pub(super) pending: Vec<(usize, MissingItem, Finding)>,
    /// True if a file could not be read to its end.
    pub(super) unread: bool,
}

/// A result that names a sub-agent.
#[derive(Debug)]
pub(super) struct AgentCall {
    pub(super) agent_id: Box<str>,
    /// Number of the file that contains it, in the order of [`crate::roots::SessionFiles::files`].
    pub(super) file: usize,
    pub(super) place: Position,
    pub(super) uuid: Option<Box<str>>,
}

impl SessionFacts {
    /// Returns true if an earlier file has an entry with that uuid.
    pub(super) fn has_entry(&self, uuid: &str) -> bool {
        self.earlier.iter().any(|links| links.has(uuid))
    }

    /// Stores the findings of a file that other files may refute.
    pub(super) fn keep_pending(&mut self, file: usize, pending: Vec<(MissingItem, Finding)>) {
        for (missing, finding) in pending {
            if let MissingItem::Call(id) = &missing {
                self.lost_calls.insert(id.clone());
            }
            self.pending.push((file, missing, finding));
        }
    }

    /// Returns true if one of the files contains the item that another one misses.
    pub(super) fn has(&self, missing: &MissingItem) -> bool {
        match missing {
            MissingItem::Entry(uuid) => self.has_entry(uuid),
            MissingItem::Call(id) => self.call_ids.contains(id),
            MissingItem::Result(id) => self.lost_calls.contains(id),
        }
    }

    /// Ends a file.
    pub(super) fn end_file(&mut self, links: Links) {
        self.earlier.push(links);
        self.call_ids.extend(self.own_call_ids.drain(..));
    }

    /// Returns true if a file continues from an entry of an earlier file, as a compaction or a suggested
    /// prompt does.
    pub(super) fn is_forked_off(&self, file: usize) -> bool {
        self.forked_off.contains(&file)
    }

    /// Records the facts of an entry in the file with that number.
    pub(super) fn record(&mut self, seen: &CheckedEntry<'_>, file: usize) {
        if seen.link == Some(0) && seen.entry.parent_uuid().is_some_and(|parent| self.has_entry(&parent)) {
            self.forked_off.insert(file);
        }
        if let Some(agent) =
            seen.tool_use_result().and_then(|result| result.get("agentId")).and_then(Raw::text)
        {
            self.agent_calls.push(AgentCall {
                agent_id: agent.get().into(),
                file,
                place: seen.place,
                uuid: seen.entry.uuid().map(Into::into),
            });
        }
        self.own_call_ids.extend(seen.entry.tool_calls().into_iter().map(|call| Box::from(&*call.id)));
    }
}
