//! The spool of a host whose bridge does not read.

use crate::host::raw::Raw;
use crate::host::stage::{HostStage, Terms, bytes_in};
use crate::stage::{PATIENCE, eventually};

/// Writes numbered lines as fast as it can, and its progress into a file.
const FLOOD: &str = r#"
read -r _
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    seq -f "{\"type\":\"line\",\"block\":$i,\"n\":%06.0f,\"text\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}" 1 2000
    echo $i > "$PWD/progress"
done
"#;

fn expected() -> Vec<u8> {
    let mut all = String::new();
    for block in 1..=40 {
        for n in 1..=2000 {
            use std::fmt::Write as _;
            writeln!(all, r#"{{"type":"line","block":{block},"n":{n:06},"text":"{}"}}"#, "x".repeat(42))
                .unwrap();
        }
    }
    all.into_bytes()
}

/// The resident bytes of a process.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// M16: with a bridge that does not read, and without one, the spool and the memory are bounded, and the CLI
/// blocks; when it is read again, the CLI goes on, and every byte is there.
#[test]
fn m16_a_mute_bridge_costs_a_bounded_spool_and_no_byte() {
    let bound = 1 << 20;
    let (stage, mut mute) = HostStage::open(FLOOD, Terms { spool_bytes_max: bound, ..Terms::default() });
    let before = resident(stage.host.id());
    mute.write_line("go", r#"{"type":"user"}"#);
    let spool = stage.place().join("spool");
    eventually("the spool is full", PATIENCE, || bytes_in(&spool) >= bound);
    let progress = || std::fs::read_to_string(stage.path("progress")).unwrap_or_default();
    // It fills the pipe first.
    eventually("the CLI waits", PATIENCE, || {
        let before = progress();
        std::thread::sleep(std::time::Duration::from_millis(300));
        progress() == before
    });
    assert_ne!(progress(), "40\n", "it must not have come to its end");
    assert!(bytes_in(&spool) <= bound + (64 << 10), "{}", bytes_in(&spool));
    let grown = resident(stage.host.id()).saturating_sub(before);
    assert!(grown < 1 << 20, "the host has grown by {grown} bytes");
    drop(mute);

    let mut bridge = Raw::attach(&stage.place(), "second", 2, Some(0));
    let expected = expected();
    let mut read = Vec::new();
    let mut most = 0;
    loop {
        let (head, bytes) = bridge.next();
        match head["kind"].as_str().unwrap() {
            "out" => {
                read.extend_from_slice(&bytes);
                assert_eq!(head["end"].as_u64(), Some(read.len() as u64));
                bridge.ack(read.len() as u64);
                most = most.max(bytes_in(&spool));
            }
            "exit" => break,
            _ => {}
        }
    }
    assert!(read == expected, "{} bytes of {}", read.len(), expected.len());
    assert!(most <= bound + (2 << 20), "{most} bytes on disk");
}

/// Output that waits for room in the spool when the CLI ends is sent before its exit status.
#[test]
fn m16_the_last_output_waits_for_room_longer_than_the_cli_lives() {
    let text = "x".repeat(99);
    let script = format!("i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); echo {text}; done; echo > $PWD/done");
    let (stage, mut bridge) = HostStage::open(&script, Terms { spool_bytes_max: 50_000, ..Terms::default() });
    eventually("the CLI has written everything", PATIENCE, || stage.path("done").exists());
    eventually("the CLI has ended", PATIENCE, || stage.place().join("exit.json").exists());
    // Longer than the host waits for more output.
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let mut received = 0;
    let end = loop {
        let (head, bytes) = bridge.next();
        match head["kind"].as_str().unwrap() {
            "out" => {
                received += bytes.len();
                bridge.ack(received as u64);
            }
            "exit" => break head["end"].clone(),
            _ => {}
        }
    };
    assert_eq!((received, end.as_u64()), (100_000, Some(100_000)));
}
