//! Damaged files: every line is accounted for, and whole entries are not lost.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use crate::harm;

use std::io::{self, Read};

use harm::{harm, harmed};
use proptest::prelude::*;
use tidings_transcript::blocks::{Block, Blocks, Buffer};
use tidings_transcript::limits::LINE_BYTES_MAX;
use tidings_transcript::reader::{Content, DamageKind, Reader};
use tidings_transcript::{Position, Severity};

/// The lines read: uuids of whole and of salvaged entries with their positions, damage with its position, and
/// counts.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    uuids: Vec<String>,
    salvaged: Vec<(String, Position)>,
    damage: Vec<(DamageKind, Position)>,
    lines: u64,
    entries: u64,
    blank: u64,
}

fn read(file: impl Read) -> Seen {
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(file, &mut buffer);
    let mut read = Seen::default();
    while let Some(line) = reader.next().unwrap() {
        read.lines += 1;
        assert_eq!(line.place.line, read.lines);
        assert_eq!(line.finding().is_some(), matches!(line.content, Content::Damaged(_)));
        match line.content {
            Content::Blank => read.blank += 1,
            Content::Entry(entry) => {
                read.entries += 1;
                read.uuids.extend(entry.uuid().map(Into::into));
            }
            Content::Damaged(damage) => {
                read.damage.push((damage.kind, line.place));
                for saved in damage.salvaged {
                    let uuid = saved.entry.uuid().unwrap_or_default().into_owned();
                    read.uuids.push(uuid.clone());
                    read.salvaged.push((uuid, saved.place));
                }
            }
        }
    }
    assert_eq!(read.lines, read.entries + read.damage.len() as u64 + read.blank);
    read
}

/// An entry that contains everything that could be mistaken for the start of the next one.
fn line(number: usize) -> String {
    format!(
        r#"{{"parentUuid":null,"type":"assistant","message":{{"id":"msg_{number}","content":[{{"type":"text","text":"é {{\"type\":\"user\",\"uuid\":\"inside\"}}"}},{{"type":"tool_use","id":"toolu_1","name":"Bash","input":{{"type":"user","command":"{{\"a\"}}"}}}}]}},"uuid":"u-{number}","timestamp":"2026-11-15T00:00:00.000Z","sessionId":"s"}}"#
    )
}

/// A record that was cut anywhere, with the next one glued on: `anthropics/claude-code#52387` and others. The
/// second is whole and must be recovered; the position of the first must be reported.
#[test]
fn f71_a_record_glued_to_a_cut_one_is_recovered() {
    let (first, second, third) = (line(1), line(2), line(3));
    for cut in 1..first.len() {
        let head = &first.as_bytes()[..cut];
        let file =
            [line(0).as_bytes(), b"\n", head, second.as_bytes(), b"\n", third.as_bytes(), b"\n"].concat();
        let read = read(&file[..]);
        assert_eq!(read.uuids, ["u-0", "u-2", "u-3"], "cut at {cut}");
        let start = line(0).len() as u64 + 1;
        let whole = Position { line: 2, offset: start, bytes: (cut + second.len()) as u64 };
        assert_eq!(read.damage, [(DamageKind::Glued, whole)], "cut at {cut}");
        let saved = Position { line: 2, offset: start + cut as u64, bytes: second.len() as u64 };
        assert_eq!(read.salvaged, [("u-2".to_owned(), saved)], "cut at {cut}");
    }
}

/// The same with two whole records on a line, with three, and with a cut one behind them.
#[test]
fn f71_several_records_on_a_line_are_recovered() {
    for (glued, uuids) in [
        (vec![line(1), line(2)], vec!["u-1", "u-2"]),
        (vec![line(1), line(2), line(3)], vec!["u-1", "u-2", "u-3"]),
        (vec![line(1), line(2)[..90].to_owned()], vec!["u-1"]),
        (vec![line(1)[..50].to_owned(), line(2), line(3)[..200].to_owned()], vec!["u-2"]),
        (vec![line(1)[..50].to_owned(), line(2)[..70].to_owned(), line(3)], vec!["u-3"]),
        (vec![line(1)[..50].to_owned(), " ".to_owned(), line(2)], vec!["u-2"]),
    ] {
        let read = read(format!("{}\n", glued.concat()).as_bytes());
        assert_eq!(read.uuids, uuids, "{glued:?}");
        assert_eq!(read.damage[0].0, DamageKind::Glued);
    }
}

/// Runs of NUL bytes, as a crash after a resize leaves them: `anthropics/claude-code#49876`, `#76059`.
#[test]
fn f72_nul_bytes_cost_nothing_but_themselves() {
    let nul = "\0".repeat(9 << 10);
    let (first, second) = (line(1), line(2));
    for (file, damaged) in [
        (format!("{first}\n{nul}\n{second}\n"), 1),
        (format!("{first}\n{nul}{second}\n"), 1),
        (format!("{first}{nul}\n{second}\n"), 1),
        (format!("{first}{nul}{second}\n"), 1),
        (format!("{first}\n{second}\n{nul}"), 1),
        (format!("{first}\n{second}{nul}"), 1),
        (format!("{nul}{first}\n{second}"), 1),
        (format!("{}{nul}{second}\n{first}\n", &first[..40]), 1),
    ] {
        let mut read = read(file.as_bytes());
        read.uuids.sort();
        assert_eq!(read.uuids, ["u-1", "u-2"]);
        assert_eq!(read.damage.len(), damaged);
        assert!(read.damage.iter().all(|(kind, _)| *kind == DamageKind::Nul));
    }
}

/// One bad line made a session of 2,800 lines show as empty: `anthropics/claude-code#53821`, `#50347`.
/// Wherever it stands, every other line must be read. Blocks end at different lines for each position, which
/// is all that a longer file would add.
#[test]
fn f73_a_bad_line_anywhere_costs_only_itself() {
    const LINES: usize = 2800;
    let good: Vec<String> = (0..LINES).map(line).collect();
    for bad in (0..LINES).step_by(239).chain([LINES - 1]) {
        let mut text = String::new();
        for (number, line) in good.iter().enumerate() {
            text.push_str(if number == bad { &line[..60] } else { line });
            text.push('\n');
        }
        let read = read(text.as_bytes());
        assert_eq!(read.entries, LINES as u64 - 1, "bad line {bad}");
        assert_eq!(read.damage.len(), 1);
        assert_eq!(read.damage[0].1.line, bad as u64 + 1);
    }
}

#[test]
fn f73_a_cut_last_line_is_a_torn_tail_and_costs_only_itself() {
    let whole = line(2);
    for cut in 1..whole.len() {
        let file = [line(1).as_bytes(), b"\n", &whole.as_bytes()[..cut]].concat();
        let read = read(&file[..]);
        assert_eq!(read.uuids, ["u-1"], "cut at {cut}");
        assert_eq!(read.damage[0].0, DamageKind::TornTail, "cut at {cut}");
    }
    // An unfinished line of a writer is not an error.
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(&br#"{"type":"us"#[..], &mut buffer);
    assert_eq!(reader.next().unwrap().unwrap().finding().unwrap().severity, Severity::Warning);
}

/// A file of any size, generated while it is read: lines of `width` bytes, and in the middle one that is too
/// long.
struct Endless {
    left: u64,
    width: u64,
    oversized: std::ops::Range<u64>,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.left.min(into.len() as u64);
        into[..usize::try_from(count).unwrap()].fill(b' ');
        let start = self.left;
        self.left -= count;
        for end in (self.left / self.width + 1..=start / self.width).map(|number| number * self.width) {
            if !self.oversized.contains(&end) {
                into[usize::try_from(start - end).unwrap()] = b'\n';
            }
        }
        Ok(usize::try_from(count).unwrap())
    }
}

/// Files of gigabytes made readers hang or run out of memory: `anthropics/claude-code#21022`, `#22365`, and
/// lines of more than 100 MB occur. Memory does not grow with the file, nor with its longest line.
#[test]
fn f86_memory_does_not_grow_with_the_file() {
    const SIZE: u64 = 160 << 20;
    const WIDTH: u64 = 4 << 20;
    let oversized = 40 << 20..120 << 20;
    let mut buffer = Buffer::default();
    let source = Endless { left: SIZE, width: WIDTH, oversized: oversized.clone() };
    let mut blocks = Blocks::new(source, 0, &mut buffer);
    let (mut seen, mut too_long) = (0, Vec::new());
    while let Some(block) = blocks.next().unwrap() {
        match block {
            Block::Lines { offset, bytes } => {
                assert_eq!(offset, seen);
                assert!(bytes.len() <= LINE_BYTES_MAX);
                seen += bytes.len() as u64;
            }
            Block::Oversized { offset, len, head } => {
                assert_eq!(offset, seen);
                assert!(head.len() < 1 << 20);
                too_long.push(len);
                seen += len;
            }
        }
    }
    assert_eq!(seen, SIZE);
    assert_eq!(too_long, [(120 << 20) - (36 << 20)]);
    assert!(buffer.capacity() <= LINE_BYTES_MAX + 1, "{}", buffer.capacity());
}

#[test]
fn a_line_over_the_cap_is_reported_with_its_length_and_the_rest_is_read() {
    let long = " ".repeat(LINE_BYTES_MAX + 1);
    for end in ["\n", ""] {
        let file =
            format!("{}\n{long}{end}", line(1)) + &if end.is_empty() { String::new() } else { line(2) };
        let read = read(file.as_bytes());
        let place = Position { line: 2, offset: line(1).len() as u64 + 1, bytes: long.len() as u64 };
        assert_eq!(read.damage, [(DamageKind::Oversized, place)]);
        assert_eq!(read.entries, if end.is_empty() { 1 } else { 2 });
    }
}

proptest! {
    #[test]
    fn whatever_happens_to_a_file_every_line_is_accounted_for(harms in prop::collection::vec(harm(), 0..6)) {
        let lines: Vec<String> = (0..8).map(line).collect();
        let file = harmed(lines.join("\n").into_bytes(), &harms);
        let read = read(&file[..]);
        prop_assert_eq!(read.lines, file.split_inclusive(|byte| *byte == b'\n').count() as u64);
        for (_, place) in &read.salvaged {
            let bytes = &file[usize::try_from(place.offset).unwrap()..][..usize::try_from(place.bytes).unwrap()];
            prop_assert!(tidings_protocol::entry::Entry::decode_lossy(bytes).is_ok());
        }
        // An undamaged line is read as before.
        for (number, line) in lines.iter().enumerate() {
            if file.split(|byte| *byte == b'\n').any(|found| found == line.as_bytes()) {
                let uuid = format!("u-{number}");
                prop_assert!(read.uuids.contains(&uuid));
            }
        }
    }
}
