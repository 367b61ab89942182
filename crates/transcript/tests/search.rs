//! Search results, their positions and their order.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::time::{Duration, SystemTime};

use tidings_transcript::search::{self, Case, Options, Role, SearchFlow, SearchQuery, Sidechains, Syntax};
use tidings_transcript::{ChangedInputs, ErrorKind};

use crate::test_root::TestRoot;

/// A root with one session, `s`, with these lines.
fn session(lines: &[&str]) -> TestRoot {
    let root = TestRoot::new();
    root.write("p/s.jsonl", &lines.join("\n"));
    root
}

fn literal(pattern: &str) -> Options {
    Options { pattern: pattern.into(), ..Options::default() }
}

/// Hits as `session:line role tool: text`.
fn found(root: &TestRoot, options: Options) -> Vec<String> {
    let sessions = root.sessions();
    let mut found = Vec::new();
    let summary = search::run(&sessions, &SearchQuery::new(options).unwrap(), |hit| {
        let role = hit.role.map_or("?".to_owned(), |role| format!("{role:?}").to_lowercase());
        let tool = hit.tool.map(|tool| format!(" {tool}")).unwrap_or_default();
        let name = hit.file.path.file_stem().unwrap().to_string_lossy().into_owned();
        found.push(format!("{name}:{} {role}{tool}: {}", hit.line, hit.excerpt.parts().1));
        SearchFlow::Continue
    });
    assert!(summary.unreadable.is_empty());
    found
}

fn lines(root: &TestRoot, options: Options) -> Vec<usize> {
    let line = |hit: String| hit.split([':', ' ']).nth(1).unwrap().parse().unwrap();
    found(root, options).into_iter().map(line).collect()
}

#[test]
fn text_is_found_however_it_is_escaped() {
    let says = |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}");
    let check = |needle: &str, written: &str| {
        let root = session(&[&says("something else"), &says(&format!("before {written} after"))]);
        assert_eq!(lines(&root, literal(needle)), [2], "{needle} as {written}");
        let ignoring = Options { case: Case::Ignore, ..literal(&needle.to_uppercase()) };
        assert_eq!(lines(&root, ignoring), [2], "{needle} as {written}, any case");
        let regex = Options { syntax: Syntax::Regex, ..literal(&regex::escape(needle)) };
        assert_eq!(lines(&root, regex), [2], "{needle} as {written}, as a regex");
    };
    check("plain word", "plain word");
    check("say \"hi\"", r#"say \"hi\""#);
    check("say \"hi\"", r"say \u0022hi\u0022");
    check(r"C:\users\u0041", r"C:\\users\\u0041");
    check("one\ntwo", r"one\ntwo");
    check("one\ntwo", r"one\u000atwo");
    check("a\tb", r"a\tb");
    check("src/main.rs", "src/main.rs");
    check("src/main.rs", r"src\/main.rs");
    check("src/main.rs", r"src\u002Fmain.rs");
    check("café", "café");
    check("café", r"caf\u00e9");
    check("café", r"caf\u00E9");
    check("go 🚀 now", "go 🚀 now");
    check("go 🚀 now", r"go \ud83d\ude80 now");
    check("Alpha", r"\u0041lpha");
    check("a\u{1b}[31mred", r"a\u001b[31mred");
    check("\"", r#"\""#);
    check("\n", r"\n");
    check("\\", r"\\");
}

#[test]
fn case_matters_unless_it_is_ignored() {
    let root = session(&[
        r#"{"type":"user","message":{"content":"Straße KELVIN"}}"#,
        "{\"type\":\"user\",\"message\":{\"content\":\"straße \u{212a}elvin\"}}",
        r#"{"type":"user","message":{"content":"straSSe \u212aelvin"}}"#,
    ]);
    assert_eq!(lines(&root, literal("kelvin")), [0; 0]);
    assert_eq!(lines(&root, Options { case: Case::Ignore, ..literal("kelvin") }), [1, 2, 3]);
    assert_eq!(lines(&root, Options { case: Case::Ignore, ..literal("STRAßE") }), [1, 2]);
}

/// One line of each kind, with text and without; the word in each is its line's number.
const KINDS: &[&str] = &[
    r#"{"type":"user","uuid":"u-1","cwd":"/home/dev/parser","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"needle prompt"}}"#,
    r#"{"type":"assistant","uuid":"u-2","cwd":"/home/dev/parser","timestamp":"2026-11-02T10:00:00.000Z","message":{"role":"assistant","id":"m-1","model":"needle-model","content":[{"type":"thinking","thinking":"needle thought","signature":"needle"}]}}"#,
    r#"{"type":"assistant","uuid":"u-3","timestamp":"2026-11-03T10:00:00.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t-1","name":"Bash","input":{"command":"needle --run","type":"x"}}]}}"#,
    r#"{"type":"user","uuid":"u-4","timestamp":"2026-11-04T10:00:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t-1","content":"needle output"}]},"toolUseResult":{"stdout":"needle output","stderr":""}}"#,
    r#"{"type":"user","uuid":"u-5","timestamp":"2026-11-05T10:00:00.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t-1","content":[{"type":"text","text":"done"}]}]},"toolUseResult":{"originalFile":"the needle was here"}}"#,
    r#"{"type":"summary","summary":"needle summed up","leafUuid":"needle"}"#,
    r#"{"type":"custom-title","customTitle":"needle title","sessionId":"needle"}"#,
    r#"{"type":"attachment","uuid":"u-8","attachment":{"type":"needle","content":"needle attached"}}"#,
    r#"{"type":"system","uuid":"u-9","subtype":"informational","content":"needle said"}"#,
    r#"{"type":"user","uuid":"u-10","isCompactSummary":true,"message":{"role":"user","content":"needle summary"}}"#,
    r#"{"type":"user","uuid":"u-11","isMeta":true,"message":{"role":"user","content":"needle meta"}}"#,
    r#"{"type":"queue-operation","operation":"enqueue","content":"needle queued"}"#,
    r#"{"type":"brand-new","note":{"deep":["needle of tomorrow"]}}"#,
    r#"{"type":"user","uuid":"needle","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"needle","data":"iVBO"}}]}}"#,
    r#"{"type":"api-request-blob","hash":"x","message":{"role":"user","content":"needle prompt"}}"#,
    r#"{"type":"file-history-snapshot","messageId":"needle","snapshot":{"messageId":"needle"}}"#,
];

#[test]
fn everything_that_a_person_reads_is_searched_and_ids_are_not() {
    let root = session(KINDS);
    insta::assert_snapshot!(found(&root, Options { syntax: Syntax::Regex, ..literal("needle.*") }).join("\n"), @"
    s:1 user: needle prompt
    s:2 assistant: needle thought
    s:3 assistant Bash: needle --run
    s:4 tool Bash: needle output
    s:5 tool Bash: needle was here
    s:6 system: needle summed up
    s:7 system: needle title
    s:8 system: needle attached
    s:9 system: needle said
    s:10 system: needle summary
    s:11 system: needle meta
    s:12 user: needle queued
    s:13 system: needle of tomorrow
    ");
}

/// Tool output stands twice in a line, in the message and in the structured result
/// (anthropics/claude-code#85179).
#[test]
fn f89_output_that_stands_twice_in_a_line_is_found_once() {
    let root = session(&KINDS[2..4]);
    assert_eq!(lines(&root, literal("needle output")), [2]);
}

#[test]
fn a_picture_is_no_text() {
    let data = "QUJDneedleREVG".repeat(200);
    let line = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}]}}}}"#
    );
    let root = session(&[&line]);
    assert_eq!(lines(&root, literal("needle")), [0; 0]);
}

#[test]
fn filters_leave_out_what_does_not_fit() {
    let root = session(KINDS);
    let check = |options: Options, expected: &[usize]| {
        assert_eq!(lines(&root, options.clone()), expected, "{options:?}");
    };
    let needle = || literal("needle");
    let time = |text: &str| Some(text.parse().unwrap());
    check(Options { roles: vec![Role::User], ..needle() }, &[1, 12]);
    check(Options { roles: vec![Role::Tool, Role::Assistant], ..needle() }, &[2, 3, 4, 5]);
    check(Options { tool: Some("Bash".into()), ..needle() }, &[3, 4, 5]);
    check(Options { tool: Some("Bash".into()), roles: vec![Role::Tool], ..needle() }, &[4, 5]);
    check(Options { tool: Some("Read".into()), ..needle() }, &[]);
    // Lines without a folder belong to the folder that the session began in.
    check(Options { project: Some("dev/pars".into()), ..literal("needle t") }, &[2, 7]);
    check(Options { project: Some("elsewhere".into()), ..needle() }, &[]);
    check(
        Options { since: time("2026-11-03T00:00:00Z"), until: time("2026-11-05T00:00:00Z"), ..needle() },
        &[3, 4],
    );
}

#[test]
fn a_line_without_a_time_is_as_old_as_its_file() {
    let root = session(KINDS);
    let year_2000 = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
    fs::File::open(root.file("p/s.jsonl")).unwrap().set_modified(year_2000).unwrap();
    let until = Some("2001-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(lines(&root, Options { until, ..literal("needle") }), [6, 7, 8, 9, 10, 11, 12, 13]);
}

#[test]
fn the_tool_of_a_result_is_known_even_if_its_call_stands_far_above() {
    let padding = format!(r#"{{"type":"system","content":"{}"}}"#, "x ".repeat(200_000));
    let mut lines = vec![KINDS[2]];
    lines.extend([padding.as_str(); 8]);
    lines.push(KINDS[3]);
    let root = session(&lines);
    assert_eq!(found(&root, literal("needle output")), ["s:10 tool Bash: needle output"]);
}

#[test]
fn damaged_lines_are_searched_too() {
    let mut file = Vec::new();
    let lines: [&[u8]; 6] = [
        b"no JSON at all, needle \"quoted\"",
        b"{\"type\":\"user\",\"message\":{\"content\":\"cut needle \\\"quoted\\\" off",
        b"{\"type\":\"user\",\"message\":{\"content\":\"bad \xff\xfe needle \\\"quoted\\\"\"},\"uuid\":\"u-3\"}",
        b"\0\0\0\0{\"type\":\"user\",\"uuid\":\"u-4\",\"message\":{\"content\":\"after nul: needle \\\"quoted\\\"\"}}",
        b"[\"needle \\\"quoted\\\"\"]",
        b"{\"type\":\"user\",\"message\":{\"content\":\"torn \\u006eeedle \\\"quoted\\\" \\u00",
    ];
    for line in lines {
        file.extend_from_slice(line);
        file.push(b'\n');
    }
    let root = TestRoot::new();
    fs::write(root.write("p/s.jsonl", ""), &file).unwrap();
    let found = found(&root, literal("needle \"quoted\""));
    insta::assert_snapshot!(found.join("\n"), @r#"
    s:1 ?: needle "quoted"
    s:2 ?: needle "quoted"
    s:3 user: needle "quoted"
    s:4 user: needle "quoted"
    s:5 ?: needle "quoted"
    s:6 ?: needle "quoted"
    "#);
}

#[test]
fn sub_agents_are_searched_after_their_session_unless_they_are_left_out() {
    let root = session(&[r#"{"type":"user","message":{"content":"needle"}}"#]);
    let agent = r#"{"type":"user","isSidechain":true,"sessionId":"s","message":{"content":"needle"}}"#;
    root.write("p/s/subagents/agent-b.jsonl", agent);
    root.write("p/s/subagents/agent-a.jsonl", agent);
    let all = ["s:1 user: needle", "agent-a:1 user: needle", "agent-b:1 user: needle"];
    assert_eq!(found(&root, literal("needle")), all);
    let main = Options { sidechains: Sidechains::LeaveOut, ..literal("needle") };
    assert_eq!(found(&root, main), all[..1]);
}

/// Many sessions of different sizes, so that two threads finish them out of order.
fn many() -> TestRoot {
    let root = TestRoot::new();
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for number in 0..40u64 {
        let lines = if number % 7 == 0 { 3000 } else { 1 + number };
        let line = r#"{"type":"user","message":{"content":"needle"}}"#;
        let name = format!("p{}/s{number:02}.jsonl", number % 3);
        let content = vec![line; usize::try_from(lines).unwrap()].join("\n");
        let file = fs::File::open(root.write(&name, &content)).unwrap();
        file.set_modified(start + Duration::from_secs(number)).unwrap();
    }
    root
}

#[test]
fn hits_come_newest_session_first_and_line_by_line_whatever_the_threads_do() {
    let root = many();
    let sessions = root.sessions();
    let query = SearchQuery::new(literal("needle")).unwrap();
    let mut order = Vec::new();
    search::run(&sessions, &query, |hit| {
        order.push((std::cmp::Reverse(hit.session.id.clone()), hit.line));
        SearchFlow::Continue
    });
    assert_eq!(
        order.len(),
        6 * 3000 + (0..40).filter(|number| number % 7 != 0).map(|number| 1 + number).sum::<usize>()
    );
    assert!(order.is_sorted());
    assert_eq!(order[0], (std::cmp::Reverse("s39".to_owned()), 1));
}

#[test]
fn a_search_stops_or_skips_to_the_next_session_when_told() {
    let root = many();
    let sessions = root.sessions();
    let query = SearchQuery::new(literal("needle")).unwrap();
    let mut ids = Vec::new();
    search::run(&sessions, &query, |hit| {
        ids.push(hit.session.id.clone());
        SearchFlow::NextSession
    });
    let expected: Vec<String> = (0..40).rev().map(|number| format!("s{number:02}")).collect();
    assert_eq!(ids, expected);
    let mut count = 0;
    search::run(&sessions, &query, |_| {
        count += 1;
        if count == 100 { SearchFlow::Stop } else { SearchFlow::Continue }
    });
    assert_eq!(count, 100);
}

#[test]
fn a_pattern_that_makes_no_sense_is_an_error() {
    let error = |options| SearchQuery::new(options).unwrap_err();
    assert_eq!(error(literal("")).kind(), ErrorKind::Invalid);
    let wrong = error(Options { syntax: Syntax::Regex, ..literal("a(b") });
    assert_eq!(wrong.kind(), ErrorKind::Invalid);
    insta::assert_snapshot!(wrong, @"Not a regular expression (unclosed group): `a(b`");
}

/// Early versions repeat a sub-agent's prompt in each line of its progress.
#[test]
fn c25_progress_of_a_sub_agent_is_its_own_words_and_not_its_prompt_again() {
    let progress = |message: &str| {
        format!(
            r#"{{"type":"progress","uuid":"p","data":{{"type":"agent_progress","agentId":"a","prompt":"find the needle","message":{message},"normalizedMessages":["needle"]}}}}"#
        )
    };
    let prompt =
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"find the needle"}]}}"#;
    let answer = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"no needle"},{"type":"tool_use","id":"t","name":"Grep","input":{"pattern":"needle"}}]}}"#;
    let other =
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"working"}]}}"#;
    let root = session(&[
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t-1","name":"Agent","input":{"prompt":"find the needle"}}]}}"#,
        &progress(prompt),
        &progress(answer),
        &progress(other),
        r#"{"type":"progress","uuid":"p","data":{"type":"bash_progress","output":"a needle"}}"#,
    ]);
    let all = Options { syntax: Syntax::Regex, ..literal(".*needle.*") };
    let expected = [
        "s:1 assistant Agent: find the needle",
        "s:2 user: find the needle",
        "s:3 assistant: no needle",
        "s:5 tool: a needle",
    ];
    assert_eq!(found(&root, all), expected);
}

#[test]
fn c25_repeats_are_folded_and_count_once_for_relevance() {
    let says = |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n");
    let root = TestRoot::new();
    let noise = says("needle again").repeat(20);
    let filler = says(&"hay ".repeat(100));
    root.write("p/repeats.jsonl", &format!("{noise}{filler}"));
    let lines: String = (0..4).map(|number| says(&format!("needle {number}"))).collect();
    let filler = says(&"hay ".repeat(300));
    root.write("p/varied.jsonl", &format!("{lines}{filler}"));
    let sessions = root.sessions();
    let mut hits = Vec::new();
    search::run(&sessions, &SearchQuery::new(literal("needle")).unwrap(), |hit| {
        hits.push(hit);
        SearchFlow::Continue
    });
    let ranked = search::ranked(hits);
    let folded: Vec<(&str, usize, Vec<u64>)> = ranked
        .iter()
        .map(|found| {
            let counts = search::folded(&found.hits).iter().map(|folded| folded.count).collect();
            (found.session.id.as_str(), found.hits.len(), counts)
        })
        .collect();
    assert_eq!(folded, [("varied", 4, vec![1; 4]), ("repeats", 20, vec![20])]);
}

#[test]
fn p41_an_input_that_a_person_changed_is_found_at_its_call() {
    let root = session(KINDS);
    let json = |text: &str| tidings_protocol::json::Json::parse(text).unwrap();
    let changed = || -> ChangedInputs {
        let inputs = [
            ("t-1".to_owned(), json(r#"{"command":"thimble \"--run\"","timeout":5}"#)),
            ("t-9".to_owned(), json(r#"{"command":"thimble elsewhere"}"#)),
        ];
        inputs.into_iter().collect()
    };
    let with = |options: Options| found(&root, Options { changed_inputs: changed(), ..options });
    for options in [
        literal("thimble \"--run\""),
        Options { case: Case::Ignore, ..literal("THIMBLE \"--run\"") },
        Options { syntax: Syntax::Regex, ..literal(r"thimble .--run.") },
        Options { roles: vec![Role::Assistant], tool: Some("Bash".into()), ..literal("thimble \"--run\"") },
    ] {
        assert_eq!(with(options), ["s:3 assistant Bash: thimble \"--run\""]);
    }
    assert_eq!(with(Options { roles: vec![Role::Tool], ..literal("thimble") }), [""; 0]);
    assert_eq!(with(Options { tool: Some("Read".into()), ..literal("thimble") }), [""; 0]);
    assert_eq!(with(literal("needle --run")), ["s:3 assistant Bash: needle --run"], "and what was asked for");
    assert_eq!(found(&root, literal("thimble")), [""; 0]);
}
