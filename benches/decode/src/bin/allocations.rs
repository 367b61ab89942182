//! Allocations per frame. A separate program, so that counting does not slow down the timings.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use decode_bench::{Failure, corpus, rows};

/// Number of bytes; enough for every kind to occur many times.
const FRAMES_MAX: usize = 40_000;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[expect(
    unsafe_code,
    reason = "the trait is unsafe; every call goes on to the system's allocator as it came"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size.saturating_sub(layout.size()));
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn note(bytes: usize) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

#[derive(Default)]
struct Tally {
    frames: usize,
    calls: usize,
    bytes: usize,
    calls_max: usize,
}

#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn main() -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = corpus::load(root)?;
    let mut lines = String::new();
    println!("\nAllocations (first {FRAMES_MAX} frames)\n");
    println!("| parser | frames | per frame | most | bytes per frame |\n|---|---|--:|--:|--:|");
    for name in [rows::VALUE, rows::BORROWED, rows::OWNED] {
        let row = rows::row(name).ok_or("a row is gone")?;
        let starts: [(&str, &[u8]); 2] = [("all", b"{"), ("stream_event", br#"{"type":"stream_event""#)];
        for (kind, start) in starts {
            let Tally { frames, calls, bytes, calls_max } = tally(row, &corpus, start);
            let (per_frame, size) = (calls as f64 / frames as f64, bytes / frames.max(1));
            println!("| {} | {kind} | {per_frame:.2} | {calls_max} | {size} |", row.title);
            // Writing into a String cannot fail.
            let _ = writeln!(lines, "{name}\t{kind}\t{per_frame}\t{calls_max}");
        }
    }
    let results = root.join("corpus/results");
    fs::create_dir_all(&results)?;
    fs::write(results.join("allocations.tsv"), lines)?;
    Ok(())
}

/// Only this thread runs, so the difference between two readings belongs to the row.
fn tally(row: &rows::Row, corpus: &[u8], start: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let lines = corpus.split_inclusive(|byte| *byte == b'\n').take(FRAMES_MAX);
    for line in lines.filter(|line| line.starts_with(start)) {
        let before = (CALLS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
        (row.run)(line);
        let calls = CALLS.load(Ordering::Relaxed) - before.0;
        tally.frames += 1;
        tally.calls += calls;
        tally.bytes += BYTES.load(Ordering::Relaxed) - before.1;
        tally.calls_max = tally.calls_max.max(calls);
    }
    tally
}
