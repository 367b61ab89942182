//! The counts of one file.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};

use jiff::Timestamp;
use tidings_protocol::entry::{EntryKind, EntryRef};

use super::Counts;
use super::branches::BranchCounter;
use super::role::{CountedRole, hash};
use crate::blocks::Buffer;
use crate::reader::{Content, Reader};

/// The owner of a file: the session or a sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOwner {
    Session,
    Agent,
}

impl FileOwner {
    /// The part of a file's counts that counts for its session.
    pub(super) fn share(self, counts: Counts) -> Counts {
        match self {
            FileOwner::Session => counts,
            FileOwner::Agent => Counts { turns: 0, messages: 0, branches: 0, ..counts },
        }
    }
}

/// Reads one file, and counts when all copies of its entries are known.
#[derive(Debug, Default)]
pub(super) struct FileCounter {
    /// Entries in order of their first occurrence, with the contents of the copy that counts.
    entries: Vec<CountedContent>,
    by_uuid: HashMap<u64, usize>,
    branches: BranchCounter,
    names: InternedNames,
    damaged: u64,
}

/// The countable contents of an entry.
#[derive(Debug)]
struct CountedContent {
    origin: CopyOrigin,
    uuid: Option<u64>,
    part: CountedRole,
    is_aside: bool,
    at: Option<Timestamp>,
    model: Option<usize>,
    /// Hashes of ids, and names of tools.
    calls: Vec<(u64, usize)>,
    errors: u64,
    compactions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyOrigin {
    WholeLine,
    Salvaged,
}

/// Interned names that thousands of entries share.
#[derive(Debug, Default)]
struct InternedNames {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl FileCounter {
    /// Reads a file to its end and returns its counts.
    pub(super) fn read(source: impl Read, of: FileOwner, buffer: &mut Buffer) -> io::Result<Counts> {
        let mut tally = FileCounter::default();
        let mut reader = Reader::new(source, buffer);
        while let Some(line) = reader.next()? {
            match &line.content {
                Content::Entry(entry) => tally.entry(entry, of, CopyOrigin::WholeLine),
                Content::Damaged(damage) => {
                    tally.damaged += 1;
                    for saved in &damage.salvaged {
                        tally.entry(&saved.entry.as_ref(), of, CopyOrigin::Salvaged);
                    }
                }
                Content::Blank => {}
            }
        }
        Ok(tally.counts())
    }

    fn entry(&mut self, entry: &EntryRef<'_>, of: FileOwner, origin: CopyOrigin) {
        if entry.kind() == EntryKind::LastPrompt {
            self.branches.last_prompt(entry);
        }
        // An entry that lacks its uuid is part of the conversation all the same.
        if !entry.kind().is_chained() && !entry.is_chained() {
            return;
        }
        let uuid = entry.uuid().filter(|uuid| !uuid.is_empty()).map(|uuid| hash(&uuid));
        let known = uuid.and_then(|uuid| self.by_uuid.get(&uuid).copied());
        // As in `session`: a whole copy wins over a salvaged one; otherwise the later copy counts.
        if origin == CopyOrigin::Salvaged
            && known.is_some_and(|at| self.entries[at].origin == CopyOrigin::WholeLine)
        {
            return;
        }
        let part = CountedRole::of(entry);
        let is_aside = of == FileOwner::Session && entry.is_sidechain();
        if !is_aside {
            self.branches.entry(entry, part);
        }
        let said =
            CountedContent { origin, uuid, is_aside, ..CountedContent::of(entry, part, &mut self.names) };
        if let Some(at) = known {
            self.entries[at] = said;
        } else {
            self.by_uuid.extend(uuid.map(|uuid| (uuid, self.entries.len())));
            self.entries.push(said);
        }
    }

    fn counts(self) -> Counts {
        let mut counts =
            Counts { damaged: self.damaged, branches: self.branches.left(), ..Counts::default() };
        let mut responses = HashSet::new();
        // By response, or else by entry, id, and number among the calls with that id in the entry.
        let mut calls = HashSet::new();
        for said in &self.entries {
            counts.first = [counts.first, said.at].into_iter().flatten().min();
            counts.last = [counts.last, said.at].into_iter().flatten().max();
            counts.errors += said.errors;
            counts.compactions += said.compactions;
            match said.part {
                CountedRole::Prompt if !said.is_aside => {
                    counts.turns += 1;
                    counts.messages += 1;
                }
                CountedRole::Response(id) => {
                    let is_new = id.is_none_or(|id| responses.insert(id));
                    counts.messages += u64::from(is_new && !said.is_aside);
                    if is_new && let Some(model) = said.model {
                        *counts.models.entry(self.names.list[model].clone()).or_default() += 1;
                    }
                    // Some servers restart the ids of their calls in every response.
                    let within = id.or(said.uuid);
                    // Some also give one id to several calls of an entry.
                    let mut numbers: HashMap<u64, u32> = HashMap::new();
                    for (id, name) in &said.calls {
                        let number = numbers.entry(*id).and_modify(|number| *number += 1).or_default();
                        if calls.insert((within, *id, *number)) {
                            *counts.tools.entry(self.names.list[*name].clone()).or_default() += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        counts
    }
}

impl CountedContent {
    fn of(entry: &EntryRef<'_>, part: CountedRole, names: &mut InternedNames) -> Self {
        let mut said = CountedContent {
            origin: CopyOrigin::WholeLine,
            uuid: None,
            part,
            is_aside: false,
            at: entry.timestamp().and_then(|text| text.parse().ok()),
            model: None,
            calls: Vec::new(),
            errors: 0,
            compactions: 0,
        };
        match part {
            CountedRole::Response(_) => {
                said.model =
                    entry.model().filter(|model| model != "<synthetic>").map(|model| names.number(&model));
                let calls = entry.tool_calls();
                said.calls =
                    calls.into_iter().map(|call| (hash(&call.id), names.number(&call.name))).collect();
            }
            CountedRole::ToolResult => {
                said.errors = entry.tool_results().iter().filter(|result| result.is_error).count() as u64;
            }
            CountedRole::Break => said.compactions = u64::from(is_compaction(entry)),
            CountedRole::Beside => said.errors = u64::from(entry.kind() == EntryKind::Assistant),
            CountedRole::Prompt => {}
        }
        said
    }
}

impl InternedNames {
    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.list.len();
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// Returns true for the boundary of a compaction; the summary after it belongs to the same compaction.
fn is_compaction(entry: &EntryRef<'_>) -> bool {
    match entry.kind() {
        EntryKind::System | EntryKind::CompactPrelude => true,
        EntryKind::CompactSystem => {
            let step = entry.get("message").and_then(tidings_protocol::json::Raw::text);
            step.is_some_and(|step| step == "conversation_compacted")
        }
        _ => false,
    }
}
