//! The write-ahead log of `SQLite`, read frame by frame.
//!
//! `SQLite` ignores everything after the first frame that does not match its checksum. Checksums are a chain,
//! and each frame stores its link, so frames after a damaged one can be checked and used.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use tidings_base::files;

use super::open::with_suffix;
use crate::JournalError;
use crate::limits::{JOURNAL_BYTES_MAX, WAL_READ_BYTES_MAX};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Treatment of frames that do not match their checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DamagedFrames {
    Used,
    Skipped,
}

/// Copies a journal and applies all frames of its log, also damaged ones: often a single bit is wrong.
pub(super) fn replay_all(journal: &Path, to: &Path) -> Result<(), JournalError> {
    replay(journal, to, DamagedFrames::Used).map_err(|error| JournalError::io("repair", journal, error))
}

/// Copies a journal and applies the valid frames of its log.
pub(super) fn replay_valid(journal: &Path, to: &Path) -> Result<(), JournalError> {
    replay(journal, to, DamagedFrames::Skipped).map_err(|error| JournalError::io("repair", journal, error))
}

fn replay(journal: &Path, to: &Path, damaged: DamagedFrames) -> io::Result<()> {
    let mut copy = File::options().read(true).write(true).create(true).truncate(true).open(to)?;
    io::copy(&mut files::open(journal)?, &mut copy)?;
    let mut log = Vec::new();
    match files::open(&with_suffix(journal, "-wal")) {
        Ok(file) => _ = file.take(WAL_READ_BYTES_MAX).read_to_end(&mut log)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let frames = frames(&log);
    let last = frames.iter().rposition(|frame| frame.pages > 0);
    let mut pages = 0;
    for frame in frames.iter().take(last.map_or(0, |last| last + 1)) {
        if frame.is_valid || damaged == DamagedFrames::Used {
            copy.seek(SeekFrom::Start(u64::from(frame.number - 1) * frame.page.len() as u64))?;
            copy.write_all(frame.page)?;
            pages = if frame.pages > 0 { frame.pages } else { pages };
        }
    }
    if pages > 0 {
        copy.set_len(u64::from(pages) * page_bytes(&log) as u64)?;
    }
    copy.sync_all()
}

/// One frame: a page of the main file.
struct LogFrame<'l> {
    number: u32,
    /// Pages of the main file after the commit that this frame ends; 0 for other frames.
    pages: u32,
    page: &'l [u8],
    is_valid: bool,
}

/// Frames of the last round of the log. Frames of earlier rounds behind them have another salt.
fn frames(log: &[u8]) -> Vec<LogFrame<'_>> {
    let page_bytes = page_bytes(log);
    let mut found: Vec<LogFrame<'_>> = Vec::new();
    let Some(body) = log.get(HEADER..).filter(|_| page_bytes > 0) else { return found };
    let chunks: Vec<&[u8]> = body.chunks_exact(FRAME_HEADER + page_bytes).collect();
    let salt_of = |chunk: &[u8]| chunk.get(8..16).map(<[u8]>::to_vec);
    // The header, or the first frame, may be the damaged part.
    let votes = [log.get(16..24).map(<[u8]>::to_vec)];
    let votes: Vec<_> = votes.into_iter().chain(chunks.iter().take(2).map(|chunk| salt_of(chunk))).collect();
    let salt = match &votes[..] {
        [header, first, second] if header != first && first != second && header != second => header.clone(),
        [_, first, second] if first == second => first.clone(),
        [header, ..] => header.clone(),
        [] => None,
    };
    // The lowest bit of the first number tells the byte order of the checksums.
    let word = if number(log, 0) & 1 == 0 { u32::from_le_bytes } else { u32::from_be_bytes };
    let mut link = (number(log, 24), number(log, 28));
    for (place, chunk) in chunks.iter().enumerate() {
        let is_next_same = chunks.get(place + 1).is_some_and(|next| salt_of(next) == salt);
        if salt_of(chunk) != salt && !is_next_same {
            break;
        }
        let (head, page) = chunk.split_at(FRAME_HEADER);
        let sum = checksum(checksum(link, &head[..8], word), page, word);
        let stored = (number(head, 16), number(head, 20));
        link = stored;
        // A number beyond any file is damaged itself.
        let page_number = number(head, 0);
        if page_number == 0 || u64::from(page_number) * page_bytes as u64 > JOURNAL_BYTES_MAX {
            continue;
        }
        found.push(LogFrame { number: page_number, pages: number(head, 4), page, is_valid: sum == stored });
    }
    found
}

/// The size of a page: a power of two.
fn page_bytes(log: &[u8]) -> usize {
    match number(log, 8) as usize {
        size @ 512..=65536 if size.is_power_of_two() => size,
        _ if log.len() > HEADER => 4096,
        _ => 0,
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// The checksum of the file format, continued over more bytes.
fn checksum((mut one, mut two): (u32, u32), bytes: &[u8], word: fn([u8; 4]) -> u32) -> (u32, u32) {
    let (words, _) = bytes.as_chunks::<4>();
    let (pairs, _) = words.as_chunks::<2>();
    for [a, b] in pairs {
        one = one.wrapping_add(word(*a)).wrapping_add(two);
        two = two.wrapping_add(word(*b)).wrapping_add(one);
    }
    (one, two)
}
