//! A disk that is full while another agent writes: the files of its host must not grow (`ulimit -f`).

use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::kills::{CHUNKS, numbers, stored};
use super::{serve_script, start, stop, turns};
use crate::serve::machine::{Machine, Running, children, until};

/// Longer than a host waits before it tries again.
const TWO_ATTEMPTS: Duration = Duration::from_millis(1500);

/// The host of the only agent.
fn host(server: &Running) -> u32 {
    until("the host", || {
        children(server.child.id()).into_iter().find(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("tidings\0host\0")
        })
    })
}

fn more_than(server: &Running, key: &str, before: usize) -> usize {
    until("more text", || Some(stored(server, key).0.len()).filter(|length| *length > before))
}

/// P3: without room for its output an agent waits, also for another server, and goes on once there is room.
#[test]
fn promise_3_on_a_full_disk_an_agent_waits_for_room_and_nothing_is_lost() {
    let (script, whole) = numbers(CHUNKS);
    let machine = Machine::new();
    let mut server = serve_script(&machine, "60", &script);
    let key = start(&server, &machine, "tell");
    more_than(&server, &key, 0);
    let host = host(&server);
    let limit = |current| {
        let host = Pid::from_raw(i32::try_from(host).unwrap());
        prlimit(host, Resource::Fsize, Rlimit { current, maximum: None }).unwrap();
    };
    // Less than every file of the spool has.
    limit(Some(16));
    std::thread::sleep(TWO_ATTEMPTS);
    let full = stored(&server, &key).0;
    assert!(whole.starts_with(&full) && full.len() < whole.len(), "{full}");
    server.signal("KILL");
    server.ended();
    server = serve_script(&machine, "60", &script);
    std::thread::sleep(TWO_ATTEMPTS);
    assert_eq!(stored(&server, &key).0, full, "it waits, and what was stored is there");
    limit(None);
    more_than(&server, &key, full.len());
    let session = turns(&server, &key, 1);
    assert_eq!((stored(&server, &key).0, &session["error"]), (whole, &serde_json::Value::Null));
    stop(&server, &key);
}
