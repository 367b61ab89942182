//! Rule: a sidechain is marked from its prompt to its last answer.

use tidings_protocol::entry::{Dialect, EntryKind};
use tidings_protocol::json::Raw;

use super::super::Profile;
use super::super::context::{Check, CheckedEntry, File, FileRole, Findings};
use super::super::links::{LaneKey, Link};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("sidechain-flag");

/// A sidechain is marked from its prompt to its last answer.
#[derive(Debug)]
pub(super) struct SidechainFlag;

impl Check for SidechainFlag {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let entry = &seen.entry;
        if entry.is_sidechain() || seen.link.is_none() {
            return;
        }
        let severity = file.profile.severity(Severity::Warning);
        if matches!(file.role, FileRole::Agent { .. }) {
            found.about(
                RULE,
                severity,
                seen,
                "The entry belongs to a sub-agent and is not marked as a sidechain",
            );
        } else if file.profile == Profile::Strict
            && seen.dialect == Dialect::Seed
            && entry.kind() == EntryKind::User
            && seen.get("userType").and_then(Raw::text).is_some_and(|kind| kind == "external")
        {
            // The CLI writes it on every entry; in the flat dialect it means that the model is the user.
            found.about(
                RULE,
                severity,
                seen,
                "`userType` says that the model is the user, and `isSidechain` is not set",
            );
        }
    }

    fn finish(&mut self, file: &File<'_>, found: &mut Findings) {
        let links = file.links;
        for link in &links.list {
            let parent = link.parent.and_then(|parent| links.first(parent)).map(|number| &links.list[number]);
            if let Some(message) = parent.and_then(|parent| broken(parent, link)) {
                let severity = file.profile.severity(Severity::Warning);
                found.add(RULE, severity, link.place, Some(&links.names.text(link.uuid)), message);
            }
        }
    }
}

/// The violation in the step from a parent to its child, if any.
fn broken(parent: &Link, child: &Link) -> Option<String> {
    let line = parent.place.line;
    match (parent.lane, child.lane) {
        // A sidechain begins with a prompt.
        (LaneKey::Main, LaneKey::Side(_)) if child.kind != EntryKind::User => {
            Some(format!("The entry is marked as part of a sidechain, and its parent in line {line} is not"))
        }
        // A sidechain ends with an answer.
        (LaneKey::Side(_), LaneKey::Main) if parent.kind != EntryKind::Assistant => {
            Some(format!("The parent in line {line} is marked as part of a sidechain, and the entry is not"))
        }
        _ => None,
    }
}
