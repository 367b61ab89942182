//! The last report, stored for a repeated query on unchanged files.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::money::Money;
use super::prices::Prices;
use super::query::{CostBy, Query};
use super::report::{Report, Row, Total, Unpriced};
use super::tokens::Tokens;
use crate::Error;
use crate::cache::{Fields, Mark, Stamp, hash, replace};
use crate::roots::{SessionFiles, SessionScan};

/// A stored report, with a hash of the query and of the state of every file.
///
/// A stored report that cannot be used is not an error: it is computed again.
#[derive(Debug)]
pub struct Memo {
    path: PathBuf,
    /// Hash of the query and of the files; `None` for a query whose result depends on the time.
    question: Option<[u64; 2]>,
}

/// Raised with every change to how reports are computed and stored.
const VERSION: u64 = 3;

impl Memo {
    /// The memo at `path` for one query. Reports with custom prices or by block are not stored.
    pub fn new(path: &Path, found: &SessionScan, prices: &Prices, query: &Query) -> Self {
        let lasting = prices.are_built_in() && query.by != CostBy::Block && found.unreadable.is_empty();
        let question = if lasting { asked(query).map(|query| [query, state(found)]) } else { None };
        Memo { path: path.to_owned(), question }
    }

    /// The stored report, if the query and the files are the same.
    pub fn known(&self, query: &Query) -> Option<Report> {
        let question = self.question?;
        let bytes = std::fs::read(&self.path).ok()?;
        let (sum, body) = bytes.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != hash(body) {
            return None;
        }
        let mut fields = Fields::new(body);
        if [fields.number()?, fields.number()?] != question {
            return None;
        }
        read(&mut fields, query).filter(|_| fields.is_empty())
    }

    /// Stores a report.
    pub fn keep(&self, report: &Report) -> Result<(), Error> {
        let Some(question) = self.question else { return Ok(()) };
        let mut body = Vec::new();
        for number in question {
            Fields::write_number(&mut body, number);
        }
        write(&mut body, report);
        let mut bytes = hash(&body).to_le_bytes().to_vec();
        bytes.append(&mut body);
        replace(&self.path, &bytes)
    }
}

/// A hash of the query; `None` for a time zone without a name, which may be any.
fn asked(query: &Query) -> Option<u64> {
    // Branches and tags are in the files, whose state is part of the key.
    let Query { by, zone, now: _, since, until, project, model, session, labels: _ } = query;
    let zone = zone.iana_name()?;
    let version = (VERSION, env!("CARGO_PKG_VERSION"), Prices::as_of());
    let text = format!("{version:?} {by:?} {zone:?} {since:?} {until:?} {project:?} {model:?} {session:?}");
    Some(hash(text.as_bytes()))
}

/// A hash of the state of every file.
fn state(found: &SessionScan) -> u64 {
    let mut bytes = Vec::new();
    for file in found.sessions.iter().flat_map(SessionFiles::files) {
        Fields::write_bytes(&mut bytes, file.path.as_os_str().as_encoded_bytes());
        Stamp::of(file, 0, Mark::default()).write(&mut bytes);
    }
    hash(&bytes)
}

fn write(out: &mut Vec<u8>, report: &Report) {
    write_total(out, &report.total);
    Fields::write_number(out, report.rows.len() as u64);
    for row in &report.rows {
        Fields::write_bytes(out, row.key.as_bytes());
        write_total(out, &row.total);
        Fields::write_number(out, u64::from(row.times.is_some()));
        for time in row.times.iter().flat_map(|(first, last)| [first, last]) {
            out.extend_from_slice(&time.as_millisecond().to_le_bytes());
        }
        Fields::write_number(out, u64::from(row.project.is_some()));
        if let Some(project) = &row.project {
            Fields::write_bytes(out, project.as_bytes());
        }
    }
    Fields::write_number(out, report.unpriced.len() as u64);
    for unpriced in &report.unpriced {
        Fields::write_bytes(out, unpriced.model.as_bytes());
        Fields::write_number(out, unpriced.responses);
    }
}

fn read(fields: &mut Fields<'_>, query: &Query) -> Option<Report> {
    let total = read_total(fields)?;
    let mut rows = Vec::new();
    for _ in 0..fields.number()? {
        let key = text(fields)?;
        let total = read_total(fields)?;
        let times = if fields.number()? == 1 { Some((time(fields)?, time(fields)?)) } else { None };
        let project = if fields.number()? == 1 { Some(text(fields)?) } else { None };
        rows.push(Row { key, total, times, block: None, project });
    }
    let mut unpriced = Vec::new();
    for _ in 0..fields.number()? {
        unpriced.push(Unpriced { model: text(fields)?, responses: fields.number()? });
    }
    let zone = query.zone.iana_name()?.to_owned();
    Some(Report { by: query.by, zone, total, rows, unpriced })
}

fn write_total(out: &mut Vec<u8>, total: &Total) {
    let Total { responses, tokens, cost } = total;
    Fields::write_number(out, *responses);
    for number in tokens.fields() {
        Fields::write_number(out, number);
    }
    out.extend_from_slice(&cost.parts().to_le_bytes());
}

fn read_total(fields: &mut Fields<'_>) -> Option<Total> {
    let responses = fields.number()?;
    let mut tokens = Tokens::default();
    for number in tokens.fields_mut() {
        *number = fields.number()?;
    }
    let cost = Money::from_parts(u128::from_le_bytes(*fields.array()?));
    Some(Total { responses, tokens, cost })
}

fn time(fields: &mut Fields<'_>) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::from_le_bytes(*fields.array()?)).ok()
}

fn text(fields: &mut Fields<'_>) -> Option<String> {
    String::from_utf8(fields.bytes()?.to_vec()).ok()
}
