//! Reads the files of a session once and records the positions of entries.

use std::collections::HashMap;
use std::sync::Arc;

use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};

use super::entry_facts::{AgentState, CompactionStep, EntryFacts, NamedParent};
use super::node::{self, short};
use super::source::EntryFiles;
use super::{EntryRole, FileIndex, LaneId, LineCounts, Node, NodeId, SideRecords, Trigger, rules};
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, Reader};
use crate::{Error, ErrorKind, Finding, Position};

/// The result of reading the files, before links are resolved.
#[derive(Debug, Default)]
pub(super) struct LoadedEntries {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<EntryLinks>,
    /// One per file.
    pub(super) by_uuid: Vec<HashMap<Arc<str>, NodeId>>,
    /// Positions of repeated copies, apart from the one that counts.
    pub(super) copies: Vec<(NodeId, Position)>,
    pub(super) calls: Vec<CallNote>,
    pub(super) answers: Vec<AnswerNote>,
    pub(super) compactions: Vec<CompactionNote>,
    /// Prompts of sub-agents, by hash.
    pub(super) prompts: HashMap<NodeId, u64>,
    /// Agent ids of entries in the main file.
    pub(super) agent_ids: HashMap<NodeId, Arc<str>>,
    pub(super) forked_from: Vec<(NodeId, Box<str>, Box<str>)>,
    /// Entries that name another session than that of their file.
    pub(super) foreign: Vec<(NodeId, Arc<str>)>,
    /// Unusual `userType`s, and unknown `type`s.
    pub(super) labels: HashMap<NodeId, Arc<str>>,
    pub(super) side: SideRecords,
    pub(super) findings: Vec<(FileIndex, Finding)>,
    pub(super) counts: LineCounts,
    dialects: [u64; 4],
    responses: HashMap<Box<str>, u32>,
    names: HashMap<Box<str>, Arc<str>>,
}

/// The references of an entry to others.
#[derive(Debug, Clone, Default)]
pub(super) struct EntryLinks {
    pub(super) parent: Parent,
    pub(super) logical: Parent,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Parent {
    #[default]
    None,
    Known(NodeId),
    /// Not seen yet.
    Named(Box<str>),
}

#[derive(Debug)]
pub(super) struct CallNote {
    pub(super) node: NodeId,
    /// Offset of the copy with this data.
    copy: u64,
    pub(super) id: Box<str>,
    pub(super) name: Arc<str>,
    pub(super) launch: Option<Launch>,
}

/// The data of a call about the sub-agent that it starts.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) agent_type: Option<Arc<str>>,
    pub(super) description: Option<Box<str>>,
    pub(super) prompt_hash: Option<u64>,
}

#[derive(Debug)]
pub(super) struct AnswerNote {
    pub(super) node: NodeId,
    /// Offset of the copy with this data.
    copy: u64,
    pub(super) id: Option<Box<str>>,
    pub(super) is_error: bool,
    /// The entry that contains the call, according to the result.
    pub(super) source: Option<NodeId>,
    pub(super) agent: Option<(Box<str>, AgentState)>,
}

#[derive(Debug)]
pub(super) struct CompactionNote {
    pub(super) node: NodeId,
    /// Offset of the copy with this data.
    copy: u64,
    pub(super) dialect: Dialect,
    pub(super) step: CompactionStep,
    pub(super) trigger: Option<Trigger>,
    pub(super) pre_tokens: Option<u64>,
    pub(super) post_tokens: Option<u64>,
    pub(super) total_messages: Option<u64>,
    pub(super) preserved_messages: Option<u64>,
    pub(super) anchor: Option<Box<str>>,
    pub(super) preserved: Vec<Box<str>>,
    pub(super) segment: Option<(Box<str>, Box<str>)>,
}

/// The last entries of a file, for entries without a parent key.
#[derive(Debug, Default)]
struct FileTail {
    main: Option<NodeId>,
    side: Option<NodeId>,
}

/// The owner of the lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOwner {
    OfMain,
    OfAgent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineOrigin {
    WholeLine,
    Salvaged,
}

impl LoadedEntries {
    pub(super) fn read(
        &mut self,
        session_id: &str,
        file: FileIndex,
        lines: LineOwner,
        source: &EntryFiles,
    ) -> Result<(), Error> {
        self.by_uuid.push(HashMap::new());
        let path = &source.files()[file.index()].path;
        if let Some(entries) = source.memory() {
            let mut adding =
                FileLoader { loaded: self, session_id, file, lines, source, tail: FileTail::default() };
            for (place, entry) in entries.iter() {
                adding.loaded.counts.lines += 1;
                adding.loaded.counts.entries += 1;
                adding.add(&entry, place, LineOrigin::WholeLine)?;
            }
            return Ok(());
        }
        let opened = std::fs::File::open(path).at("read", path)?;
        let mut buffer = Buffer::default();
        let mut reader = Reader::new(opened, &mut buffer);
        let mut adding =
            FileLoader { loaded: self, session_id, file, lines, source, tail: FileTail::default() };
        while let Some(line) = reader.next().at("read", path)? {
            adding.loaded.counts.lines += 1;
            if let Some(finding) = line.finding() {
                adding.loaded.findings.push((file, finding));
            }
            match line.content {
                Content::Entry(entry) => {
                    adding.loaded.counts.entries += 1;
                    adding.add(&entry, line.place, LineOrigin::WholeLine)?;
                }
                Content::Damaged(damage) => {
                    adding.loaded.counts.damaged += 1;
                    for saved in &damage.salvaged {
                        adding.add(&saved.entry.as_ref(), saved.place, LineOrigin::Salvaged)?;
                    }
                }
                Content::Blank => adding.loaded.counts.blank += 1,
            }
        }
        Ok(())
    }

    /// The dialect of most entries.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        let known = [Dialect::Real, Dialect::Seed, Dialect::Rewrite, Dialect::Unknown];
        let counted = known.into_iter().zip(self.dialects).rev();
        counted.filter(|(_, count)| *count > 0).max_by_key(|(_, count)| *count).map(|(dialect, _)| dialect)
    }

    /// Drops the data of copies that do not count, and sorts the rest by entry.
    pub(super) fn settle(&mut self) {
        let nodes = &self.nodes;
        let counts = |node: NodeId, copy: u64| nodes[node.index()].place.offset == copy;
        self.calls.retain(|note| counts(note.node, note.copy));
        self.calls.sort_by_key(|note| note.node);
        self.answers.retain(|note| counts(note.node, note.copy));
        self.answers.sort_by_key(|note| note.node);
        self.compactions.retain(|note| counts(note.node, note.copy));
        self.compactions.sort_by_key(|note| note.node);
        self.copies.sort_unstable();
    }

    /// Looks up an entry in the session's other files: the parent of a sub-agent's first entry, or the entry
    /// from which the main file continues.
    pub(super) fn lookup_elsewhere(&self, file: FileIndex, uuid: &str) -> Option<NodeId> {
        let uuid = short(uuid);
        let others = self.by_uuid.iter().enumerate().filter(|(index, _)| *index != file.index());
        others.into_iter().find_map(|(_, names)| names.get(&*uuid).copied())
    }

    pub(super) fn lookup(&self, file: FileIndex, uuid: &str) -> Option<NodeId> {
        self.by_uuid.get(file.index())?.get(&*short(uuid)).copied()
    }

    fn intern(&mut self, name: &str) -> Arc<str> {
        let name = short(name);
        if let Some(known) = self.names.get(&*name) {
            return known.clone();
        }
        let kept: Arc<str> = (&*name).into();
        self.names.insert((&*name).into(), kept.clone());
        kept
    }
}

/// Adds the entries of one file.
struct FileLoader<'l> {
    loaded: &'l mut LoadedEntries,
    session_id: &'l str,
    file: FileIndex,
    lines: LineOwner,
    source: &'l EntryFiles,
    tail: FileTail,
}

impl FileLoader<'_> {
    fn add(&mut self, entry: &EntryRef<'_>, place: Position, origin: LineOrigin) -> Result<(), Error> {
        // An entry that lacks its uuid is part of the conversation all the same.
        if !entry.kind().is_chained() && !entry.is_chained() {
            self.loaded.side.add(entry, self.file, place, self.lines);
            return Ok(());
        }
        let facts = EntryFacts::of(entry);
        let uuid = node::uuid(entry);
        let known = uuid.as_deref().and_then(|uuid| self.loaded.lookup(self.file, uuid));
        let id = match known {
            Some(id) if !self.repeat(id, entry, place, origin) => return Ok(()),
            Some(id) => id,
            None => self.new_node(place, uuid.as_deref())?,
        };
        self.fill(id, entry, place, origin, &facts);
        self.link(id, entry, &facts);
        self.note(id, entry, facts);
        Ok(())
    }

    fn new_node(&mut self, place: Position, uuid: Option<&str>) -> Result<NodeId, Error> {
        let loaded = &mut *self.loaded;
        let Ok(index) = u32::try_from(loaded.nodes.len()) else {
            return Err(Error::new(ErrorKind::Invalid, "The session has too many entries to index", ""));
        };
        let id = NodeId(index);
        let uuid: Option<Arc<str>> = uuid.map(|uuid| (&*short(uuid)).into());
        if let Some(uuid) = &uuid {
            loaded.by_uuid[self.file.index()].insert(uuid.clone(), id);
        }
        loaded.nodes.push(Node {
            file: self.file,
            place,
            kind: EntryKind::Unknown,
            part: EntryRole::Other,
            uuid,
            parent: None,
            lane: LaneId::MAIN,
            response: None,
            at: None,
            flags: 0,
        });
        loaded.links.push(EntryLinks::default());
        Ok(id)
    }

    /// Records another copy of an entry; returns true if this copy counts.
    fn repeat(&mut self, id: NodeId, entry: &EntryRef<'_>, place: Position, origin: LineOrigin) -> bool {
        let node = &self.loaded.nodes[id.index()];
        let finding =
            rules::repeated(node, entry, place, self.source.read(self.file, node.place).ok().as_ref());
        // A whole copy wins over a salvaged one; otherwise the later copy counts.
        let counts = origin == LineOrigin::WholeLine || node.is_salvaged();
        let other = if counts { node.place } else { place };
        self.loaded.copies.push((id, other));
        self.loaded.nodes[id.index()].flags |= node::REPEATED;
        self.loaded.findings.push((self.file, finding));
        counts
    }

    fn fill(
        &mut self,
        id: NodeId,
        entry: &EntryRef<'_>,
        place: Position,
        origin: LineOrigin,
        facts: &EntryFacts<'_>,
    ) {
        let loaded = &mut *self.loaded;
        let next = u32::try_from(loaded.responses.len()).unwrap_or(u32::MAX);
        let response = facts
            .response
            .as_deref()
            .map(|response| *loaded.responses.entry((&*short(response)).into()).or_insert(next));
        let node = &mut loaded.nodes[id.index()];
        node.place = place;
        node.kind = entry.kind();
        node.part = facts.part;
        node.response = response;
        node.at = facts.at;
        node.flags = facts.flags | (node.flags & node::REPEATED);
        if origin == LineOrigin::Salvaged {
            node.flags |= node::SALVAGED;
        }
        let dialect = match facts.dialect {
            Dialect::Real => 0,
            Dialect::Seed => 1,
            Dialect::Rewrite => 2,
            Dialect::Unknown => 3,
        };
        loaded.dialects[dialect] += 1;
    }

    fn link(&mut self, id: NodeId, entry: &EntryRef<'_>, facts: &EntryFacts<'_>) {
        let is_side = entry.is_sidechain();
        let before = if is_side { self.tail.side } else { self.tail.main };
        let parent = match &facts.parent {
            NamedParent::Root => Parent::None,
            NamedParent::Implied => before.filter(|before| *before != id).map_or(Parent::None, Parent::Known),
            NamedParent::Parent(uuid) => self.resolve(uuid),
        };
        let logical = entry.logical_parent_uuid().map_or(Parent::None, |uuid| self.resolve(&uuid));
        self.loaded.links[id.index()] = EntryLinks { parent, logical };
        let last = if is_side { &mut self.tail.side } else { &mut self.tail.main };
        *last = Some(id);
    }

    fn resolve(&self, uuid: &str) -> Parent {
        match self.loaded.lookup(self.file, uuid) {
            Some(id) => Parent::Known(id),
            None => Parent::Named((&*short(uuid)).into()),
        }
    }

    fn note(&mut self, node: NodeId, entry: &EntryRef<'_>, facts: EntryFacts<'_>) {
        let loaded = &mut *self.loaded;
        let copy = loaded.nodes[node.index()].place.offset;
        for call in facts.calls {
            let launch = call.launch.map(|launch| Launch {
                agent_type: launch.agent_type.map(|name| loaded.intern(&name)),
                description: launch.description.map(|text| short(&text).into()),
                prompt_hash: launch.prompt_hash,
            });
            let name = loaded.intern(&call.name);
            loaded.calls.push(CallNote { node, copy, id: short(&call.id).into(), name, launch });
        }
        for answer in facts.results {
            let source = answer.source.and_then(|uuid| loaded.lookup(self.file, &uuid));
            loaded.answers.push(AnswerNote {
                node,
                copy,
                id: answer.id.map(|id| short(&id).into()),
                is_error: answer.is_error,
                source,
                agent: answer.agent.map(|(id, running)| (short(&id).into(), running)),
            });
        }
        if let Some(facts_of) = facts.compaction {
            let kept = |name: std::borrow::Cow<'_, str>| -> Box<str> { short(&name).into() };
            loaded.compactions.push(CompactionNote {
                node,
                copy,
                dialect: facts.dialect,
                step: facts_of.step,
                trigger: facts_of.trigger,
                pre_tokens: facts_of.pre_tokens,
                post_tokens: facts_of.post_tokens,
                total_messages: facts_of.total_messages,
                preserved_messages: facts_of.preserved_messages,
                anchor: facts_of.anchor.map(kept),
                preserved: facts_of.preserved.into_iter().map(kept).collect(),
                segment: facts_of.segment.map(|(head, tail)| (kept(head), kept(tail))),
            });
        }
        if let Some(hash) = facts.prompt_hash {
            loaded.prompts.insert(node, hash);
        }
        if let Some((session, uuid)) = facts.forked_from {
            loaded.forked_from.push((node, short(&session).into(), short(&uuid).into()));
        }
        if self.lines == LineOwner::OfMain
            && entry.is_sidechain()
            && let Some(agent) = entry.agent_id()
        {
            let agent = loaded.intern(&agent);
            loaded.agent_ids.insert(node, agent);
        }
        let unknown = if entry.kind() == EntryKind::Unknown { entry.type_name() } else { facts.user_type };
        if let Some(label) = unknown {
            let label = loaded.intern(&label);
            loaded.labels.insert(node, label);
        }
        if let Some(session) = entry.session_id().filter(|id| *id != self.session_id) {
            let session = loaded.intern(&session);
            loaded.foreign.push((node, session));
        }
    }
}
