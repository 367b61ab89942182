//! Tests of the session lock: one writer, killed holders, and sessions that `claude` itself has open.

use std::process::{Command, Stdio};

use super::*;
use crate::{ErrorKind, Options};

const ID: &str = "4f2c0a52-7f10-4b58-a0a8-4f9be3f4a001";

fn owner(command: &str) -> SessionOwner {
    SessionOwner::new(command)
}

fn locks(config_dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(config_dir.join(FOLDER)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn r5_a_session_has_one_writer_who_is_named_with_the_way_to_attach() {
    let folder = tempfile::tempdir().unwrap();
    let serve = owner("tidings serve").attached_by("tidings attach 7 --data /srv/tidings");
    let lock = SessionLock::take(folder.path(), ID, &serve).unwrap();
    let refused = SessionLock::take(folder.path(), &ID.to_uppercase(), &owner("tidings run")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Taken);
    let pid = std::process::id();
    assert_eq!(refused.to_string(), format!("`tidings serve` (process {pid}) has this session open"));
    assert!(refused.hint().starts_with("`tidings attach 7 --data /srv/tidings` attaches"), "{refused:?}");
    let holder = SessionLock::holder(folder.path(), ID).unwrap();
    assert_eq!((holder.process, holder.owner), (ProcessIdentity::own(), serve));
    let other = "4f2c0a52-7f10-4b58-a0a8-4f9be3f4a002";
    assert!(
        SessionLock::take(folder.path(), other, &owner("tidings run")).is_ok(),
        "another session is free"
    );
    drop(lock);
    assert_eq!(SessionLock::holder(folder.path(), ID), None);
    assert_eq!(locks(folder.path()), [""; 0], "no file is left");
    let run = owner("tidings run");
    let _lock = SessionLock::take(folder.path(), ID, &run).unwrap();
    let refused = SessionLock::take_for_running(folder.path(), ID, &owner("tidings serve")).unwrap_err();
    assert!(refused.hint().starts_with("continue it there"), "{refused:?}");
}

/// Many threads take one lock, each with an open file of its own, as processes have.
#[test]
fn r5_of_many_that_start_at_once_one_gets_the_session() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let barrier = std::sync::Barrier::new(8);
        let taken: Vec<_> = std::thread::scope(|scope| {
            let take = || {
                barrier.wait();
                let taken = SessionLock::take(folder.path(), ID, &owner("tidings run")).ok();
                barrier.wait();
                taken.is_some()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn r5_a_killed_holder_frees_its_session_once_its_agent_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
    let mut lock = SessionLock::take(folder.path(), ID, &owner("tidings run")).unwrap();
    lock.set_agent(agent.id()).unwrap();
    // A killed process releases its locks and removes no files.
    lock.file.unlock().unwrap();
    std::mem::forget(lock);
    let take = |wait| {
        let owner = owner("tidings serve");
        SessionLock::take_within(folder.path(), ID, &owner, OtherWriters::Refused, wait)
    };
    assert_eq!(take(Duration::ZERO).unwrap_err().kind(), ErrorKind::Taken, "its agent still writes");
    assert!(SessionLock::holder(folder.path(), ID).is_some());
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert!(take(Duration::ZERO).is_ok());
}

#[cfg(all(target_os = "linux", feature = "sessions"))]
#[test]
fn r5_a_session_that_a_claude_of_the_user_has_open_is_not_free() {
    let folder = tempfile::tempdir().unwrap();
    let own = ProcessIdentity::own();
    std::fs::create_dir(folder.path().join("sessions")).unwrap();
    let text =
        serde_json::json!({"pid": own.pid, "sessionId": ID, "procStart": own.start, "entrypoint": "cli"});
    std::fs::write(folder.path().join(format!("sessions/{}.json", own.pid)), text.to_string()).unwrap();
    let refused = SessionLock::take(folder.path(), ID, &owner("tidings run")).unwrap_err();
    let message = format!("Another Claude Code process ({}) has this session open", own.pid);
    assert_eq!((refused.kind(), refused.to_string()), (ErrorKind::Taken, message));
    assert!(!SessionLock::holder(folder.path(), ID).unwrap().is_ours());
    assert!(SessionLock::take_for_running(folder.path(), ID, &owner("tidings serve")).is_ok());
}

#[test]
fn r5_an_agent_holds_the_session_that_it_writes_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = [ID, "4f2c0a52-7f10-4b58-a0a8-4f9be3f4a002"];
    let request = |options: Options| LockRequest::of(&options.lock_in(folder.path()).plan().unwrap().launch);
    let lock = AgentLock::take(request(Options::new())).unwrap();
    assert_eq!(locks(folder.path()), [""; 0], "the id is not known yet");
    let held = |id: &str| SessionLock::take(folder.path(), id, &owner("another")).is_err();
    lock.note_session(one).unwrap();
    assert!(held(one));
    // `/clear` begins another session.
    lock.note_session(two).unwrap();
    assert!(!held(one) && held(two));
    assert!(AgentLock::take(request(Options::new().resume(two))).is_err());
    let fork = AgentLock::take(request(Options::new().resume(two).fork_session())).unwrap();
    fork.note_session(one).unwrap();
    assert!(held(one), "a fork has a session of its own");
    let latest = AgentLock::take(request(Options::new().continue_latest())).unwrap();
    assert_eq!(latest.note_session(two).unwrap_err().kind(), ErrorKind::Taken);
    // The latest session of the folder is known before the agent is started.
    let project = tempfile::tempdir().unwrap();
    let path = project.path().canonicalize().unwrap();
    let name = path.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let files = folder.path().join("projects").join(name);
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join(format!("{two}.jsonl")), "").unwrap();
    let refused = AgentLock::take(request(Options::new().continue_latest().cwd(project.path())));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Taken);
    assert_eq!(request(Options::new().resume(two).forget_session()), None, "it writes nothing");
    lock.release();
    assert!(!held(two));
}

#[test]
fn r5_the_lock_is_in_the_configuration_folder_of_the_agent() {
    let folder = |options: Options| {
        let request =
            LockRequest::of(&options.env_base(crate::options::EnvBase::Empty).plan().unwrap().launch);
        request
            .map(|request| serde_json::to_value(request).unwrap()["config_dir"].as_str().unwrap().to_owned())
    };
    assert_eq!(folder(Options::new().env("HOME", "/home/a")).as_deref(), Some("/home/a/.claude"));
    let both = Options::new().env("HOME", "/home/a").env("CLAUDE_CONFIG_DIR", "/c");
    assert_eq!(folder(both).as_deref(), Some("/c"));
    let relative = Options::new().env("CLAUDE_CONFIG_DIR", "c").cwd("/srv");
    assert_eq!(folder(relative).as_deref(), Some("/srv/c"));
    assert_eq!(folder(Options::new()), None);
}

#[test]
fn an_id_does_not_lead_out_of_the_folder() {
    let path = path_of(Path::new("/c"), "../../a b");
    assert_eq!(path, Path::new("/c/tidings/locks/_2e_2e_2f_2e_2e_2fa_20b.lock"));
}
