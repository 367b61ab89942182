use tidings_protocol::entry::{CostState, EntryKind, LastPrompt, PrLink, Summary};

use super::FileIndex;
use crate::Place;

/// What the lines without a place in the tree say. Of most sorts the last line counts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SideRecords {
    /// Where every one of them stands; [`Session::side_entry`](super::Session::side_entry) reads one.
    pub records: Vec<SideRecord>,
    /// The title that a person gave.
    pub custom_title: Option<String>,
    /// The title that a model gave.
    pub ai_title: Option<String>,
    /// A person's tag; an empty one takes it away again.
    pub tag: Option<String>,
    /// What branches are about; a leaf may be in another file.
    pub summaries: Vec<Summary>,
    /// The last prompt, and the leaf to go on from.
    pub last_prompt: Option<LastPrompt>,
    /// `normal` or `coordinator`.
    pub mode: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<String>,
    /// The name of the session's agent.
    pub agent_name: Option<String>,
    /// The agent that the session runs as.
    pub agent_setting: Option<String>,
    /// The client's own books.
    pub cost_state: Option<CostState>,
    /// Pull requests, each once.
    pub pr_links: Vec<PrLink>,
}

/// Where a line without a place in the tree stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideRecord {
    /// The file.
    pub file: FileIndex,
    /// Where in it.
    pub place: Place,
    /// What it is.
    pub kind: EntryKind,
}

impl SideRecords {
    /// The title, the best there is: a person's, a model's, the last prompt, a summary.
    pub fn title(&self) -> Option<&str> {
        let last_prompt = self.last_prompt.as_ref().and_then(|prompt| prompt.last_prompt.as_deref());
        let summary = self.summaries.last().and_then(|summary| summary.summary.as_deref());
        let given = self.custom_title.as_deref().or(self.ai_title.as_deref());
        given.or(last_prompt).or(summary).filter(|title| !title.trim().is_empty())
    }
}
