//! `tidings terminal-host` with programs that are easier to control than `claude`, and hostile viewers.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tidings::host::terminal::{
    FromTerminal, TerminalExit, TerminalFolder, TerminalReader, TerminalRecord, TerminalRole, TerminalSize,
    TerminalWriter, ToTerminal, TypingOutcome,
};
use tokio::time::timeout;

const SIZE: TerminalSize = TerminalSize { rows: 24, cols: 80 };

/// Limit for a slow machine; waits end with what they wait for.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The input line of the CLI, drawn by a shell that shows what it gets.
const INPUT_LINE: &str = r"stty raw -echo
printf '\033[?2004h────────────\r\n❯ \r\n────────────\r\n\033[2;3H'
exec cat -v";

/// A terminal host with a shell script.
struct Host {
    child: Child,
    folder: TerminalFolder,
    record: TerminalRecord,
    data: tempfile::TempDir,
}

impl Host {
    fn start(script: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        let (child, record) = start_in(data.path(), script);
        Host { child, folder: TerminalFolder::new(data.path()), record, data }
    }

    async fn view(&self, role: TerminalRole, size: Option<TerminalSize>) -> Viewer {
        let (reader, writer) = self.folder.attach(&self.record, role, size).await.unwrap();
        Viewer { reader, writer, shown: String::new() }
    }

    /// Waits until a prompt can be typed, and types it.
    async fn prompt(&self, text: &str) -> TypingOutcome {
        let ready = async {
            while self.folder.prompt(&self.record, "").await.unwrap() != TypingOutcome::Typed {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIME_MAX, ready).await.unwrap();
        self.folder.prompt(&self.record, text).await.unwrap()
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(pid(self.child.id()), signal).unwrap();
    }

    fn files(&self) -> usize {
        std::fs::read_dir(self.data.path().join("terminals")).unwrap().count()
    }

    async fn ended(&mut self) {
        let end = async {
            while self.child.try_wait().unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIME_MAX, end).await.unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn start_in(data: &Path, script: &str) -> (Child, TerminalRecord) {
    let tidings = env!("CARGO_BIN_EXE_tidings");
    let mut child = Command::new(tidings)
        .args(["terminal-host", "--rows", "24", "--cols", "80", "--data"])
        .arg(data)
        .args(["/bin/sh", "--", "-c", script])
        .env("TIDINGS", tidings)
        .env("TIDINGS_DATA_DIR", data)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started: serde_json::Value = serde_json::from_str(&line).unwrap();
    (child, serde_json::from_value(started["ready"].clone()).unwrap())
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
    async fn next(&mut self) -> Option<FromTerminal> {
        let message = timeout(TIME_MAX, self.reader.next()).await.expect("a message in time").unwrap();
        if let Some(FromTerminal::Output(bytes) | FromTerminal::Redraw(bytes)) = &message {
            self.shown.push_str(&String::from_utf8_lossy(bytes));
        }
        message
    }

    async fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let message = self.next().await;
            assert!(!matches!(message, None | Some(FromTerminal::Exited(_))), "{:?}", self.shown);
        }
    }

    async fn exit(&mut self) -> TerminalExit {
        loop {
            if let FromTerminal::Exited(exit) = self.next().await.expect("an exit") {
                return exit;
            }
        }
    }

    async fn send(&mut self, message: ToTerminal) {
        self.writer.send(&message).await.unwrap();
    }
}

#[tokio::test]
async fn every_viewer_gets_the_same_screen_and_the_exit_code() {
    let mut host = Host::start(r"printf '\033[?1049hfirst'; read x; printf 'second'; exit 7");
    let mut one = host.view(TerminalRole::Keys, Some(SIZE)).await;
    assert_eq!(one.next().await, Some(FromTerminal::Size(SIZE)));
    one.wait_for("first").await;
    let mut two = host.view(TerminalRole::Look, None).await;
    assert_eq!(two.next().await, Some(FromTerminal::Size(SIZE)));
    assert!(matches!(two.next().await, Some(FromTerminal::Redraw(_))));
    assert!(two.shown.contains("first") && two.shown.contains("\x1b[?1049h"), "{:?}", two.shown);
    drop(one);
    let mut three = host.view(TerminalRole::Keys, None).await;
    three.send(ToTerminal::Keys(b"\r".to_vec())).await;
    for viewer in [&mut two, &mut three] {
        assert_eq!(viewer.exit().await, TerminalExit { code: Some(7), signal: None });
        assert!(viewer.shown.contains("second"), "{:?}", viewer.shown);
    }
    host.ended().await;
    assert_eq!(host.files(), 0);
}

#[tokio::test]
async fn a_viewer_that_never_reads_delays_neither_the_program_nor_others() {
    // The output begins when both are there. It is far more than a socket and the host hold, and one program
    // writes it, so that even a slow machine is done before a viewer is given up.
    let host = Host::start(r"read x; seq -f 'line %.0f of a long text' 60000; echo end; read x");
    let mut idle = host.view(TerminalRole::Look, None).await;
    let mut reader = host.view(TerminalRole::Keys, None).await;
    reader.send(ToTerminal::Keys(b"\r".to_vec())).await;
    // A reader that was too slow for a moment has it on the screen, which it gets again.
    reader.wait_for("end").await;
    // It skips what it missed, and gets the screen as it is.
    idle.wait_for("end").await;
    assert!(!idle.shown.contains("line 30000 "), "output was not skipped");
}

#[tokio::test]
async fn many_keys_arrive_whole_and_only_from_viewers_that_may_press_them() {
    let host = Host::start("stty raw -echo; printf ready; head -c 65536 | cksum; read x");
    let mut looker = host.view(TerminalRole::Look, None).await;
    let mut keys = host.view(TerminalRole::Keys, None).await;
    keys.wait_for("ready").await;
    looker.send(ToTerminal::Keys(b"not these".to_vec())).await;
    looker.send(ToTerminal::Size(Some(TerminalSize { rows: 5, cols: 5 }))).await;
    keys.send(ToTerminal::Keys(vec![b'k'; 65536])).await;
    keys.wait_for(" 65536").await;
    let mut expected = Command::new("cksum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(expected.stdin.as_mut().unwrap(), &vec![b'k'; 65536]).unwrap();
    let expected = expected.wait_with_output().unwrap().stdout;
    assert!(keys.shown.contains(String::from_utf8_lossy(&expected).trim()), "{:?}", keys.shown);
    assert!(!keys.shown.contains("\u{1b}[8;5;5t"), "{:?}", keys.shown);
}

#[tokio::test]
async fn the_size_is_that_of_the_smallest_viewer() {
    let host = Host::start("while sleep 0.05; do stty size; done");
    let mut one = host.view(TerminalRole::Keys, Some(SIZE)).await;
    one.wait_for("24 80").await;
    let mut two = host.view(TerminalRole::Keys, Some(TerminalSize { rows: 50, cols: 2 })).await;
    one.shown.clear();
    one.wait_for("24 2\r").await;
    two.send(ToTerminal::Size(Some(TerminalSize { rows: 0, cols: 9999 }))).await;
    one.wait_for("2 80").await;
    drop(two);
    one.shown.clear();
    one.wait_for("24 80").await;
}

#[tokio::test]
async fn a_prompt_is_typed_as_one_paste_and_never_into_a_draft() {
    let host = Host::start(INPUT_LINE);
    let mut viewer = host.view(TerminalRole::Look, None).await;
    assert_eq!(host.prompt("one\x1b[201~ two\x03").await, TypingOutcome::Typed);
    viewer.wait_for("^[[200~one two^[[201~^M").await;
    // The text is on the screen now.
    let again = async {
        loop {
            match host.folder.prompt(&host.record, "three").await.unwrap() {
                TypingOutcome::JustTyped => tokio::time::sleep(Duration::from_millis(20)).await,
                outcome => return outcome,
            }
        }
    };
    assert_ne!(timeout(TIME_MAX, again).await.unwrap(), TypingOutcome::Typed);
}

#[tokio::test]
async fn nothing_is_typed_right_after_a_key() {
    let host = Host::start(INPUT_LINE);
    let mut viewer = host.view(TerminalRole::Keys, None).await;
    viewer.wait_for("❯").await;
    // The screen does not show a key that does nothing.
    viewer.send(ToTerminal::Keys(b"\0".to_vec())).await;
    viewer.wait_for("^@").await;
    assert_eq!(host.folder.prompt(&host.record, "text").await.unwrap(), TypingOutcome::JustTyped);
}

#[tokio::test]
async fn a_process_of_the_terminal_cannot_press_its_keys() {
    // It begins when the viewer is there: what was written before comes as a screen, and not as these bytes.
    let script = r#"echo started
until [ -e "$TIDINGS_DATA_DIR/begin" ]; do sleep 0.02; done
id=$(basename "$TIDINGS_DATA_DIR"/terminals/*.json .json)
"$TIDINGS" attach "$id" || echo refused
setsid -w "$TIDINGS" attach "$id" </dev/tty >/dev/tty || echo refused again
read x"#;
    let host = Host::start(script);
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("started").await;
    std::fs::write(host.data.path().join("begin"), "").unwrap();
    viewer.wait_for("refused again").await;
    assert!(viewer.shown.contains("refused\r"), "{:?}", viewer.shown);
}

#[tokio::test]
async fn a_suspended_program_continues_with_its_viewer() {
    let host = Host::start("kill -TSTP $$; echo back; read x");
    let mut viewer = host.view(TerminalRole::Look, None).await;
    let mut keys = host.view(TerminalRole::Keys, None).await;
    keys.send(ToTerminal::Continue).await;
    // It may have been suspended before the viewer came, or comes to it now.
    while !viewer.shown.contains("back") {
        if viewer.next().await == Some(FromTerminal::Suspended) {
            keys.send(ToTerminal::Continue).await;
        }
    }
}

#[tokio::test]
async fn a_host_that_is_told_to_end_hangs_up() {
    let mut host = Host::start("trap 'echo hung up; exit 3' HUP; echo ready; while :; do sleep 0.02; done");
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("ready").await;
    host.signal(Signal::TERM);
    assert_eq!(viewer.exit().await, TerminalExit { code: Some(3), signal: None });
    assert!(viewer.shown.contains("hung up"), "{:?}", viewer.shown);
    host.ended().await;
    assert_eq!(host.files(), 0);
}

#[tokio::test]
async fn the_program_of_a_killed_host_ends_and_the_next_host_cleans_up() {
    let mut host = Host::start("echo ready; exec sleep 1000");
    let mut viewer = host.view(TerminalRole::Look, None).await;
    viewer.wait_for("ready").await;
    host.signal(Signal::KILL);
    assert_eq!(viewer.next().await, None);
    host.ended().await;
    let gone = async {
        while rustix::process::test_kill_process(pid(host.record.pid)).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TIME_MAX, gone).await.expect("the program ends");
    assert!(!host.folder.is_alive(&host.record));
    let (mut next, record) = start_in(host.data.path(), "read x");
    assert_eq!(host.folder.list(), [record]);
    next.kill().unwrap();
    next.wait().unwrap();
}

#[tokio::test]
async fn nonsense_ends_a_connection_and_nothing_else() {
    let host = Host::start("echo ready; read x; echo got it");
    let socket = host.data.path().join("terminals").join(&host.record.socket);
    let zeros = vec![0; 70_000];
    for bytes in [&b"GET / HTTP/1.0\r\n\r\n"[..], b"h\xff\xff\xff\xff", b"h\0\0\0\x02{}", b"", &zeros] {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
        drop(std::io::Write::write_all(&mut stream, bytes));
    }
    let mut viewer = host.view(TerminalRole::Keys, None).await;
    viewer.wait_for("ready").await;
    viewer.send(ToTerminal::Keys(b"\r".to_vec())).await;
    viewer.wait_for("got it").await;
}
