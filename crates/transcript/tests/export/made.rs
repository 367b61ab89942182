//! Synthetic sessions for cases without a recording.

use std::fs;
use std::path::Path;

use tidings_transcript::export::{Branches, Format, Options, export, find_branch};
use tidings_transcript::session::{LaneId, Session};

use super::{balance, full, only_session, text, write};
use crate::test_root::TestRoot;

pub(crate) const ID: &str = "00000000-0000-4000-8000-000000000001";

/// A root with one session of these lines.
pub(crate) fn root(lines: &[String]) -> TestRoot {
    let root = TestRoot::new();
    root.write(&format!("-p/{ID}.jsonl"), &(lines.join("\n") + "\n"));
    root
}

pub(crate) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn envelope(uuid: &str, parent: Option<&str>, second: u32) -> String {
    let parent = parent.map_or("null".to_owned(), json);
    format!(
        r#""uuid":"{uuid}","parentUuid":{parent},"isSidechain":false,"sessionId":"{ID}","timestamp":"2026-11-14T10:00:{second:02}.000Z","cwd":"/p","version":"2.1.325","gitBranch":"main","userType":"external""#
    )
}

pub(crate) fn prompt(uuid: &str, parent: Option<&str>, second: u32, content: &str) -> String {
    format!(
        r#"{{"type":"user",{},"message":{{"role":"user","content":{content}}}}}"#,
        envelope(uuid, parent, second)
    )
}

pub(crate) fn answer(uuid: &str, parent: &str, second: u32, blocks: &str) -> String {
    format!(
        r#"{{"type":"assistant",{},"message":{{"id":"msg-{uuid}","type":"message","role":"assistant","model":"claude-test","content":[{blocks}],"usage":{{"input_tokens":{},"output_tokens":1}}}}}}"#,
        envelope(uuid, Some(parent), second),
        second * 1000
    )
}

pub(crate) fn result(uuid: &str, parent: &str, second: u32, id: &str, content: &str, kept: &str) -> String {
    format!(
        r#"{{"type":"user",{},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}]}},"toolUseResult":{kept},"sourceToolAssistantUUID":"{parent}"}}"#,
        envelope(uuid, Some(parent), second)
    )
}

pub(crate) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, json(text))
}

pub(crate) fn call(id: &str, name: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":{},"input":{input}}}"#, json(name))
}

#[test]
fn f89_a_long_output_is_cut_in_the_middle_and_says_so() {
    let lines: Vec<String> = (0..5000).map(|line| format!("line {line}\n")).collect();
    let output = lines.concat();
    let kept = format!(r#"{{"stdout":{},"stderr":"","interrupted":false}}"#, json(&output));
    let root = root(&[
        prompt("u1", None, 0, "\"go\""),
        answer("a1", "u1", 1, &call("t1", "Bash", r#"{"command":"make"}"#)),
        result("r1", "a1", 2, "t1", &json(&output), &kept),
        answer("a2", "r1", 3, &text_block("done")),
    ]);
    let files = only_session(root.path());
    for format in [Format::Markdown, Format::Html] {
        let folded = write(&files, format, &Options::default(), None);
        assert!(folded.contains("line 0\n") && folded.contains("line 4999"), "the ends are there");
        assert!(!folded.contains("line 2500\n"), "the middle is not");
        assert!(folded.contains("KB not shown"), "{folded}");
        let whole = write(&files, format, &full(), None);
        assert_eq!(whole.matches("line 2500\n").count(), 1);
    }
    let shown = write(&files, text(), &Options::default(), None);
    assert!(shown.contains("• Bash make → 5000 lines, 48 KB in 1.0 s"), "{shown}");
}

#[test]
fn an_output_in_a_file_of_its_own_is_taken_in_and_no_other_file_is() {
    let kept = |path: &str| {
        format!(r#"{{"stdout":"preview","persistedOutputPath":{},"persistedOutputSize":12}}"#, json(path))
    };
    let lines = |path: &str| {
        vec![
            prompt("u1", None, 0, "\"go\""),
            answer("a1", "u1", 1, &call("t1", "Bash", r#"{"command":"make"}"#)),
            result("r1", "a1", 2, "t1", "\"<persisted-output>preview\"", &kept(path)),
        ]
    };
    let whole = root(&lines(&format!("/home/dev/.claude/projects/-p/{ID}/tool-results/b1.txt")));
    whole.write(&format!("-p/{ID}/tool-results/b1.txt"), "the whole output\n");
    let shown = write(&only_session(whole.path()), Format::Markdown, &Options::default(), None);
    assert!(shown.contains("the whole output") && !shown.contains("preview"), "{shown}");

    for path in ["../../../secret.txt", "/etc/hostname", "..", "tool-results/../../x", ""] {
        let root = root(&lines(path));
        fs::write(root.path().join("secret.txt"), "outside").unwrap();
        fs::create_dir_all(root.file(&format!("-p/{ID}/tool-results"))).unwrap();
        let shown = write(&only_session(root.path()), Format::Markdown, &Options::default(), None);
        assert!(shown.contains("preview") && !shown.contains("outside"), "{path}: {shown}");
    }
}

#[test]
fn calls_of_one_id_are_shown_with_their_own_results() {
    let root = root(&[
        prompt("u1", None, 0, "\"go\""),
        answer("a1", "u1", 1, &call("call_0", "Bash", r#"{"command":"one"}"#)),
        result("r1", "a1", 2, "call_0", "\"OUTPUT-1\"", "null"),
        answer("a2", "r1", 3, &call("call_0", "Bash", r#"{"command":"two"}"#)),
        result("r2", "a2", 4, "call_0", "\"OUTPUT-2\"", "null"),
    ]);
    let files = only_session(root.path());
    for format in [text(), Format::Markdown, Format::Html] {
        let shown = write(&files, format, &full(), None);
        let places = ["one", "OUTPUT-1", "two", "OUTPUT-2"].map(|part| shown.rfind(part).unwrap());
        assert!(places.is_sorted(), "{shown}");
        assert!(!shown.contains("Tool Result") && !shown.contains("no result"), "{shown}");
    }
}

/// Full detail includes everything that the special views of commands and edits do not show.
#[test]
fn full_leaves_out_no_input_and_no_output() {
    let bash = r#"{"command":"ls","description":"DESCR","timeout":98765,"run_in_background":true}"#;
    let edit = r#"{"file_path":"/a","old_string":"OLD","new_string":"NEW","replace_all":true}"#;
    let text_of_12 = "one\\n".repeat(12);
    let write_input = format!(r#"{{"file_path":"/b","content":"FIRST\n{text_of_12}LAST"}}"#);
    let patch = r#"{"filePath":"/b","content":"x","structuredPatch":[{"oldStart":14,"oldLines":1,"newStart":14,"newLines":1,"lines":["-WAS","+LAST"]}]}"#;
    let root = root(&[
        prompt("u1", None, 0, "\"go\""),
        answer("a1", "u1", 1, &call("t1", "Bash", bash)),
        result("r1", "a1", 2, "t1", "\"GAVE-BASH\"", "null"),
        answer("a2", "r1", 3, &call("t2", "Edit", edit)),
        result("r2", "a2", 4, "t2", "\"GAVE-EDIT\"", "null"),
        answer("a3", "r2", 5, &call("t3", "Write", &write_input)),
        result("r3", "a3", 6, "t3", "\"GAVE-WRITE\"", patch),
    ]);
    let files = only_session(root.path());
    let more =
        ["description: DESCR", "timeout: 98765", "run_in_background: true", "replace_all: true", "FIRST"];
    for format in [text(), Format::Markdown, Format::Html] {
        let shown = write(&files, format, &full(), None);
        let wanted = more.iter().chain(&["GAVE-BASH", "GAVE-EDIT", "GAVE-WRITE", "OLD", "NEW", "WAS"]);
        let missing: Vec<_> = wanted.filter(|part| !shown.contains(**part)).collect();
        assert!(missing.is_empty(), "{missing:?}\n{shown}");
        // Text in the diff is not repeated.
        assert!(!shown.contains("old_string") && !shown.contains("new_string"), "{shown}");
        let folded = write(&files, format, &Options::default(), None);
        assert!(!more.iter().any(|part| folded.contains(part)), "{folded}");
    }
}

#[test]
fn s1_26_abandoned_branches_stand_where_they_fork_off() {
    let root = root(&[
        prompt("u1", None, 0, "\"first\""),
        answer("a1", "u1", 1, &text_block("one")),
        prompt("u2", Some("a1"), 2, "\"wrong way\""),
        answer("a2", "u2", 3, &text_block("lost")),
        prompt("u3", Some("a1"), 4, "\"right way\""),
        answer("a3", "u3", 5, &text_block("found")),
    ]);
    let files = only_session(root.path());
    let session = Session::open(&files).unwrap();
    let active = write(&files, text(), &Options::default(), None);
    assert!(active.contains("right way") && !active.contains("wrong way"), "{active}");
    for name in ["2", "u2", "a2"] {
        let options =
            Options { branches: Branches::One(find_branch(&session, name).unwrap()), ..Options::default() };
        let other = write(&files, text(), &options, None);
        assert!(other.contains("wrong way") && !other.contains("right way"), "{name}: {other}");
    }
    assert!(find_branch(&session, "9").is_err());
    assert_eq!(session.branches(LaneId::MAIN).len(), 2);
    let page = write(&files, Format::Html, &Options { branches: Branches::All, ..Options::default() }, None);
    let (fork, wrong, right) = (
        page.find("<p>one").unwrap(),
        page.find("<p>wrong way").unwrap(),
        page.find("<p>right way").unwrap(),
    );
    assert!(fork < wrong && wrong < right);
    assert!(page.contains("<b>Branch 2</b><span class=\"about\">abandoned</span>"));
    assert_eq!(balance::complaints(&page), Vec::<String>::new());
}

#[test]
fn s1_52_the_flat_dialect_of_the_page_reads_the_same() {
    let line = |rest: &str| format!(r#"{{{rest},"sessionId":"s","timestamp":"2026-11-14T10:00:00Z"}}"#);
    let root = root(&[
        line(r#""type":"user","uuid":"1","message":"Make a file""#),
        line(
            r#""type":"assistant","uuid":"2","parentUuid":"1","subtype":"response","message":"I will write it.""#,
        ),
        line(
            r#""type":"assistant","uuid":"3","parentUuid":"2","subtype":"tool_use","toolName":"Write","toolArguments":{"file_path":"/a.txt","content":"hello"}"#,
        ),
        line(
            r#""type":"system","uuid":"4","parentUuid":"3","subtype":"tool_result","message":"File written""#,
        ),
        line(
            r#""type":"assistant","uuid":"5","parentUuid":"4","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#,
        ),
        line(
            r#""type":"system","uuid":"6","parentUuid":"5","subtype":"error","isError":true,"message":"Disk full""#,
        ),
    ]);
    let files = only_session(root.path());
    insta::assert_snapshot!("seed_text", write(&files, text(), &Options::default(), None));
    insta::assert_snapshot!("seed_markdown", write(&files, Format::Markdown, &Options::default(), None));
}

#[test]
fn an_empty_or_damaged_session_is_still_a_page() {
    for lines in [
        vec![],
        vec!["not json".to_owned(), "{\"type\":\"user\"".to_owned()],
        vec![prompt("u1", None, 0, "\"\"")],
    ] {
        let root = root(&lines);
        let files = only_session(root.path());
        for format in [text(), Format::Markdown, Format::Html, Format::Json, Format::JsonLines] {
            let shown = write(&files, format, &full(), None);
            if format == Format::Html {
                assert_eq!(balance::complaints(&shown), Vec::<String>::new());
            }
        }
    }
}

#[test]
fn sub_agents_that_no_call_started_are_shown_at_the_end() {
    let root = root(&[prompt("u1", None, 0, "\"go\""), answer("a1", "u1", 1, &text_block("done"))]);
    let line = prompt("s1", None, 5, "\"look around\"")
        .replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"x1\"");
    root.write(&format!("-p/{ID}/subagents/agent-x1.jsonl"), &(line + "\n"));
    let shown = write(&only_session(root.path()), text(), &Options::default(), None);
    assert!(shown.find("done").unwrap() < shown.find("look around").unwrap(), "{shown}");
}

/// Some servers give one id to all calls of a response; each is still shown with its own result.
#[test]
fn calls_of_one_id_in_one_entry_are_shown_with_their_own_results() {
    let calls = [
        call("call_0", "Bash", r#"{"command":"first"}"#),
        call("call_0", "Bash", r#"{"command":"second"}"#),
        call("call_0", "Read", r#"{"file_path":"/third"}"#),
    ];
    let both = result("r1", "a1", 2, "call_0", "\"ONE\"", "null").replace(
        "\"ONE\"}",
        "\"ONE\"},{\"type\":\"tool_result\",\"tool_use_id\":\"call_0\",\"content\":\"TWO\"}",
    );
    let root = root(&[
        prompt("u1", None, 0, "\"go\""),
        answer("a1", "u1", 1, &calls.join(",")),
        both,
        result("r2", "a1", 3, "call_0", "\"THREE\"", "null"),
        answer("a2", "r2", 4, &text_block("done")),
    ]);
    let files = only_session(root.path());
    let text = write(&files, Format::Markdown, &full(), None);
    let places = ["first", "ONE", "second", "TWO", "/third", "THREE", "done"].map(|word| text.find(word));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?} {text}");
    assert!(["ONE", "TWO", "THREE"].iter().all(|word| text.matches(word).count() == 1), "{text}");
    let json = write(&files, Format::Json, &full(), None);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let entries = json["entries"].as_array().unwrap();
    let named: Vec<(&str, &str)> = entries
        .iter()
        .flat_map(|entry| entry["results"].as_array().into_iter().flatten())
        .map(|result| (result["name"].as_str().unwrap(), result["text"].as_str().unwrap()))
        .collect();
    assert_eq!(named, [("Bash", "ONE"), ("Bash", "TWO"), ("Read", "THREE")]);
}

/// The first branch has one call, and the second one two, of which one failed.
#[test]
fn c26_all_numbers_of_the_head_are_about_the_branches_that_are_shown() {
    let failed = r#"{"type":"user","uuid":"r3","parentUuid":"a3","isSidechain":false,"timestamp":"2026-11-14T10:00:08.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","content":"no","is_error":true}]},"sourceToolAssistantUUID":"a3"}"#;
    let root = root(&[
        prompt("u1", None, 0, "\"go\""),
        answer("a1", "u1", 1, &call("t1", "Bash", r#"{"command":"make"}"#)),
        result("r1", "a1", 2, "t1", "\"ok\"", r#"{"stdout":"ok"}"#),
        answer("a2", "r1", 3, &text_block("done")),
        prompt("u2", Some("a2"), 4, "\"first\""),
        answer("a3", "u2", 5, &call("t3", "Read", r#"{"file_path":"/p/x"}"#)),
        failed.to_owned(),
        prompt("u3", Some("a2"), 9, "\"second\""),
        answer("a4", "u3", 10, &text_block("fine")),
    ]);
    let files = only_session(root.path());
    let session = Session::open(&files).unwrap();
    let head = |branches: Branches| {
        let shown = write(&files, text(), &Options { branches, ..Options::default() }, None);
        shown.lines().find(|line| line.contains("prompt")).unwrap().to_owned()
    };
    let first = find_branch(&session, "a3").unwrap();
    assert_eq!(
        head(Branches::Active),
        "2 prompts · 3 responses · 1 tool call · 2 branches · 3 entries of other branches not shown"
    );
    assert_eq!(
        head(Branches::One(first)),
        "2 prompts · 3 responses · 2 tool calls · 1 error · 2 branches · 2 entries of other branches not shown"
    );
    assert_eq!(head(Branches::All), "3 prompts · 4 responses · 2 tool calls · 1 error · 2 branches");
}

#[test]
fn c32_an_export_that_cannot_be_written_says_the_reason_once() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let root = root(&[prompt("u1", None, 0, "\"go\"")]);
    let files = only_session(root.path());
    let session = Session::open(&files).unwrap();
    let error = export(&session, &files, text(), &Options::default(), None, &mut Full).unwrap_err();
    assert_eq!(error.to_string(), "Failed to write the export");
    let missing = fs_err::File::open("/nowhere/at all").unwrap_err();
    let error = tidings_transcript::Error::io("read", Path::new("/nowhere/at all"), missing);
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        (error.to_string().as_str(), reason.contains("/nowhere")),
        ("Failed to read `/nowhere/at all`", false)
    );
}
