//! Comparison of our costs with those that Claude Code recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use tidings_transcript::cost::recorded::{self, Compared};
use tidings_transcript::cost::{Ledger, Prices};
use tidings_transcript::roots::SessionScan;

use super::super::{RootArgs, unreadable};
use crate::error::Exit;
use crate::output::Output;
use crate::table::{Align, Table};

pub(super) fn print(
    found: &SessionScan,
    ledger: &Ledger,
    prices: &Prices,
    root: &RootArgs,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let (compared, unread) = recorded::compare(found, ledger, prices);
    let read = unreadable::warn(&unread, out)?;
    if root.json {
        let sessions: Vec<VerifyLine<'_>> = compared.iter().map(VerifyLine::of).collect();
        out.json(&VerifyReport { sessions, oversized_lines: ledger.oversized_lines })?;
    } else if compared.is_empty() {
        out.note("No session has recorded costs: only newer versions of Claude Code write them")?;
    } else {
        out.text(&text(&compared))?;
    }
    Ok(read)
}

#[derive(Serialize)]
struct VerifyReport<'a> {
    sessions: Vec<VerifyLine<'a>>,
    #[serde(skip_serializing_if = "super::is_zero")]
    oversized_lines: u64,
}

#[derive(Serialize)]
struct VerifyLine<'a> {
    session: &'a str,
    ours_usd: f64,
    #[serde(rename = "books_usd")]
    recorded_usd: f64,
    difference_usd: f64,
    reason: &'static str,
}

impl<'a> VerifyLine<'a> {
    fn of(compared: &'a Compared) -> Self {
        // Round away floating-point noise.
        let rounded = (compared.difference_usd() * 1e9).round() / 1e9;
        VerifyLine {
            session: &compared.session,
            ours_usd: compared.ours.dollars(),
            recorded_usd: compared.recorded_usd,
            difference_usd: rounded,
            reason: compared.verdict.as_str(),
        }
    }
}

fn text(compared: &[Compared]) -> String {
    let number = |head| (head, 12, Align::Right);
    let columns =
        vec![("session", 36, Align::Left), number("ours"), number("recorded"), number("difference")];
    let mut table = Table::new(columns, "why", usize::MAX);
    let mut reasons = BTreeMap::new();
    for one in compared {
        let (ours, difference) = (one.ours.dollars(), one.difference_usd());
        // Adding zero turns a negative zero into a positive one.
        let difference = (difference * 1e6).round() / 1e6 + 0.0;
        let why = one.verdict.as_str();
        let [ours, recorded] = [ours, one.recorded_usd].map(|usd| format!("{usd:.6}"));
        let difference = format!("{difference:+.6}");
        table.row(&[(&one.session, ""), (&ours, ""), (&recorded, ""), (&difference, "")], why);
        reasons.insert(why, one.verdict.reason());
    }
    let mut text = table.into_text();
    text.push('\n');
    for (why, reason) in reasons {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{why}: {reason}");
    }
    text
}
