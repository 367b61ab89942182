//! P6: whatever happens to a host, its CLI or its bridge, none of its processes stays, and no other process
//! is touched.

use std::process::{Child, Command};
use std::time::Duration;

use crate::host::raw::Raw;
use crate::host::stage::{HostStage, PROMISED, Terms, pids, signal};
use crate::stage::{PATIENCE, eventually, example, is_alive, state};

/// A CLI with a tool in its own session, and a process that the tool left behind, without the environment.
const BUSY: &str = r#"
setsid sh -c 'sleep 87651 & setsid env -i /bin/sleep 87652 & wait' &
echo '{"type":"busy"}'
sleep 87653 &
wait
"#;

/// A process that looks like one of the CLI's, and is not.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Bystander(Command::new("setsid").args(["/bin/sleep", "87652"]).spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        assert!(
            std::thread::panicking() || is_alive(self.0.id()),
            "a process that is none of ours was ended"
        );
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a host, waits until everything runs, and returns the process ids.
fn busy(script: &str, terms: Terms) -> (HostStage, Raw, Vec<u32>) {
    let (stage, mut bridge) = HostStage::open(script, terms);
    bridge.read_until(|all| all.ends_with(b"\n"));
    let mut pids = Vec::new();
    eventually("the CLI, its tool and what that left run", PATIENCE, || {
        bridge.send(r#"{"kind":"pids"}"#, b"");
        let (told, _) = bridge.wait_for("pids");
        pids = told["pids"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pid| u32::try_from(pid.as_u64().unwrap()).unwrap())
            .collect();
        pids.iter().filter(|pid| command(**pid).contains("sleep 8765")).count() == 4
    });
    (stage, bridge, pids)
}

fn command(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

#[track_caller]
fn all_gone(stage: &mut HostStage, pids: &[u32]) {
    eventually("everything that the CLI started is gone", PROMISED, || {
        pids.iter().all(|pid| !is_alive(*pid)) && stage.marked().is_empty()
    });
    eventually("the host is gone", PROMISED, || stage.host.try_wait().unwrap().is_some());
}

/// F34, F35: everything is stopped after the lease without a bridge; with a lease of zero, at once. The
/// output stays readable.
#[test]
fn f34_the_end_of_the_lease_ends_everything() {
    let _bystander = Bystander::new();
    for lease_ms in [0, 400] {
        let (mut stage, bridge, pids) = busy(BUSY, Terms { lease_ms, ..Terms::default() });
        std::thread::sleep(Duration::from_millis(600));
        assert!(pids.iter().all(|pid| is_alive(*pid)), "a bridge is there, and yet something was ended");
        drop(bridge);
        all_gone(&mut stage, &pids);
        let remains = tidings::host::HostFolder::new(stage.place()).remains().unwrap();
        assert_eq!(remains.range(), 0..16);
        assert!(remains.exit().is_some());
    }
}

/// A bridge that comes back in time finds everything running, and the lease starts again when it leaves.
#[test]
fn a_bridge_that_comes_back_in_time_finds_everything_running() {
    let (mut stage, bridge, pids) = busy(BUSY, Terms { lease_ms: 1500, ..Terms::default() });
    drop(bridge);
    for fence in 2..6 {
        std::thread::sleep(Duration::from_millis(500));
        drop(Raw::attach(&stage.place(), "next", fence, None));
    }
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    all_gone(&mut stage, &pids);
}

/// F34, F35: a killed host takes everything with it, even a CLI that ignores SIGTERM.
#[test]
fn f34_nothing_outlives_a_host_that_is_killed() {
    let _bystander = Bystander::new();
    let stubborn = format!("trap '' TERM\n{}", BUSY.replace("env -i /bin/sleep", "sleep"));
    for (script, flag) in [(BUSY, "--flag"), (&stubborn, "--flag"), (BUSY, "--filtered")] {
        let (mut stage, _bridge, pids) = busy(script, Terms { flag, ..Terms::default() });
        assert!(!stage.marked().is_empty(), "what the CLI started carries the mark");
        stage.host.kill().unwrap();
        stage.host.wait().unwrap();
        eventually("everything that carries the mark is gone", PROMISED, || stage.marked().is_empty());
        // A process that cleared its environment and left its session can only be found by the host that
        // adopted it, which is gone.
        for pid in pids.into_iter().filter(|pid| is_alive(*pid)) {
            assert!(command(pid).starts_with("/bin/sleep"), "{}", command(pid));
            signal(pid, "KILL");
        }
    }
}

/// The CLI is killed: the bridge gets its exit at once, and processes that its tools left behind are stopped.
#[test]
fn f35_a_killed_cli_leaves_nothing_and_is_told() {
    let _bystander = Bystander::new();
    let (mut stage, mut bridge, pids) = busy(BUSY, Terms::default());
    signal(pids[0], "KILL");
    let (exit, _) = bridge.wait_for("exit");
    assert_eq!((exit["code"].as_i64(), exit["signal"].as_i64()), (None, Some(9)));
    eventually("its tools are gone", PROMISED, || pids.iter().all(|pid| !is_alive(*pid)));
    bridge.send(r#"{"kind":"bye"}"#, b"");
    all_gone(&mut stage, &pids);
    assert!(!stage.place().exists(), "the folder of a host that is done is removed");
}

/// The CLI ends while a process that it left behind holds its output open: the host reports the exit without
/// waiting for that process, and drops what it writes later.
#[test]
fn f37_a_pipe_that_is_held_open_does_not_delay_the_exit() {
    let script =
        "{ read -r _ < \"$PWD/go\"; echo late; echo > \"$PWD/written\"; } & echo '{\"n\":1}'; exit 3";
    let stage = HostStage::begin(script);
    assert!(Command::new("mkfifo").arg(stage.path("go")).status().unwrap().success());
    let mut bridge = Raw::connect(&stage.place());
    stage.send_start(&mut bridge, Terms { orphans: "keep", ..Terms::default() });
    bridge.ask_to_attach("s3cret", "first", 1, None);
    bridge.greeted();
    let (exit, _) = bridge.wait_for("exit");
    assert_eq!((exit["code"].as_i64(), exit["end"].as_u64()), (Some(3), Some(8)));
    std::fs::write(stage.path("go"), "now\n").unwrap();
    eventually("it has written", PATIENCE, || stage.path("written").exists());
    drop(bridge);
    let mut next = Raw::connect(&stage.place());
    next.ask_to_attach("s3cret", "second", 2, Some(0));
    assert_eq!(next.wait_for("exit").0["end"].as_u64(), Some(8));
}

/// Ways to stop a host: SIGTERM, `bye`, and `kill`; the CLI may ignore SIGTERM, or be stopped.
#[test]
fn f35_told_to_end_it_ends_everything() {
    let _bystander = Bystander::new();
    let stubborn = format!("trap '' TERM\n{BUSY}");
    let plain = [(BUSY, "TERM"), (BUSY, "bye"), (&stubborn, "bye"), (BUSY, "kill"), (BUSY, "stopped")];
    let filtered = [(BUSY, "TERM"), (&stubborn, "bye"), (BUSY, "kill")].map(|case| (case, "--filtered"));
    for ((script, how), flag) in plain.map(|case| (case, "--flag")).into_iter().chain(filtered) {
        let (mut stage, mut bridge, pids) = busy(script, Terms { flag, ..Terms::default() });
        match how {
            "TERM" => signal(stage.host.id(), "TERM"),
            "stopped" => {
                signal(pids[0], "STOP");
                eventually("the CLI is stopped", PATIENCE, || state(pids[0]) == Some('T'));
                bridge.send(r#"{"kind":"ping"}"#, b"");
                assert_eq!(bridge.wait_for("pong").0["cli"], "stopped");
                bridge.send(r#"{"kind":"bye"}"#, b"");
            }
            _ => bridge.send(&format!(r#"{{"kind":"{how}"}}"#), b""),
        }
        if how == "kill" {
            bridge.wait_for("exit");
            bridge.send(r#"{"kind":"bye"}"#, b"");
        }
        all_gone(&mut stage, &pids);
        assert_eq!(stage.place().exists(), how == "TERM", "{how}");
    }
}

/// A host that was stopped by a signal continues where it was.
#[test]
fn a_host_that_was_stopped_goes_on() {
    let (stage, mut bridge) =
        HostStage::open("while read -r line; do printf '%s\\n' \"$line\"; done", Terms::default());
    signal(stage.host.id(), "STOP");
    eventually("the host is stopped", PATIENCE, || state(stage.host.id()) == Some('T'));
    bridge.write_line("a", r#"{"n":1}"#);
    signal(stage.host.id(), "CONT");
    assert_eq!(bridge.read_until(|all| all.len() >= 8), b"{\"n\":1}\n");
}

/// F37: the host waits for orphans that it has adopted.
#[test]
fn f37_adopted_orphans_do_not_stay_as_zombies() {
    let script = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); setsid sh -c 'sleep 0.05 & exit' ; done; echo '{}'; exec sleep 60";
    let (stage, mut bridge) = HostStage::open(script, Terms::default());
    bridge.read_until(|all| all.ends_with(b"\n"));
    let zombies = || {
        let of_host = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with(&format!("Z {} ", stage.host.id())))
        };
        pids().iter().filter(|pid| of_host(pid)).count()
    };
    eventually("no zombie is left", PATIENCE, || zombies() == 0);
    std::thread::sleep(Duration::from_millis(300));
    eventually("no zombie is left", PATIENCE, || zombies() == 0);
}

/// A host that gets no launch request, or cannot start the CLI, ends and leaves nothing behind.
#[test]
fn a_failed_start_is_reported_and_leaves_nothing() {
    let (mut stage, bridge) = HostStage::open("exec sleep 60", Terms::default());
    drop(bridge);
    signal(stage.host.id(), "TERM");
    stage.host.wait().unwrap();
    let place = stage.path("other");
    std::fs::rename(stage.place(), &place).unwrap();
    std::fs::remove_file(place.join("socket")).unwrap();
    std::fs::remove_dir_all(place.join("spool")).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(place.join("socket")).unwrap();
    let mut command = Command::new(example("agent_host"));
    let mut host = command.arg(&place).stdin(std::os::fd::OwnedFd::from(listener)).spawn().unwrap();
    drop(command);
    let mut raw = Raw::connect(&place);
    let start = r#"{"program":"/no/such/program","args":[],"env":[],"cwd":null,"user":null,"orphans":"sweep","lease_ms":0,"spool_bytes_max":1}"#;
    raw.send(&format!(r#"{{"kind":"start","bytes":{}}}"#, start.len()), start.as_bytes());
    let (failed, _) = raw.next();
    assert_eq!(failed["kind"], "failed");
    assert!(failed["message"].as_str().unwrap().contains("/no/such/program"), "{failed}");
    host.wait().unwrap();
    assert!(!place.exists());
}
