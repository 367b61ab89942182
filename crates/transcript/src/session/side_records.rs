//! Records outside of the tree: titles, tags, modes, cost and others.

use tidings_protocol::entry::{CostState, EntryBody, EntryKind, EntryRef, LastPrompt, PrLink, Summary};

use super::FileIndex;
use super::load::LineOwner;
use crate::Position;

/// Number of earlier pull requests that are compared, so that a file of nothing else is still read in linear
/// time.
const PR_LINKS_COMPARED: usize = 64;

/// The records outside of the tree. Of most kinds the last line counts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SideRecords {
    /// Positions of all of them; [`Session::side_entry`](super::Session::side_entry) reads one.
    pub records: Vec<SideRecord>,
    /// The user's title.
    pub custom_title: Option<String>,
    /// The model's title.
    pub ai_title: Option<String>,
    /// The user's tag; an empty one removes it.
    pub tag: Option<String>,
    /// Summaries of branches; a leaf may be in another file.
    pub summaries: Vec<Summary>,
    /// The last prompt, and the leaf to resume from.
    pub last_prompt: Option<LastPrompt>,
    /// `normal` or `coordinator`.
    pub mode: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<String>,
    /// The name of the session's agent.
    pub agent_name: Option<String>,
    /// The agent that the session runs as.
    pub agent_setting: Option<String>,
    /// The client's own cost record.
    pub cost_state: Option<CostState>,
    /// Pull requests.
    pub pr_links: Vec<PrLink>,
    /// Offset of `last_prompt`.
    pub(super) last_prompt_at: u64,
}

/// The position of a record outside of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideRecord {
    /// The file.
    pub file: FileIndex,
    /// Position in the file.
    pub place: Position,
    /// Kind of the record.
    pub kind: EntryKind,
}

impl SideRecords {
    pub(super) fn add(&mut self, entry: &EntryRef<'_>, file: FileIndex, place: Position, lines: LineOwner) {
        self.records.push(SideRecord { file, place, kind: entry.kind() });
        // Records in files of sub-agents are not about the session.
        if lines == LineOwner::OfAgent || !is_kept(entry.kind()) {
            return;
        }
        match entry.body() {
            EntryBody::CustomTitle(title) => self.custom_title = title.custom_title,
            EntryBody::AiTitle(title) => self.ai_title = title.ai_title,
            EntryBody::Tag(tag) => self.tag = tag.tag.filter(|tag| !tag.is_empty()),
            EntryBody::Summary(summary) => self.summaries.push(summary),
            EntryBody::LastPrompt(prompt) => {
                self.last_prompt = Some(prompt);
                self.last_prompt_at = place.offset;
            }
            EntryBody::Mode(mode) => self.mode = mode.mode,
            EntryBody::PermissionMode(change) => {
                self.permission_mode = change.permission_mode.map(|mode| mode.as_str().to_owned());
            }
            EntryBody::AgentName(name) => self.agent_name = name.agent_name,
            EntryBody::AgentSetting(setting) => self.agent_setting = setting.agent_setting,
            EntryBody::CostState(state) => self.cost_state = Some(state),
            EntryBody::PrLink(link) => self.add_pr_link(link),
            _ => {}
        }
    }

    fn add_pr_link(&mut self, link: PrLink) {
        let recent = self.pr_links.iter().rev().take(PR_LINKS_COMPARED);
        if !recent.clone().any(|known| known.pr_url == link.pr_url) {
            self.pr_links.push(link);
        }
    }

    /// The best title available: the user's, the model's, the last prompt, a summary.
    pub fn title(&self) -> Option<&str> {
        let last_prompt = self.last_prompt.as_ref().and_then(|prompt| prompt.last_prompt.as_deref());
        let summary = self.summaries.last().and_then(|summary| summary.summary.as_deref());
        let given = self.custom_title.as_deref().or(self.ai_title.as_deref());
        given.or(last_prompt).or(summary).filter(|title| !title.trim().is_empty())
    }
}

/// Returns true for kinds whose content is stored; for all others only the position is.
fn is_kept(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::CustomTitle
            | EntryKind::AiTitle
            | EntryKind::Tag
            | EntryKind::Summary
            | EntryKind::LastPrompt
            | EntryKind::Mode
            | EntryKind::PermissionMode
            | EntryKind::AgentName
            | EntryKind::AgentSetting
            | EntryKind::CostState
            | EntryKind::PrLink
    )
}
