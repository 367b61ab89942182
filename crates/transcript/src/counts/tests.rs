//! Tests of the counts: turns, calls, copies and branches.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::file_counter::{FileCounter, FileOwner};
use super::*;
use crate::blocks::Buffer;
use crate::roots::SessionFiles;
use crate::session::{LaneId, Session};

fn counted(lines: &str) -> Counts {
    FileCounter::read(lines.as_bytes(), FileOwner::Session, &mut Buffer::default()).unwrap()
}

/// Lines from a short notation: `id parent kind`, where kind is a prompt, a response with calls, a result, …
fn file(notation: &str) -> String {
    let mut lines = String::new();
    for (second, line) in notation.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (id, parent, what) = (words[0], words[1], &words[2..]);
        let parent = if parent == "-" { "null".to_owned() } else { format!("\"{parent}\"") };
        let said = match what[0] {
            "prompt" => r#""type":"user","message":{"role":"user","content":"Hi"}"#.to_owned(),
            "meta" => r#""type":"user","isMeta":true,"message":{"role":"user","content":"Hi"}"#.to_owned(),
            "command" => {
                r#""type":"user","message":{"role":"user","content":"<command-name>/x</command-name>"}"#.to_owned()
            }
            "printed" => r#""type":"user","message":{"role":"user","content":"<local-command-stdout>x"}"#.to_owned(),
            "summary" => {
                r#""type":"user","isCompactSummary":true,"message":{"role":"user","content":"So far"}"#.to_owned()
            }
            "says" => format!(
                r#""type":"assistant","message":{{"id":"{}","model":"claude-x","content":[{{"type":"text","text":"ok"}}]}}"#,
                what[1]
            ),
            "calls" => format!(
                r#""type":"assistant","message":{{"id":"{}","model":"claude-x","content":[{{"type":"tool_use","id":"{}","name":"Bash","input":{{}}}}]}}"#,
                what[1], what[2]
            ),
            "gives" => format!(
                r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{}","content":"x","is_error":{}}}]}}"#,
                what[1],
                what.get(2) == Some(&"error")
            ),
            "fails" => {
                r#""type":"assistant","isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[]}"#
                    .to_owned()
            }
            "boundary" => format!(
                r#""type":"system","subtype":"compact_boundary","logicalParentUuid":"{}""#,
                what[1]
            ),
            "event" => r#""type":"system","subtype":"turn_duration""#.to_owned(),
            "side" => {
                r#""type":"user","isSidechain":true,"message":{"role":"user","content":"sub"}"#.to_owned()
            }
            "last-prompt" => {
                let _ = writeln!(lines, r#"{{"type":"last-prompt","leafUuid":"{}","sessionId":"s"}}"#, what[1]);
                continue;
            }
            other => panic!("{other}"),
        };
        let _ = writeln!(
            lines,
            r#"{{"uuid":"{id}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-11-15T00:00:{second:02}.000Z",{said}}}"#
        );
    }
    lines
}

/// A turn with two parallel tools; the first one answers last.
const PARALLEL: &str = "
    p - prompt
    a p calls m1 t1
    b a calls m1 t2
    rb b gives t2
    ra a gives t1 error
    c ra says m2
";

#[test]
fn s1_49_a_session_is_counted_by_what_its_entries_are() {
    let counts = counted(&file(PARALLEL));
    assert_eq!((counts.turns, counts.messages, counts.errors), (1, 3, 1));
    assert_eq!(counts.tools, BTreeMap::from([("Bash".to_owned(), 2)]));
    assert_eq!(counts.models, BTreeMap::from([("claude-x".to_owned(), 2)]));
    assert_eq!(counts.first, Some("2026-11-15T00:00:00Z".parse().unwrap()));
    assert_eq!(counts.last, Some("2026-11-15T00:00:05Z".parse().unwrap()));
}

/// Some servers restart ids in every response, and a response may be repeated in the file.
#[test]
fn calls_of_one_id_are_told_apart_by_their_responses() {
    let again = "
        p - prompt
        a p calls m1 call_0
        b a gives call_0
        c b calls m2 call_0
        d c gives call_0
        e d calls m2 call_0
    ";
    assert_eq!(counted(&file(again)).tool_calls(), 2);
}

#[test]
fn calls_of_one_id_in_one_entry_are_counted_each() {
    let twice =
        r#"{"type":"tool_use","id":"call_0","name":"Read","input":{}},{"type":"tool_use","id":"call_0","#;
    let lines =
        file("p - prompt\na p calls m1 call_0\n").replace(r#"{"type":"tool_use","id":"call_0","#, twice);
    assert_eq!(counted(&lines).tools, BTreeMap::from([("Bash".to_owned(), 1), ("Read".to_owned(), 1)]));
}

/// An empty uuid is not an identity, and an entry without one counts all the same.
#[test]
fn entries_without_a_name_are_counted_each() {
    let lines = file("p - prompt\na p says m1\nq a prompt\nb q says m2\n");
    for name in [r#""uuid":"","#, ""] {
        let without = ["p", "a", "q", "b"]
            .into_iter()
            .fold(lines.clone(), |lines, id| lines.replace(&format!(r#""uuid":"{id}","#), name));
        let counts = counted(&without);
        assert_eq!((counts.turns, counts.messages), (2, 4), "{without}");
    }
}

/// A client that writes an entry again may have more data about it. The SDKs take the last copy, and so does
/// everything that shows the session.
#[test]
fn f76_of_copies_that_differ_the_last_whole_one_counts() {
    for (first, last, expected) in [
        ("x c meta", "x c prompt", (2, 2, 1)),
        ("x c prompt", "x c meta", (1, 2, 1)),
        ("x c calls m3 t3", "x c says m3", (1, 2, 1)),
        ("x c says m3", "x c calls m3 t3", (1, 3, 1)),
        ("x c gives t2 error", "x c gives t2", (1, 2, 1)),
        ("x c gives t2", "x c gives t2 error", (1, 2, 2)),
        ("x c calls m3 t3", "x c calls m3 t3", (1, 3, 1)),
    ] {
        let lines = file(&format!("{PARALLEL}{first}\n{last}"));
        let counts = counted(&lines);
        assert_eq!((counts.turns, counts.tool_calls(), counts.errors), expected, "{first}, {last}");
        // Truncated after the entry, as a killed client leaves it: the whole copy counts, wherever it stands.
        let mut cut: Vec<&str> = lines.lines().collect();
        let salvaged = format!("{}{{\"type\":\"us", cut.remove(cut.len() - 2));
        let counts = counted(&format!("{}\n{salvaged}\n", cut.join("\n")));
        assert_eq!(
            (counts.turns, counts.tool_calls(), counts.errors),
            expected,
            "{last}, {first} in a damaged line"
        );
        assert_eq!(counts.damaged, 1);
    }
}

#[test]
fn text_that_was_not_typed_is_not_a_turn() {
    for (line, turns, messages) in [
        ("x c prompt", 2, 4),
        ("x c command", 2, 4),
        ("x c meta", 1, 3),
        ("x c printed", 1, 3),
        ("x c summary", 1, 3),
        ("x c side", 1, 3),
        ("x c fails", 1, 3),
        ("x c says m2", 1, 3),
        ("x c says m3", 1, 4),
    ] {
        let counts = counted(&file(&format!("{PARALLEL}{line}")));
        assert_eq!((counts.turns, counts.messages), (turns, messages), "{line}");
    }
}

/// The number of abandoned branches in the tree of the same session.
fn left_in_the_tree(lines: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    std::fs::write(&path, lines).unwrap();
    let session = Session::open(&SessionFiles::of_file(&path).unwrap()).unwrap();
    session.branches(LaneId::MAIN).len().saturating_sub(1) as u64
}

#[test]
fn branches_are_ways_that_were_left() {
    for (more, branches) in [
        // Parallel tools fork the chain without a change of path.
        ("", 0),
        ("q c prompt", 0),
        // An edited prompt.
        ("q p prompt", 1),
        ("q - prompt", 1),
        ("q c prompt \n d q says m3 \n r c prompt", 1),
        // The model was asked again.
        ("q p says m4", 1),
        // Events and text of the client hang beside: the conversation is the path with the model's answers.
        ("q p event", 0),
        ("q p meta", 0),
        ("q p meta \n r c prompt", 0),
        // A compaction follows the entries that it replaces.
        ("q - boundary c \n s q summary \n t s prompt", 0),
        // A missing parent does not make a branch.
        ("q gone prompt", 0),
        // The same line again.
        ("c ra says m2", 0),
        // The client rewound, and nothing followed.
        ("q c prompt \n l - last-prompt c", 1),
        ("l - last-prompt c \n q c prompt", 0),
        ("q c prompt \n d q says m3 \n l - last-prompt d", 0),
        // Entries in a cycle.
        ("q r prompt \n r q says m3", 0),
    ] {
        let lines = file(&format!("{PARALLEL}{more}"));
        assert_eq!(counted(&lines).branches, branches, "{more}");
        assert_eq!(left_in_the_tree(&lines), branches, "{more}");
    }
}

proptest! {
    /// The tree defines the rule and is far slower; both must see the same branches in any input.
    #[test]
    fn the_count_of_branches_is_that_of_the_tree(
        entries in prop::collection::vec((0..14_usize, 0..9_usize, 0..4_usize), 1..14),
    ) {
        const WHATS: [&str; 9] = [
            "prompt", "says m1", "says m2", "calls m3 t1", "gives t1", "meta", "event", "summary", "command",
        ];
        let mut notation = String::new();
        for (at, (parent, what, twist)) in entries.iter().enumerate() {
            let parent = match (twist, parent) {
                // Mostly the entry before, sometimes any other, a later one or none.
                (0 | 1, _) if at > 0 => format!("e{}", at - 1),
                (3, 13) => "-".to_owned(),
                _ => format!("e{parent}"),
            };
            let _ = writeln!(notation, "e{at} {parent} {}", WHATS[*what]);
        }
        let lines = file(&notation);
        prop_assert_eq!(counted(&lines).branches, left_in_the_tree(&lines), "{}", notation);
    }
}

#[test]
fn damaged_lines_are_counted_and_what_is_in_them_too() {
    let whole = file(PARALLEL);
    let lines: Vec<&str> = whole.lines().collect();
    let glued = format!("{}{}\nnot json\n\n{}", lines[0], lines[1], &lines[2][..40]);
    let counts = counted(&glued);
    assert_eq!((counts.damaged, counts.turns, counts.tool_calls()), (3, 1, 1));
}

#[test]
fn facts_come_back_as_they_were() {
    let counts = counted(&file(&format!("{PARALLEL}q p prompt \n b - boundary c")));
    assert_eq!(Counts::of_facts(&counts.to_facts()), Some(counts.clone()));
    assert_eq!(Counts::of_facts(&Counts::default().to_facts()), Some(Counts::default()));
    let facts = counts.to_facts();
    for len in 0..facts.len() {
        assert_eq!(Counts::of_facts(&facts[..len]), None);
    }
}
