//! The report on a rehearsal: unused turns, requests without a turn, expectations.

use std::fmt;

use serde::Serialize;

use crate::player::Request;
use crate::script::{Expect, Script, Turn, When};

/// Report on a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Number of requests for an answer, probes excluded.
    pub requests: usize,
    /// Indices (from 0) of mandatory turns that were not used.
    pub unused_turns: Vec<usize>,
    /// Number of requests without a matching turn.
    pub exhausted: usize,
    /// Results of the script's expectations about requests, in order.
    pub expectations: Vec<Expectation>,
    /// Excerpts of the script's turns.
    #[serde(skip)]
    turns: Vec<String>,
}

/// Result of one expectation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Expectation {
    /// Name of the expectation.
    pub name: String,
    /// True if it was met.
    pub ok: bool,
    /// Expected and actual number of matches.
    pub detail: String,
}

impl Report {
    /// True if every expectation was met.
    pub fn expectations_met(&self) -> bool {
        self.expectations.iter().all(|expectation| expectation.ok)
    }

    /// True if every request had a turn and every mandatory turn was used.
    pub fn turns_fit(&self) -> bool {
        self.unused_turns.is_empty() && self.exhausted == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered = self.requests - self.exhausted;
        write!(f, "{} answered of {}", answered, count(self.requests, "request"))?;
        if self.exhausted > 0 {
            write!(f, "; for {} the script had no turn", self.exhausted)?;
        }
        for index in &self.unused_turns {
            let says = self.turns.get(*index).map_or("", String::as_str);
            write!(f, "\n  unused  turn {} of {}: {says}", index + 1, self.turns.len())?;
        }
        for Expectation { name, ok, detail } in &self.expectations {
            let verdict = if *ok { "ok    " } else { "FAILED" };
            write!(f, "\n  {verdict}  {name}: {detail}")?;
        }
        Ok(())
    }
}

/// Counts requests for the report.
#[derive(Debug)]
pub(super) struct Tally {
    expects: Vec<(Expect, When, usize)>,
    turns: Vec<String>,
    pub(super) requests: usize,
    pub(super) exhausted: usize,
}

impl Tally {
    pub(super) fn new(script: &Script) -> Self {
        // Expectations about stdin do not concern the API.
        let expects =
            script.expects.iter().filter_map(|expect| Some((expect.clone(), expect.request.clone()?, 0)));
        Tally {
            expects: expects.collect(),
            turns: script.turns.iter().map(excerpt).collect(),
            requests: 0,
            exhausted: 0,
        }
    }

    /// Counts a request that already has its number.
    pub(super) fn note(&mut self, request: &Request) {
        self.requests += 1;
        for (_, when, came) in &mut self.expects {
            *came += usize::from(when.matches(request));
        }
    }

    pub(super) fn report(&self, unused_turns: Vec<usize>) -> Report {
        let expectations = self.expects.iter().enumerate();
        let expectations = expectations.map(|(at, (expect, _, came))| Expectation {
            name: expect.name.clone().unwrap_or_else(|| format!("expectation {}", at + 1)),
            ok: expect.times.map_or(*came > 0, |times| times == *came),
            detail: format!("expected {}, came {}", wanted(expect.times), times(*came)),
        });
        Report {
            requests: self.requests,
            unused_turns,
            exhausted: self.exhausted,
            expectations: expectations.collect(),
            turns: self.turns.clone(),
        }
    }
}

fn wanted(expected: Option<usize>) -> String {
    expected.map_or_else(|| "at least once".to_owned(), times)
}

fn times(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        _ => format!("{count} times"),
    }
}

fn count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Excerpt of a turn, for finding it in the script.
fn excerpt(turn: &Turn) -> String {
    const CHARS_MAX: usize = 40;
    if let Some(error) = &turn.error {
        return format!("error {} {}", error.status, error.kind());
    }
    let blocks = turn.content();
    let Some(block) = blocks.first() else { return "no blocks".to_owned() };
    let texts = [&block.text, &block.raw_text, &block.thinking];
    if let Some(text) = texts.into_iter().flatten().next() {
        let line = text.lines().next().unwrap_or_default();
        let short: String = line.chars().take(CHARS_MAX).collect();
        return if short.len() < text.len() { format!("{short}…") } else { short };
    }
    block.tool.as_ref().map_or_else(|| "a block".to_owned(), |tool| format!("calls {tool}"))
}
