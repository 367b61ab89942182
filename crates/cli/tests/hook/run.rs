//! `tidings hook run`, with and without a server.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::desk::{Desk, ends_silently, feed, printed};
use super::listener::Listener;

const ALLOW: &str = r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#;
const OK: &str = "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n";

/// Bound for hooks that do not wait. It is far above the real time, since tests share the machine.
const AT_ONCE: Duration = Duration::from_secs(10);

#[test]
fn without_a_server_a_hook_ends_at_once_and_silently() {
    let desk = Desk::new();
    let started = Instant::now();
    ends_silently(desk.start("Stop", &desk.input()));
    fs::remove_dir(desk.path("data")).unwrap();
    ends_silently(desk.start("PermissionRequest", &desk.input()));
    // The input is read although it is not needed: Claude Code reports a broken pipe as a failed hook.
    ends_silently(desk.start("PostToolUse", &format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20))));
    assert!(started.elapsed() < AT_ONCE);
    assert!(!desk.path("data").exists());
}

#[test]
fn a_refused_connection_is_no_reason_to_wait() {
    let desk = Desk::new();
    drop(Listener::new(&desk.path("data")));
    ends_silently(desk.start("Stop", &desk.input()));
    assert!(!desk.path("data/hook-backoff").exists());
}

#[test]
fn wrong_arguments_are_ignored_silently() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let wrong: [&[&str]; 5] = [&[], &[""], &["../x"], &["Stop", "--nonsense"], &["Stop", "--data"]];
    for args in wrong {
        let args: Vec<&str> = ["hook", "run"].iter().chain(args).copied().collect();
        ends_silently(feed(&mut desk.tidings(&args), &desk.input()));
    }
    assert!(listener.is_unused());
}

#[test]
fn the_request_has_the_input_verbatim_and_the_variables() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let mut command = desk.patient("PreToolUse");
    command.env("CLAUDE_CODE_SESSION_ATTENDED", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    command.env("CLAUDE_CONFIG_DIR", "/a \"b\"").env("TMUX", "/tmp/t,1,0").env("TMUX_PANE", "%0");
    command.env("CLAUDE_PID", "31778");
    let hook = feed(&mut command, &desk.input());
    let connection = listener.accept();
    assert!(connection.head.starts_with("POST /v1/hooks/PreToolUse HTTP/1.0\r\n"), "{}", connection.head);
    assert!(connection.head.contains("\r\ncontent-type: application/json\r\n"), "{}", connection.head);
    let env = concat!(
        r#"{"attended":"1","entrypoint":"cli","config_dir":"/a \"b\"","tmux":"/tmp/t,1,0","#,
        r#""tmux_pane":"%0","pid":"31778"}"#
    );
    assert_eq!(connection.body, format!("{{\"input\":{},\"env\":{env}}}", desk.input()));
    connection.reply(OK);
    ends_silently(hook);

    let hook = desk.start_patient("Stop", &desk.input());
    let connection = listener.accept();
    assert_eq!(connection.body, format!("{{\"input\":{},\"env\":{{}}}}", desk.input()));
    connection.reply("HTTP/1.1 204 No Content\r\n\r\n");
    ends_silently(hook);
}

#[test]
fn an_answer_is_printed_verbatim() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let length = ALLOW.len();
    for reply in
        [format!("{OK}{ALLOW}"), format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{ALLOW}")]
    {
        for event in ["PermissionRequest", "PreToolUse"] {
            let hook = desk.start_patient(event, &desk.input());
            listener.accept().reply(&reply);
            assert_eq!(printed(hook), ALLOW);
        }
    }
}

#[test]
fn replies_that_are_not_answers_print_nothing() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    for reply in [
        "",
        "HTTP/1.0 200",
        "HTTP/1.0 403 Forbidden\r\n\r\n{\"code\":\"forbidden\"}",
        "HTTP/1.0 500 Internal Server Error\r\n\r\n{}",
        "HTTP/1.0 200 OK\r\ncontent-length: 90\r\n\r\n{}",
        "HTTP/1.0 200 OK\r\ncontent-length: -1\r\n\r\n{}",
        "HTTP/1.0 200 OK\r\n\r\n{\"hookSpecificOutput\":{",
        "HTTP/1.0 200 OK\r\n\r\nplain text would be shown to the model",
        "SSH-2.0-x\r\n\r\n{}",
    ] {
        let hook = desk.start_patient("PermissionRequest", &desk.input());
        listener.accept().reply(reply);
        ends_silently(hook);
    }
    assert!(!desk.path("data/hook-backoff").exists(), "the server did reply");
}

#[test]
fn a_held_permission_request_waits_for_its_answer() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let mut hook = desk.start_patient("PermissionRequest", &desk.input());
    let mut connection = listener.accept();
    connection.send(OK);
    // Another hook starts, gives up and ends meanwhile, so more than the time for a reply has passed.
    let late = desk.start("Stop", &desk.input());
    let unanswered = listener.accept();
    ends_silently(late);
    drop(unanswered);
    assert!(hook.try_wait().unwrap().is_none(), "the request is still held");
    connection.reply(ALLOW);
    assert_eq!(printed(hook), ALLOW);
}

#[test]
fn only_permission_requests_are_held() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let hook = desk.start("PreToolUse", &desk.input());
    let mut connection = listener.accept();
    connection.send(OK);
    ends_silently(hook);
    connection.wait_for_close();
}

#[test]
fn a_server_that_does_not_reply_is_left_alone_for_a_while() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let started = Instant::now();
    ends_silently(desk.start("PermissionRequest", &desk.input()));
    assert!(started.elapsed() < AT_ONCE);
    listener.accept().wait_for_close();
    let backoff = desk.path("data/hook-backoff");
    assert!(backoff.exists());

    ends_silently(desk.start("Stop", &desk.input()));
    assert!(listener.is_unused());

    let file = fs::File::options().write(true).open(&backoff).unwrap();
    let touched = fs::metadata(&backoff).unwrap().modified().unwrap();
    file.set_modified(touched - Duration::from_secs(3600)).unwrap();
    let hook = desk.start_patient("Stop", &desk.input());
    listener.accept().reply(&format!("{OK}{{}}"));
    assert_eq!(printed(hook), "{}");
}

/// The dialog is open meanwhile, so that neither the user nor the session waits for the hook.
#[test]
fn r2_the_hook_of_a_permission_request_in_a_terminal_is_patient() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    ends_silently(desk.start("Stop", &desk.input()));
    listener.accept().wait_for_close();
    assert!(desk.path("data/hook-backoff").exists(), "other hooks leave the server alone");

    let ask = || {
        let mut command = desk.tidings(&["hook", "run", "PermissionRequest"]);
        feed(command.env("CLAUDE_CODE_SESSION_ATTENDED", "1"), &desk.input())
    };
    let hook = ask();
    let connection = listener.accept();
    // The server comes back after more than the time for a reply to other hooks.
    std::thread::sleep(Duration::from_millis(500));
    connection.reply(&format!("{OK}{ALLOW}"));
    assert_eq!(printed(hook), ALLOW);
    // One that does not is given up.
    let hook = ask();
    listener.accept().wait_for_close();
    ends_silently(hook);
}

#[test]
fn a_stopped_server_with_a_full_queue_does_not_block_hooks() {
    let desk = Desk::new();
    let full = Listener::full(&desk.path("data"));
    ends_silently(desk.start("Stop", &desk.input()));
    // Elsewhere the system refuses such a connection at once.
    assert_eq!(desk.path("data/hook-backoff").exists(), cfg!(target_os = "linux"));
    drop(full);
}

#[test]
fn sigterm_withdraws_a_held_request() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let mut hook = desk.start_patient("PermissionRequest", &desk.input());
    let mut connection = listener.accept();
    connection.send(OK);
    kill_process(Pid::from_child(&hook), Signal::TERM).unwrap();
    connection.wait_for_close();
    hook.wait().unwrap();
}

#[test]
fn a_hook_ends_with_its_parent() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let program = desk.tidings(&[]).get_program().to_owned();
    let mut shell = Command::new("/bin/sh");
    // The second command keeps the shell from replacing itself by the first.
    shell.args(["-c", "\"$0\" hook run PermissionRequest --reply-ms 60000; true"]).arg(program);
    shell.env_clear().env("TIDINGS_DATA_DIR", desk.path("data"));
    let mut shell = feed(&mut shell, &desk.input());
    let mut connection = listener.accept();
    connection.send(OK);
    shell.kill().unwrap();
    shell.wait().unwrap();
    connection.wait_for_close();
}

#[test]
fn sessions_of_the_server_itself_are_not_reported_twice() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let mut command = desk.tidings(&["hook", "run", "SessionStart"]);
    ends_silently(feed(command.env("TIDINGS_SESSION", "1"), &desk.input()));
    assert!(listener.is_unused());
}

#[test]
fn inputs_that_are_not_json_objects_are_not_sent() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    for input in ["", "[]", "{", "{},\"env\":{\"pid\":\"1\"},\"input\":{}", "null", "{\"cwd\":1}"] {
        ends_silently(desk.start("Stop", input));
    }
    assert!(listener.is_unused());
}

#[test]
fn long_inputs_are_sent_and_longer_ones_are_not() {
    let desk = Desk::new();
    let listener = Listener::new(&desk.path("data"));
    let input = |mib: usize| format!("{{\"text\":\"{}\"}}", "x".repeat(mib << 20));
    let start = |input: String| {
        let mut command = desk.patient("PostToolUse");
        let mut hook =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = hook.stdin.take().unwrap();
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        hook
    };
    let sent = input(2);
    let hook = start(sent.clone());
    let connection = listener.accept();
    assert!(connection.body.starts_with(&format!("{{\"input\":{sent},\"env\":")));
    connection.reply(OK);
    ends_silently(hook);
    ends_silently(start(input(32)));
    assert!(listener.is_unused());
}

#[test]
fn the_server_may_have_another_folder_socket_and_base_path() {
    let desk = Desk::new();
    let data = desk.path("other data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("socket-path"), desk.path("own.sock").to_str().unwrap()).unwrap();
    fs::write(data.join("base-path"), "/tidings").unwrap();
    let listener = Listener::at(&desk.path("own.sock"));
    let mut command = desk.patient("Stop");
    command.arg("--data").arg(&data);
    let hook = feed(&mut command, &desk.input());
    let connection = listener.accept();
    assert!(connection.head.starts_with("POST /tidings/v1/hooks/Stop HTTP/1.0\r\n"), "{}", connection.head);
    connection.reply(OK);
    ends_silently(hook);
}
