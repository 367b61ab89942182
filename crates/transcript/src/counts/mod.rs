//! Figures counted in one pass over a session file.
//!
//! - **Turns** are inputs of a user: prompts and slash commands, on every branch. Tool results, text that the
//!   client writes for the model, summaries of compactions and reports of background tasks are not turns.
//! - **Messages** are turns and responses of the model. A response counts once, however many lines it has.
//! - **Tool calls** count once per id in a file; **errors** are failed tools and requests that the API
//!   rejected.
//! - **Branches** are abandoned paths, so a straight conversation has none.
//! - An entry that occurs in a file several times counts once; its last whole copy determines its contents.
//! - **Damaged** lines are those that are not an entry; entries salvaged from them are counted above.
//!
//! Sub-agents have files of their own: their tool calls, errors, compactions and damaged lines count for
//! their session, but prompts to a sub-agent are not turns, and its messages are not counted.

mod branches;
mod file_counter;
mod read;
mod role;
mod stats;

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use read::{Counted, count, unread_bytes};
pub use stats::stats;

use crate::cache::{Fields, Kind};

/// Counts of a file, a session or many sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Prompts and slash commands of the user.
    pub turns: u64,
    /// Turns and responses.
    pub messages: u64,
    /// Calls by name of the tool.
    pub tools: BTreeMap<String, u64>,
    /// Failed tools, and requests that the API rejected.
    pub errors: u64,
    /// Abandoned paths through the conversation.
    pub branches: u64,
    /// Compactions.
    pub compactions: u64,
    /// Lines that are not an entry.
    pub damaged: u64,
    /// Responses by model.
    pub models: BTreeMap<String, u64>,
    /// The earliest time of an entry.
    pub first: Option<Timestamp>,
    /// The latest time of an entry.
    pub last: Option<Timestamp>,
}

/// Raise the version when the counting changes.
const KIND: Kind = Kind::new("counts", 5);

impl Counts {
    /// All tool calls.
    pub fn tool_calls(&self) -> u64 {
        self.tools.values().sum()
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        self.turns += other.turns;
        self.messages += other.messages;
        self.errors += other.errors;
        self.branches += other.branches;
        self.compactions += other.compactions;
        self.damaged += other.damaged;
        for (name, count) in &other.tools {
            *self.tools.entry(name.clone()).or_default() += count;
        }
        for (name, count) in &other.models {
            *self.models.entry(name.clone()).or_default() += count;
        }
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = [self.last, other.last].into_iter().flatten().max();
    }

    fn to_facts(&self) -> Vec<u8> {
        let mut facts = Vec::new();
        for number in [self.turns, self.messages, self.errors, self.branches, self.compactions, self.damaged]
        {
            Fields::write_number(&mut facts, number);
        }
        for time in [self.first, self.last] {
            // Shifted, so that 0 means none and times before 1970 have a number too.
            let time = time.map_or(0, |time| time.as_millisecond().wrapping_sub(i64::MIN).cast_unsigned());
            Fields::write_number(&mut facts, time);
        }
        for names in [&self.tools, &self.models] {
            Fields::write_number(&mut facts, names.len() as u64);
            for (name, count) in names {
                Fields::write_bytes(&mut facts, name.as_bytes());
                Fields::write_number(&mut facts, *count);
            }
        }
        facts
    }

    fn of_facts(facts: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(facts);
        let mut counts = Counts {
            turns: fields.number()?,
            messages: fields.number()?,
            errors: fields.number()?,
            branches: fields.number()?,
            compactions: fields.number()?,
            damaged: fields.number()?,
            ..Counts::default()
        };
        let time = |number: u64| match number {
            0 => None,
            number => Timestamp::from_millisecond(number.cast_signed().wrapping_add(i64::MIN)).ok(),
        };
        counts.first = time(fields.number()?);
        counts.last = time(fields.number()?);
        for names in [&mut counts.tools, &mut counts.models] {
            for _ in 0..fields.number()? {
                let name = String::from_utf8(fields.bytes()?.to_vec()).ok()?;
                names.insert(name, fields.number()?);
            }
        }
        fields.is_empty().then_some(counts)
    }
}

#[cfg(test)]
mod tests;
