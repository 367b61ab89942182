//! Clients that never read cost the server little, whatever is published, and delay no other client (F98).
//!
//! The server is a process of its own, so that the memory of the clients is not counted. `TIDINGS_SOAK_STUCK`
//! sets the number of clients and `TIDINGS_SOAK_MIB` the amount that is published; `make soak` sets both.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]
#![cfg(target_os = "linux")]

use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Amount that is published between two checks of the reader.
const STEP_KIB: u64 = 1 << 10;

/// Limit for one client that never reads: its next portion of events, and buffers.
const STUCK_BYTES_MAX: u64 = 256 << 10;

/// Allowance for the server itself, while it writes and reads its journal.
const REST_BYTES_MAX: u64 = 32 << 20;

/// The subscribe message of a phone: its project, and the session with no message seen yet.
const PROJECT: &str = r#"{"type":"project_init","id":"init","projectPath":"/"}"#;
const RESUME: &str =
    r#"{"type":"session_resume","sessionId":"session","lastMessageId":"","lastMessageTimestamp":0}"#;

/// A stream that is not read is closed after a minute.
const LET_GO: Duration = Duration::from_secs(180);

#[test]
fn f98_clients_that_never_read_cost_little_and_delay_nobody() {
    let (clients, mib) = (number("TIDINGS_SOAK_STUCK", 40), number("TIDINGS_SOAK_MIB", 12));
    let mut server = StuckServer::start();
    // Three in four on a WebSocket, the others on a stream of events.
    let stuck: Vec<TcpStream> =
        (0..clients).map(|n| if n % 4 == 0 { server.stream() } else { server.socket() }).collect();
    let mut reader = BufReader::new(server.stream());
    let before = server.held("VmRSS:");
    let mut seen = 0;
    for _ in 0..mib {
        server.publish(STEP_KIB);
        let due = seen + STEP_KIB / 16;
        while seen < due {
            let id = next_id(&mut reader);
            assert_eq!(id, seen + 1, "nothing is lost, repeated or out of order");
            seen = id;
        }
    }
    let (after, most) = (server.held("VmRSS:"), server.held("VmHWM:"));
    println!(
        "{clients} clients that never read, {mib} MiB published: {} MiB before, {} MiB after, {} MiB at most",
        before >> 20,
        after >> 20,
        most >> 20
    );
    let bound = clients * STUCK_BYTES_MAX + REST_BYTES_MAX;
    let grown = most.saturating_sub(before);
    assert!(grown < bound, "{} MiB for those who never read, and {} are allowed", grown >> 20, bound >> 20);
    if mib > 256 {
        // In a long run their connections are closed, although the clients keep them open.
        let since = Instant::now();
        while server.watchers() > 1 {
            assert!(since.elapsed() < LET_GO, "{} of them are still there", server.watchers() - 1);
            server.publish(16);
            next_id(&mut reader);
            std::thread::sleep(Duration::from_secs(1));
        }
        println!("all of them were let go of within {} s", since.elapsed().as_secs());
    }
    drop(stuck);
}

/// The cost of a client that never reads does not depend on the length of an event, whether the event is live
/// or read from the journal.
#[test]
fn k6_clients_that_never_read_cost_little_however_long_an_event_is() {
    const EVENT_BYTES: u64 = 15 << 20;
    const CLIENTS: u64 = 40;
    let mut server = StuckServer::start();
    server.publish(16);
    let some = |server: &StuckServer| -> Vec<TcpStream> {
        let client = |n| match n % 5 {
            0 => server.stream(),
            1 => server.stream_in("ui"),
            2 => server.stream_in("mobile"),
            3 => server.phone(),
            _ => server.socket(),
        };
        (0..CLIENTS / 2).map(client).collect()
    };
    let mut reader = BufReader::new(server.stream());
    let before = server.held("VmRSS:");
    let live = some(&server);
    assert_eq!(next_id(&mut reader), 1);
    server.publish_event(EVENT_BYTES);
    let late = some(&server);
    assert_eq!(next_id(&mut reader), 2);
    server.publish(16);
    assert_eq!(next_id(&mut reader), 3);
    let grown = server.held("VmHWM:").saturating_sub(before);
    // The event as it is made, stored, read, and encoded for streams and for sockets, some of them twice; not
    // one per client.
    let bound = CLIENTS * STUCK_BYTES_MAX + REST_BYTES_MAX + 16 * EVENT_BYTES;
    println!("{CLIENTS} clients that never read an event of {} MiB: {} MiB", EVENT_BYTES >> 20, grown >> 20);
    assert!(grown < bound, "{} MiB, and {} are allowed", grown >> 20, bound >> 20);
    drop((live, late));
}

struct StuckServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    address: String,
    token: String,
    _folder: tempfile::TempDir,
}

impl StuckServer {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program());
        command.arg("publishing").arg(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Otherwise glibc keeps freed long events in the arena of each thread, and the memory says nothing.
        command.env("MALLOC_MMAP_THRESHOLD_", "1048576");
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut output = BufReader::new(output);
        let address = line(&mut output);
        let token = std::fs::read_to_string(folder.path().join("data/token")).unwrap().trim().to_owned();
        StuckServer { child, input, output, address, token, _folder: folder }
    }

    fn publish(&mut self, kib: u64) {
        writeln!(self.input, "{kib}").unwrap();
        assert_eq!(line(&mut self.output), "done");
    }

    fn publish_event(&mut self, bytes: u64) {
        writeln!(self.input, "event {bytes}").unwrap();
        assert_eq!(line(&mut self.output), "done");
    }

    /// Memory of the server, in bytes.
    fn held(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// A stream of events whose head was read.
    fn stream(&self) -> TcpStream {
        self.begin("GET /v1/sessions/1/events", "")
    }

    /// The same in another dialect.
    fn stream_in(&self, dialect: &str) -> TcpStream {
        self.begin(&format!("GET /v1/sessions/1/events?dialect={dialect}"), "")
    }

    /// A WebSocket of a phone that has subscribed to the session.
    fn phone(&self) -> TcpStream {
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let mut stream = self.begin("GET /v1/mobile", upgrade);
        for message in [PROJECT, RESUME] {
            let length = message.len();
            // Longer than 125 bytes, a frame has its length in two more bytes.
            let mut frame = vec![0x81];
            match u8::try_from(length) {
                Ok(short) if short < 126 => frame.push(0x80 | short),
                _ => {
                    frame.push(0x80 | 0x7e);
                    frame.extend_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
                }
            }
            frame.extend_from_slice(&[0; 4]);
            frame.extend_from_slice(message.as_bytes());
            stream.write_all(&frame).unwrap();
        }
        stream
    }

    /// A WebSocket that has subscribed to the session.
    fn socket(&self) -> TcpStream {
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: tidings.v1\r\n";
        let mut stream = self.begin("GET /v1/ws", upgrade);
        let subscribe = br#"{"type":"subscribe","session":"1"}"#;
        // A client masks what it sends; a mask of zeros is one.
        let mut frame = vec![0x81, 0x80 | u8::try_from(subscribe.len()).unwrap(), 0, 0, 0, 0];
        frame.extend_from_slice(subscribe);
        stream.write_all(&frame).unwrap();
        stream
    }

    fn begin(&self, what: &str, more: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (address, token) = (&self.address, &self.token);
        let head =
            format!("{what} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{more}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // Byte by byte, so that nothing that follows is taken.
        let mut read = Vec::new();
        while !read.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            read.push(byte[0]);
        }
        assert!(read.starts_with(b"HTTP/1.1 200") || read.starts_with(b"HTTP/1.1 101"));
        stream
    }

    /// Number of subscribers.
    fn watchers(&self) -> u64 {
        let mut stream = self.begin("GET /metrics", "Connection: close\r\n");
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let line = text.lines().find(|line| line.starts_with("tidings_watchers ")).unwrap();
        line.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for StuckServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The number of the next event of a stream.
fn next_id(reader: &mut impl std::io::BufRead) -> u64 {
    let mut is_beat = false;
    loop {
        let line = line(reader);
        let id = line.strip_prefix("id: ").and_then(|id| id.rsplit(':').next()?.parse().ok());
        // The verdict has the cursor before the first event, and a heartbeat that of the last.
        if let Some(id) = id.filter(|id| *id > 0 && !is_beat) {
            return id;
        }
        is_beat = line.starts_with(':');
    }
}

fn line(reader: &mut impl std::io::BufRead) -> String {
    let mut line = Vec::new();
    assert!(reader.read_until(b'\n', &mut line).unwrap() > 0, "it has ended");
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

/// A program of this crate's `examples/`, which cargo builds beside the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/child_server");
    assert!(program.exists(), "run `cargo build -p tidings-bridge --examples` first: {}", program.display());
    program
}

fn number(name: &str, normal: u64) -> u64 {
    std::env::var(name).ok().map_or(normal, |text| text.parse().expect("it is a number"))
}
