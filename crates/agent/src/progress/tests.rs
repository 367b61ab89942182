//! Tables of texts and findings, and properties that hold for any text.

use jiff::Timestamp;
use proptest::prelude::*;
use tidings_protocol::Frame;
use tidings_protocol::messages::{Message, SystemMessage};
use tidings_protocol::mobile::{SubAgentStatus, SubAgentType};

use super::limits::{AGENTS_MAX, TASK_CHARS_MAX};
use super::*;

fn read(text: &str) -> Vec<Finding> {
    let mut parser = ProgressParser::default();
    let mut findings = parser.push(text);
    findings.extend(parser.finish());
    findings
}

/// Step, done, total and percentage.
type Counts = (Option<String>, Option<u64>, Option<u64>, f64);

fn progress(text: &str) -> Vec<Counts> {
    read(text)
        .into_iter()
        .filter_map(|finding| match finding {
            Finding::Progress(progress) => {
                Some((progress.step, progress.done, progress.total, progress.percentage))
            }
            _ => None,
        })
        .collect()
}

fn agents(text: &str) -> Vec<AgentMention> {
    let agent = |finding| if let Finding::Agent(mention) = finding { Some(mention) } else { None };
    read(text).into_iter().filter_map(agent).collect()
}

#[test]
fn s2_14_the_worked_example_becomes_the_message_for_phones() {
    let findings = read("I'll run the test suite now. Running test 5 of 20...");
    let found = findings.iter().find_map(|finding| match finding {
        Finding::Progress(progress) => Some(progress),
        _ => None,
    });
    let found = found.unwrap();
    assert!(found.source.is_estimated());
    assert_eq!(
        serde_json::to_string(&found.to_mobile()).unwrap(),
        r#"{"currentStep":"Running tests","completedSteps":5,"totalSteps":20,"percentage":25.0}"#
    );
}

#[test]
fn s2_10_counted_steps_are_read() {
    for (text, step, done, total) in [
        ("Running test 5 of 20", Some("Running tests"), 5, 20),
        ("running tests 5 of 20", Some("Running tests"), 5, 20),
        ("Now processing the file 3/10.", Some("Processing files"), 3, 10),
        ("Running unit test #7 out of 8", Some("Running unit tests"), 7, 8),
        ("Compiling crate (12 of 48)", Some("Compiling crates"), 12, 48),
        ("Checking dependency 1 of 1,000", Some("Checking dependencies"), 1, 1_000),
        ("Uploading batch: 2 of 4", Some("Uploading batches"), 2, 4),
    ] {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let percentage = done as f64 / total as f64 * 100.0;
        assert_eq!(
            progress(text),
            [(step.map(str::to_owned), Some(done), Some(total), percentage)],
            "{text}"
        );
    }
}

#[test]
fn s2_20_the_other_phrases_are_read() {
    for (text, step, done, total, percentage) in [
        ("Step 3 of 10 - Compile the code", Some("Compile the code"), Some(3), Some(10), 30.0),
        ("**Task 1/4: Read the files**", Some("Read the files"), Some(1), Some(4), 25.0),
        ("stage 2 of 4", Some("Stage 2"), Some(2), Some(4), 50.0),
        ("12/48 completed", None, Some(12), Some(48), 25.0),
        ("So far 3 / 4 files done", None, Some(3), Some(4), 75.0),
        ("The migration is 99.5% complete", None, None, None, 99.5),
        ("45 % done", None, None, None, 45.0),
        ("[=====>     ] 45%", None, None, None, 45.0),
        ("[████░░░░] 50 %", None, None, None, 50.0),
        ("Done: 5, and Total: 20", None, Some(5), Some(20), 25.0),
        ("Done: 5 | Remaining: 15", None, Some(5), Some(20), 25.0),
        ("- Done: 5\n- Total: 20\n", None, Some(5), Some(20), 25.0),
        ("Completed: 5. Remaining: 15.", None, Some(5), Some(20), 25.0),
        ("Starting the migration", None, None, None, 10.0),
        ("I'm now working on the parser", None, None, None, 50.0),
        ("Finally, wrapping up.", None, None, None, 90.0),
        ("Almost done!", None, None, None, 90.0),
    ] {
        assert_eq!(progress(text), [(step.map(str::to_owned), done, total, percentage)], "{text}");
    }
}

#[test]
fn s2_20_nonsense_gives_nothing() {
    for text in [
        "Running test 5 of 0",
        "Running test 30 of 20",
        "Step 5 of 4 - too far",
        "150% complete",
        "-5% complete",
        "12.5/20 done",
        "It happened on 2024/10/12 done",
        "Done: 5, Total: 3",
        "Done: 5\n\n\n\n\n\nTotal: 20",
        "Total: 20",
        "During test 5 of 20 it failed",
        "String literal 5 of 20",
        "99999999999999999999/99999999999999999999 completed",
        "Nothing of the kind. We should not be starting now",
        "one of many",
    ] {
        assert_eq!(progress(text), [], "{text}");
    }
}

#[test]
fn s2_20_words_never_overrule_numbers_nor_go_back() {
    let text =
        "Starting the tests\nRunning test 5 of 20\nAlmost done\nRunning test 5 of 20\nRunning test 6 of 20\n";
    let seen: Vec<f64> = progress(text).into_iter().map(|(_, _, _, percentage)| percentage).collect();
    assert_eq!(seen, [10.0, 25.0, 30.0]);
    let seen: Vec<f64> =
        progress("Almost done\nStarting it\nWorking on it").into_iter().map(|p| p.3).collect();
    assert_eq!(seen, [90.0]);
}

#[test]
fn s2_20_what_is_being_worked_on() {
    let long = "x".repeat(300);
    for (text, task) in [
        ("Hm.\nCurrently working on: the parser.\n", Some("the parser")),
        ("**Task:** Fix the login page", Some("Fix the login page")),
        ("→ Reading the schema", Some("Reading the schema")),
        ("ok\nI will look at the login page first.\nThen more.", Some("I will look at the login page first")),
        ("short", None),
        ("----------------", None),
    ] {
        assert_eq!(current_task(text).as_deref(), task, "{text}");
    }
    assert_eq!(current_task(&long).unwrap().chars().count(), TASK_CHARS_MAX);
    let findings = read("→ Reading the schema\n→ Reading the schema\nTask: Writing it\n");
    assert_eq!(
        findings,
        [Finding::Task("Reading the schema".to_owned()), Finding::Task("Writing it".to_owned())]
    );
}

#[test]
fn s2_11_mentions_of_sub_agents_are_found() {
    for (text, name, agent_type, task) in [
        ("Starting testing agent for the login page.", "testing", SubAgentType::Testing, "the login page"),
        (
            "I am starting the code review agent to look at auth",
            "code review",
            SubAgentType::Analysis,
            "look at auth",
        ),
        ("Delegating to deployment agent: ship it", "deployment", SubAgentType::Deployment, "ship it"),
        ("[Agent:doc-writer] Starting: the README", "doc-writer", SubAgentType::Documentation, "the README"),
        ("[Agent: Refactor] starting: split files", "Refactor", SubAgentType::Refactoring, "split files"),
        (
            "Delegating to a helper agent: find security holes",
            "helper",
            SubAgentType::Security,
            "find security holes",
        ),
        ("Starting build agent for release", "build", SubAgentType::Build, "release"),
        ("Starting perf agent for performance", "perf", SubAgentType::Performance, "performance"),
        ("Delegating to Zed agent: something", "Zed", SubAgentType::Unknown, "something"),
    ] {
        let expected = AgentMention { name: name.to_owned(), agent_type, task: task.to_owned() };
        assert_eq!(agents(text), [expected], "{text}");
        assert_eq!(progress(text), [], "a mention is no progress: {text}");
    }
    for text in ["The agent for X is starting", "Starting the server for tests", "[Agent:] Starting: x"] {
        assert_eq!(agents(text), [], "{text}");
    }
}

#[test]
fn s2_12_test_runs_are_summed_up() {
    let summary = |runner, passed, failed, skipped| Some(TestSummary { runner, passed, failed, skipped });
    for (output, expected) in [
        (
            "running 2 tests\ntest a ... ok\n\ntest result: ok. 5 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
             test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
            summary(TestRunner::Cargo, 8, 1, 2),
        ),
        (
            "     Summary [   1.234s] 10 tests run: 9 passed (1 slow), 1 failed, 2 skipped\n",
            summary(TestRunner::Cargo, 9, 1, 2),
        ),
        (
            "==== 3 failed, 10 passed, 2 skipped, 1 warning in 1.20s ====",
            summary(TestRunner::Pytest, 10, 3, 2),
        ),
        ("\u{1b}[32m12 passed\u{1b}[0m in 0.5s", summary(TestRunner::Pytest, 12, 0, 0)),
        (
            "Test Suites: 1 passed, 1 total\nTests:       1 failed, 2 skipped, 9 passed, 12 total\n",
            summary(TestRunner::Jest, 9, 1, 2),
        ),
        ("      Tests  1 failed | 9 passed (10)\n", summary(TestRunner::Jest, 9, 1, 0)),
        (
            "--- PASS: TestA (0.00s)\n    --- FAIL: TestB/x (0.00s)\n--- SKIP: TestC (0.00s)\nFAIL\n",
            summary(TestRunner::Go, 1, 1, 1),
        ),
        ("Compiling tidings v0.1.0\nFinished in 3 s", None),
        ("", None),
    ] {
        assert_eq!(test_summary(output), expected, "{output}");
    }
    assert_eq!(test_summary("--- PASS: a\n--- SKIP: b").unwrap().total(), 2);
}

#[test]
fn s2_21_the_end_of_the_work_is_summed_up() {
    for (text, files, tests, errors, summary) in [
        ("I modified 3 files and ran 12 tests. No errors were found.", Some(3), Some(12), Some(0), None),
        ("Files modified: 4\nTests run: 20\nErrors found: 2", Some(4), Some(20), Some(2), None),
        ("## **Summary:** The login works again.", None, None, None, Some("The login works again")),
        ("All 7 tests pass; 1 file was changed", Some(1), Some(7), None, None),
    ] {
        let summary = summary.map(str::to_owned);
        let expected =
            CompletionSummary { files_modified: files, tests_run: tests, errors_found: errors, summary };
        assert_eq!(completion_summary(text), Some(expected), "{text}");
    }
    assert_eq!(completion_summary("Hello"), None);
}

#[test]
fn text_is_ignored_where_the_caller_wants_it_so() {
    let mut parser = ProgressParser::new(TextProgress::Ignore);
    assert_eq!(parser.push("Running test 5 of 20\nStarting test agent for x\n"), []);
    assert_eq!(parser.finish(), []);
}

#[test]
fn a_new_turn_may_say_the_same_again() {
    let mut parser = ProgressParser::default();
    assert_eq!(parser.push("Delegating to test agent: a\n").len(), 1);
    assert_eq!(parser.push("Delegating to test agent: a\n").len(), 0);
    parser.reset();
    assert_eq!(parser.push("Delegating to test agent: a\n").len(), 1);
}

#[test]
fn a_phrase_on_the_cut_of_a_long_text_is_found_once() {
    let phrase = "running test 5 of 20 ";
    for before in 4050..4110 {
        let text = format!(
            "{}{phrase}{}",
            "word ".repeat(before / 5) + &"y".repeat(before % 5) + " ",
            "z ".repeat(5000)
        );
        assert_eq!(progress(&text).len(), 1, "{before}");
    }
}

/// Phrases and random text.
fn texts() -> impl Strategy<Value = String> {
    let phrase = prop_oneof![
        Just("Running test 5 of 20".to_owned()),
        Just("Step 3 of 10 - Compile".to_owned()),
        Just("Done: 5".to_owned()),
        Just("Remaining: 7".to_owned()),
        Just("[===>  ] 45%".to_owned()),
        Just("Starting test agent for a thing".to_owned()),
        Just("→ task é".to_owned()),
        Just(". ".to_owned()),
        Just("\n".to_owned()),
        "[a-z0-9 .%/\n:é→-]{0,40}",
        Just("q".repeat(3000)),
    ];
    prop::collection::vec(phrase, 0..8).prop_map(|phrases| phrases.join(" "))
}

proptest! {
    #[test]
    fn deltas_may_be_cut_anywhere(text in texts(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| super::segments::boundary_before(&text, cut.index(text.len() + 1))).collect();
        cuts.sort_unstable();
        let mut parser = ProgressParser::default();
        let mut findings = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            findings.extend(parser.push(&text[from..cut]));
            from = cut;
        }
        findings.extend(parser.finish());
        prop_assert_eq!(findings, read(&text));
    }

    #[test]
    fn every_finding_makes_sense(text in "\\PC{0,200}|[0-9/%of \n]{0,60}") {
        for finding in read(&text) {
            match finding {
                Finding::Progress(progress) => {
                    prop_assert!((0.0..=100.0).contains(&progress.percentage));
                    prop_assert!(progress.done <= progress.total);
                    prop_assert!(progress.source.is_estimated());
                }
                Finding::Task(task) => prop_assert!(task.chars().count() <= TASK_CHARS_MAX),
                Finding::Agent(mention) => prop_assert!(!mention.name.is_empty()),
            }
        }
        prop_assert!(test_summary(&text).is_none_or(|summary| summary.passed <= summary.total()));
        drop(completion_summary(&text));
    }
}

fn system(json: &str) -> SystemMessage {
    match Frame::decode(json.as_bytes()).unwrap().message() {
        Message::System(message) => message,
        other => panic!("{other:?}"),
    }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn started(id: &str, parent: Option<&str>) -> SystemMessage {
    let parent = parent.map(|parent| format!(r#","parent_task_id":"{parent}""#)).unwrap_or_default();
    system(&format!(
        r#"{{"type":"system","subtype":"task_started","task_id":"{id}","run_id":"r-{id}","tool_use_id":"toolu_{id}","description":"Run the tests","subagent_type":"general-purpose","task_type":"local_agent"{parent}}}"#
    ))
}

fn ended(id: &str, status: &str) -> SystemMessage {
    system(&format!(
        r#"{{"type":"system","subtype":"task_notification","task_id":"{id}","status":"{status}","summary":"All green"}}"#
    ))
}

#[test]
fn s2_15_s2_22_a_task_is_told_from_start_to_end_once() {
    let mut monitor = SubAgentProgressMonitor::new("demo");
    let Some(SubAgentUpdate::Started(agent)) = monitor.system(&started("a", None), at(1_000)) else {
        panic!()
    };
    assert_eq!(
        (agent.agent_type, agent.status, agent.start_time),
        (SubAgentType::Testing, SubAgentStatus::Starting, 1_000)
    );
    assert_eq!(monitor.system(&started("a", None), at(1_001)), None, "a repeated report");
    let news = system(
        r#"{"type":"system","subtype":"task_progress","task_id":"a","description":"Running Find greet","usage":{"total_tokens":9,"tool_uses":4,"duration_ms":2}}"#,
    );
    let Some(SubAgentUpdate::Progress(agent)) = monitor.system(&news, at(1_100)) else { panic!() };
    assert_eq!((agent.status, agent.current_task.as_str()), (SubAgentStatus::Running, "Running Find greet"));
    assert!((agent.progress - 0.5).abs() < f64::EPSILON);
    let half = Progress::counted(Some("Running tests".to_owned()), 15, 20, ProgressSource::Counted).unwrap();
    let Some(SubAgentUpdate::Progress(agent)) = monitor.counted("toolu_a", &half) else { panic!() };
    assert!((agent.progress - 0.75).abs() < f64::EPSILON);
    let end = system(
        r#"{"type":"system","subtype":"task_updated","task_id":"a","patch":{"status":"completed","end_time":1500}}"#,
    );
    let Some(SubAgentUpdate::Completed(agent, None)) = monitor.system(&end, at(9_999)) else { panic!() };
    assert_eq!((agent.progress, agent.completion_time), (1.0, Some(1_500)));
    assert_eq!(monitor.system(&ended("a", "completed"), at(2_000)), None, "it ends once");
    assert_eq!(monitor.system(&news, at(2_001)), None, "and says nothing more");
    assert_eq!(monitor.ended(at(3_000)), []);
}

#[test]
fn s2_22_failures_and_open_ends_are_told() {
    let mut monitor = SubAgentProgressMonitor::new("demo");
    for id in ["a", "b", "c"] {
        assert!(monitor.system(&started(id, None), at(5)).is_some());
    }
    let Some(SubAgentUpdate::Failed(_, Some(words))) = monitor.system(&ended("a", "stopped"), at(6)) else {
        panic!()
    };
    assert_eq!(words, "All green");
    assert!(matches!(monitor.system(&ended("b", "failed"), at(6)), Some(SubAgentUpdate::Failed(..))));
    let left: Vec<String> =
        monitor.ended(at(7)).iter().map(|update| update.agent().agent_id.clone()).collect();
    assert_eq!(left, ["c"]);
    assert_eq!(monitor.system(&ended("unknown", "failed"), at(8)), None);
}

#[test]
fn s2_22_an_agent_that_is_called_again_starts_again() {
    let mut monitor = SubAgentProgressMonitor::new("demo");
    assert!(monitor.system(&started("a", None), at(5)).is_some());
    assert!(monitor.system(&ended("a", "completed"), at(6)).is_some());
    assert_eq!(monitor.system(&started("a", None), at(7)), None, "a late report of the same run");
    let again = system(
        r#"{"type":"system","subtype":"task_started","task_id":"a","run_id":"other","task_type":"local_agent","description":"More"}"#,
    );
    let Some(SubAgentUpdate::Started(agent)) = monitor.system(&again, at(8)) else { panic!() };
    assert_eq!((agent.progress, agent.completion_time, agent.start_time), (0.0, None, 8));
    assert_eq!(monitor.agents().count(), 1);
}

#[test]
fn s2_22_the_tree_has_roots_and_children_and_no_circles() {
    let mut monitor = SubAgentProgressMonitor::new("demo");
    for (id, parent) in
        [("a", Some("b")), ("b", Some("a")), ("c", Some("c")), ("d", Some("a")), ("e", Some("gone"))]
    {
        assert!(monitor.system(&started(id, parent), at(5)).is_some());
    }
    let ids = |agents: Vec<&tidings_protocol::mobile::SubAgentProgress>| -> Vec<String> {
        agents.into_iter().map(|agent| agent.agent_id.clone()).collect()
    };
    assert_eq!(ids(monitor.roots().collect()), ["b", "c", "e"]);
    assert_eq!(ids(monitor.children("b").collect()), ["a"]);
    assert_eq!(ids(monitor.children("a").collect()), ["d"]);
}

#[test]
fn s2_15_mentions_count_until_the_cli_reports_tasks() {
    let mention = |task: &str| AgentMention {
        name: "test".to_owned(),
        agent_type: SubAgentType::Testing,
        task: task.to_owned(),
    };
    let mut monitor = SubAgentProgressMonitor::new("demo");
    let Some(SubAgentUpdate::Started(agent)) = monitor.mentioned(&mention("x"), at(1)) else { panic!() };
    assert_eq!(agent.agent_id, "mentioned-1");
    let Some(SubAgentUpdate::Progress(agent)) = monitor.system(&started("a", None), at(2)) else { panic!() };
    assert_eq!(agent.agent_id, "mentioned-1", "the task is the one that was mentioned");
    assert_eq!(monitor.mentioned(&mention("y"), at(3)), None);
    assert!(matches!(monitor.system(&ended("a", "completed"), at(4)), Some(SubAgentUpdate::Completed(..))));
    assert_eq!(monitor.agents().count(), 1);
}

#[test]
fn background_commands_are_no_sub_agents_and_the_tree_is_bounded() {
    let mut monitor = SubAgentProgressMonitor::new("demo");
    let bash = r#"{"type":"system","subtype":"task_started","task_id":"x","task_type":"local_bash","description":"sleep"}"#;
    assert_eq!(monitor.system(&system(bash), at(1)), None);
    for number in 0..AGENTS_MAX + 10 {
        let id = format!("t{number}");
        assert!(monitor.system(&started(&id, None), at(1)).is_some());
        assert!(monitor.system(&ended(&id, "completed"), at(2)).is_some());
    }
    assert_eq!(monitor.agents().count(), AGENTS_MAX);
}
