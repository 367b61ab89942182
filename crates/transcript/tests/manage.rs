//! The session calls of the official SDKs on our own files; `e2e/sessions_sdk.py` compares with the SDKs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use jiff::Timestamp;
use tidings_transcript::ErrorKind;
use tidings_transcript::manage::{
    ForkOptions, Page, Scope, SessionDetailsReader, SessionFile, SessionMessage, archive_session,
    delete_session, fork_session, list_sessions, list_subagents, rename_session, session_info,
    session_messages, subagent_messages, tag_session, unarchive_session, worktrees,
};

use crate::test_root::TestRoot;

const ID: &str = "11111111-1111-4111-8111-111111111111";

impl TestRoot {
    fn session(&self, lines: &[&str]) -> PathBuf {
        self.write(&format!("-home-dev-demo/{ID}.jsonl"), &joined(lines))
    }

    fn find(&self) -> SessionFile {
        Scope::everywhere(&self.roots()).find(ID).unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.find().path).unwrap()
    }
}

fn joined(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

fn now() -> Timestamp {
    "2026-11-15T05:00:00.123Z".parse().unwrap()
}

const PROMPT: &str = r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Fix the build"},"uuid":"a0000000-0000-4000-8000-000000000001","timestamp":"2026-11-14T10:00:00.000Z","cwd":"/home/dev/demo","sessionId":"11111111-1111-4111-8111-111111111111","gitBranch":"main","slug":"brave-fox"}"#;

/// JSON may have blanks around its colons, and programs that rewrite sessions add them.
#[test]
fn blanks_around_colons_change_nothing_in_what_the_ends_tell() {
    let lines = [
        PROMPT,
        r#"{"type":"assistant","uuid":"a2","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"text","text":"ok"}]},"timestamp":"2026-11-14T10:00:01.000Z"}"#,
        r#"{"type":"user","isMeta":true,"uuid":"a3","message":{"role":"user","content":"not typed"}}"#,
        r#"{"type":"ai-title","aiTitle":"A title"}"#,
        r#"{"type":"tag","tag":"urgent"}"#,
    ];
    let facts = |text: &str| {
        let place = TestRoot::new();
        let mut facts = SessionDetailsReader::default().read(&place.session(&[text])).unwrap().unwrap();
        (facts.bytes, facts.modified) = (0, std::time::SystemTime::UNIX_EPOCH);
        facts
    };
    let compact = facts(&lines.join("\n"));
    assert_eq!((compact.model.as_deref(), compact.tag.as_deref()), (Some("claude-x"), Some("urgent")));
    assert_eq!(compact.first_prompt.as_deref(), Some("Fix the build"));
    for colon in ["\": ", "\" :", "\"\t:  "] {
        assert_eq!(facts(&lines.join("\n").replace("\":", colon)), compact, "{colon:?}");
    }
}

/// A turn with two parallel tools, progress between them, a sidechain, a compaction and a team's entry.
const WHOLE: &[&str] = &[
    r#"{"type":"permission-mode","permissionMode":"default","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    PROMPT,
    r#"{"parentUuid":"a0000000-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},"uuid":"a0000000-0000-4000-8000-000000000002","timestamp":"2026-11-14T10:00:01.000Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    r#"{"parentUuid":"a0000000-0000-4000-8000-000000000002","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t2","name":"Read","input":{}}]},"uuid":"a0000000-0000-4000-8000-000000000003","timestamp":"2026-11-14T10:00:02.000Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    r#"{"parentUuid":"a0000000-0000-4000-8000-000000000002","isSidechain":false,"type":"progress","data":{},"uuid":"a0000000-0000-4000-8000-00000000000p","timestamp":"2026-11-14T10:00:02.500Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    r#"{"parentUuid":"a0000000-0000-4000-8000-000000000003","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"two"}]},"sourceToolAssistantUUID":"a0000000-0000-4000-8000-000000000003","uuid":"a0000000-0000-4000-8000-000000000004","timestamp":"2026-11-14T10:00:03.000Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    r#"{"parentUuid":"a0000000-0000-4000-8000-00000000000p","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one"}]},"sourceToolAssistantUUID":"a0000000-0000-4000-8000-000000000002","uuid":"a0000000-0000-4000-8000-000000000005","timestamp":"2026-11-14T10:00:04.000Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    r#"{"parentUuid":"a0000000-0000-4000-8000-000000000001","isSidechain":true,"type":"user","message":{"role":"user","content":"aside"},"uuid":"a0000000-0000-4000-8000-000000000006","timestamp":"2026-11-14T10:00:04.500Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
    r#"{"parentUuid":"a0000000-0000-4000-8000-000000000005","isSidechain":false,"type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-x","content":[{"type":"text","text":"Done \ud83d"}]},"uuid":"a0000000-0000-4000-8000-000000000007","timestamp":"2026-11-14T10:00:05.000Z","sessionId":"11111111-1111-4111-8111-111111111111","teamName":"","x":1.50}"#,
    r#"{"type":"content-replacement","sessionId":"11111111-1111-4111-8111-111111111111","replacements":[{"kind":"tool-result","id":"t1"}]}"#,
    r#"{"type":"ai-title","aiTitle":"Build fixed","sessionId":"11111111-1111-4111-8111-111111111111"}"#,
];

fn ids(messages: &[SessionMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.uuid.rsplit('0').next().unwrap()).collect()
}

#[test]
fn parallel_calls_and_their_results_are_put_back() {
    let place = TestRoot::new();
    place.session(WHOLE);
    let all = session_messages(&place.find(), Page::default()).unwrap();
    // The path goes over the progress of the first call; the second call and its result are inserted after
    // the first.
    assert_eq!(ids(&all), ["1", "2", "3", "4", "5", "7"]);
    let page = session_messages(&place.find(), Page { offset: 1, limit: Some(2) }).unwrap();
    assert_eq!(ids(&page), ["2", "3"]);
    // Message contents stay as they are written, half a surrogate pair too.
    assert!(all[5].to_line().contains(r#""text":"Done \ud83d""#), "{}", all[5].to_line());
}

#[test]
fn one_bad_line_costs_a_line_and_not_the_session() {
    let place = TestRoot::new();
    let mut bytes = joined(WHOLE).into_bytes();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"uuid\":\"a0000000-0000-4000-8000-000000000008\",\"parentUuid\":\"a0000000-0000-4000-8000-000000000007\",\"message\":{\"role\":\"user\",\"content\":\"\xff\"},\"sessionId\":\"s\"}\n[1,2]\n{\"type\":\"us");
    fs::write(place.session(WHOLE), bytes).unwrap();
    let all = session_messages(&place.find(), Page::default()).unwrap();
    assert_eq!(ids(&all), ["1", "2", "3", "4", "5", "7", "8"]);
}

#[test]
fn a_fork_has_new_ids_and_says_where_it_is_from() {
    let place = TestRoot::new();
    place.session(WHOLE);
    let mut number = 0;
    let uuid = || {
        number += 1;
        format!("f0000000-0000-4000-8000-{number:012}")
    };
    let fork = fork_session(&place.find(), ForkOptions::default(), now(), uuid).unwrap();
    assert_eq!((fork.title.as_str(), fork.entries), ("Build fixed (fork)", 6));
    let mode = fs::metadata(&fork.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_snapshot!(fs::read_to_string(&fork.path).unwrap());
}

#[test]
fn a_fork_can_end_early_and_have_a_title() {
    let place = TestRoot::new();
    place.session(WHOLE);
    let fork = |up_to: &str, title: &str| {
        let fork = ForkOptions { up_to: Some(up_to), title: Some(title) };
        fork_session(&place.find(), fork, now(), || "f0000000-0000-4000-8000-000000000000".to_owned())
    };
    for (up_to, expected) in [
        ("not a uuid", ErrorKind::Invalid),
        ("a0000000-0000-4000-8000-000000000099", ErrorKind::NotFound),
        // Sub-agents are not copied, so a fork cannot end there.
        ("a0000000-0000-4000-8000-000000000006", ErrorKind::NotFound),
    ] {
        assert_eq!(fork(up_to, "x").unwrap_err().kind(), expected, "{up_to}");
    }
    let made = fork("a0000000-0000-4000-8000-000000000002", " Mine ").unwrap();
    assert_eq!((made.title.as_str(), made.entries), ("Mine", 2));
    // The same id again: existing files are not overwritten.
    assert_eq!(fork("a0000000-0000-4000-8000-000000000001", "x").unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(fs::read_to_string(&made.path).unwrap().lines().count(), 4);
}

#[test]
fn titles_and_tags_are_lines_at_the_end() {
    let place = TestRoot::new();
    place.session(&[PROMPT]);
    let session = place.find();
    rename_session(&session, " A \"title\" \n").unwrap();
    assert_eq!(tag_session(&session, Some(" ke\u{200b}ep ")).unwrap().as_deref(), Some("keep"));
    let added = place.text()[PROMPT.len() + 1..].to_owned();
    assert_snapshot!(added, @r#"
    {"type":"custom-title","customTitle":"A \"title\"","sessionId":"11111111-1111-4111-8111-111111111111"}
    {"type":"tag","tag":"keep","sessionId":"11111111-1111-4111-8111-111111111111"}
    "#);
    let roots = place.roots();
    let info = || session_info(&Scope::everywhere(&roots), ID).unwrap().unwrap();
    assert_eq!((info().summary.as_str(), info().tag.as_deref()), ("A \"title\"", Some("keep")));
    tag_session(&session, None).unwrap();
    assert_eq!(info().tag, None);
    assert_eq!(rename_session(&session, " \u{1f}").unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(tag_session(&session, Some("\u{200b}")).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn appending_creates_nothing_and_never_joins_half_a_line() {
    let place = TestRoot::new();
    let path = place.session(&[PROMPT]);
    let session = place.find();
    fs::write(&path, format!("{PROMPT}\n{{\"type\":\"us")).unwrap();
    rename_session(&session, "T").unwrap();
    assert!(place.text().contains("{\"type\":\"us\n{\"type\":\"custom-title\""));
    // An empty file means that the session lies elsewhere, and a missing one stays missing.
    fs::write(&path, "").unwrap();
    assert_eq!(rename_session(&session, "T").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    fs::remove_file(&path).unwrap();
    assert_eq!(rename_session(&session, "T").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!path.exists());
}

#[test]
fn ids_cannot_leave_the_folder() {
    let place = TestRoot::new();
    place.write("-home-dev-demo/secret.jsonl", PROMPT);
    fs::write(place.path().join("outside.jsonl"), PROMPT).unwrap();
    let roots = place.roots();
    for id in ["secret", "../../outside", "/etc/passwd", "", ".", "..\\outside"] {
        let error = Scope::everywhere(&roots).find(id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{id}");
    }
    assert_eq!(Scope::everywhere(&roots).find(ID).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn deleting_takes_everything_of_a_session_and_nothing_else() {
    let place = TestRoot::new();
    let path = place.session(&[PROMPT]);
    place.write(&format!("-home-dev-demo/{ID}/subagents/agent-a1.jsonl"), PROMPT);
    let other = place.write("-home-dev-demo/22222222-2222-4222-8222-222222222222.jsonl", PROMPT);
    let session = place.find();
    assert_eq!(delete_session(&session).unwrap(), [path.clone(), session.dir()]);
    assert!(!path.exists() && !session.dir().exists() && other.exists());
    assert_eq!(delete_session(&session).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn deleting_does_not_follow_links() {
    let place = TestRoot::new();
    let path = place.session(&[PROMPT]);
    let precious = place.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file"), "x").unwrap();
    std::os::unix::fs::symlink(&precious, path.with_extension("")).unwrap();
    delete_session(&place.find()).unwrap();
    assert!(precious.join("file").exists() && !path.with_extension("").is_symlink());
}

#[test]
fn subagents_are_found_in_folders_below_and_know_who_started_them() {
    let place = TestRoot::new();
    place.session(WHOLE);
    let said = |agent: &str, parent: &str, uuid: &str, kind: &str| {
        format!(
            r#"{{"type":"{kind}","isSidechain":true,"agentId":"{agent}","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"{kind}","content":"x"}},"sessionId":"{ID}"}}"#
        )
    };
    let lines = [said("a2", "null", "u1", "user"), said("a2", "\"u1\"", "u2", "assistant")];
    let folder = format!("-home-dev-demo/{ID}/subagents");
    place.write(&format!("{folder}/agent-a1.jsonl"), "");
    place
        .write(&format!("{folder}/workflows/run-1/agent-a2.jsonl"), &format!("{}\n{}\n", lines[0], lines[1]));
    place.write(
        &format!("{folder}/workflows/run-1/agent-a2.meta.json"),
        r#"{"toolUseId":"t9","parentAgentId":"a1","agentType":"x"}"#,
    );
    place.write(&format!("{folder}/notes.txt"), "x");
    let session = place.find();
    assert_eq!(list_subagents(&session), ["a1", "a2"]);
    let messages = subagent_messages(&session, "a2", Page::default()).unwrap();
    assert_eq!(ids(&messages), ["u1", "u2"]);
    assert_eq!(messages[1].parent_tool_use_id.as_deref(), Some("t9"));
    assert_eq!(messages[1].parent_agent_id.as_deref(), Some("a1"));
    for agent in ["a1", "a3", "", "../a2"] {
        assert!(subagent_messages(&session, agent, Page::default()).unwrap().is_empty(), "{agent}");
    }
}

#[test]
fn a_first_line_longer_than_the_head_hides_nothing() {
    let place = TestRoot::new();
    let long = format!(r#"{{"type":"api-request-shape","shape":"{}"}}"#, "x".repeat(200_000));
    place.session(&[&long, PROMPT]);
    let roots = place.roots();
    let info = session_info(&Scope::everywhere(&roots), ID).unwrap().unwrap();
    assert_eq!((info.summary.as_str(), info.cwd.as_deref()), ("Fix the build", Some("/home/dev/demo")));
    assert_eq!(info.created_at, Some(1_794_650_400_000));
}

/// A file of any size is listed, whatever it contains, and only its ends are read.
#[test]
fn f86_a_huge_file_is_listed_by_its_ends() {
    let place = TestRoot::new();
    let path = place.session(&[PROMPT]);
    let file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(4 << 30).unwrap();
    rename_session(&place.find(), "Huge").unwrap();
    let roots = place.roots();
    let all = list_sessions(&Scope::everywhere(&roots), Page::default()).unwrap();
    assert_eq!((all[0].summary.as_str(), all[0].first_prompt.as_deref()), ("Huge", Some("Fix the build")));
    assert!(all[0].file_size > 4 << 30);
}

#[test]
fn an_archive_mark_lasts_until_the_next_prompt() {
    let place = TestRoot::new();
    let path = place.session(&[PROMPT]);
    let roots = place.roots();
    let archived = || session_info(&Scope::everywhere(&roots), ID).unwrap().unwrap().archived;
    assert_eq!(archived(), None);
    archive_session(&place.find(), now()).unwrap();
    let mark = place.find().dir().join("archived.json");
    assert_snapshot!(fs::read_to_string(&mark).unwrap(), @r#"{"archived":true,"at":"2026-11-15T05:00:00.123Z","by":"sdk"}"#);
    assert_eq!(fs::metadata(&mark).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(archived(), Some(true));
    unarchive_session(&place.find(), now()).unwrap();
    assert_eq!(archived(), Some(false));
    archive_session(&place.find(), now()).unwrap();
    let later = PROMPT.replace("2026-11-14", "2026-11-16");
    fs::write(path, format!("{PROMPT}\n{later}\n")).unwrap();
    assert_eq!(archived(), Some(false));
}

#[test]
fn a_project_is_its_folder_and_its_worktrees() {
    let place = TestRoot::new();
    let project = fs::canonicalize(place.path()).unwrap().join("repo");
    let key = |path: &Path| -> String {
        path.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    };
    let tree = project.with_file_name("tree");
    for (folder, number) in [(&project, 1), (&tree, 2), (&project.with_file_name("repo-2"), 3)] {
        place.write(&format!("{}/{number}0000000-0000-4000-8000-000000000000.jsonl", key(folder)), PROMPT);
    }
    let roots = place.roots();
    let numbers = |scope: &Scope<'_>| {
        let all = list_sessions(scope, Page::default()).unwrap();
        let mut numbers: Vec<String> = all.iter().map(|info| info.session_id[..1].to_owned()).collect();
        numbers.sort();
        numbers.concat()
    };
    let porcelain = format!("worktree {}\nHEAD 0\n\nworktree {}\n", project.display(), tree.display());
    let trees = worktrees(&porcelain);
    assert_eq!(numbers(&Scope::everywhere(&roots)), "123");
    assert_eq!(numbers(&Scope::project(&roots, &project, &[])), "1");
    assert_eq!(numbers(&Scope::project(&roots, &project, &trees)), "12");
    // A folder inside the repository has no sessions of its own, but those of the worktrees.
    assert_eq!(numbers(&Scope::project(&roots, &project.join("src"), &trees)), "12");
}
