//! `tidings host` with a terminal, with programs that are easier to control than `claude`, and hostile
//! viewers.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tidings::Error;
use tidings::host::terminal::{
    TerminalHost, TerminalReader, TerminalRole, TerminalSize, TerminalStart, TerminalWriter, TypingOutcome,
};
use tidings::host::wire::{FromHost, Message, ToHost};
use tokio::time::timeout;

const SIZE: TerminalSize = TerminalSize { rows: 24, cols: 80 };

/// Limit for a slow machine; waits end with what they wait for.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The input line of the CLI, drawn by a shell that shows what it gets.
const INPUT_LINE: &str = r"stty raw -echo
printf '\033[?2004h────────────\r\n❯ \r\n────────────\r\n\033[2;3H'
exec cat -v";

/// A host of a terminal with a shell script.
struct Host {
    host: TerminalHost,
    data: tempfile::TempDir,
}

impl Host {
    async fn start(script: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let host = start_in(data.path(), script).await;
        Host { host, data }
    }

    async fn view(&self, role: TerminalRole, size: Option<TerminalSize>) -> Viewer {
        let (reader, writer) = self.host.attach(role, size).await.unwrap();
        Viewer { reader, writer, shown: String::new() }
    }

    /// Waits until a prompt can be typed, and types it.
    async fn prompt(&self, text: &str) -> TypingOutcome {
        let ready = async {
            while self.host.prompt("").await.unwrap() != TypingOutcome::Typed {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIME_MAX, ready).await.unwrap();
        self.host.prompt(text).await.unwrap()
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(pid(self.host.process.host_pid), signal).unwrap();
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.data.path().join("hosts")).unwrap().count()
    }

    async fn ended(&self) {
        ended(self.host.process.host_pid).await;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process(pid(self.host.process.host_pid), Signal::KILL);
    }
}

async fn start_in(data: &Path, script: &str) -> TerminalHost {
    start_viewed(data, "/bin/sh", script).await.unwrap().0
}

/// Starts a host with a program, and returns the connection of its starter.
async fn start_viewed(data: &Path, program: &str, script: &str) -> Result<(TerminalHost, Viewer), Error> {
    let tidings = Path::new(env!("CARGO_BIN_EXE_tidings"));
    let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    env.insert("TIDINGS".into(), tidings.into());
    env.insert("TIDINGS_DATA_DIR".into(), data.into());
    let start = TerminalStart {
        program: program.into(),
        args: vec!["-c".into(), script.into()],
        env,
        host_variable: None,
        cwd: data.to_owned(),
        size: SIZE,
        session: None,
    };
    let started = TerminalHost::start(data, TerminalHost::new_id(), (tidings, &["host"]), start).await;
    started.map(|(host, reader, writer)| (host, Viewer { reader, writer, shown: String::new() }))
}

async fn ended(process: u32) {
    let end = async {
        while rustix::process::test_kill_process(pid(process)).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIME_MAX, end).await.expect("the process ends");
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// A connection, and the output since its begin.
struct Viewer {
    reader: TerminalReader,
    writer: TerminalWriter,
    shown: String,
}

impl Viewer {
    async fn next(&mut self) -> Option<FromHost> {
        let message = timeout(TIME_MAX, self.reader.next()).await.expect("a message in time").unwrap()?;
        if matches!(message.head, FromHost::Out { .. } | FromHost::Screen) {
            self.shown.push_str(&String::from_utf8_lossy(&message.bytes));
        }
        Some(message.head)
    }

    async fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let message = self.next().await;
            assert!(!matches!(message, None | Some(FromHost::Exit { .. })), "{:?}", self.shown);
        }
    }

    /// The exit code, and the signal.
    async fn exit(&mut self) -> (Option<i32>, Option<i32>) {
        loop {
            if let FromHost::Exit { code, signal, .. } = self.next().await.expect("an exit") {
                return (code, signal);
            }
        }
    }

    async fn press(&mut self, keys: impl Into<Vec<u8>>) {
        self.writer.send(&Message::with(ToHost::Keys, keys)).await.unwrap();
    }

    async fn send(&mut self, head: ToHost) {
        self.writer.send(&Message::new(head)).await.unwrap();
    }
}

#[tokio::test]
async fn every_viewer_gets_the_same_screen_and_the_exit_code() {
    let host = Host::start(r"printf '\033[?1049hfirst'; read x; printf 'second'; exit 7").await;
    let mut one = host.view(TerminalRole::Keys, Some(SIZE)).await;
    assert_eq!(one.next().await, Some(FromHost::Size(SIZE)));
    one.wait_for("first").await;
    let mut two = host.view(TerminalRole::Look, None).await;
    assert_eq!(two.next().await, Some(FromHost::Size(SIZE)));
    assert!(matches!(two.next().await, Some(FromHost::Screen)));
    assert!(two.shown.contains("first") && two.shown.contains("\x1b[?1049h"), "{:?}", two.shown);
    drop(one);
    let mut three = host.view(TerminalRole::Keys, None).await;
    three.press(b"\r".to_vec()).await;
    for viewer in [&mut two, &mut three] {
        assert_eq!(viewer.exit().await, (Some(7), None));
        assert!(viewer.shown.contains("second"), "{:?}", viewer.shown);
    }
    host.ended().await;
    assert_eq!(host.files(), 0);
}

#[tokio::test]
async fn a_viewer_that_never_reads_delays_neither_the_program_nor_others() {
    // The output begins when both are there. It is far more than a socket and the host hold, and one program
    // writes it, so that even a slow machine is done before a viewer is given up.
    let host = Host::start(r"read x; seq -f 'line %.0f of a long text' 60000; echo end; read x").await;
    let mut idle = host.view(TerminalRole::Look, None).await;
    let mut reader = host.view(TerminalRole::Keys, None).await;
    reader.press(b"\r".to_vec()).await;
    // A reader that was too slow for a moment has it on the screen, which it gets again.
    reader.wait_for("end").await;
    // It skips what it missed, and gets the screen as it is.
    idle.wait_for("end").await;
    assert!(!idle.shown.contains("line 30000 "), "output was not skipped");
}

#[tokio::test]
async fn many_keys_arrive_whole_and_only_from_viewers_that_may_press_them() {
    let host = Host::start("stty raw -echo; printf ready; head -c 65536 | cksum; read x").await;
    let mut looker = host.view(TerminalRole::Look, None).await;
    let mut keys = host.view(TerminalRole::Keys, None).await;
    keys.wait_for("ready").await;
    looker.press(b"not these".to_vec()).await;
    looker.send(ToHost::Resize { size: Some(TerminalSize { rows: 5, cols: 5 }) }).await;
    keys.press(vec![b'k'; 65536]).await;
    keys.wait_for(" 65536").await;
    let mut expected = Command::new("cksum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(expected.stdin.as_mut().unwrap(), &vec![b'k'; 65536]).unwrap();
    let expected = expected.wait_with_output().unwrap().stdout;
    assert!(keys.shown.contains(String::from_utf8_lossy(&expected).trim()), "{:?}", keys.shown);
    assert!(!keys.shown.contains("\u{1b}[8;5;5t"), "{:?}", keys.shown);
}

#[tokio::test]
async fn the_size_is_that_of_the_smallest_viewer() {
    let host = Host::start("while sleep 0.05; do stty size; done").await;
    let mut one = host.view(TerminalRole::Keys, Some(SIZE)).await;
    one.wait_for("24 80").await;
    let mut two = host.view(TerminalRole::Keys, Some(TerminalSize { rows: 50, cols: 2 })).await;
    one.shown.clear();
    one.wait_for("24 2\r").await;
    two.send(ToHost::Resize { size: Some(TerminalSize { rows: 0, cols: 9999 }) }).await;
    one.wait_for("2 80").await;
    drop(two);
    one.shown.clear();
    one.wait_for("24 80").await;
}

#[tokio::test]
async fn a_prompt_is_typed_as_one_paste_and_never_into_a_draft() {
    let host = Host::start(INPUT_LINE).await;
    let mut viewer = host.view(TerminalRole::Look, None).await;
    assert_eq!(host.prompt("one\x1b[201~ two\x03").await, TypingOutcome::Typed);
    viewer.wait_for("^[[200~one two^[[201~^M").await;
    // The text is on the screen now.
    let again = async {
        loop {
            match host.host.prompt("three").await.unwrap() {
                TypingOutcome::JustTyped => tokio::time::sleep(Duration::from_millis(20)).await,
                outcome => return outcome,
            }
        }
    };
    assert_ne!(timeout(TIME_MAX, again).await.unwrap(), TypingOutcome::Typed);
}

#[tokio::test]
async fn nothing_is_typed_right_after_a_key() {
    let host = Host::start(INPUT_LINE).await;
    let mut viewer = host.view(TerminalRole::Keys, None).await;
    viewer.wait_for("❯").await;
    // The screen does not show a key that does nothing.
    viewer.press(b"\0".to_vec()).await;
    viewer.wait_for("^@").await;
    assert_eq!(host.host.prompt("text").await.unwrap(), TypingOutcome::JustTyped);
}

#[tokio::test]
async fn a_process_of_the_terminal_cannot_press_its_keys() {
    // It begins when the viewer is there: what was written before comes as a screen, and not as these bytes.
    let script = r#"echo started
until [ -e "$TIDINGS_DATA_DIR/begin" ]; do sleep 0.02; done
id=$(basename "$TIDINGS_DATA_DIR"/hosts/*)
"$TIDINGS" attach "$id" || echo refused
setsid -w "$TIDINGS" attach "$id" </dev/tty >/dev/tty || echo refused again
read x"#;
    let host = Host::start(script).await;
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("started").await;
    std::fs::write(host.data.path().join("begin"), "").unwrap();
    viewer.wait_for("refused again").await;
    assert!(viewer.shown.contains("refused\r"), "{:?}", viewer.shown);
}

#[tokio::test]
async fn a_suspended_program_continues_with_its_viewer() {
    let host = Host::start("kill -TSTP $$; echo back; read x").await;
    let mut viewer = host.view(TerminalRole::Look, None).await;
    let mut keys = host.view(TerminalRole::Keys, None).await;
    keys.send(ToHost::Continue).await;
    // It may have been suspended before the viewer came, or comes to it now.
    while !viewer.shown.contains("back") {
        if viewer.next().await == Some(FromHost::Suspended) {
            keys.send(ToHost::Continue).await;
        }
    }
}

#[tokio::test]
async fn a_host_that_is_told_to_end_hangs_up() {
    let host = Host::start("trap 'echo hung up; exit 3' HUP; echo ready; while :; do sleep 0.02; done").await;
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("ready").await;
    host.signal(Signal::TERM);
    assert_eq!(viewer.exit().await, (Some(3), None));
    assert!(viewer.shown.contains("hung up"), "{:?}", viewer.shown);
    host.ended().await;
    assert_eq!(host.files(), 0);
}

#[tokio::test]
async fn the_program_of_a_killed_host_ends_and_the_next_host_cleans_up() {
    let host = Host::start("echo ready; exec sleep 1000").await;
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("ready").await;
    host.signal(Signal::KILL);
    assert_eq!(viewer.next().await, None);
    host.ended().await;
    ended(host.host.process.pid).await;
    assert!(!host.host.is_alive());
    let next = start_in(host.data.path(), "read x").await;
    assert_eq!(TerminalHost::list(host.data.path()), std::slice::from_ref(&next));
    rustix::process::kill_process(pid(next.process.host_pid), Signal::KILL).unwrap();
    ended(next.process.host_pid).await;
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error_and_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let started = start_viewed(data.path(), "/no/such/program", "").await;
    assert!(started.err().unwrap().to_string().contains("/no/such/program"));
    let gone = async {
        while std::fs::read_dir(data.path().join("hosts")).unwrap().next().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIME_MAX, gone).await.expect("the folder is removed");
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_seen_by_the_one_who_started_it() {
    let data = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let (_, mut viewer) = start_viewed(data.path(), "/bin/sh", "echo bye; exit 3").await.unwrap();
        assert_eq!(viewer.exit().await, (Some(3), None));
        assert!(viewer.shown.contains("bye"), "{:?}", viewer.shown);
    }
}

/// Only who can read the record may look, and neither a bridge nor a viewer can take the place of the other.
#[tokio::test]
async fn a_viewer_without_the_secret_and_a_bridge_are_refused() {
    let host = Host::start("echo ready; read x").await;
    let folder = host.data.path().join("hosts").join(&host.host.id);
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("host.json")).unwrap()).unwrap();
    let secret = record["secret"].as_str().unwrap();
    let attach = format!(r#"{{"kind":"attach","version":1,"secret":"{secret}","owner":"other","fence":9}}"#);
    for (message, reason) in [
        (r#"{"kind":"view","version":2,"secret":"guessed","role":"keys"}"#, "stranger"),
        (r#"{"kind":"keys"}"#, "not_now"),
        (&attach, "taken"),
    ] {
        let mut stream = std::os::unix::net::UnixStream::connect(folder.join("socket")).unwrap();
        std::io::Write::write_all(&mut stream, format!("{message}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["kind"], &answer["reason"]), (&"refused".into(), &reason.into()), "{message}");
    }
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("ready").await;
}

#[tokio::test]
async fn nonsense_ends_a_connection_and_nothing_else() {
    let host = Host::start("echo ready; read x; echo got it").await;
    let socket = host.data.path().join("hosts").join(&host.host.id).join("socket");
    let zeros = vec![0; 70_000];
    for bytes in [&b"GET / HTTP/1.0\r\n\r\n"[..], b"h\xff\xff\xff\xff", b"h\0\0\0\x02{}", b"", &zeros] {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        drop(std::io::Write::write_all(&mut stream, bytes));
    }
    let mut viewer = host.view(TerminalRole::Keys, None).await;
    viewer.wait_for("ready").await;
    viewer.press(b"\r".to_vec()).await;
    viewer.wait_for("got it").await;
}
