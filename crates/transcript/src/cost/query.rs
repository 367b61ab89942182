//! The selection of responses to sum, and their grouping.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::ledger::Response;
use crate::error::{Error, ErrorKind};
use crate::id_prefix::names_id;
use crate::named::{alternatives, named};

named! {
    /// Grouping of sums.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CostBy {
        /// A day in the query's zone.
        #[default]
        Day = "day",
        /// A week that begins on Monday, numbered as in ISO 8601: `2026-W46`.
        Week = "week",
        /// A month.
        Month = "month",
        /// A session, its sub-agents included.
        Session = "session",
        /// The folder in which sessions were started.
        Project = "project",
        /// A model, as written.
        Model = "model",
        /// The last git branch of the session; see [`labels`](super::labels()).
        Branch = "branch",
        /// The tag of the session; see [`labels`](super::labels()).
        Tag = "tag",
        /// A billing block of five hours; see [`BillingBlock`](super::BillingBlock).
        Block = "block",
    }
}

impl CostBy {
    /// Returns true for groups in order of time; the others are sorted by cost.
    pub fn is_time(self) -> bool {
        match self {
            CostBy::Day | CostBy::Week | CostBy::Month | CostBy::Block => true,
            CostBy::Session | CostBy::Project | CostBy::Model | CostBy::Branch | CostBy::Tag => false,
        }
    }
}

impl FromStr for CostBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        CostBy::ALL.into_iter().find(|by| by.as_str() == text).ok_or_else(|| {
            static HINT: LazyLock<String> =
                LazyLock::new(|| format!("use {}", alternatives(&CostBy::ALL.map(CostBy::as_str))));
            Error::new(ErrorKind::Invalid, format!("Costs cannot be grouped by `{text}`"), &HINT)
        })
    }
}

/// Selects the responses to sum, and the grouping.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Query {
    /// Grouping of the sums.
    pub by: CostBy,
    /// Time zone of the days.
    pub zone: TimeZone,
    /// The current time, which determines the active block.
    pub now: Timestamp,
    /// Only responses since this time. Those without a known time are left out.
    pub since: Option<Timestamp>,
    /// Only responses before this time (exclusive). Those without a known time are left out.
    pub until: Option<Timestamp>,
    /// Only projects whose folder contains this text, ignoring case.
    pub project: Option<String>,
    /// Only models whose name contains this text, ignoring case.
    pub model: Option<String>,
    /// Only sessions whose id begins with this text.
    pub session: Option<String>,
    /// Branch or tag of each session, by its id, for groupings by them; see [`labels`](super::labels()).
    pub labels: HashMap<String, String>,
}

impl Query {
    /// All responses.
    pub fn new(by: CostBy, zone: TimeZone, now: Timestamp) -> Self {
        let labels = HashMap::new();
        Query { by, zone, now, since: None, until: None, project: None, model: None, session: None, labels }
    }

    /// Returns true if the query selects all responses.
    pub(super) fn is_open(&self) -> bool {
        let Query { by: _, zone: _, now: _, since, until, project, model, session, labels: _ } = self;
        (since, until, project, model, session) == (&None, &None, &None, &None, &None)
    }

    pub(super) fn wants(&self, response: &Response<'_>, project: &str) -> bool {
        let time = match (self.since, self.until) {
            (None, None) => true,
            (since, until) => response.time.is_some_and(|time| {
                since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until)
            }),
        };
        time && contains(project, self.project.as_deref())
            && contains(response.model, self.model.as_deref())
            && self.session.as_deref().is_none_or(|name| names_id(name, response.session))
    }
}

fn contains(text: &str, part: Option<&str>) -> bool {
    part.is_none_or(|part| text.to_lowercase().contains(&part.to_lowercase()))
}
