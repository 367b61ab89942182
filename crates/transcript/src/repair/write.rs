//! The second pass: writes the copy according to the plan.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use tidings_protocol::entry::{Entry, EntryRef};

use super::edit::Edit;
use super::new_file::{RepairedFile, with_suffix};
use super::plan::{RecordPlan, RepairPlan, Treatment};
use super::{Action, RepairEvent, RepairReport, synthetic};
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, Damage, DamageKind, Line, Reader};
use crate::{Error, Position, Rule};

const LINE_END: Rule = Rule::new("line-end");
const RESULT: Rule = super::results::RULE;

/// A copy under construction.
pub(super) struct CopyWriter<'a, F> {
    pub(super) source: &'a Path,
    /// A second handle, to read other positions of the source than the current line.
    pub(super) elsewhere: File,
    pub(super) plan: RepairPlan,
    pub(super) out: RepairedFile,
    pub(super) lost_path: PathBuf,
    pub(super) lost: Option<RepairedFile>,
    pub(super) report: RepairReport,
    pub(super) each: F,
}

impl<F: FnMut(RepairEvent<'_>)> CopyWriter<'_, F> {
    /// Copies the first `len` bytes of the source, line by line.
    pub(super) fn all(&mut self, file: &mut File, len: u64, buffer: &mut Buffer) -> Result<(), Error> {
        file.rewind().at("read", self.source)?;
        let mut reader = Reader::new(file.take(len), buffer);
        while let Some(line) = reader.next().at("read", self.source)? {
            self.report.lines += 1;
            let place = line.place;
            let is_whole =
                !matches!(line.content, Content::Damaged(ref damage) if damage.kind != DamageKind::Oversized);
            self.line(line)?;
            if is_whole && place.offset + place.bytes == len {
                self.report_action(
                    place,
                    LINE_END,
                    None,
                    "Terminated the last line, so that an appended line stays separate",
                );
            }
            (self.each)(RepairEvent::Read(place.bytes + 1));
        }
        Ok(())
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), Error> {
        match line.content {
            Content::Blank => self.out.line(line.bytes),
            Content::Entry(entry) => self.record(&entry, line.bytes, line.bytes, line.place),
            Content::Damaged(damage) if damage.kind == DamageKind::Oversized => {
                // Other programs may be able to read it: it stays as it is.
                let mut range = range(&mut self.elsewhere, line.place).at("read", self.source)?;
                self.out.copy(&mut range)?;
                self.out.line(b"")
            }
            Content::Damaged(damage) => self.damaged(line.bytes, line.place, &damage),
        }
    }

    fn damaged(&mut self, bytes: &[u8], place: Position, damage: &Damage) -> Result<(), Error> {
        let mut gone = LineLoss { nul: memchr::memchr_iter(0, bytes).count(), ..LineLoss::default() };
        let mut at = 0;
        for saved in &damage.salvaged {
            let start = usize::try_from(saved.place.offset - place.offset).unwrap_or(at);
            let end = start + usize::try_from(saved.place.bytes).unwrap_or(0);
            self.set_aside(bytes.get(at..start).unwrap_or_default(), &mut gone)?;
            at = end;
            gone.saved += 1;
            if saved.entry.is_damaged() {
                gone.garbled += 1;
                self.write_lost(saved.entry.raw())?;
            }
        }
        self.set_aside(bytes.get(at..).unwrap_or_default(), &mut gone)?;
        let uuid = damage.salvaged.first().and_then(|saved| saved.entry.uuid());
        self.report_action(place, damage.kind.rule(), uuid.as_deref(), gone.sentence());
        for saved in &damage.salvaged {
            let entry = saved.entry.as_ref();
            self.record(&entry, entry.raw(), saved.entry.raw(), saved.place)?;
        }
        Ok(())
    }

    /// Writes an entry according to the plan; `as_is` if it has no plan. `found` is the entry in the source.
    fn record(
        &mut self,
        entry: &EntryRef<'_>,
        as_is: &[u8],
        found: &[u8],
        place: Position,
    ) -> Result<(), Error> {
        let RecordPlan { treatment, edit, results, reasons } = self.plan.take(place.offset);
        for (rule, sentence) in reasons {
            self.report_action(place, rule, entry.uuid().as_deref(), sentence);
        }
        match treatment {
            Treatment::Copy if edit.is_empty() => self.out.line(as_is)?,
            Treatment::Copy => self.edited(&edit, entry)?,
            Treatment::Replace(by) => {
                self.write_lost(found)?;
                if let Some(entry) = self.entry_at(by)? {
                    self.edited(&edit, &entry.as_ref())?;
                }
            }
            Treatment::Remove => {}
            Treatment::RemoveAndKeepBytes => self.write_lost(found)?,
        }
        for result in results {
            if let Some(call) = self.entry_at(result.call)? {
                self.out.line(synthetic::result(&call.as_ref(), &result.id, &result.uuid).as_bytes())?;
                self.report_action(result.call, RESULT, Some(&result.uuid), result.sentence);
            }
        }
        Ok(())
    }

    fn edited(&mut self, edit: &Edit, entry: &EntryRef<'_>) -> Result<(), Error> {
        for block in edit.results_without_calls(entry) {
            self.write_lost(block.as_str().as_bytes())?;
        }
        self.out.line(&edit.apply(entry))
    }

    /// Sets aside bytes that belong to no entry.
    fn set_aside(&mut self, bytes: &[u8], gone: &mut LineLoss) -> Result<(), Error> {
        for piece in bytes.split(|byte| *byte == 0).map(<[u8]>::trim_ascii).filter(|piece| !piece.is_empty())
        {
            gone.bytes += piece.len();
            self.write_lost(piece)?;
        }
        Ok(())
    }

    fn write_lost(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.report.lost_bytes += bytes.len() as u64;
        let lost = match &mut self.lost {
            Some(lost) => lost,
            none => none.insert(RepairedFile::begin(&self.lost_path)?),
        };
        lost.line(bytes)
    }

    fn report_action(&mut self, place: Position, rule: Rule, uuid: Option<&str>, message: impl Into<String>) {
        *self.report.rules.entry(rule).or_default() += 1;
        self.report.actions += 1;
        let action = Action { place, rule, message: message.into(), uuid: uuid.map(str::to_owned) };
        (self.each)(RepairEvent::Action(&action));
    }

    fn entry_at(&mut self, place: Position) -> Result<Option<Entry>, Error> {
        let mut bytes = Vec::new();
        range(&mut self.elsewhere, place)
            .and_then(|mut range| range.read_to_end(&mut bytes))
            .at("read", self.source)?;
        // It was an entry in the first pass, and only another process could have changed it since.
        Ok(Entry::decode_lossy(&bytes).ok())
    }
}

fn range(file: &mut File, place: Position) -> io::Result<io::Take<&mut File>> {
    file.seek(SeekFrom::Start(place.offset))?;
    Ok(file.take(place.bytes))
}

/// The loss in a damaged line.
#[derive(Default)]
struct LineLoss {
    nul: usize,
    saved: usize,
    garbled: usize,
    bytes: usize,
}

impl LineLoss {
    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        let entries = |count| if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") };
        if self.saved > 0 {
            parts.push(format!("salvaged {}", entries(self.saved)));
        }
        if self.garbled > 0 {
            parts.push(format!("replaced invalid UTF-8 with U+FFFD in {}", entries(self.garbled)));
        }
        if self.nul > 0 {
            parts.push(format!("removed {} NUL bytes", self.nul));
        }
        if self.bytes > 0 {
            parts.push(format!("set aside {} bytes that are not an entry", self.bytes));
        }
        let sentence = if parts.is_empty() { "removed the line".to_owned() } else { parts.join(", ") };
        let mut letters = sentence.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
    }
}

/// Path of the file with the bytes that are in no line of the copy.
pub(super) fn lost_path(out: &Path) -> PathBuf {
    with_suffix(out, ".lost")
}
