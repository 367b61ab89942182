//! Sessions of the SDK over hosts.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tidings::host::{HostFolder, Record};
use tidings::transport::{Claim, Health, HostHandle, Incoming, NewHost, SocketTransport, Transport};
use tidings::{Client, Decision, ErrorKind, Event, Kind, Options, PermissionAsk, Prompt, Subscriber};

use crate::host::stage::{PROMISED, bytes_in, signal};
use crate::stage::{PATIENCE, Stage, eventually, example, is_alive};

pub(crate) fn new_host(id: &str, lease: Duration) -> NewHost {
    let record = Record {
        program: "0".to_owned(),
        id: id.to_owned(),
        session: "k1".to_owned(),
        secret: "s3cret".to_owned(),
        started: "then".to_owned(),
        note: String::new(),
        terminal: None,
    };
    NewHost { program: example("agent_host"), args: Vec::new(), record, lease, spool_bytes_max: None }
}

pub(crate) fn claim(fence: u64) -> Claim {
    Claim { owner: format!("bridge {fence}"), fence }
}

/// A folder with a stand-in for `claude` that plays a script, and a host for it.
struct Play {
    stage: Stage,
}

impl Play {
    fn of(script: &str) -> Self {
        Play { stage: Stage::playing(script) }
    }

    fn host(&self) -> HostFolder {
        HostFolder::new(self.stage.path("h1"))
    }

    fn options(&self) -> Options {
        self.stage.options().include_partial_messages()
    }

    async fn start(&self, options: Options) -> (Client, Subscriber, HostHandle) {
        let (transport, host) = SocketTransport::start(self.host(), new_host("h1", PATIENCE), claim(1));
        let (client, events) = Client::connect_and_follow(transport, options).await.unwrap();
        (client, events, host)
    }

    async fn attach(&self, fence: u64, after: u64, options: Options) -> (Client, Subscriber, HostHandle) {
        let (transport, host) = SocketTransport::attach(self.host(), claim(fence), Some(after), None);
        let (client, events) = Client::connect_and_follow(transport, options).await.unwrap();
        (client, events, host)
    }
}

/// The streamed answer, and the offset up to which frames were read.
#[derive(Debug, Default)]
struct Received {
    text: String,
    end: u64,
    result: Option<String>,
}

impl Received {
    fn take(&mut self, event: &Event) {
        let Event::Frame { frame, end, .. } = event else { return };
        let end = end.expect("a host tells where each line ends");
        assert!(end > self.end, "{end} after {}", self.end);
        self.end = end;
        match frame.kind() {
            Kind::StreamEvent => {
                let event = frame.data().unwrap();
                self.text.push_str(event["event"]["delta"]["text"].as_str().unwrap_or_default());
            }
            Kind::Result => self.result = frame.data().unwrap()["result"].as_str().map(str::to_owned),
            _ => {}
        }
    }

    async fn until(&mut self, events: &mut Subscriber, mut enough: impl FnMut(&Self) -> bool) {
        let received = async {
            while !enough(self) {
                let event = events.next().await.expect("the session has ended");
                self.take(&event);
            }
        };
        tokio::time::timeout(PATIENCE, received).await.unwrap();
    }
}

const STORY: &str = r#"
[[turn]]
text = "a long story that is told in many small pieces, so that there is always a piece on its way"
pace = { chunk_chars = 2, chunk_delay_ms = 8 }
repeat = true
"#;

const TEXT: &str =
    "a long story that is told in many small pieces, so that there is always a piece on its way";

/// A session is detached in the middle of a sentence and attached again, repeatedly from the stored offset,
/// and the text is whole.
#[tokio::test(flavor = "multi_thread")]
async fn f103_a_session_is_joined_again_in_the_middle_of_a_sentence() {
    let play = Play::of(STORY);
    let (client, mut events, host) = play.start(play.options()).await;
    let (pid, version) = (client.pid().unwrap(), client.info().claude_code_version);
    drop(client.send(Prompt::from("go").uuid("11111111-1111-4111-8111-111111111111")).await.unwrap());
    let mut received = Received::default();
    received.until(&mut events, |received| received.text.len() > 5).await;
    host.ack(received.end);
    host.detach();
    // Closing a detached session ends nothing.
    client.close().await.ok();
    let session = "11111111-1111-4111-8111-111111111111";
    for fence in 2..8 {
        let (client, mut events, host) = play.attach(fence, received.end, play.options()).await;
        assert_eq!((client.pid(), &client.info().claude_code_version), (Some(pid), &version));
        assert!(client.session_id().is_some(), "the conversation is known");
        // P3: a line that was sent before is not written again.
        drop(client.send(Prompt::from("go").uuid(session)).await.unwrap());
        let more = received.text.len() + 6;
        received.until(&mut events, |received| received.text.len() > more).await;
        host.detach();
        drop(client);
    }
    let (client, mut events, host) = play.attach(9, received.end, play.options()).await;
    received.until(&mut events, |received| received.result.is_some()).await;
    assert_eq!((received.text.as_str(), received.result.as_deref()), (TEXT, Some(TEXT)));
    // There was one turn, and no second one follows.
    assert_eq!(host.health(PATIENCE).await, Health::Running);
    assert!(client.close().await.unwrap().is_success());
    host.release();
    eventually("the host is gone", PROMISED, || !play.host().path().exists());
}

const TOOL: &str = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
id = "toolu_01Run"
input = { command = "true", description = "Run it" }
ask = true
result = "(no output)"

[[turn]]
text = "done"
"#;

/// F61, P5: a permission request that is open when the bridge ends is repeated to the next bridge, until it
/// is answered once; and a bridge that reads from the beginning does not get requests that were answered
/// before.
#[tokio::test(flavor = "multi_thread")]
async fn f61_a_permission_is_asked_again_until_it_is_answered() {
    let play = Play::of(TOOL);
    let asks = Arc::new(AtomicUsize::new(0));
    let counting = |decide: bool| {
        let asks = Arc::clone(&asks);
        play.options().on_permission(move |_: PermissionAsk| {
            asks.fetch_add(1, Ordering::SeqCst);
            let decision = if decide { Decision::allow() } else { Decision::Later };
            async move { decision }
        })
    };
    let (client, mut events, host) = play.start(counting(false)).await;
    drop(client.send("go").await.unwrap());
    let mut received = Received::default();
    while asks.load(Ordering::SeqCst) == 0 {
        tokio::select! {
            event = events.next() => received.take(&event.unwrap()),
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    }
    host.detach();
    // Once before the offset that is read from, once after it, and each time once.
    for (fence, after) in [(2, received.end), (3, 0)] {
        let before = asks.load(Ordering::SeqCst);
        let (client, _events, host) = play.attach(fence, after, counting(false)).await;
        eventually("it is asked again", PATIENCE, || client.open_permissions().len() == 1);
        eventually("it is asked again", PATIENCE, || asks.load(Ordering::SeqCst) == before + 1);
        host.detach();
    }
    let (_client, mut events, host) = play.attach(4, received.end, counting(true)).await;
    received.until(&mut events, |received| received.result.is_some()).await;
    assert_eq!((received.result.as_deref(), asks.load(Ordering::SeqCst)), (Some("done"), 4));
    host.detach();
    // From the beginning: the request is in the output, and was answered.
    let (client, mut events, host) = play.attach(5, 0, counting(true)).await;
    let mut again = Received::default();
    again.until(&mut events, |received| received.result.is_some()).await;
    assert_eq!((again.result.as_deref(), asks.load(Ordering::SeqCst)), (Some("done"), 4));
    assert!(client.open_permissions().is_empty());
    client.close().await.ok();
    host.release();
}

/// A session of a living bridge is not taken over; attaching to one whose host has ended fails.
#[tokio::test(flavor = "multi_thread")]
async fn f80_a_session_of_a_living_bridge_is_left_alone() {
    let play = Play::of(STORY);
    let (client, _events, host) = play.start(play.options()).await;
    let (transport, _) =
        SocketTransport::attach(play.host(), Claim { owner: "other".to_owned(), fence: 1 }, None, None);
    let error = Client::connect_over(transport, play.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Taken, "{error}");
    client.close().await.unwrap();
    host.release();
    eventually("the host is gone", PROMISED, || !play.host().path().exists());
    let (transport, _) = SocketTransport::attach(play.host(), claim(2), None, None);
    let error = Client::connect_over(transport, play.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
}

/// The health of a host and its CLI is reported: killed, stopped, and ended with all its processes.
#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_a_host_is_reported() {
    let play = Play::of(STORY);
    let (client, mut events, host) = play.start(play.options()).await;
    let (cli, keeper) = (client.pid().unwrap(), host.hello().unwrap().host_pid);
    assert_eq!(host.pids().await.unwrap()[0], cli);
    drop(client.send("go").await.unwrap());
    signal(cli, "STOP");
    while host.health(PATIENCE).await != Health::Stopped {}
    signal(cli, "CONT");
    while host.health(PATIENCE).await != Health::Running {}
    signal(keeper, "STOP");
    // Its earlier output is received first.
    while host.health(Duration::from_millis(200)).await != Health::Silent {}
    signal(keeper, "CONT");
    while host.health(PATIENCE).await != Health::Running {}
    signal(keeper, "KILL");
    let ended = async {
        loop {
            if let Some(Event::Ended { error, .. }) = events.next().await {
                return error;
            }
        }
    };
    let error = tokio::time::timeout(PATIENCE, ended).await.unwrap().expect("it was not meant to end");
    assert!(error.to_string().contains("The host of this session is gone"), "{error}");
    assert_eq!(host.health(PATIENCE).await, Health::Gone);
    eventually("the CLI is gone", PROMISED, || !is_alive(cli));
}

/// F103: a host is killed when the CLI is far ahead of the reader. The rest is read from its folder.
#[tokio::test(flavor = "multi_thread")]
async fn f103_what_a_killed_host_had_kept_is_not_lost() {
    const LINES: u64 = 5000;
    let play = Play::of("");
    let lines =
        r#"for (n = 1; n <= lines; n++) printf "{\"type\":\"n\",\"n\":%d,\"pad\":\"%0100d\"}\n", n, n"#;
    let script = format!("awk -v lines={LINES} 'BEGIN {{ {lines} }}'\nexec sleep 60\n");
    play.stage.write_program(&script);
    let (transport, host) = SocketTransport::start(play.host(), new_host("h1", PATIENCE), claim(1));
    let launch = play.options().plan().unwrap().launch;
    // Nothing is read until the host has ended.
    let mut link = Transport::open(Box::new(transport), launch).await.unwrap();
    let spool = play.host().path().join("spool");
    eventually("the CLI has written everything", PATIENCE, || {
        bytes_in(&spool) > LINES * 100
            && std::fs::read_dir(&spool).unwrap().flatten().any(|file| {
                let bytes = std::fs::read(file.path()).unwrap();
                bytes.ends_with(format!("{LINES:0100}\"}}\n").as_bytes())
            })
    });
    signal(host.hello().unwrap().host_pid, "KILL");
    let mut received = 0;
    let exit = async {
        loop {
            match link.incoming.recv().await.unwrap() {
                Incoming::Frame { frame, .. } => {
                    received += 1;
                    assert_eq!(frame.data().unwrap()["n"], received);
                }
                Incoming::Exit(exit) => return exit,
                _ => {}
            }
        }
    };
    let exit = tokio::time::timeout(PATIENCE, exit).await.unwrap();
    assert_eq!((received, exit.code), (LINES, None));
}

/// A failed start is reported as without a host, and leaves no folder.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_start_is_reported() {
    let play = Play::of(STORY);
    let broken = play.stage.path("broken");
    std::fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (options, kind) in [
        (play.options().program("/no/such/claude"), ErrorKind::NotFound),
        (play.options().program(&broken), ErrorKind::Spawn),
        (play.options().cwd("/no/such/folder"), ErrorKind::Spawn),
    ] {
        let (transport, _) = SocketTransport::start(play.host(), new_host("h1", PATIENCE), claim(1));
        let error = Client::connect_over(transport, options).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        eventually("no folder is left", PROMISED, || !play.host().path().exists());
    }
}
