//! Repaired copies of damaged session files.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod harm;

use std::fs;
use std::path::Path;

use harm::{harm, harmed};
use insta::assert_snapshot;
use proptest::prelude::*;
use tidings_protocol::entry::{AssistantSubtype, Entry, EntryBody, Envelope};
use tidings_protocol::json::Json;
use tidings_transcript::blocks::Buffer;
use tidings_transcript::check::{self, Profile};
use tidings_transcript::reader::{Content, Reader};
use tidings_transcript::repair::{self, Existing, RepairEvent};
use tidings_transcript::{ErrorKind, Severity};

/// A recorded session with three parallel tools.
const PARALLEL: &str = include_str!("fixtures/parallel.jsonl");

/// A line that is an entry, and one that is not.
const DAMAGED: &str = "{\"type\":\"summary\",\"summary\":\"x\"}\nnonsense\n";

/// A repaired copy: its bytes, the bytes set aside, and the actions.
#[derive(Debug)]
struct Repaired {
    copy: Vec<u8>,
    lost: Vec<u8>,
    actions: Vec<String>,
}

fn repair(file: &[u8]) -> Repaired {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("s.jsonl"), folder.path().join("out.jsonl"));
    fs::write(&source, file).unwrap();
    let mut actions = Vec::new();
    let report = repair::file(&source, &out, Existing::Refuse, |event| {
        if let RepairEvent::Action(action) = event {
            actions.push(format!("{}: {} {}", action.place.line, action.rule, action.message));
        }
    })
    .unwrap();
    assert_eq!(fs::read(&source).unwrap(), file);
    assert_eq!(report.actions, actions.len() as u64);
    let lost = report.lost.map(|path| fs::read(path).unwrap()).unwrap_or_default();
    assert_eq!(report.lost_bytes > 0, !lost.is_empty());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), if lost.is_empty() { 2 } else { 3 });
    Repaired { copy: fs::read(&out).unwrap(), lost, actions }
}

/// The remaining findings of a lenient check, without notes.
fn left(file: &[u8]) -> Vec<String> {
    let mut left = Vec::new();
    check::source(file, Some(Profile::Lenient), |finding| {
        if finding.severity > Severity::Note {
            left.push(format!("{}: {} {}", finding.place.line, finding.rule, finding.message));
        }
    })
    .unwrap();
    left
}

/// Repairs, checks the guarantees about the copy, and returns the result.
fn repaired(file: &[u8]) -> Repaired {
    let repaired = repair(file);
    assert_eq!(left(&repaired.copy), [""; 0], "{:?}", repaired.actions);
    let again = repair(&repaired.copy);
    assert_eq!(again.actions, [""; 0]);
    assert!(again.copy == repaired.copy);
    repaired
}

fn lines() -> Vec<String> {
    PARALLEL.lines().map(str::to_owned).collect()
}

fn joined(lines: &[String]) -> Vec<u8> {
    format!("{}\n", lines.join("\n")).into_bytes()
}

fn place_of<'a>(file: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    file.windows(part.len()).enumerate().filter(move |(_, found)| *found == part).map(|(at, _)| at)
}

fn entry_in(file: &[u8], line: usize) -> Entry {
    Entry::decode(file.split(|byte| *byte == b'\n').nth(line - 1).unwrap()).unwrap()
}

#[test]
fn a_file_without_damage_is_copied_byte_for_byte() {
    let spaced = format!("\n  {}\r\n\n", PARALLEL.trim_end());
    for file in [PARALLEL, &spaced, ""] {
        let repaired = repaired(file.as_bytes());
        assert!(repaired.copy == file.as_bytes());
        assert_eq!(repaired.actions, [""; 0]);
    }
}

#[test]
fn damaged_lines_give_what_is_whole_and_the_rest_is_set_aside() {
    let mut lines = lines();
    let torn = lines[32][..70].to_owned();
    lines[20].insert_str(0, &"\0".repeat(9000));
    let glued = format!("{}{}", &lines[9][..40], lines[10]);
    lines[10] = glued;
    lines.remove(9);
    let mut file = joined(&lines);
    let at = place_of(&file, b"go parallel\"},").next().unwrap();
    file[at] = 0xff;
    file.extend_from_slice(torn.as_bytes());
    let repaired = repaired(&file);
    assert_snapshot!(repaired.actions.join("\n"), @"
    3: invalid-utf8 Salvaged 1 entry, replaced invalid UTF-8 with U+FFFD in 1 entry
    10: glued-line Salvaged 1 entry, set aside 40 bytes that are not an entry
    20: nul-bytes Salvaged 1 entry, removed 9000 NUL bytes
    34: torn-tail Set aside 70 bytes that are not an entry
    ");
    assert_eq!(entry_in(&repaired.copy, 3).text(), "\u{fffd}o parallel");
    let lost = String::from_utf8_lossy(&repaired.lost);
    let lost: Vec<&str> = lost.lines().map(|line| &line[..40]).collect();
    assert_eq!(
        lost,
        [&PARALLEL.lines().nth(2).unwrap()[..40], &PARALLEL.lines().nth(9).unwrap()[..40], &torn[..40]]
    );
    // Every whole line is copied byte for byte.
    let copy = String::from_utf8(repaired.copy).unwrap();
    for (number, line) in PARALLEL.lines().enumerate().filter(|(number, _)| ![2, 9].contains(number)) {
        assert!(copy.lines().any(|copied| copied == line), "line {}", number + 1);
    }
}

#[test]
fn the_last_line_gets_its_end() {
    let repaired = repaired(PARALLEL.trim_end().as_bytes());
    assert!(repaired.copy == PARALLEL.as_bytes());
    assert_eq!(
        repaired.actions,
        ["34: line-end Terminated the last line, so that an appended line stays separate"]
    );
}

#[test]
fn f76_copies_become_one_entry_where_the_first_stood_with_what_the_last_says() {
    let mut lines = lines();
    lines.insert(3, lines[2].clone());
    let last = lines[2].replace("go parallel", "go on");
    lines.push(last.clone());
    let repaired = repaired(&joined(&lines));
    assert_snapshot!(repaired.actions.join("\n"), @"
    3: conflicting-copies Used the contents of the copy in line 36
    4: conflicting-copies Removed the copy of line 3, which has other contents
    36: conflicting-copies Moved to line 3, where the entry occurs first
    ");
    assert_eq!(entry_in(&repaired.copy, 3).raw(), last.as_bytes());
    assert_eq!(String::from_utf8_lossy(&repaired.copy).lines().count(), 34);
    assert_eq!(repaired.lost, format!("{0}\n{0}\n", lines[3]).as_bytes());
}

#[test]
fn f76_a_copy_that_is_whole_counts_more_than_one_that_is_not() {
    let mut lines = lines();
    lines.insert(3, lines[2].clone());
    let mut file = joined(&lines);
    let at = place_of(&file, b"go parallel\"},").last().unwrap();
    file[at] = 0xff;
    assert!(repaired(&file).copy == PARALLEL.as_bytes());
}

#[test]
fn f74_a_parent_that_is_not_there_becomes_the_entry_before_in_the_same_lane() {
    let mut lines = lines();
    lines.remove(6);
    let repaired = repaired(&joined(&lines));
    assert_snapshot!(repaired.actions.join("\n"), @"7: known-parent Linked to line 6 instead of a missing parent: `a7f3ebb2-8115-4fdb-9dd6-127dda48745d`");
    assert_eq!(entry_in(&repaired.copy, 7).parent_uuid(), entry_in(&repaired.copy, 6).uuid());
    // A sub-agent's entry follows the sub-agent's.
    let lane = |uuid: &str, parent: &str, agent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"isSidechain":{},"agentId":"{agent}","sessionId":"s","timestamp":"2026-11-15T00:00:00.000Z","message":{{"role":"user","content":"Hi"}}}}"#,
            !agent.is_empty()
        )
    };
    let file = [
        lane("1", "null", ""),
        lane("2", "null", "a"),
        lane("3", "\"x\"", ""),
        lane("4", "\"y\"", "a"),
        lane("5", "\"z\"", "b"),
    ];
    let copy = self::repaired(&joined(&file)).copy;
    let parents: Vec<_> =
        (1..=5).map(|line| entry_in(&copy, line).parent_uuid().map(std::borrow::Cow::into_owned)).collect();
    assert_eq!(parents, [None, None, Some("1".to_owned()), Some("2".to_owned()), None]);
}

#[test]
fn f78_a_ring_is_cut_at_its_first_entry() {
    let line = |uuid: &str, parent: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","sessionId":"s","timestamp":"2026-11-15T00:00:00.000Z","message":{{"role":"user","content":"Hi"}}}}"#
        )
    };
    for (parents, expected) in [
        (["1", "1", "2", "3"], ["", "1", "2", "3"]),
        (["4", "1", "2", "3"], ["", "1", "2", "3"]),
        (["2", "3", "2", "4"], ["2", "", "2", "3"]),
        (["2", "1", "4", "3"], ["", "1", "2", "3"]),
        (["9", "4", "9", "2"], ["", "1", "2", "2"]),
    ] {
        let file: Vec<String> =
            parents.iter().zip(1..).map(|(parent, number)| line(&number.to_string(), parent)).collect();
        let copy = repaired(&joined(&file)).copy;
        let found: Vec<String> = (1..=4)
            .map(|line| entry_in(&copy, line).parent_uuid().unwrap_or_default().into_owned())
            .collect();
        assert_eq!(found, expected, "{parents:?}");
    }
}

/// The next entry still refers to the uuid of the lost result, so the new one takes it.
#[test]
fn f83_a_lost_result_gets_a_stand_in_that_bears_its_name() {
    let mut lines = lines();
    let lost = Entry::decode(lines.remove(27).as_bytes()).unwrap();
    let repaired = repaired(&joined(&lines));
    assert_snapshot!(repaired.actions.join("\n"), @"23: tool-result-missing Added an error in place of the lost result of the Bash call `toolu_01ojR6iJwsYWfUtdduDiQJ4w`");
    let stand_in = entry_in(&repaired.copy, 28);
    assert_eq!(stand_in.uuid(), lost.uuid());
    assert_eq!(stand_in.parent_uuid(), lost.parent_uuid());
    assert_eq!(stand_in.session_id(), lost.session_id());
    let results = (stand_in.tool_results(), lost.tool_results());
    assert_eq!(results.0[0].tool_use_id, results.1[0].tool_use_id);
    assert!(results.0[0].is_error);
    assert!(stand_in.typed().refused.is_empty());
    // Every other line is unchanged.
    let copy = String::from_utf8(repaired.copy.clone()).unwrap();
    let others: Vec<&str> =
        copy.lines().enumerate().filter(|(at, _)| *at != 27).map(|(_, line)| line).collect();
    assert_eq!(others, lines);
}

#[test]
fn f83_a_lost_result_that_nothing_hangs_on_gets_a_stand_in_too() {
    for lost in [25, 26] {
        let mut lines = lines();
        let result = Entry::decode(lines.remove(lost).as_bytes()).unwrap();
        let repaired = repaired(&joined(&lines));
        assert_eq!(repaired.actions.len(), 1, "{:?}", repaired.actions);
        let stand_in = entry_in(&repaired.copy, 28);
        assert_eq!(stand_in.parent_uuid(), result.parent_uuid());
        assert_eq!(stand_in.uuid().unwrap().len(), 36);
    }
}

#[test]
fn f83_what_hung_on_the_call_hangs_on_the_stand_in() {
    let mut lines = lines();
    for _ in 0..3 {
        lines.remove(25);
    }
    let call = Entry::decode(lines[24].as_bytes()).unwrap().uuid().unwrap().into_owned();
    let orphan = Entry::decode(lines[25].as_bytes()).unwrap().parent_uuid().unwrap().into_owned();
    lines[25] = lines[25].replace(&orphan, &call);
    let repaired = repaired(&joined(&lines));
    assert_snapshot!(repaired.actions.join("\n"), @"
    23: tool-result-missing Added an error in place of the lost result of the Bash call `toolu_01ojR6iJwsYWfUtdduDiQJ4w`
    24: tool-result-missing Added an error in place of the lost result of the Read call `toolu_019WtMLC5VLEsN8GXSePNS1k`
    25: tool-result-missing Added an error in place of the lost result of the Bash call `toolu_01K7xbVqmEXpon5AY7SHhrHU`
    26: tool-result-missing Linked to the result that replaces the lost one
    ");
    assert_eq!(entry_in(&repaired.copy, 29).parent_uuid(), entry_in(&repaired.copy, 28).uuid());
}

#[test]
fn f83_in_seed_001_the_stand_in_is_a_system_entry() {
    let at = |number: u8, parent: u8| {
        let envelope = Envelope::seed(format!("m-{number}"), "2025-01-27T10:00:00Z", "s");
        if parent == 0 { envelope } else { envelope.after(format!("m-{parent}")) }
    };
    let bodies = [
        EntryBody::seed_user(at(1, 0), "Go"),
        EntryBody::seed_tool_use(at(2, 1), "Bash", Json::parse("{\"command\":\"ls\"}").unwrap()),
        EntryBody::seed_assistant(at(4, 3), AssistantSubtype::RESPONSE, "Done."),
    ];
    let lines: Vec<String> = bodies.iter().map(EntryBody::to_line).collect();
    let repaired = repaired(&joined(&lines));
    assert_snapshot!(String::from_utf8(repaired.copy.clone()).unwrap().lines().nth(2).unwrap(), @r#"{"type":"system","uuid":"m-3","parentUuid":"m-2","timestamp":"2025-01-27T10:00:00Z","sessionId":"s","subtype":"tool_result","message":"The result of this tool call was lost from the session file; whether the call had any effect is not known.","isError":true}"#);
    let strict = check::source(&repaired.copy[..], Some(Profile::Strict), |_| {}).unwrap();
    assert_eq!((strict.errors, strict.warnings), (0, 0));
}

/// The API rejects a result without a call, and `check` reports it.
#[test]
fn f83_a_result_whose_call_is_lost_becomes_text_that_says_so() {
    for call in [22, 23, 24] {
        let mut lines = lines();
        let lost = Entry::decode(lines.remove(call).as_bytes()).unwrap();
        let id = lost.tool_calls()[0].id.to_string();
        let answer =
            lines.iter().position(|line| line.contains("tool_result") && line.contains(&id)).unwrap();
        let before = Entry::decode(lines[answer].as_bytes()).unwrap();
        let repaired = repaired(&joined(&lines));
        let sentence = format!("Turned the result of a missing tool call into text: `{id}`");
        assert!(repaired.actions.iter().any(|action| action.ends_with(&sentence)), "{:?}", repaired.actions);
        let after = entry_in(&repaired.copy, answer + 1);
        assert_eq!((after.uuid(), after.tool_results().len()), (before.uuid(), 0));
        let (text, said) = (after.text(), before.tool_results()[0].content.unwrap().text().unwrap().get());
        assert!(text.contains(&id) && text.contains(&*said), "{text}");
        assert!(String::from_utf8_lossy(&repaired.lost).contains(&id));
    }
}

#[test]
fn f83_pictures_of_a_result_whose_call_is_lost_stay_pictures() {
    let picture = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}"#;
    let result = format!(
        r#"{{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{{"type":"text","text":"seen"}},{picture},{{"type":"odd"}}]}}"#
    );
    let line = format!(
        r#"{{"type":"user","uuid":"u","parentUuid":null,"isSidechain":false,"sessionId":"s","timestamp":"2026-11-15T00:00:00.000Z","message":{{"role":"user","content":[{{"type":"text","text":"also"}}, {result}]}}}}"#
    );
    let repaired = repaired(&joined(&[line]));
    let copy = String::from_utf8(repaired.copy).unwrap();
    assert_snapshot!(&copy[copy.find("[{").unwrap()..], @r#"[{"type":"text","text":"also"}, {"type":"text","text":"The call `t` of a tool was lost from the session file. The tool failed:"},{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"text","text":"{\"type\":\"odd\"}"}]}}"#);
    assert_eq!(repaired.lost, format!("{result}\n").as_bytes());
}

#[test]
fn a_call_at_the_end_is_left_to_the_cli() {
    let lines = lines();
    let repaired = repair(&joined(&lines[..25]));
    assert!(repaired.copy.starts_with(&joined(&lines[..18])));
    assert!(!repaired.actions.iter().any(|action| action.contains("tool-result-missing")));
}

#[test]
fn a_leaf_that_is_not_there_becomes_the_last_message() {
    let mut lines = lines();
    // The answer that both marks refer to is gone: the first one means the message before it.
    lines.truncate(32);
    let repaired = repaired(&joined(&lines));
    assert_snapshot!(repaired.actions.join("\n"), @"31: phantom-leaf Set the leaf to line 28, since the old one is missing: `d4326213-5d3f-4e76-a4c9-1b2f435a6a28`");
    assert_eq!(entry_in(&repaired.copy, 31).leaf_uuid(), entry_in(&repaired.copy, 28).uuid());
}

#[test]
fn a_line_that_is_too_long_stays_and_its_children_keep_their_parent() {
    let blank = " ".repeat(tidings_transcript::limits::LINE_BYTES_MAX);
    for (long, colon) in [(26, ":"), (27, ": "), (23, "\t:\r ")] {
        let mut lines = lines();
        for key in ["uuid", "tool_use_id", "id"] {
            lines[long] = lines[long].replace(&format!("\"{key}\":"), &format!("\"{key}\"{colon}"));
        }
        lines[long].insert_str(1, &blank);
        let file = joined(&lines);
        let repaired = repair(&file);
        assert_eq!(repaired.actions, [""; 0]);
        assert!(repaired.copy == file);
    }
}

#[cfg(unix)]
#[test]
fn the_copy_has_the_permissions_of_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("s.jsonl"), folder.path().join("out.jsonl"));
    fs::write(&source, DAMAGED).unwrap();
    for mode in [0o600, 0o640] {
        fs::set_permissions(&source, fs::Permissions::from_mode(mode)).unwrap();
        repair::file(&source, &out, Existing::Replace, |_| {}).unwrap();
        let mode_of = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode_of(&out), mode);
        assert_eq!(mode_of(&folder.path().join("out.jsonl.lost")), mode);
    }
}

#[test]
fn nothing_is_overwritten_unless_asked_and_the_file_itself_never() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("s.jsonl");
    fs::write(&source, DAMAGED).unwrap();
    let out = folder.path().join("out.jsonl");
    let mut refused = vec![(source.clone(), Existing::Replace)];
    #[cfg(unix)]
    {
        let link = folder.path().join("link.jsonl");
        std::os::unix::fs::symlink(&source, &link).unwrap();
        let hard = folder.path().join("hard.jsonl");
        fs::hard_link(&source, &hard).unwrap();
        refused.extend([(link, Existing::Replace), (hard, Existing::Replace)]);
    }
    fs::write(&out, "mine").unwrap();
    refused.push((out.clone(), Existing::Refuse));
    let beside = folder.path().join("other.jsonl");
    fs::write(folder.path().join("other.jsonl.lost"), "mine").unwrap();
    refused.push((beside, Existing::Refuse));
    for (path, existing) in refused {
        let error = repair::file(&source, &path, existing, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(fs::read(&source).unwrap(), DAMAGED.as_bytes());
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    repair::file(&source, &out, Existing::Replace, |_| {}).unwrap();
    assert_eq!(fs::read(&out).unwrap(), b"{\"type\":\"summary\",\"summary\":\"x\"}\n");
}

/// The uuids of all entries, those in damaged lines too.
fn uuids(file: &[u8]) -> std::collections::BTreeSet<String> {
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(file, &mut buffer);
    let mut uuids = std::collections::BTreeSet::new();
    while let Some(line) = reader.next().unwrap() {
        match line.content {
            Content::Entry(entry) => uuids.extend(entry.uuid().map(Into::into)),
            Content::Damaged(damage) => {
                uuids.extend(damage.salvaged.iter().filter_map(|saved| saved.entry.uuid().map(Into::into)));
            }
            Content::Blank => {}
        }
    }
    uuids
}

/// The rules that a repair restores. Others, such as that of a repeated key, are out of its scope.
const REPAIRED: [&str; 14] = [
    "torn-tail",
    "cut-line",
    "glued-line",
    "nul-bytes",
    "invalid-utf8",
    "not-an-object",
    "invalid-json",
    "duplicate-line",
    "conflicting-copies",
    "known-parent",
    "parent-cycle",
    "tool-result-missing",
    "tool-call-missing",
    "phantom-leaf",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happened_the_copy_is_whole_and_needs_no_further_repair(harms in prop::collection::vec(harm(), 0..8)) {
        // The long lines of the request log add nothing here but time.
        let short: Vec<String> = lines().into_iter().filter(|line| line.len() < 1400).collect();
        let file = harmed(joined(&short), &harms);
        let repaired = repair(&file);
        let left = left(&repaired.copy);
        prop_assert!(
            !left.iter().any(|found| REPAIRED.iter().any(|rule| found.split(' ').nth(1) == Some(rule))),
            "{:?}\n{:?}", left, repaired.actions
        );
        prop_assert!(uuids(&repaired.copy).is_superset(&uuids(&file)));
        let again = repair(&repaired.copy);
        prop_assert_eq!(again.actions, Vec::<String>::new());
        prop_assert!(again.copy == repaired.copy);
    }
}

#[test]
fn entries_with_an_empty_uuid_are_all_kept() {
    let mut lines = lines();
    let last = lines.iter().rposition(|line| line.contains("\"type\":\"assistant\"")).unwrap();
    let at = lines[last].rfind("\"uuid\":\"").unwrap() + "\"uuid\":\"".len();
    let end = at + lines[last][at..].find('"').unwrap();
    let nameless = format!("{}{}", &lines[last][..at], &lines[last][end..]);
    lines.extend(["One ", "Two "].map(|word| nameless.replace("\"text\":\"", &format!("\"text\":\"{word}"))));
    let repaired = repair(&joined(&lines));
    assert_eq!((repaired.actions, repaired.lost), (Vec::new(), Vec::new()));
    assert_eq!(repaired.copy, joined(&lines));
}

#[test]
fn c6_a_repair_that_would_keep_no_entry_fails_and_writes_nothing() {
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = [&[0xff, 0xfe][..], &utf_16(PARALLEL)].concat();
    let big: Vec<u8> = PARALLEL.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, says) in [
        (marked, "UTF-16"),
        (utf_16(PARALLEL), "UTF-16"),
        (big, "UTF-16"),
        (b"root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1\n".to_vec(), "session entry"),
        (vec![0; 4096], "session entry"),
        (b"[1,2,3]\n".to_vec(), "session entry"),
        (b"\n\n".to_vec(), "session entry"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (source, out) = (folder.path().join("s.jsonl"), folder.path().join("out.jsonl"));
        fs::write(&source, &bytes).unwrap();
        let error = repair::file(&source, &out, Existing::Refuse, |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains(says) && !error.hint().is_empty(), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{error}");
        assert_eq!(fs::read(&source).unwrap(), bytes);
        let mut rules = Vec::new();
        check::file(&source, None, |event| {
            if let check::CheckEvent::Finding { finding, .. } = event {
                rules.push(finding.rule.as_str());
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(says == "UTF-16", rules == ["utf-16"], "{rules:?}");
    }
}
