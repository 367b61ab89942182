//! Resolution of parents.

use super::forest::break_cycles;
use super::load::{LoadedEntries, Parent};
use super::{NodeId, node, rules};
use crate::Severity;

/// Sets the parents of all entries, and reports missing ones.
pub(super) fn resolve(loaded: &mut LoadedEntries) {
    let mut parents: Vec<Option<NodeId>> = Vec::with_capacity(loaded.nodes.len());
    let mut flags = Vec::new();
    let mut findings = Vec::new();
    for (index, node) in loaded.nodes.iter().enumerate() {
        let mut report = |rule, severity, flag, message| {
            flags.push((index, flag));
            findings.push((node.file, rules::finding(rule, severity, node, message)));
            None
        };
        parents.push(match find(loaded, index, &loaded.links[index].parent) {
            ParentLookup::None => None,
            ParentLookup::Entry(parent) if parent.index() == index => {
                let message = "The entry names itself as its parent".to_owned();
                report(rules::PARENT_CYCLE, Severity::Error, node::CUT, message)
            }
            ParentLookup::Entry(parent) => Some(parent),
            ParentLookup::Missing(uuid) => {
                let message = format!("No file of the session contains the parent: `{uuid}`");
                report(rules::KNOWN_PARENT, Severity::Warning, node::ORPHAN, message)
            }
        });
    }
    for (index, flag) in flags {
        loaded.nodes[index].flags |= flag;
    }
    for cut in break_cycles(&mut parents) {
        let node = &mut loaded.nodes[cut.index()];
        node.flags |= node::CUT;
        let message = "The entry is its own ancestor (cycle in `parentUuid`)".to_owned();
        findings.push((node.file, rules::finding(rules::PARENT_CYCLE, Severity::Error, node, message)));
    }
    for (node, parent) in loaded.nodes.iter_mut().zip(parents) {
        node.parent = parent;
    }
    loaded.findings.append(&mut findings);
}

/// The logical parent of a boundary, which has no parent.
pub(super) fn logical(loaded: &LoadedEntries, id: NodeId) -> Option<NodeId> {
    match find(loaded, id.index(), &loaded.links[id.index()].logical) {
        ParentLookup::Entry(parent) if parent != id => Some(parent),
        _ => None,
    }
}

enum ParentLookup<'l> {
    None,
    Entry(NodeId),
    Missing(&'l str),
}

fn find<'l>(loaded: &'l LoadedEntries, index: usize, parent: &'l Parent) -> ParentLookup<'l> {
    match parent {
        Parent::None => ParentLookup::None,
        Parent::Known(id) => ParentLookup::Entry(*id),
        // A parent may come later in the file.
        Parent::Named(uuid) => {
            let file = loaded.nodes[index].file;
            match loaded.lookup(file, uuid).or_else(|| loaded.lookup_elsewhere(file, uuid)) {
                Some(id) => ParentLookup::Entry(id),
                None => ParentLookup::Missing(uuid),
            }
        }
    }
}
