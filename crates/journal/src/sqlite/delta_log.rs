//! The file that deltas are written to before they are in the tables.
//!
//! It is overwritten from its beginning again and again, each time under another number (the round), so that
//! leftovers of an earlier round behind the last record are not read as records. An end mark follows the last
//! record, as a record of length zero: a log that ends without it is damaged. A record is its length, a
//! checksum, and:
//!
//! ```text
//! round 8 | handle 8 | epoch 8 | seq 8 | at 8 | host offset 8 (all ones: none)
//! | length of the kind 2 | kind | body
//! ```

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tidings_base::files;

use super::open;
use crate::event_forms::EventForms;
use crate::limits::DELTA_LOG_BYTES_MAX;
use crate::{Class, Cursor, Epoch, Event, Handle, Kind};

pub(super) struct DeltaLog {
    file: File,
    round: u64,
    /// Offset of the next record.
    end: u64,
    buffer: Vec<u8>,
}

/// A delta, and the handle of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoggedDelta {
    pub(super) handle: Handle,
    pub(super) event: Arc<Event>,
    pub(super) host_offset: Option<u64>,
}

/// The deltas of a log, and whether it ends with its end mark.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FoundDeltas {
    pub(super) deltas: Vec<LoggedDelta>,
    pub(super) end: LogEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogEnd {
    Marked,
    /// Records are damaged or missing. Earlier versions wrote no end marks.
    Unmarked,
}

/// Suffix of its file's name after that of the journal.
const SUFFIX: &str = "-pieces";

/// Length of the header of a record: its length and its checksum.
const HEAD: usize = 4 + 8;

/// The end mark: the header of a record without a text.
const END: [u8; HEAD] = [0; HEAD];

impl DeltaLog {
    /// Opens the log of a journal. Rounds start at this number, which is random.
    pub(super) fn open(journal: &Path, round: u64) -> io::Result<Self> {
        let mut file = open::private_file(&open::with_suffix(journal, SUFFIX))?;
        file.write_all(&END)?;
        file.rewind()?;
        Ok(DeltaLog { file, round, end: 0, buffer: Vec::new() })
    }

    /// Reads the log of a journal: all records of the last round.
    pub(super) fn read(journal: &Path) -> io::Result<FoundDeltas> {
        let file = match files::open(&open::with_suffix(journal, SUFFIX)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(FoundDeltas { deltas: Vec::new(), end: LogEnd::Marked });
            }
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(DELTA_LOG_BYTES_MAX + HEAD as u64).read_to_end(&mut bytes)?;
        let (mut deltas, mut rest, mut last) = (Vec::new(), &*bytes, None);
        while !rest.starts_with(&END)
            && let Some((round, delta)) = record(&mut rest)
            && last.is_none_or(|last| last == round)
        {
            last = Some(round);
            deltas.extend(delta);
        }
        let end = if rest.starts_with(&END) { LogEnd::Marked } else { LogEnd::Unmarked };
        Ok(FoundDeltas { deltas, end })
    }

    /// Writes deltas. Incomplete records do not count, and are overwritten.
    pub(super) fn write(&mut self, deltas: &[LoggedDelta]) -> io::Result<()> {
        self.buffer.clear();
        for delta in deltas {
            put(&mut self.buffer, self.round, delta)?;
        }
        let bytes = self.buffer.len() as u64;
        self.buffer.extend(END);
        if self.end + bytes > DELTA_LOG_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if let Err(error) = self.file.write_all(&self.buffer) {
            self.file.seek(SeekFrom::Start(self.end))?;
            return Err(error);
        }
        self.end += bytes;
        // The next record takes the place of the end mark.
        self.file.seek(SeekFrom::Start(self.end))?;
        Ok(())
    }

    /// Begins a new round after everything was stored elsewhere.
    pub(super) fn begin_round(&mut self) {
        let is_ended = |file: &mut File| {
            file.rewind()?;
            file.write_all(&END)?;
            file.rewind()
        };
        if self.end > 0 && is_ended(&mut self.file).is_ok() {
            self.end = 0;
            self.round = self.round.wrapping_add(1);
        }
    }
}

fn put(buffer: &mut Vec<u8>, round: u64, delta: &LoggedDelta) -> io::Result<()> {
    let (event, kind) = (&*delta.event, delta.event.kind.as_str().as_bytes());
    let kind_bytes = u16::try_from(kind.len()).map_err(io::Error::other)?;
    let start = buffer.len();
    buffer.extend([0; HEAD]);
    for number in [
        round,
        delta.handle.number(),
        event.cursor.epoch.to_stored().cast_unsigned(),
        event.cursor.seq,
        event.at.as_microsecond().cast_unsigned(),
        delta.host_offset.unwrap_or(u64::MAX),
    ] {
        buffer.extend(number.to_le_bytes());
    }
    buffer.extend(kind_bytes.to_le_bytes());
    buffer.extend(kind);
    buffer.extend(&*event.body);
    let (head, text) = buffer[start..].split_at_mut(HEAD);
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&checksum(text));
    Ok(())
}

/// Takes a record off the front: its round, and the delta, if it is valid. None if there is no record.
fn record(bytes: &mut &[u8]) -> Option<(u64, Option<LoggedDelta>)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if checksum(text) != *sum {
        return None;
    }
    *bytes = rest;
    let (round, text) = number(text)?;
    Some((round, delta(text)))
}

fn delta(text: &[u8]) -> Option<LoggedDelta> {
    let (handle, text) = number(text)?;
    let (epoch, text) = number(text)?;
    let (seq, text) = number(text)?;
    let (at, text) = number(text)?;
    let (host_offset, text) = number(text)?;
    let (kind_bytes, text) = text.split_first_chunk()?;
    let (kind, body) = text.split_at_checked(u16::from_le_bytes(*kind_bytes).into())?;
    let event = Event {
        cursor: Cursor::new(Epoch::from_stored(epoch.cast_signed()), seq),
        class: Class::Delta,
        at: Timestamp::from_microsecond(at.cast_signed()).ok()?,
        kind: Kind::new(std::str::from_utf8(kind).ok()?).ok()?,
        body: Arc::from(body),
        client_id: None,
        forms: EventForms::default(),
    };
    let host_offset = Some(host_offset).filter(|offset| *offset != u64::MAX);
    Some(LoggedDelta { handle: Handle::new(handle), event: Arc::new(event), host_offset })
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = text.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

fn checksum(text: &[u8]) -> [u8; 8] {
    Sha256::digest(text).first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn delta(seq: u64, body: &[u8]) -> LoggedDelta {
        let event = Event {
            cursor: Cursor::new(Epoch::from_random(7), seq),
            class: Class::Delta,
            at: Timestamp::from_microsecond(-5).unwrap(),
            kind: Kind::new("TextChunk").unwrap(),
            body: Arc::from(body),
            client_id: None,
            forms: EventForms::default(),
        };
        let host_offset = (!body.is_empty()).then_some(seq * 10);
        LoggedDelta { handle: Handle::new(3), event: Arc::new(event), host_offset }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Everything that was written in the last round is read, and nothing of earlier rounds; a log that
        /// ends in the middle of a record ends before it.
        #[test]
        fn a_log_returns_the_deltas_of_its_last_round(
            rounds in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let journal = folder.path().join("journal.db");
            let mut log = DeltaLog::open(&journal, u64::MAX - 1).unwrap();
            let (mut seq, mut last) = (0, Vec::new());
            for bodies in &rounds {
                log.begin_round();
                last.clear();
                for body in bodies {
                    seq += 1;
                    last.push(delta(seq, body));
                    log.write(&last[last.len() - 1..]).unwrap();
                }
            }
            let found = DeltaLog::read(&journal).unwrap();
            prop_assert_eq!((&found.deltas, found.end), (&last, LogEnd::Marked));

            let (path, whole) = (open::with_suffix(&journal, SUFFIX), log.end);
            let bytes = std::fs::read(&path).unwrap();
            let kept = cut.index(usize::try_from(whole).unwrap());
            std::fs::write(&path, &bytes[..kept]).unwrap();
            let found = DeltaLog::read(&journal).unwrap();
            prop_assert_eq!(found.end, LogEnd::Unmarked);
            prop_assert!(found.deltas.len() < last.len());
            prop_assert_eq!(&found.deltas, &last[..found.deltas.len()]);
        }
    }

    /// A changed record ends the log, together with everything behind it, and the end is not the marked one.
    #[test]
    fn f109_k30_a_flipped_bit_ends_the_log_and_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("journal.db");
        let mut log = DeltaLog::open(&journal, 1).unwrap();
        let deltas: Vec<LoggedDelta> = (1..=3).map(|seq| delta(seq, b"some text")).collect();
        log.write(&deltas).unwrap();
        let path = open::with_suffix(&journal, SUFFIX);
        let bytes = std::fs::read(&path).unwrap();
        let one = (bytes.len() - HEAD) / 3;
        for at in one..2 * one {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            std::fs::write(&path, flipped).unwrap();
            let found = DeltaLog::read(&journal).unwrap();
            assert_eq!((&found.deltas[..], found.end), (&deltas[..1], LogEnd::Unmarked), "bit in byte {at}");
        }
    }
}
