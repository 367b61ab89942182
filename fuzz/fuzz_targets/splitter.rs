//! Concatenated lines give back the bytes, for any split of the input; the cap holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_protocol::ndjson::{Line, Splitter};

fuzz_target!(|data: &[u8]| {
    let [step, cap, stream @ ..] = data else { return };
    let step = usize::from(*step).max(1);
    let cap = usize::from(*cap).max(1);
    let mut splitter = Splitter::new(cap);
    let mut lines: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut keep = |line: Line<'_>| match line {
        Line::Json(bytes) | Line::Noise(bytes) | Line::Blank(bytes) => {
            assert!(bytes.len() <= cap);
            lines.push((bytes.len() as u64, bytes.to_vec()));
        }
        Line::Oversized { len, head } => {
            assert!(len > cap as u64);
            lines.push((len, head.to_vec()));
        }
        other => panic!("{other:?}"),
    };
    for part in stream.chunks(step) {
        splitter.push(part);
        while let Some(line) = splitter.next() {
            keep(line);
        }
        assert!(splitter.buffered() <= cap.max(4096) + step);
    }
    if let Some(line) = splitter.finish() {
        keep(line);
    }
    let mut at = 0;
    for (len, bytes) in lines {
        assert!(stream[at..].starts_with(&bytes));
        at += usize::try_from(len).unwrap();
    }
    assert_eq!(at, stream.len());
});
