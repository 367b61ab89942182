//! The heads: a file beside the journal that says what the journal must hold.
//!
//! A journal that lost its newest commits is a valid journal: only something outside of it can tell. So each
//! commit of a call is announced here before it happens, and confirmed before the caller is told. At the next
//! start the journal must hold what was confirmed last; an announced commit may have happened or not. Deltas
//! are not announced; the next call includes them.
//!
//! One record per line: a checksum, a space and JSON. The first one has all [parts](Part), later ones those
//! that changed. When the file has grown enough it is written anew.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tidings_base::files;

use super::open::{private_file, with_suffix};
use super::schema::NEWEST;
use super::tally::{ChangedParts, Part, RowSum, SESSIONS, Sums, TABLES, apply};
use crate::Loss;
use crate::limits::{HEADS_BYTES_MAX, HEADS_GROWTH_BYTES};

/// Suffix of its file's name after that of the journal.
pub(super) const SUFFIX: &str = "-heads";

/// The version of the sums: those of another version are not compared.
const VERSION: u32 = 1;

/// The open file.
#[derive(Debug)]
pub(super) struct Heads {
    path: PathBuf,
    file: File,
    number: u64,
    bytes: u64,
    /// Length after it was last written anew.
    base_bytes: u64,
    /// True if the last write failed: the file is written anew before anything else.
    is_behind: bool,
}

/// Contents of the file: the sums that the journal must have.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// As of the last confirmed commit.
    pub(super) sums: Sums,
    /// A commit that was announced and not confirmed.
    pub(super) announced: Option<ChangedParts>,
    /// As of the last time that journal and file were both synced to the disk.
    pub(super) synced: Sums,
    pub(super) is_closed: bool,
    /// True if a record cannot be read. Later ones are ignored.
    pub(super) is_damaged: bool,
    /// The version of the tables.
    pub(super) schema: usize,
    /// Losses that earlier starts reported.
    pub(super) losses: Vec<Loss>,
}

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum HeadsRecord {
    /// Everything.
    All { version: u32, schema: usize, parts: Vec<HeldPart>, losses: Vec<Loss> },
    /// A commit with this number is about to happen.
    Announced { number: u64, parts: Vec<HeldPart> },
    /// It happened.
    Confirmed { number: u64 },
    /// Everything up to here is on the disk.
    Synced,
    /// The journal was closed.
    Closed,
}

/// A part with its sum; a part without rows is gone.
#[derive(Debug, Serialize, Deserialize)]
struct HeldPart {
    table: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    session: u64,
    rows: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    sum: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    last: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Held {
    /// Reads the file; none if there is none, or one of another version.
    pub(super) fn read(journal: &Path) -> io::Result<Option<Held>> {
        let mut bytes = Vec::new();
        match files::open(&with_suffix(journal, SUFFIX)) {
            Ok(file) => _ = file.take(HEADS_BYTES_MAX).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut held = Held::default();
        let mut records: Vec<HeadsRecord> = Vec::new();
        // A process that is killed may leave a part of its last line: nothing was told to a client after it.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Some(record) = record(line) else {
                held.is_damaged = true;
                break;
            };
            records.push(record);
        }
        if !matches!(records.first(), Some(HeadsRecord::All { .. })) {
            return Ok(Some(Held { is_damaged: true, ..Held::default() }));
        }
        if matches!(records.first(), Some(HeadsRecord::All { version, .. }) if *version != VERSION) {
            return Ok(None);
        }
        let synced = records.iter().rposition(|record| matches!(record, HeadsRecord::Synced));
        for (record, place) in records.into_iter().zip(0..) {
            held.take(record);
            if Some(place) == synced {
                held.synced = held.sums.clone();
            }
        }
        Ok(Some(held))
    }

    fn take(&mut self, record: HeadsRecord) {
        self.is_closed = false;
        match record {
            HeadsRecord::All { parts, losses, schema, .. } => {
                self.schema = schema;
                self.sums.clear();
                apply(&mut self.sums, changed(parts));
                self.losses = losses;
            }
            HeadsRecord::Announced { parts, .. } => self.announced = Some(changed(parts)),
            HeadsRecord::Confirmed { .. } => {
                if let Some(parts) = self.announced.take() {
                    apply(&mut self.sums, parts);
                }
            }
            HeadsRecord::Synced => {}
            HeadsRecord::Closed => self.is_closed = true,
        }
    }
}

impl Heads {
    /// Writes the file anew with these sums, and keeps it open.
    pub(super) fn create(journal: &Path, sums: &Sums, losses: &[Loss]) -> io::Result<Self> {
        let path = with_suffix(journal, SUFFIX);
        let (file, bytes) = write_all(&path, sums, losses)?;
        Ok(Heads { path, file, number: 0, bytes, base_bytes: bytes, is_behind: false })
    }

    /// Announces a commit. A failure does not stop the commit: the heads are behind then, which costs a
    /// comparison and no data.
    pub(super) fn announce(&mut self, parts: &ChangedParts) {
        self.number += 1;
        let parts = parts.iter().map(|(part, sum)| HeldPart::new(*part, sum.as_ref())).collect();
        self.append(&HeadsRecord::Announced { number: self.number, parts });
    }

    /// Confirms the announced commit.
    pub(super) fn confirm(&mut self) {
        self.append(&HeadsRecord::Confirmed { number: self.number });
    }

    /// True if the file has grown enough to be written anew, or could not be written.
    pub(super) fn is_due(&self) -> bool {
        self.is_behind || self.bytes > self.base_bytes.saturating_mul(4) + HEADS_GROWTH_BYTES
    }

    /// Writes the file anew.
    pub(super) fn renew(&mut self, sums: &Sums, losses: &[Loss]) {
        match write_all(&self.path, sums, losses) {
            Ok((file, bytes)) => {
                (self.file, self.bytes, self.base_bytes, self.is_behind) = (file, bytes, bytes, false);
            }
            Err(error) => {
                tracing::warn!(%error, "failed to write what the journal must hold; trying again later");
            }
        }
    }

    /// Syncs the file after the journal was synced.
    pub(super) fn sync(&mut self) {
        self.append(&HeadsRecord::Synced);
        if let Err(error) = self.file.sync_data() {
            tracing::warn!(%error, "failed to sync what the journal must hold");
        }
    }

    /// Records that the journal was closed.
    pub(super) fn close(&mut self, sums: &Sums) {
        self.renew(sums, &[]);
        self.append(&HeadsRecord::Synced);
        self.append(&HeadsRecord::Closed);
        if let Err(error) = self.file.sync_data() {
            tracing::warn!(%error, "failed to sync what the journal must hold");
        }
    }

    fn append(&mut self, record: &HeadsRecord) {
        // A line after an incomplete one would not be readable.
        if self.is_behind {
            return;
        }
        let written = line(record).and_then(|line| self.file.write_all(&line).map(|()| line.len()));
        match written {
            Ok(bytes) => self.bytes += bytes as u64,
            Err(error) => {
                tracing::warn!(%error, "failed to write what the journal must hold; trying again later");
                self.is_behind = true;
                // Heads that lack a commit would be taken for damage.
                drop(std::fs::remove_file(&self.path));
            }
        }
    }
}

/// Writes a file with one record under a temporary name, and renames it.
fn write_all(path: &Path, sums: &Sums, losses: &[Loss]) -> io::Result<(File, u64)> {
    let parts = sums.iter().map(|(part, sum)| HeldPart::new(*part, Some(sum))).collect();
    let line = line(&HeadsRecord::All { version: VERSION, schema: NEWEST, parts, losses: losses.to_vec() })?;
    let part = with_suffix(path, ".part");
    let mut file = private_file(&part)?;
    file.set_len(0)?;
    file.write_all(&line)?;
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    Ok((file, line.len() as u64))
}

fn line(record: &HeadsRecord) -> io::Result<Vec<u8>> {
    let json = serde_json::to_string(record)?;
    Ok(format!("{} {json}\n", checksum(json.as_bytes())).into_bytes())
}

fn record(line: &[u8]) -> Option<HeadsRecord> {
    let (sum, json) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    (sum == checksum(json.as_bytes())).then(|| serde_json::from_str(json).ok()).flatten()
}

fn checksum(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.first_chunk::<8>().map_or_else(String::new, |bytes| format!("{:016x}", u64::from_be_bytes(*bytes)))
}

impl HeldPart {
    fn new(part: Part, sum: Option<&RowSum>) -> Self {
        HeldPart {
            table: part.table().map_or_else(String::new, |table| table.name.to_owned()),
            session: part.session,
            rows: sum.map(|sum| sum.rows),
            sum: sum.map_or_else(String::new, |sum| format!("{:032x}", sum.sum)),
            last: sum.map_or(0, |sum| sum.last),
            key: sum.and_then(|sum| sum.key.clone()),
        }
    }
}

/// Parts of a record. Sessions come first, since a session that is gone takes its other parts with it.
fn changed(parts: Vec<HeldPart>) -> ChangedParts {
    let place = |name: &str| TABLES.iter().zip(0_u8..).find(|(table, _)| table.name == name);
    let parts = parts.into_iter().filter_map(|held| {
        let (_, table) = place(&held.table)?;
        let sum = u128::from_str_radix(&held.sum, 16).unwrap_or_default();
        let sum = held.rows.map(|rows| RowSum { rows, sum, last: held.last, key: held.key });
        Some((Part { table, session: held.session }, sum))
    });
    parts.collect()
}

const _: () = assert!(SESSIONS == 0, "parts are ordered, and a session's own part comes first");
