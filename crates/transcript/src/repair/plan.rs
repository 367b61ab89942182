//! What is to be done with each record of a file, decided before anything is written.

use std::collections::HashMap;

use super::copies::{Kept, without_copies};
use super::edit::Edit;
use super::links;
use super::results;
use super::survey::Survey;
use crate::{Place, Rule};

/// What is to be done, by where in the file a record begins.
#[derive(Debug, Default)]
pub(super) struct Plan {
    records: HashMap<u64, Record>,
}

/// What is to be done with one record. A record that the plan does not name is copied.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) treatment: Treatment,
    pub(super) edit: Edit,
    /// Results that are missing, to be written after the record.
    pub(super) results: Vec<MissingResult>,
    /// Why, for the report.
    pub(super) reasons: Vec<(Rule, String)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Treatment {
    #[default]
    Copy,
    /// Write what stands there instead.
    Replace(Place),
    Remove,
    /// The bytes say something that is nowhere else.
    RemoveAndKeepBytes,
}

/// A tool result to make up.
#[derive(Debug)]
pub(super) struct MissingResult {
    /// The entry with the call.
    pub(super) call: Place,
    pub(super) id: Box<str>,
    /// What the new entry is called.
    pub(super) uuid: String,
    pub(super) sentence: String,
}

impl Plan {
    pub(super) fn of(mut survey: Survey) -> Self {
        let mut plan = Plan::default();
        let mut kept: Kept = without_copies(&mut survey, &mut plan);
        let made = results::restore(&mut kept, &survey, &mut plan);
        links::mend(&kept, &survey, &made, &mut plan);
        plan
    }

    /// What to do with the record at a place, to be filled in.
    pub(super) fn treat(&mut self, place: Place) -> &mut Record {
        self.records.entry(place.offset).or_default()
    }

    /// What to do with the record that begins at `offset`.
    pub(super) fn take(&mut self, offset: u64) -> Record {
        self.records.remove(&offset).unwrap_or_default()
    }
}

impl Record {
    pub(super) fn because(&mut self, rule: Rule, sentence: impl Into<String>) -> &mut Self {
        self.reasons.push((rule, sentence.into()));
        self
    }
}
