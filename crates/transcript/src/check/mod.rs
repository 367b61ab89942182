//! Validation of session files: the rules of the session specification, and damage that occurs in real files.
//!
//! ```
//! use tidings_transcript::check::{self, Profile};
//!
//! let file =
//! b"{\"type\":\"user\",\"uuid\":\"u-1\",\"timestamp\":\"soon\",\"sessionId\":\"s-1\",\"message\":\"Hi\"}\n";
//! let mut rules = Vec::new();
//! let report = check::source(&file[..], Some(Profile::Strict), |finding|
//! rules.push(finding.rule.as_str()))?;
//! assert_eq!((report.lines, report.errors), (1, 1));
//! assert_eq!(rules, ["iso-timestamp"]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A file is read once, line by line. Memory grows by a few numbers per entry of the tree; findings are
//! passed to the caller as they come, so that a report on gigabytes need not be stored.

mod context;
pub(crate) mod cycles;
pub(crate) mod links;
pub(crate) mod names;
pub(crate) mod other_files;
pub(crate) mod pairing;
mod profile;
mod report;
mod rules;
mod session;
pub(crate) mod time;

use std::fs::File as Opened;
use std::io::{self, Read, Seek as _};
use std::ops::ControlFlow;
use std::path::Path;

use tidings_protocol::entry::{Dialect, EntryKind, EntryRef};

pub use profile::Profile;
pub use report::CheckReport;

use self::other_files::OtherFiles;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::limits::FINDINGS_HELD_MAX;
use crate::reader::{Content, Reader};
use crate::roots::SessionFiles;
use crate::{Error, Finding, Position, Rule, Severity, encoding};
use context::{Check, CheckedEntry, File, FileRole, Findings, MissingItem};
use links::Links;
use session::SessionFacts;

/// Progress of a check.
#[derive(Debug)]
pub enum CheckEvent<'a> {
    /// A rule is violated.
    Finding {
        /// The file.
        file: &'a Path,
        /// The finding.
        finding: &'a Finding,
    },
    /// Number of bytes that were read since the last event.
    Read(u64),
}

/// Checks all files of a session, its main one first, and the links between them.
///
/// Without a profile, each file is checked against the rules of its own dialect. An unreadable file is a
/// finding, and the others are checked all the same. `each` may end the check early.
pub fn session(
    files: &SessionFiles,
    profile: Option<Profile>,
    mut each: impl FnMut(CheckEvent<'_>) -> ControlFlow<()>,
) -> CheckReport {
    let mut report = CheckReport::default();
    let mut facts = SessionFacts::default();
    let mut buffer = Buffer::default();
    let tool_results = files.tool_results();
    let tool_results = Some(tool_results.as_path());
    let count = files.files().count();
    for (number, file) in files.files().enumerate() {
        let is_main = number == 0 && files.main.is_some();
        let role = if is_main {
            FileRole::Main { id: &files.id, tool_results }
        } else {
            FileRole::Agent { id: &files.id, tool_results }
        };
        let properties = FileProperties { number, files: count, role, profile };
        let ended = read_file(&file.path, properties, &mut facts, &mut buffer, &mut report, &mut each);
        let ended = ended.unwrap_or_else(|error| {
            facts.unread = true;
            let finding = unreadable(&error);
            report.count(&finding);
            each(CheckEvent::Finding { file: &file.path, finding: &finding })
        });
        if ended.is_break() {
            return report;
        }
    }
    let paths: Vec<&Path> = files.files().map(|file| file.path.as_path()).collect();
    let mut found = missing_in_all_files(&paths, &mut facts);
    found.extend(between_files(files, &facts));
    for (number, finding) in &found {
        report.count(finding);
        if each(CheckEvent::Finding { file: paths[*number], finding }).is_break() {
            break;
        }
    }
    report
}

/// A finding for a file that could not be read.
pub fn unreadable(error: &Error) -> Finding {
    const RULE: Rule = Rule::new("unreadable");
    let message = match std::error::Error::source(error) {
        Some(source) => format!("It cannot be read: {source}"),
        None => error.to_string(),
    };
    let place = Position { line: 0, offset: 0, bytes: 0 };
    Finding { rule: RULE, severity: Severity::Error, place, message, uuid: None }
}

/// A finding for a file in UTF-16, instead of one per line.
fn utf_16() -> Finding {
    const RULE: Rule = Rule::new("utf-16");
    let message = format!("The file is UTF-16: {}", encoding::UTF_16_HINT);
    let place = Position { line: 1, offset: 0, bytes: 0 };
    Finding { rule: RULE, severity: Severity::Error, place, message, uuid: None }
}

/// Checks a single file.
pub fn file(
    path: &Path,
    profile: Option<Profile>,
    mut each: impl FnMut(CheckEvent<'_>) -> ControlFlow<()>,
) -> Result<CheckReport, Error> {
    let (mut facts, mut buffer, mut report) =
        (SessionFacts::default(), Buffer::default(), CheckReport::default());
    let properties = FileProperties { number: 0, files: 1, role: FileRole::Alone, profile };
    let _ended = read_file(path, properties, &mut facts, &mut buffer, &mut report, &mut each)?;
    Ok(report)
}

/// Checks lines from any reader. Without a profile they are checked as files of the CLI.
pub fn source(
    source: impl Read,
    profile: Option<Profile>,
    mut each: impl FnMut(&Finding),
) -> io::Result<CheckReport> {
    let mut run = Run {
        profile: profile.unwrap_or(Profile::Lenient),
        dialect: Dialect::Unknown,
        role: FileRole::Alone,
        number: 0,
        only: None,
        facts: &mut SessionFacts::default(),
        report: CheckReport::default(),
    };
    let _ended = run.read(source, &mut Buffer::default(), |step| {
        if let LineStep::Finding(finding) = step {
            each(finding);
        }
        ControlFlow::Continue(())
    })?;
    Ok(run.report)
}

/// Properties of a file that are known before it is read.
#[derive(Clone, Copy)]
struct FileProperties<'a> {
    number: usize,
    /// Number of files of the session.
    files: usize,
    role: FileRole<'a>,
    profile: Option<Profile>,
}

fn read_file(
    path: &Path,
    properties: FileProperties<'_>,
    facts: &mut SessionFacts,
    buffer: &mut Buffer,
    report: &mut CheckReport,
    each: &mut impl FnMut(CheckEvent<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Error> {
    let mut opened = Opened::open(path).at("read", path)?;
    if encoding::is_utf_16(&mut opened).at("read", path)? {
        facts.unread = true;
        report.files += 1;
        let finding = utf_16();
        report.count(&finding);
        return Ok(each(CheckEvent::Finding { file: path, finding: &finding }));
    }
    let dialect = dialect_of(&mut opened, buffer).at("read", path)?;
    let profile = properties.profile.unwrap_or_else(|| Profile::suits(dialect));
    let (role, number) = (properties.role, properties.number);
    let only = (properties.files == 1).then_some(path);
    let mut run = Run { profile, dialect, role, number, only, facts, report: CheckReport::default() };
    let ended = run.read(opened, buffer, |step| match step {
        LineStep::Finding(finding) => each(CheckEvent::Finding { file: path, finding }),
        LineStep::Read(bytes) => each(CheckEvent::Read(bytes)),
    });
    report.add(&run.report);
    ended.at("read", path)
}

/// The check of one file.
struct Run<'a> {
    profile: Profile,
    dialect: Dialect,
    role: FileRole<'a>,
    number: usize,
    /// The path of the file if it is the only one of its session.
    only: Option<&'a Path>,
    facts: &'a mut SessionFacts,
    report: CheckReport,
}

enum LineStep<'a> {
    Finding(&'a Finding),
    Read(u64),
}

impl Run<'_> {
    fn read(
        &mut self,
        source: impl Read,
        buffer: &mut Buffer,
        mut each: impl FnMut(LineStep<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        let mut reader = Reader::new(source, buffer);
        let mut rules = rules::all();
        let mut links = Links::default();
        let mut found = Findings::default();
        self.report.files = 1;
        let mut reported = 0;
        loop {
            let line = match reader.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    // Findings up to the error are still valid.
                    let _ended = self.report(&mut found, &mut each);
                    return Err(error);
                }
            };
            self.report.lines += 1;
            match line.content {
                Content::Blank => self.report.blank += 1,
                Content::Entry(entry) => {
                    self.report.entries += 1;
                    self.entry(entry, line.place, &mut links, &mut rules, &mut found);
                }
                Content::Damaged(damage) => {
                    self.report.damaged += 1;
                    self.report.salvaged += damage.salvaged.len() as u64;
                    found.findings.push(damage.finding(line.place));
                    for saved in &damage.salvaged {
                        self.entry(saved.entry.as_ref(), saved.place, &mut links, &mut rules, &mut found);
                    }
                }
            }
            let read = line.place.offset + line.place.bytes;
            if read - reported >= PROGRESS_BYTES {
                if each(LineStep::Read(read - reported)).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                reported = read;
            }
            if found.findings.len() >= FINDINGS_HELD_MAX && self.report(&mut found, &mut each).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let file = File {
            profile: self.profile,
            dialect: self.dialect,
            role: self.role,
            links: &links,
            session: self.facts,
        };
        for rule in &mut rules {
            rule.finish(&file, &mut found);
        }
        self.facts.end_file(links);
        let pending = std::mem::take(&mut found.pending);
        match (self.role, self.only) {
            (FileRole::Alone, _) => found.findings.extend(pending.into_iter().map(|(_, finding)| finding)),
            (_, only) => {
                self.facts.keep_pending(self.number, pending);
                // The findings of a session's only file can be reported in the order of its lines.
                let rest = only.map(|path| missing_in_all_files(&[path], self.facts)).unwrap_or_default();
                found.findings.extend(rest.into_iter().map(|(_, finding)| finding));
            }
        }
        Ok(self.report(&mut found, &mut each))
    }

    fn entry(
        &mut self,
        entry: EntryRef<'_>,
        place: Position,
        links: &mut Links,
        rules: &mut [Box<dyn Check>],
        found: &mut Findings,
    ) {
        let link = links.add(&entry, place);
        let dialect = entry.dialect();
        if entry.kind().is_chained() {
            *self.report.dialects.entry(dialect).or_default() += 1;
        }
        let seen = CheckedEntry { entry, members: entry.json().members().collect(), dialect, place, link };
        self.facts.record(&seen, self.number);
        let file = File {
            profile: self.profile,
            dialect: self.dialect,
            role: self.role,
            links,
            session: self.facts,
        };
        for rule in rules {
            rule.entry(&seen, &file, found);
        }
    }

    /// Reports the findings so far, in the order of the lines.
    fn report(
        &mut self,
        found: &mut Findings,
        each: &mut impl FnMut(LineStep<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        found.findings.sort_by_key(|finding| finding.place.offset);
        for finding in found.findings.drain(..) {
            self.report.count(&finding);
            each(LineStep::Finding(&finding))?;
        }
        ControlFlow::Continue(())
    }
}

/// Interval of progress events in bytes.
const PROGRESS_BYTES: u64 = 1 << 20;

/// The dialect of most of the first entries that have one; in a tie, the CLI's.
fn dialect_of(file: &mut Opened, buffer: &mut Buffer) -> io::Result<Dialect> {
    const LINES_MAX: usize = 1000;
    const SAMPLES_MAX: usize = 32;
    let mut reader = Reader::new(&mut *file, buffer);
    let (mut real, mut seed, mut rewrite) = (0, 0, 0);
    for _ in 0..LINES_MAX {
        let Some(line) = reader.next()? else { break };
        let Content::Entry(entry) = line.content else { continue };
        // Attachments are written by the CLI only, whatever the dialect of the other entries.
        if !entry.kind().is_chained() || entry.kind() == EntryKind::Attachment {
            continue;
        }
        match entry.dialect() {
            Dialect::Seed => seed += 1,
            Dialect::Rewrite => rewrite += 1,
            Dialect::Real | Dialect::Unknown => real += 1,
        }
        if real + seed + rewrite == SAMPLES_MAX {
            break;
        }
    }
    file.rewind()?;
    Ok(match (real, seed, rewrite) {
        (0, 0, 0) => Dialect::Unknown,
        _ if real >= seed.max(rewrite) => Dialect::Real,
        _ if seed >= rewrite => Dialect::Seed,
        _ => Dialect::Rewrite,
    })
}

/// Findings about entries and calls that are missing in all files of the session, by number of the file.
fn missing_in_all_files(paths: &[&Path], facts: &mut SessionFacts) -> Vec<(usize, Finding)> {
    let mut pending = std::mem::take(&mut facts.pending);
    pending.retain(|(_, missing, _)| !facts.has(missing));
    // An agent's file may be checked alone, and older versions store agents' files beside the main file.
    if let (Some(path), false) = (paths.first(), pending.is_empty()) {
        let elsewhere = OtherFiles::of(path, paths);
        pending.retain(|(_, missing, _)| match missing {
            MissingItem::Entry(uuid) => !elsewhere.uuids.contains(uuid),
            MissingItem::Call(id) => !elsewhere.called.contains(id),
            MissingItem::Result(id) => !elsewhere.answered.contains(id),
        });
    }
    pending.sort_by_key(|(file, _, finding)| (*file, finding.place.offset));
    pending.into_iter().map(|(file, _, finding)| (file, finding)).collect()
}

/// Findings about links between the files of a session, by number of the file.
fn between_files(files: &SessionFiles, facts: &SessionFacts) -> Vec<(usize, Finding)> {
    let mut all = Vec::new();
    let mut found = Findings::default();
    for call in &facts.agent_calls {
        rules::missing_agent_file::check(call, files, &mut found);
        all.extend(found.findings.drain(..).map(|finding| (call.file, finding)));
    }
    // A file that was not read may have started any of them.
    let all_read = files.main.is_some() && !facts.unread;
    let first = usize::from(files.main.is_some());
    let started = |number: &usize| !facts.is_forked_off(first + number);
    for (number, agent) in files.agents.iter().enumerate().filter(|(number, _)| all_read && started(number)) {
        rules::unstarted_agent::check(agent, facts, &mut found);
        all.extend(found.findings.drain(..).map(|finding| (first + number, finding)));
    }
    all
}
