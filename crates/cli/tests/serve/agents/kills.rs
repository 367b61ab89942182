//! Servers that are killed while another agent writes.

use serde_json::Value;

use super::{serve_script, start, stop, turns};
use crate::serve::machine::{Machine, Running, until};

pub(super) const CHUNKS: u32 = 300;
const KILLS: u32 = 5;

/// A script that tells this many numbers, and its text.
pub(super) fn numbers(count: u32) -> (String, String) {
    let chunk = |number: u32| format!("{number} ");
    let steps = (0..count).map(|number| format!("{{ text = \"{}\" }}, {{ pause_ms = 30 }}", chunk(number)));
    let script = format!("[[turn]]\nsteps = [{}]\n", steps.collect::<Vec<_>>().join(", "));
    (script, (0..count).map(chunk).collect())
}

/// The text so far, and the numbers of all events.
pub(super) fn stored(server: &Running, key: &str) -> (String, Vec<u64>) {
    let history = server.ask("GET", &format!("/v1/sessions/{key}/history?limit=500"), None).json();
    let items: Vec<Value> = history["items"].as_array().cloned().unwrap_or_default();
    let text = items.iter().filter_map(|item| item["event"]["TextChunk"]["text"].as_str()).collect();
    (text, items.iter().filter_map(|item| item["seq"].as_u64()).collect())
}

/// P3: the offsets of a host count what its filter has put out, so that none of it is lost or stored twice.
#[test]
fn promise_3_what_another_agent_writes_is_stored_once_although_its_server_is_killed() {
    let (script, whole) = numbers(CHUNKS);
    let machine = Machine::new();
    let mut server = serve_script(&machine, "60", &script);
    let key = start(&server, &machine, "tell");
    let mut before = 0;
    for _ in 0..KILLS {
        before = until("more text", || {
            let length = stored(&server, &key).0.len();
            (length > before || length == whole.len()).then_some(length)
        });
        server.signal("KILL");
        server.ended();
        server = serve_script(&machine, "60", &script);
    }
    turns(&server, &key, 1);
    let (text, numbers) = stored(&server, &key);
    assert_eq!(text, whole);
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    stop(&server, &key);
}
