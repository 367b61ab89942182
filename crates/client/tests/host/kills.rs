//! Bridges that are killed at any moment while the CLI writes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::host::raw::Raw;
use crate::host::stage::{HostStage, Terms};
use crate::stage::{PATIENCE, eventually, example, is_alive};

/// Kills of the short run.
const KILLS: u64 = 50;

/// Writes numbered lines of many lengths until it is stopped, and then their number.
const TALKATIVE: &str = r#"
awk -v stop="$PWD/stop" 'BEGIN {
    pad = "....................................................................................................";
    pad = pad pad pad pad;
    while (1) {
        for (i = 0; i < 40; i++) {
            n++;
            printf "{\"type\":\"line\",\"n\":%d,\"text\":\"%s\"}\n", n, substr(pad, 1, (n * 7919) % 400);
        }
        fflush();
        if ((getline line < stop) >= 0) break;
        close(stop);
        system("sleep 0.002");
    }
    printf "{\"type\":\"over\",\"n\":%d}\n", n;
}'
"#;

fn expected(count: u64) -> Vec<u8> {
    use std::fmt::Write as _;
    let mut all = String::new();
    for n in 1..=count {
        let length = usize::try_from((n * 7919) % 400).unwrap();
        writeln!(all, r#"{{"type":"line","n":{n},"text":"{}"}}"#, ".".repeat(length)).unwrap();
    }
    writeln!(all, r#"{{"type":"over","n":{count}}}"#).unwrap();
    all.into_bytes()
}

fn bridge(stage: &HostStage, store: &Path, fence: u64) -> Command {
    let mut command = Command::new(example("mortal_bridge"));
    command.arg(stage.place()).arg(store).arg(fence.to_string()).stderr(Stdio::null());
    command
}

/// F34, F103: bridges are killed repeatedly while the CLI writes. The CLI is not affected; each bridge
/// continues after the bytes that the previous one had stored; in the end everything is there once, in order,
/// byte for byte.
#[test]
fn f103_bridges_that_are_killed_lose_and_double_nothing() {
    let kills = std::env::var("TIDINGS_SOAK_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let mut seed: u64 =
        std::env::var("TIDINGS_SOAK_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_115);
    let (stage, first) = HostStage::open(TALKATIVE, Terms { spool_bytes_max: 1 << 20, ..Terms::default() });
    let cli = u32::try_from(first.hello["pid"].as_u64().unwrap()).unwrap();
    drop(first);
    let store = stage.path("store");
    let mut fence = 1;
    for _ in 0..kills {
        fence += 1;
        let mut child = bridge(&stage, &store, fence).spawn().unwrap();
        // Pseudo-random numbers, reproducible by their seed.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((seed >> 33) % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_alive(cli), "the CLI has died with a bridge");
    }
    std::fs::write(stage.path("stop"), "").unwrap();
    assert!(bridge(&stage, &store, fence + 1).status().unwrap().success());
    let stored = std::fs::read(&store).unwrap();
    let count = String::from_utf8_lossy(&stored).lines().count() as u64 - 1;
    assert!(stored == expected(count), "{kills} kills, {} bytes, {count} lines", stored.len());
    eventually("the CLI is gone", PATIENCE, || !is_alive(cli));
}

/// F103: a host that is killed leaves the output that it had not delivered, which can be read from the disk
/// later.
#[test]
fn f103_what_a_killed_host_kept_can_still_be_read() {
    let (mut stage, mut bridge) =
        HostStage::open("echo '{\"n\":1}'; echo '{\"n\":2}'; exec sleep 60", Terms::default());
    bridge.read_until(|all| all.len() >= 16);
    bridge.ack(8);
    bridge.send(r#"{"kind":"ping"}"#, b"");
    bridge.wait_for("pong");
    stage.host.kill().unwrap();
    stage.host.wait().unwrap();
    let folder = tidings::host::HostFolder::new(stage.place());
    assert!(!folder.is_alive());
    assert_eq!(folder.record().unwrap().session, "k1");
    let remains = folder.remains().unwrap();
    let mut rest = [0; 100];
    let count = remains.read(8, &mut rest).unwrap();
    assert_eq!(&rest[..count], b"{\"n\":2}\n");
    assert_eq!((remains.exit(), remains.range().end), (None, 16));
    folder.remove().unwrap();
    assert!(!stage.place().exists());
}

/// A path that is too long for a socket works on Linux.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_path_is_no_obstacle() {
    let root = tempfile::TempDir::new().unwrap();
    let hosts = root.path().join("x".repeat(120));
    std::fs::create_dir(&hosts).unwrap();
    let folder = tidings::host::HostFolder::new(hosts.join("h1"));
    let new = crate::host::client::new_host("h1", Duration::from_secs(60));
    let options = tidings::Options::new().program("/bin/sh");
    let (transport, host) =
        tidings::transport::SocketTransport::start(folder.clone(), new, crate::host::client::claim(1));
    // The shell does not implement the protocol; it is enough that it was started.
    let launch = options.plan().unwrap().launch;
    let link = tidings::transport::Transport::open(Box::new(transport), launch).await.unwrap();
    assert!(folder.is_alive());
    assert!(host.hello().unwrap().pid.is_some());
    host.release();
    eventually("the folder is gone", PATIENCE, || !folder.path().exists());
    drop(link);
}

/// The secret of the record is not shown.
#[test]
fn secrets_are_not_shown() {
    let (stage, _bridge) = HostStage::open("exec sleep 60", Terms::default());
    let secret = Raw::secret(&stage.place());
    let record = tidings::host::HostFolder::new(stage.place()).record().unwrap();
    assert!(!format!("{record:?}").contains(&secret));
}
