//! Sessions whose conversation passes through several files: the main file and files of sub-agents that
//! follow one of its entries and from which it continues, as compactions and suggested prompts do.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tidings_transcript::check::{self, CheckEvent};
use tidings_transcript::repair::{self, Existing};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{LaneId, Session, View};

const ID: &str = "5e550000-0000-4000-8000-000000000001";

/// The usual keys of an entry; an empty parent is `null`, and an empty agent is the main conversation.
fn entry(kind: &str, uuid: &str, parent: &str, agent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    let side = if agent.is_empty() {
        r#""isSidechain":false"#.to_owned()
    } else {
        format!(r#""isSidechain":true,"agentId":"{agent}""#)
    };
    format!(
        r#"{{"parentUuid":{parent},{side},"userType":"external","cwd":"/p","sessionId":"{ID}","version":"2.1.29","type":"{kind}","uuid":"{uuid}","timestamp":"2026-11-15T10:00:00.000Z",{rest}}}"#
    )
}

fn message_line(kind: &str, uuid: &str, parent: &str, agent: &str, content: &str) -> String {
    let message = match kind {
        "user" => format!(r#""message":{{"role":"user","content":{content}}}"#),
        _ => format!(
            r#""requestId":"r-{uuid}","message":{{"id":"m-{uuid}","type":"message","role":"assistant","model":"claude-opus-5-5","content":{content},"stop_reason":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        ),
    };
    entry(kind, uuid, parent, agent, &message)
}

fn text(text: &str) -> String {
    format!(r#"[{{"type":"text","text":"{text}"}}]"#)
}

const CALL: &str = r#"[{"type":"tool_use","id":"toolu_read","name":"Read","input":{"file_path":"/p/a"}}]"#;
const RESULT: &str = r#"[{"type":"tool_result","tool_use_id":"toolu_read","content":"ok"}]"#;

/// The main file and two sub-agents; one of them answers a call of the main file. No file is damaged.
fn write(agents: &Path, main: &Path) -> Vec<PathBuf> {
    let boundary = r#""subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"level":"info","logicalParentUuid":"c1","compactMetadata":{"trigger":"auto","preTokens":155000}"#;
    let progress = r#""data":{"type":"hook_progress"},"toolUseID":"x""#;
    let lines = [
        message_line("user", "u1", "", "", r#""count the files""#),
        message_line("assistant", "a1", "u1", "", &text("Let me look")),
        // Written while the suggestion was made, which follows a1.
        entry("progress", "p1", "s1", "", progress),
        message_line("assistant", "a2", "p1", "", CALL),
        entry("system", "b1", "", "", boundary),
        message_line("user", "u2", "b1", "", r#""go on""#),
        message_line("assistant", "a3", "u2", "", &text("Seven")),
    ];
    let suggestion = [
        message_line("assistant", "s1", "a1", "aprompt_suggestion-01", &text("Let me look")),
        message_line("user", "s2", "s1", "aprompt_suggestion-01", r#""[SUGGESTION MODE]""#),
        message_line("assistant", "s3", "s2", "aprompt_suggestion-01", &text("yes")),
    ];
    let compaction = [
        message_line("user", "c1", "a2", "acompact-01", RESULT),
        message_line("user", "c2", "c1", "acompact-01", r#""Summarise""#),
        message_line("assistant", "c3", "c2", "acompact-01", &text("Summary")),
    ];
    fs::create_dir_all(agents).unwrap();
    let mut paths = vec![main.to_owned()];
    fs::write(main, lines.join("\n") + "\n").unwrap();
    for (id, lines) in [("aprompt_suggestion-01", suggestion), ("acompact-01", compaction)] {
        let path = agents.join(format!("agent-{id}.jsonl"));
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        paths.push(path);
    }
    paths
}

/// The session in a folder of its own, and with its sub-agents beside it as older versions kept them.
fn layouts(folder: &Path) -> [Vec<PathBuf>; 2] {
    let (new, old) = (folder.join("new"), folder.join("old"));
    let main = format!("{ID}.jsonl");
    [write(&new.join(ID).join("subagents"), &new.join(&main)), write(&old, &old.join(&main))]
}

fn found(path: &Path) -> Vec<String> {
    let mut found = Vec::new();
    check::session(&SessionFiles::of_file(path).unwrap(), None, |event| {
        if let CheckEvent::Finding { file, finding } = event {
            let file = file.file_stem().unwrap().to_string_lossy().into_owned();
            found.push(format!("{file}:{} {} {}", finding.place.line, finding.rule, finding.message));
        }
        ControlFlow::Continue(())
    });
    // A `progress` parent is worth a note in any file.
    found.retain(|line| !line.contains("progress-link"));
    found
}

#[test]
fn c5_links_between_the_files_of_a_session_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    for paths in layouts(folder.path()) {
        for path in &paths {
            assert_eq!(found(path), Vec::<String>::new(), "{}", path.display());
        }
    }
}

#[test]
fn c5_what_no_file_of_the_session_has_is_still_found() {
    let folder = tempfile::tempdir().unwrap();
    for paths in layouts(folder.path()) {
        let main = fs::read_to_string(&paths[0]).unwrap();
        fs::write(&paths[0], main.replace(r#""parentUuid":"s1""#, r#""parentUuid":"nowhere""#)).unwrap();
        let compaction = fs::read_to_string(&paths[2]).unwrap();
        fs::write(&paths[2], compaction.replace("toolu_read", "toolu_lost")).unwrap();
        let found = [found(&paths[0]), found(&paths[2])].concat();
        assert!(found.iter().any(|line| line.contains(":3 known-parent")), "{found:?}");
        assert!(found.iter().any(|line| line.contains("acompact-01:1 tool-call-missing")), "{found:?}");
    }
}

#[test]
fn c5_repair_leaves_links_between_files_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (number, paths) in layouts(folder.path()).iter().enumerate() {
        for (at, path) in paths.iter().enumerate() {
            let copy = folder.path().join(format!("copy-{number}-{at}"));
            let report = repair::file(path, &copy, Existing::Refuse, |_| {}).unwrap();
            assert_eq!((report.actions, report.lost), (0, None), "{}", path.display());
            assert_eq!(fs::read(path).unwrap(), fs::read(&copy).unwrap(), "{}", path.display());
        }
    }
}

#[test]
fn c5_the_tree_goes_through_the_files_of_sub_agents() {
    let folder = tempfile::tempdir().unwrap();
    let [paths, _] = layouts(folder.path());
    let session = Session::open(&SessionFiles::of_file(&paths[0]).unwrap()).unwrap();
    assert!(session.findings().is_empty(), "{:?}", session.findings());
    assert_eq!(session.branches(LaneId::MAIN).len(), 1);
    let path = session.path(session.active_leaf(LaneId::MAIN).unwrap(), View::Unified);
    let names: Vec<&str> = path.iter().filter_map(|id| session.node(*id).uuid.as_deref()).collect();
    assert_eq!(names, ["u1", "a1", "p1", "a2", "b1", "u2", "a3"]);
    for lane in session.lane_ids() {
        let owned = session.branches(lane).iter().flat_map(|branch| session.own_path(branch)).count();
        assert_eq!(owned, session.lane(lane).nodes.len());
    }
}
