//! The usage of one API response, as another agent recorded it.

use jiff::Timestamp;

use super::key::ResponseKey;
use super::line::{Claim, SightingSource};
use super::money::Money;
use super::names::TextTable;
use super::rows::LedgerRow;
use super::time::Millis;
use super::tokens::{Tokens, Usage};

/// The usage of one API response, as another agent recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseUsage {
    /// Id of the response, or of the message that it is in; unique within its session.
    pub id: String,
    /// True if the id is that of the API, so that copies in other sessions are the same response.
    pub is_global: bool,
    /// Time of the response.
    pub time: Option<Timestamp>,
    /// Name of the model; empty if it is not recorded.
    pub model: String,
    /// Tokens.
    pub tokens: Tokens,
    /// Cost, if it is recorded.
    pub cost: Option<Money>,
    /// True if the agent writes costs: then a missing one is unknown, and not the list price.
    pub writes_costs: bool,
    /// True for a response to a sub-agent.
    pub sub_agent: bool,
}

impl ResponseUsage {
    pub(super) fn key(&self, session: &str) -> ResponseKey {
        if self.is_global {
            ResponseKey::of_message(&self.id)
        } else {
            ResponseKey::of_message(&format!("{session}/{}", self.id))
        }
    }

    pub(super) fn row(&self, key: ResponseKey, session: &str, cwd: &str, names: &mut TextTable) -> LedgerRow {
        LedgerRow {
            key,
            claim: Claim {
                source: if self.sub_agent { SightingSource::SubAgent } else { SightingSource::Conversation },
                copied: false,
                time: self.time.map_or(Millis::UNKNOWN, |time| Millis(time.as_millisecond())),
            },
            session: names.get_or_add(session),
            cwd: names.get_or_add(cwd),
            model: names.get_or_add(&self.model),
            usage: Usage { tokens: self.tokens, ended: true, ..Usage::default() },
        }
    }
}
