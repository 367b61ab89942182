//! Assignment of files to sessions.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::path::Path;

use tidings_transcript::ErrorKind;
use tidings_transcript::roots::{Roots, SessionFiles};

use crate::test_root::TestRoot;

/// Sessions by id, each with the ids of its sub-agents; `-` in front if the main file is missing.
fn found(root: &Path) -> Vec<String> {
    let mut found: Vec<String> = Roots::new([root]).scan().unwrap().sessions.iter().map(line).collect();
    found.sort();
    found
}

fn line(session: &SessionFiles) -> String {
    let agents: Vec<&str> = session.agents.iter().map(|agent| agent.agent_id.as_str()).collect();
    let mark = if session.main.is_some() { "" } else { "-" };
    format!("{mark}{}: {}", session.id, agents.join(" "))
}

#[test]
fn sub_agents_are_found_in_the_layouts_of_today_and_of_older_builds() {
    let owned = r#"{"type":"user","uuid":"u","isSidechain":true,"sessionId":"s-1","message":"x"}"#;
    let root = TestRoot::with_files(&[
        ("projects/-p/s-1.jsonl", "{}\n"),
        ("projects/-p/s-1/subagents/agent-a1.jsonl", "{}\n"),
        ("projects/-p/s-1/subagents/agent-a1.meta.json", "{}"),
        ("projects/-p/s-1/subagents/workflows/run/agent-a2.jsonl", "{}\n"),
        ("projects/-p/s-1/tool-results/b1.txt", "output"),
        ("projects/-p/agent-a3.jsonl", owned),
        ("projects/-p/subagents/agent-a4.jsonl", owned),
        ("projects/-p/sessions-index.json", "{}"),
        ("projects/-q/s-2.jsonl", "{}\n"),
        ("projects/-q/s-3/subagents/agent-a5.jsonl", "{}\n"),
        ("history.jsonl", "{}\n"),
    ]);
    assert_eq!(found(root.path()), ["-s-3: a5", "s-1: a1 a2 a3 a4", "s-2: "]);
    let session = root.roots().find("s-1").unwrap();
    let with_sidecar: Vec<&str> =
        session.agents.iter().filter(|agent| agent.sidecar.is_some()).map(|agent| &*agent.agent_id).collect();
    assert_eq!(with_sidecar, ["a1"]);
}

#[test]
fn a_root_may_be_the_folder_of_projects_or_of_files_and_counts_once() {
    let root = TestRoot::with_files(&[("projects/-p/s-1.jsonl", "{}\n")]);
    let projects = root.path().join("projects");
    assert_eq!(found(&projects), ["s-1: "]);
    assert_eq!(found(&projects.join("-p")), ["s-1: "]);
    let twice = Roots::new([root.path().to_owned(), projects.join("..")]).scan().unwrap();
    assert_eq!(twice.sessions.len(), 1);
}

/// Opening a pipe blocks until a process writes into it, and a folder cannot be read at all.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_no_session_whatever_its_name() {
    let root = TestRoot::with_files(&[
        ("projects/-p/s-1.jsonl", "{}\n"),
        ("projects/-p/folder.jsonl/x", ""),
        ("projects/-p/s-1/subagents/agent-a1.jsonl", "{}\n"),
        ("projects/-p/s-1/subagents/agent-a2.jsonl/x", ""),
    ]);
    let project = root.path().join("projects/-p");
    std::os::unix::fs::symlink(project.join("s-1"), project.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink(project.join("s-1.jsonl"), project.join("s-2.jsonl")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(project.join("socket.jsonl")).unwrap();
    assert_eq!(found(root.path()), ["s-1: a1", "s-2: "]);
    let unreadable = root.roots().scan().unwrap().unreadable;
    let mut unreadable: Vec<String> = unreadable.iter().map(ToString::to_string).collect();
    unreadable.sort();
    for (error, name) in
        unreadable.iter().zip(["folder.jsonl", "link.jsonl", "agent-a2.jsonl", "socket.jsonl"])
    {
        assert!(error.starts_with("Not a regular file") && error.contains(name), "{error}");
    }
    assert_eq!(unreadable.len(), 4);
    let given = SessionFiles::of_file(&project.join("socket.jsonl")).unwrap_err();
    assert_eq!(given.kind(), ErrorKind::Io);
}

#[test]
fn a_session_is_found_by_id_by_beginning_and_by_path() {
    let root =
        TestRoot::with_files(&[("projects/-p/abc-1.jsonl", "{}\n"), ("projects/-p/abc-12.jsonl", "{}\n")]);
    let roots = root.roots();
    let kind = |name: &str| roots.find(name).map(|session| session.id).map_err(|error| error.kind());
    assert_eq!(kind("abc-12"), Ok("abc-12".to_owned()));
    // An id that is the beginning of another id is still an id.
    assert_eq!(kind("abc-1"), Ok("abc-1".to_owned()));
    assert_eq!(kind("abc-"), Err(ErrorKind::Ambiguous));
    // A prefix has four characters or more.
    assert_eq!(kind("abc"), Err(ErrorKind::NotFound));
    assert_eq!(kind("x"), Err(ErrorKind::NotFound));
    assert_eq!(kind(""), Err(ErrorKind::Invalid));
    let path = root.path().join("projects/-p/abc-1.jsonl");
    assert_eq!(kind(path.to_str().unwrap()), Ok("abc-1".to_owned()));
}

#[test]
fn a_root_that_does_not_exist_is_an_error_that_names_it() {
    let error = Roots::new(["/no/such/folder"]).scan().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.to_string(), "No such folder: `/no/such/folder`");
}

#[cfg(unix)]
#[test]
fn a_file_whose_name_is_no_utf_8_is_found_by_its_path() {
    use std::os::unix::ffi::OsStrExt as _;

    let root = TestRoot::with_files(&[("projects/-p/abc-1.jsonl", "{}\n")]);
    let roots = root.roots();
    let odd = root.path().join(std::ffi::OsStr::from_bytes(b"odd\xff.jsonl"));
    std::fs::copy(root.path().join("projects/-p/abc-1.jsonl"), &odd).unwrap();
    assert_eq!(roots.find(&odd).unwrap().main.unwrap().path, odd);
    let error = roots.find(std::ffi::OsStr::from_bytes(b"abc\xff")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// Names are bytes on Linux, and ids are text.
#[cfg(target_os = "linux")]
#[test]
fn c32_files_whose_names_are_not_utf8_are_reported() {
    use std::os::unix::ffi::OsStrExt as _;
    let root = TestRoot::with_files(&[
        ("projects/-p/s-1.jsonl", "{}\n"),
        ("projects/-p/s-1/subagents/agent-a1.jsonl", "{}\n"),
    ]);
    for (below, name) in
        [("projects/-p", &b"s-\xff.jsonl"[..]), ("projects/-p/s-1/subagents", b"agent-\xff.jsonl")]
    {
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::write(root.path().join(below).join(name), "{}\n").unwrap();
    }
    let scanned = root.roots().scan().unwrap();
    let told: Vec<String> = scanned.unreadable.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told.iter().all(|told| told.starts_with("The name of this session file is not UTF-8: `")),
        "{told:?}"
    );
    assert_eq!(found(root.path()), ["s-1: a1"]);
}
