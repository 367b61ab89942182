//! Files that change while they are followed.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tidings_transcript::blocks::Buffer;
use tidings_transcript::follow::{Change, Follow, Tail};
use tidings_transcript::reader::Content;
use tidings_transcript::roots::{Roots, SessionFiles};

/// The file contents according to the changes of a tail.
#[derive(Debug, Default, PartialEq)]
struct ObservedFile {
    lines: Vec<Vec<u8>>,
    resets: usize,
    gone: usize,
}

fn poll(tail: &mut Tail, believed: &mut ObservedFile) {
    let flow = tail.poll(&mut Buffer::default(), &mut |change| {
        match change {
            Change::Line(line) => {
                assert_eq!(line.place.line, believed.lines.len() as u64 + 1, "lines come without a gap");
                believed.lines.push(line.bytes.to_vec());
            }
            Change::Reset => {
                believed.lines.clear();
                believed.resets += 1;
            }
            Change::Gone => believed.gone += 1,
            Change::Unreadable(error) => panic!("{error}"),
        }
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
}

/// The whole lines of a file.
fn whole_lines(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    whole.map(|line| line[..line.len() - 1].to_vec()).collect()
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

fn record(number: usize, bytes: usize) -> Vec<u8> {
    let text = "x".repeat(bytes);
    format!("{{\"type\":\"user\",\"uuid\":\"u-{number}\",\"message\":\"{text}\"}}\n").into_bytes()
}

/// One operation of a program on a file.
#[derive(Debug, Clone)]
enum FileOperation {
    Append {
        bytes: usize,
    },
    /// Part of a record, and perhaps its rest.
    Tear {
        keep: usize,
        finish: bool,
    },
    Truncate {
        percent: u64,
    },
    /// Truncated and written anew under the same name, perhaps longer than before.
    Rewrite {
        records: usize,
    },
    /// Another file takes the name.
    Replace {
        records: usize,
    },
    Delete,
    AwayAndBack,
    Look,
}

fn deed() -> impl Strategy<Value = FileOperation> {
    prop_oneof![
        4 => (0usize..6000).prop_map(|bytes| FileOperation::Append { bytes }),
        2 => (1usize..60, any::<bool>()).prop_map(|(keep, finish)| FileOperation::Tear { keep, finish }),
        1 => (0u64..100).prop_map(|percent| FileOperation::Truncate { percent }),
        1 => (0usize..8).prop_map(|records| FileOperation::Rewrite { records }),
        1 => (0usize..8).prop_map(|records| FileOperation::Replace { records }),
        1 => Just(FileOperation::Delete),
        1 => Just(FileOperation::AwayAndBack),
        4 => Just(FileOperation::Look),
    ]
}

fn apply(deed: &FileOperation, path: &Path, next: &mut usize) {
    let mut records = |count: usize, bytes: usize| -> Vec<u8> {
        let made = (0..count).flat_map(|index| record(*next + index, bytes)).collect();
        *next += count;
        made
    };
    match deed {
        FileOperation::Append { bytes } => append(path, &records(1, *bytes)),
        FileOperation::Tear { keep, finish } => {
            let record = records(1, 40);
            append(path, &record[..*keep]);
            if *finish {
                append(path, &record[*keep..]);
            }
        }
        FileOperation::Truncate { percent } => {
            if let Ok(file) = OpenOptions::new().write(true).open(path) {
                let len = file.metadata().unwrap().len();
                file.set_len(len * percent / 100).unwrap();
            }
        }
        FileOperation::Rewrite { records: count } => fs::write(path, records(*count, 300)).unwrap(),
        FileOperation::Replace { records: count } => {
            let other = path.with_extension("new");
            fs::write(&other, records(*count, 300)).unwrap();
            fs::rename(&other, path).unwrap();
        }
        FileOperation::Delete => drop(fs::remove_file(path)),
        FileOperation::AwayAndBack => {
            let other = path.with_extension("away");
            if fs::rename(path, &other).is_ok() {
                fs::rename(&other, path).unwrap();
            }
        }
        FileOperation::Look => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    /// Followers kept half a line across a truncation, or read a part twice when several triggers came at
    /// once.
    #[test]
    fn f90_a_storm_of_changes_leaves_exactly_the_final_records(deeds in prop::collection::vec(deed(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut tail = Tail::from_start(&path);
        let mut believed = ObservedFile::default();
        let mut next = 0;
        for deed in &deeds {
            apply(deed, &path, &mut next);
            if matches!(deed, FileOperation::Look) {
                poll(&mut tail, &mut believed);
            }
        }
        poll(&mut tail, &mut believed);
        // Another trigger for the same change delivers nothing twice.
        poll(&mut tail, &mut believed);
        if path.exists() {
            prop_assert_eq!(&believed.lines, &whole_lines(&path));
            prop_assert_eq!(believed.resets as u64, tail.generation());
        } else {
            prop_assert!(tail.is_gone());
        }
    }
}

#[test]
fn f90_a_truncated_file_drops_its_half_line_and_says_reset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut tail = Tail::from_start(&path);
    let mut believed = ObservedFile::default();
    fs::write(&path, "{\"a\":1}\n{\"b\":").unwrap();
    poll(&mut tail, &mut believed);
    assert_eq!(believed.lines, [b"{\"a\":1}"]);
    fs::write(&path, "2}\n").unwrap();
    poll(&mut tail, &mut believed);
    assert_eq!(believed, ObservedFile { lines: vec![b"2}".to_vec()], resets: 1, gone: 0 });
}

#[test]
fn f71_a_torn_line_waits_and_is_damage_once_more_follows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut tail = Tail::from_start(&path);
    let mut seen = Vec::new();
    let mut look = |tail: &mut Tail| {
        let mut told = Vec::new();
        let flow = tail.poll(&mut Buffer::default(), &mut |change| {
            if let Change::Line(line) = change {
                told.push(match &line.content {
                    Content::Entry(entry) => format!("entry {}", entry.uuid().unwrap()),
                    Content::Damaged(damage) => {
                        let saved = damage.salvaged.iter().filter_map(|saved| saved.entry.uuid());
                        format!("{} {}", damage.kind.rule(), saved.collect::<Vec<_>>().join(" "))
                    }
                    Content::Blank => "blank".to_owned(),
                });
            }
            ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue());
        seen.push(told);
    };
    append(&path, b"{\"type\":\"user\",\"uuid\":\"u-1\",\"message\":\"a");
    look(&mut tail);
    append(&path, b"{\"type\":\"user\",\"uuid\":\"u-2\"}");
    look(&mut tail);
    append(&path, b"\n{\"type\":\"user\",\"uuid\":\"u-3\"}\n");
    look(&mut tail);
    assert_eq!(seen, [vec![], vec![], vec!["glued-line u-2".to_owned(), "entry u-3".to_owned()]]);
}

#[test]
fn a_listener_that_breaks_off_gets_the_rest_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, (0..5).flat_map(|number| record(number, 10)).collect::<Vec<u8>>()).unwrap();
    let mut tail = Tail::from_start(&path);
    let mut lines = Vec::new();
    let mut looks = 0;
    while lines.len() < 5 {
        looks += 1;
        let flow = tail.poll(&mut Buffer::default(), &mut |change| {
            let Change::Line(line) = change else { panic!("{change:?}") };
            lines.push((line.place.line, line.bytes.to_vec()));
            if lines.len() % 2 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(flow.unwrap().is_break(), lines.len() % 2 == 0);
    }
    assert_eq!(looks, 3);
    let expected: Vec<(u64, Vec<u8>)> = (1..).zip(whole_lines(&path)).collect();
    assert_eq!(lines, expected);
}

#[test]
fn the_last_entries_that_count_come_first_with_their_true_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    // Most lines do not count, and those that do are not in the last block.
    let mut text = Vec::new();
    for number in 0..400 {
        text.extend(record(number, if number % 50 == 0 { 10 } else { 5000 }));
    }
    text.extend(b"{\"type\":\"us");
    fs::write(&path, text).unwrap();
    for (count, first) in [(0, None), (1, Some(351)), (3, Some(251)), (8, Some(1)), (100, Some(1))] {
        let counts = |line: &tidings_transcript::reader::Line<'_>| line.bytes.len() < 100;
        let mut tail = Tail::from_last(&path, count, &mut Buffer::default(), counts).unwrap();
        let mut lines = Vec::new();
        let flow = tail.poll(&mut Buffer::default(), &mut |change| {
            let Change::Line(line) = change else { panic!("{change:?}") };
            lines.push(line.place.line);
            ControlFlow::Continue(())
        });
        assert!(flow.unwrap().is_continue());
        assert_eq!(lines.first().copied(), first, "{count}");
        assert_eq!(lines.last().copied(), first.map(|_| 400), "{count}");
    }
}

/// The changes of a session in a short notation.
fn news(follow: &mut Follow) -> Vec<String> {
    let mut told = Vec::new();
    let flow = follow.look(&mut |news| {
        let who = news.agent.unwrap_or("main");
        let session = news.session;
        told.push(match news.change {
            Change::Line(line) => {
                let Content::Entry(entry) = &line.content else { panic!("{line:?}") };
                format!("{session} {who} {}:{}", line.place.line, entry.uuid().unwrap())
            }
            Change::Reset => format!("{session} {who} reset"),
            Change::Gone => format!("{session} {who} gone"),
            Change::Unreadable(error) => format!("{session} {who} {error}"),
        });
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap().is_continue());
    told
}

fn project(folder: &Path) -> PathBuf {
    let project = folder.join("projects/-demo");
    fs::create_dir_all(&project).unwrap();
    project
}

#[test]
fn a_session_is_followed_with_agents_that_start_later() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let main = project.join("s-1.jsonl");
    append(&main, &[record(0, 1), record(1, 1)].concat());
    let session = SessionFiles::of_file(&main).unwrap();
    let mut follow = Follow::session(&session, 1, |_| true).unwrap();
    assert_eq!(news(&mut follow), ["s-1 main 2:u-1"]);
    let agents = project.join("s-1/subagents/workflows/w");
    fs::create_dir_all(&agents).unwrap();
    append(&agents.join("agent-a7.jsonl"), &record(2, 1));
    append(&main, &record(3, 1));
    assert_eq!(news(&mut follow), ["s-1 a7 1:u-2", "s-1 main 3:u-3"]);
    assert_eq!(news(&mut follow), [""; 0]);
}

/// Claude Code removes files after 30 days, also while a program reads them.
#[test]
fn f85_a_deleted_session_is_reported_as_gone_once() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    append(&project.join("s-1.jsonl"), &record(0, 1));
    let mut follow = Follow::all(Roots::new([folder.path()])).unwrap();
    append(&project.join("s-1.jsonl"), &record(1, 1));
    append(&project.join("s-2.jsonl"), &record(2, 1));
    assert_eq!(news(&mut follow), ["s-1 main 2:u-1", "s-2 main 1:u-2"]);
    fs::remove_file(project.join("s-1.jsonl")).unwrap();
    append(&project.join("s-2.jsonl"), &record(3, 1));
    assert_eq!(news(&mut follow), ["s-1 main gone", "s-2 main 2:u-3"]);
    assert_eq!(news(&mut follow), [""; 0]);
    append(&project.join("s-1.jsonl"), &record(4, 1));
    assert_eq!(news(&mut follow), ["s-1 main reset", "s-1 main 1:u-4"]);
}

/// Two processes that resume one session append to one file.
#[test]
fn f80_lines_of_several_writers_all_come_once() {
    const EACH: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut tail = Tail::from_start(&path);
    let mut believed = ObservedFile::default();
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..EACH {
                    append(path, &record(writer * EACH + number, 200));
                }
            });
        }
        while believed.lines.len() < 3 * EACH {
            poll(&mut tail, &mut believed);
            std::thread::yield_now();
        }
    });
    assert_eq!((believed.resets, believed.gone), (0, 0));
    assert_eq!(believed.lines, whole_lines(&path));
}
