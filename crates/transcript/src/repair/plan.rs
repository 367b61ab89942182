//! The treatment of each record of a file, decided before anything is written.

use std::collections::HashMap;

use super::copies::{UniqueEntries, without_copies};
use super::edit::Edit;
use super::links;
use super::results;
use super::survey::Survey;
use crate::{Position, Rule};

/// The treatment of records, by their offset in the file.
#[derive(Debug, Default)]
pub(super) struct RepairPlan {
    records: HashMap<u64, RecordPlan>,
}

/// The treatment of one record. A record without a plan is copied.
#[derive(Debug, Default)]
pub(super) struct RecordPlan {
    pub(super) treatment: Treatment,
    pub(super) edit: Edit,
    /// Missing results, written after the record.
    pub(super) results: Vec<MissingResult>,
    /// Reasons, for the report.
    pub(super) reasons: Vec<(Rule, String)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Treatment {
    #[default]
    Copy,
    /// Write the record at this position instead.
    Replace(Position),
    Remove,
    /// The bytes contain something that is nowhere else.
    RemoveAndKeepBytes,
}

/// A tool result to synthesise.
#[derive(Debug)]
pub(super) struct MissingResult {
    /// The entry with the call.
    pub(super) call: Position,
    pub(super) id: Box<str>,
    /// Uuid of the new entry.
    pub(super) uuid: String,
    pub(super) sentence: String,
}

impl RepairPlan {
    pub(super) fn of(mut survey: Survey) -> Self {
        let mut plan = RepairPlan::default();
        let mut kept: UniqueEntries = without_copies(&mut survey, &mut plan);
        let made = results::restore(&mut kept, &survey, &mut plan);
        links::plan_links(&kept, &survey, &made, &mut plan);
        plan
    }

    /// The plan of the record at a position, to be filled in.
    pub(super) fn treat(&mut self, place: Position) -> &mut RecordPlan {
        self.records.entry(place.offset).or_default()
    }

    /// Removes and returns the plan of the record that begins at `offset`.
    pub(super) fn take(&mut self, offset: u64) -> RecordPlan {
        self.records.remove(&offset).unwrap_or_default()
    }
}

impl RecordPlan {
    pub(super) fn because(&mut self, rule: Rule, sentence: impl Into<String>) -> &mut Self {
        self.reasons.push((rule, sentence.into()));
        self
    }
}
