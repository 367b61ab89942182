//! Reads the files that are not cached, on two threads.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use memchr::{memchr, memmem, memrchr};
use parking_lot::Mutex;

use super::line::{MARK, UsageReader};
use super::rows::Rows;
use crate::Error;
use crate::blocks::{Block, Blocks, Buffer};
use crate::cache::Mark;
use crate::limits::{COST_THREAD_BYTES_MIN, COST_THREADS_MAX};
use crate::roots::FileInfo;

/// Progress of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far.
    pub done: u64,
    /// Bytes to read in total.
    pub all: u64,
}

/// A file to read, starting at an offset.
#[derive(Debug)]
pub(super) struct ScanJob<'a> {
    /// Index of the file; results come in any order.
    pub(super) at: usize,
    pub(super) file: &'a FileInfo,
    pub(super) offset: u64,
    /// The rows before the offset.
    pub(super) rows: Rows,
}

impl<'a> ScanJob<'a> {
    /// A job for a whole file.
    pub(super) fn new(at: usize, file: &'a FileInfo) -> Self {
        ScanJob { at, file, offset: 0, rows: Rows::default() }
    }
}

/// The result of a job.
#[derive(Debug)]
pub(super) struct ScanResult {
    pub(super) at: usize,
    pub(super) rows: Rows,
    /// Position up to which the file was read; `None` if it is unreadable, or has no complete line yet.
    pub(super) mark: Option<Mark>,
    pub(super) error: Option<Error>,
}

/// Runs all jobs.
pub(super) fn all(mut jobs: Vec<ScanJob<'_>>, progress: &(dyn Fn(Progress) + Sync)) -> Vec<ScanResult> {
    let rest = |job: &ScanJob<'_>| job.file.bytes.saturating_sub(job.offset);
    let bytes: u64 = jobs.iter().map(rest).sum();
    let threads = if bytes < COST_THREAD_BYTES_MIN { 1 } else { COST_THREADS_MAX };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(threads).min(jobs.len());
    let meter = Meter { done: AtomicU64::new(0), all: bytes, progress };
    // The largest are started first, so that the threads end at about the same time.
    jobs.sort_by_key(rest);
    let jobs = Mutex::new(jobs);
    let work = || {
        let mut buffers = Buffers::default();
        let mut results = Vec::new();
        let next = || jobs.lock().pop();
        while let Some(job) = next() {
            results.push(job.run(&mut buffers, &meter));
        }
        results
    };
    if threads < 2 {
        return work();
    }
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for helper in helpers {
            match helper.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

/// Counts the bytes read by all threads.
struct Meter<'p> {
    done: AtomicU64,
    all: u64,
    progress: &'p (dyn Fn(Progress) + Sync),
}

impl Meter<'_> {
    fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        // Files may have grown since they were listed.
        (self.progress)(Progress { done: done.min(self.all), all: self.all });
    }
}

#[derive(Default)]
struct Buffers {
    blocks: Buffer,
    eyes: UsageReader,
}

impl ScanJob<'_> {
    fn run(mut self, buffers: &mut Buffers, meter: &Meter<'_>) -> ScanResult {
        let rows = std::mem::take(&mut self.rows);
        let mark = (self.offset == 0).then(Mark::default);
        let mut done = ScanResult { at: self.at, rows, mark, error: None };
        if let Err(error) = self.read(&mut done, buffers, meter) {
            done.mark = None;
            done.error = Some(Error::io("read", &self.file.path, error));
        }
        done
    }

    fn read(&self, done: &mut ScanResult, buffers: &mut Buffers, meter: &Meter<'_>) -> io::Result<()> {
        let mut file = File::open(&self.file.path)?;
        if self.offset > 0 {
            file.seek(SeekFrom::Start(self.offset))?;
        }
        let finder = memmem::Finder::new(MARK);
        let mut blocks = Blocks::new(file, self.offset, &mut buffers.blocks);
        while let Some(block) = blocks.next()? {
            match block {
                Block::Lines { offset, bytes } => {
                    read_lines(bytes, &finder, &mut buffers.eyes, &mut done.rows);
                    let end = offset + bytes.len() as u64;
                    if bytes.ends_with(b"\n") {
                        done.mark = Some(Mark::before(end, bytes));
                    }
                    meter.add(bytes.len() as u64);
                }
                Block::Oversized { len, .. } => {
                    done.rows.oversized += 1;
                    meter.add(len);
                }
            }
        }
        Ok(())
    }
}

/// Reads the lines that contain the mark; the others are skipped without looking for their ends.
fn read_lines(bytes: &[u8], finder: &memmem::Finder<'_>, eyes: &mut UsageReader, rows: &mut Rows) {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| finder.find(rest)) {
        let mark = at + found;
        let start = memrchr(b'\n', &bytes[at..mark]).map_or(at, |end| at + end + 1);
        let end = memchr(b'\n', &bytes[mark..]).map_or(bytes.len(), |end| mark + end);
        eyes.read(&bytes[start..end], |seen| rows.see(&seen));
        at = end + 1;
    }
}
