//! Expectations of a script, and a report on those that were not met.

use std::fmt::Write as _;

use serde_json::Value;

use crate::player::Request;
use crate::script::Expect;

/// The expectations of a script, with the number of matches of each.
#[derive(Debug, Default)]
pub(super) struct Expectations {
    list: Vec<(Expect, usize)>,
}

impl Expectations {
    pub(super) fn new(expects: &[Expect]) -> Self {
        Expectations { list: expects.iter().map(|expect| (expect.clone(), 0)).collect() }
    }

    /// Counts a line on stdin.
    pub(super) fn line(&mut self, line: &Value) {
        for (expect, met) in &mut self.list {
            if expect
                .stdin
                .as_ref()
                .is_some_and(|wanted| wanted.iter().all(|(key, value)| is_subset(value, &line[key])))
            {
                *met += 1;
            }
        }
    }

    /// Counts a request to the model.
    pub(super) fn request(&mut self, request: &Request) {
        for (expect, met) in &mut self.list {
            if expect.request.as_ref().is_some_and(|when| when.matches(request)) {
                *met += 1;
            }
        }
    }

    /// Unmet expectations, one line each; `None` if all are met.
    pub(super) fn report(&self) -> Option<String> {
        let mut report = String::new();
        for (index, (expect, met)) in self.list.iter().enumerate() {
            let (fine, wanted) = match expect.times {
                Some(times) => (*met == times, format!("{times} times")),
                None => (*met > 0, "at least once".to_owned()),
            };
            if !fine {
                let name = expect.name.clone().unwrap_or_else(|| format!("expectation {}", index + 1));
                let _ = writeln!(
                    report,
                    "not met: {name}: expected {wanted}, seen {met} times\n  {}",
                    what(expect)
                );
            }
        }
        (!report.is_empty()).then_some(report)
    }
}

fn what(expect: &Expect) -> String {
    match (&expect.stdin, &expect.request) {
        (Some(stdin), _) => format!("on stdin: {}", Value::Object(stdin.clone())),
        (None, Some(request)) => format!("a request to the model: {request:?}"),
        (None, None) => String::new(),
    }
}

/// True if `found` has everything in `wanted`; objects may have more members, everything else must be equal.
fn is_subset(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().all(|(key, value)| found.get(key).is_some_and(|other| is_subset(value, other)))
        }
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        _ => wanted == found,
    }
}
