use std::collections::HashSet;
use std::io::{self, Read};

use jiff::Timestamp;
use tidings_protocol::entry::{EntryKind, EntryRef};

use super::Counts;
use super::branches::Branches;
use super::part::{Part, hash};
use crate::blocks::Buffer;
use crate::reader::{Content, Reader};

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Session,
    Agent,
}

impl Of {
    /// What of a file counts for its session.
    pub(super) fn share(self, counts: Counts) -> Counts {
        match self {
            Of::Session => counts,
            Of::Agent => Counts { turns: 0, messages: 0, branches: 0, ..counts },
        }
    }
}

/// Counts one file.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: Counts,
    branches: Branches,
    responses: HashSet<u64>,
    /// By response, or else by entry, and id.
    calls: HashSet<(Option<u64>, u64)>,
    /// Entries that stand twice count once.
    seen: HashSet<u64>,
}

impl Tally {
    /// Reads a file to its end; gives what was counted.
    pub(super) fn read(source: impl Read, of: Of, buffer: &mut Buffer) -> io::Result<Counts> {
        let mut tally = Tally::default();
        let mut reader = Reader::new(source, buffer);
        while let Some(line) = reader.next()? {
            match &line.content {
                Content::Entry(entry) => tally.entry(entry, of),
                Content::Damaged(damage) => {
                    tally.counts.damaged += 1;
                    for saved in &damage.salvaged {
                        tally.entry(&saved.entry.as_ref(), of);
                    }
                }
                Content::Blank => {}
            }
        }
        tally.counts.branches = tally.branches.left();
        Ok(tally.counts)
    }

    fn entry(&mut self, entry: &EntryRef<'_>, of: Of) {
        if entry.kind() == EntryKind::LastPrompt {
            self.branches.last_prompt(entry);
        }
        if !entry.is_chained() {
            return;
        }
        let part = Part::of(entry);
        let is_aside = of == Of::Session && entry.is_sidechain();
        if !is_aside {
            self.branches.entry(entry, part);
        }
        let uuid = entry.uuid().filter(|uuid| !uuid.is_empty());
        if uuid.is_some_and(|uuid| !self.seen.insert(hash(&uuid))) {
            return;
        }
        if let Some(at) = entry.timestamp().and_then(|text| text.parse::<Timestamp>().ok()) {
            self.counts.first = Some(self.counts.first.map_or(at, |first| first.min(at)));
            self.counts.last = Some(self.counts.last.map_or(at, |last| last.max(at)));
        }
        self.said(entry, part, is_aside);
    }

    fn said(&mut self, entry: &EntryRef<'_>, part: Part, is_aside: bool) {
        let counts = &mut self.counts;
        match part {
            Part::Prompt if !is_aside => {
                counts.turns += 1;
                counts.messages += 1;
            }
            Part::Response(id) => {
                let is_new = id.is_none_or(|id| self.responses.insert(id));
                counts.messages += u64::from(is_new && !is_aside);
                if is_new && let Some(model) = entry.model().filter(|model| model != "<synthetic>") {
                    *counts.models.entry(model.into_owned()).or_default() += 1;
                }
                // Some servers count their calls anew in every response.
                let within = id.or_else(|| entry.uuid().map(|uuid| hash(&uuid)));
                for call in entry.tool_calls() {
                    if self.calls.insert((within, hash(&call.id))) {
                        *counts.tools.entry(call.name.into_owned()).or_default() += 1;
                    }
                }
            }
            Part::ToolResult => {
                counts.errors += entry.tool_results().iter().filter(|result| result.is_error).count() as u64;
            }
            Part::Break if is_compaction(entry) => counts.compactions += 1,
            Part::Beside if entry.kind() == EntryKind::Assistant => counts.errors += 1,
            _ => {}
        }
    }
}

/// Whether one epoch ends here; the summary that follows it tells of the same compaction.
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
