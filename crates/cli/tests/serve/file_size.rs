//! A server whose files must not grow any more (`ulimit -f`).

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::serve::machine::Machine;

#[test]
fn k32_a_file_at_the_limit_of_its_size_counts_as_a_full_disk_and_ends_no_server() {
    let machine = Machine::new();
    let mut server = machine.serve(&[]);
    let project = machine.path("project");
    std::fs::create_dir_all(&project).unwrap();
    let made = server.ask("POST", "/v1/sessions", Some(&json!({"cwd": project}))).json();
    let path = format!("/v1/sessions/{}", made["key"].as_str().unwrap());
    let pid = Pid::from_raw(i32::try_from(server.child.id()).unwrap());
    let limit = |current| prlimit(pid, Resource::Fsize, Rlimit { current, maximum: None }).unwrap();
    let sizes =
        std::fs::read_dir(&server.data).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    limit(Some(sizes.max().unwrap() + (16 << 10)));
    let rename = |number: usize| {
        server.ask("PATCH", &path, Some(&json!({"title": format!("{number} {}", "x".repeat(100))}))).status
    };
    let refused = (0..1000).map(rename).find(|status| *status != 200);
    assert_eq!(refused, Some(503), "it is full");
    limit(None);
    crate::serve::machine::until("there is room again", || (rename(0) == 200).then_some(()));
    assert!(server.child.try_wait().unwrap().is_none(), "it runs");
}
