//! Folders of sessions for the tests.

mod counting;
mod reading;
mod reports;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::*;
use crate::cache::Cache;
use crate::roots::Roots;

const MODEL: &str = "claude-opus-4-5-20251101";

/// A configuration folder under construction.
struct Tree {
    folder: tempfile::TempDir,
    clock: u64,
}

/// A line of a response, with the values that tests vary.
#[derive(Clone)]
struct ResponseLine<'a> {
    id: &'a str,
    model: &'a str,
    time: &'a str,
    session: &'a str,
    cwd: &'a str,
    usage: String,
    /// Members before and after the usual ones.
    more: &'a str,
}

impl Default for ResponseLine<'_> {
    fn default() -> Self {
        ResponseLine {
            id: "msg_1",
            model: MODEL,
            time: "2026-11-14T10:00:00.000Z",
            session: "s1",
            cwd: "/home/dev/demo",
            usage: usage(100, 50),
            more: "",
        }
    }
}

fn usage(input: u64, output: u64) -> String {
    format!("{{\"input_tokens\":{input},\"output_tokens\":{output}}}")
}

impl ResponseLine<'_> {
    fn text(&self) -> String {
        let ResponseLine { id, model, time, session, cwd, usage, more } = self;
        let id = if id.is_empty() { String::new() } else { format!("\"id\":\"{id}\",") };
        format!(
            "{{\"isSidechain\":false,\"message\":{{{id}\"model\":\"{model}\",\"content\":[],\"usage\":{usage}}},\
             \"type\":\"assistant\",\"timestamp\":\"{time}\",\"sessionId\":\"{session}\",\"cwd\":\"{cwd}\"{more}}}\n"
        )
    }
}

impl Tree {
    fn new() -> Self {
        Tree { folder: tempfile::tempdir().unwrap(), clock: 0 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("projects").join(name)
    }

    /// Writes a file; each file is a minute newer than the one before.
    fn file(&mut self, name: &str, text: impl AsRef<[u8]>) -> &mut Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.touch(&path);
        self
    }

    fn append(&mut self, name: &str, text: &str) {
        use std::io::Write as _;
        let path = self.path(name);
        fs::File::options().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
        self.touch(&path);
    }

    fn touch(&mut self, path: &Path) {
        self.clock += 60;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000 + self.clock);
        fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }

    fn ledger(&self) -> Ledger {
        self.ledger_with(&mut Cache::none())
    }

    fn ledger_with(&self, cache: &mut Cache) -> Ledger {
        Ledger::read(&Roots::new([self.folder.path()]).scan().unwrap(), cache, &|_| {})
    }

    fn cache(&self) -> Cache {
        Cache::open(&self.folder.path().join("cache"))
    }

    fn total(&self) -> Total {
        report(&self.ledger(), CostBy::Day).total
    }

    /// Responses, input and output.
    fn counts(&self) -> (u64, u64, u64) {
        let total = self.total();
        (total.responses, total.tokens.input, total.tokens.output)
    }
}

fn query(by: CostBy) -> Query {
    Query::new(by, TimeZone::UTC, "2026-11-14T12:00:00Z".parse::<Timestamp>().unwrap())
}

fn report(ledger: &Ledger, by: CostBy) -> Report {
    ledger.report(&Prices::built_in(), &query(by))
}

/// Key, responses and dollars of each row.
fn rows(report: &Report) -> Vec<String> {
    let shown = |row: &Row| format!("{} {} {}", row.key, row.total.responses, row.total.cost);
    report.rows.iter().map(shown).collect()
}
