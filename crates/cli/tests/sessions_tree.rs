//! `tidings sessions tree`, as a user starts it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::test_root::{TestRoot, sessions, stdout};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcript/tests/fixtures/sessions").join(name)
}

/// Output of the command for a recorded session.
fn tree(root: &str, args: &[&str]) -> String {
    stdout(sessions(&fixture(root)).arg("tree").args(args).assert().success().get_output())
}

#[test]
fn branches_are_marked_and_stand_where_they_part() {
    insta::assert_snapshot!(tree("branch", &["1111"]), @r"
    11111111-2222-4333-8444-555555555555  what did I say?
    3 prompts · 18 entries · 1 abandoned branch; --full shows all

    ├─ User  remember 7
    ├─ Assistant  I remember 7.
    ├─ branch 2, abandoned 3 entries
    │  ├─ User  and 8
    │  └─ Assistant  And 8.
    ├─ branch 1, ACTIVE
    ├─ User  what did I say?
    └─ Assistant  Branched answer, 8 is forgotten.
    ");
}

#[test]
fn sub_agents_stand_under_their_calls() {
    insta::assert_snapshot!(tree("parallel-agents", &["f794"]), @r#"
    f7943fa3-6c2e-4eed-b129-14b3926f69fa  two things
    1 prompt · 48 entries · 2 sub-agents; --full shows all

    ├─ User  two things
    ├─ Assistant  Two agents.
    ├─ Assistant  Agent Read readme → <tools-used-before-summary>Read</to…
    ├─ sub-agent general-purpose: Read readme a94aea03b9c3d617e, 15 entries
    │  ├─ Claude [as user]  SUBTASK-A: read README
    │  ├─ Agent [general-purpose]  Read /home/dev/demo/README.md → 1 # demo 2 3 A tiny project used for…
    │  └─ Agent [general-purpose]  README describes a demo.
    ├─ Assistant  Agent Read util → <tools-used-before-summary>Bash</to…
    ├─ sub-agent general-purpose: Read util a0b25691df06db6ee, 15 entries
    │  ├─ Claude [as user]  SUBTASK-B: read util
    │  ├─ Agent [general-purpose]  Bash sleep 0.5; cat src/util.py → def greet(name): return "hello " +…
    │  └─ Agent [general-purpose]  util has greet and add.
    └─ Assistant  Both reported.
    "#);
}

#[test]
fn json_has_one_object_per_entry_with_the_promised_keys() {
    let printed = tree("compact-manual", &["2823", "--json"]);
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 33);
    let keys = [
        "id", "uuid", "parent", "lane", "branch", "active", "actor", "part", "kind", "flow", "step", "at",
        "file", "line", "text",
    ];
    for line in &lines {
        assert!(keys.iter().all(|key| line.get(key).is_some()), "{line}");
        assert!(line["active"].as_bool().unwrap());
    }
    let boundary = lines.iter().find(|line| line["part"] == "compaction").unwrap();
    assert_eq!(
        (boundary["flow"].as_str(), boundary["actor"].as_str()),
        (Some("compaction"), Some("System [Compact]"))
    );
    assert!(boundary["parent"].is_u64(), "the unified view goes on before a compaction");
    let call = lines.iter().find(|line| line.get("tools").is_some()).unwrap();
    let result = call["tools"][0]["result"].as_u64().unwrap();
    assert_eq!(lines[usize::try_from(result).unwrap()]["actor"], "Tool Result [Read]");
}

#[test]
fn a_graph_names_every_node_that_its_edges_join() {
    for args in [&["f794", "--dot"][..], &["f794", "--dot", "--full"]] {
        let dot = tree("parallel-agents", args);
        let declared: Vec<&str> = dot
            .lines()
            .filter(|line| line.contains("[label="))
            .map(|line| line.trim().split(' ').next().unwrap())
            .collect();
        let edges: Vec<(&str, &str)> = dot
            .lines()
            .filter_map(|line| line.trim().split_once(" -> "))
            .map(|(from, to)| (from, to.split([' ', ';']).next().unwrap()))
            .collect();
        assert!(edges.len() + 1 >= declared.len(), "one tree, sub-agents included");
        assert!(edges.iter().all(|(from, to)| declared.contains(from) && declared.contains(to)));
    }
}

#[test]
fn full_shows_every_line() {
    let printed = tree("branch", &["1111", "--full"]);
    assert_eq!(printed.matches(" line ").count(), 18);
}

#[test]
fn full_names_every_entry_results_too() {
    let uuids: Vec<String> = tree("compact-manual", &["2823", "--json"])
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["uuid"].as_str().unwrap().to_owned())
        .collect();
    let printed = tree("compact-manual", &["2823", "--full"]);
    assert_eq!(uuids.len(), 33);
    for uuid in uuids {
        assert!(printed.contains(&uuid), "{uuid} is not in\n{printed}");
    }
}

#[test]
fn what_could_steer_the_terminal_is_shown_instead() {
    let root = TestRoot::new();
    let line = r#"{"type":"user","uuid":"u","parentUuid":null,"message":{"content":"\u001b[2Jgone\u0007"}}"#;
    let path = root.write("s.jsonl", line);
    assert!(!root.stdout(&["tree", path.to_str().unwrap()]).contains('\u{1b}'));
}
