//! Our sums beside the client's own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use tidings_transcript::cost::books::{self, Compared};
use tidings_transcript::cost::{Ledger, Prices};
use tidings_transcript::roots::Found;

use super::super::{Place, unreadable};
use crate::error::Exit;
use crate::human;
use crate::output::{BOLD, Output, PLAIN, printable};

pub(super) fn print(
    found: &Found,
    ledger: &Ledger,
    prices: &Prices,
    place: &Place,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let (compared, unread) = books::compare(found, ledger, prices);
    let read = unreadable::warn(&unread, out)?;
    if place.json {
        let sessions: Vec<Line<'_>> = compared.iter().map(Line::of).collect();
        out.text(
            &(serde_json::to_string(&Lines { sessions, oversized_lines: ledger.oversized_lines })? + "\n"),
        )?;
    } else if compared.is_empty() {
        out.note("No session has books of the client: only newer versions of Claude Code write them")?;
    } else {
        out.text(&text(&compared))?;
    }
    Ok(read)
}

#[derive(Serialize)]
struct Lines<'a> {
    sessions: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "super::is_zero")]
    oversized_lines: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    session: &'a str,
    ours_usd: f64,
    books_usd: f64,
    difference_usd: f64,
    reason: &'static str,
}

impl<'a> Line<'a> {
    fn of(compared: &'a Compared) -> Self {
        // Differences of doubles have digits that mean nothing.
        let rounded = (compared.difference_usd() * 1e9).round() / 1e9;
        Line {
            session: &compared.session,
            ours_usd: compared.ours.dollars(),
            books_usd: compared.books_usd,
            difference_usd: rounded,
            reason: compared.verdict.as_str(),
        }
    }
}

fn text(compared: &[Compared]) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "{BOLD}{:36}  {:>12}  {:>12}  {:>12}  why{PLAIN}",
        "session", "ours", "books", "difference"
    );
    let mut reasons = BTreeMap::new();
    for one in compared {
        let session = human::padded(&printable(&one.session), 36);
        let (ours, difference) = (one.ours.dollars(), one.difference_usd());
        // Plus nothing, so that there is no minus nothing.
        let difference = (difference * 1e6).round() / 1e6 + 0.0;
        let why = one.verdict.as_str();
        let _ =
            writeln!(text, "{session}  {ours:>12.6}  {:>12.6}  {difference:>+12.6}  {why}", one.books_usd);
        reasons.insert(why, one.verdict.reason());
    }
    text.push('\n');
    for (why, reason) in reasons {
        let _ = writeln!(text, "{why}: {reason}");
    }
    text
}
