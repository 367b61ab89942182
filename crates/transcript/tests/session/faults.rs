//! Known failures of programs that read sessions.

use std::fmt::Write as _;

use proptest::prelude::*;
use tidings_transcript::session::{LaneId, NodeId, RootKind, View};

use super::given::{
    Given, answer, boundary, call, envelope, last_prompt, link, prompt, result, session, session_of_bytes,
    summary,
};

/// A conversation of `turns` prompts and answers, u0 a0 u1 a1 …
fn conversation(turns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut parent = String::new();
    for turn in 0..turns {
        lines.push(prompt(&format!("u{turn}"), &parent, "go"));
        lines.push(answer(&format!("a{turn}"), &format!("u{turn}"), &format!("m{turn}")));
        parent = format!("a{turn}");
    }
    lines
}

/// Viewers showed a twentieth of a session because one line in the middle was missing: the chain from the end
/// stops there.
#[test]
fn f74_a_dangling_parent_starts_an_island_and_nothing_is_lost() {
    let mut lines = conversation(50);
    let all = lines.len();
    for at in [70, 41, 20] {
        lines.remove(at);
    }
    let given = session(&lines);
    let roots = given.session.roots(LaneId::MAIN);
    let orphans: Vec<String> = roots
        .iter()
        .filter(|root| root.kind == RootKind::Orphan)
        .map(|root| given.names(&[root.node]))
        .collect();
    assert_eq!(orphans, ["a10", "u21", "a35"]);
    assert_eq!(given.rules(), ["known-parent"; 3]);
    assert_eq!(given.session.missing_parent(given.id("a10")), Some("u10"));
    assert_eq!(given.branches().len(), 1, "a hole is no branch");
    let leaf = given.session.active_leaf(LaneId::MAIN).unwrap();
    assert_eq!(given.session.path(leaf, View::Unified).len(), all - 3);
    assert_eq!(
        given.names(&given.session.path(leaf, View::Model)[..1]),
        "a35",
        "the model sees the last island"
    );
}

/// Some servers restart the ids of their calls in every response: each result still belongs to its own call.
#[test]
fn calls_of_one_id_have_each_their_own_result() {
    let same_id = |line: String| {
        line.replace("toolu_c1", "call_0").replace("toolu_c2", "call_0").replace("toolu_c3", "call_0")
    };
    let lines = [
        prompt("u", "", "go"),
        call("c1", "u", "m1", "Bash"),
        result("r1", "c1"),
        call("c2", "r1", "m2", "Read"),
        result("r2", "c2"),
        call("c3", "r2", "m3", "Write"),
        result("r3", "c3"),
        answer("a", "r3", "m4"),
    ];
    let unnamed = |line: String| line.replace("sourceToolAssistantUUID", "wasSource");
    // Hooks and progress may stand between a call and its result.
    let aside = |line: String| {
        let mut line = line;
        for at in ["c1", "c2", "c3"] {
            let moved = format!("\"parentUuid\":\"p{at}\"");
            if line.contains("tool_result") {
                line = line.replace(&format!("\"parentUuid\":\"{at}\""), &moved);
            }
        }
        line
    };
    let mut with_hooks: Vec<String> = lines.iter().cloned().map(aside).collect();
    for (at, hook, parent) in [(2, "pc1", "c1"), (5, "pc2", "c2"), (8, "pc3", "c3")] {
        with_hooks.insert(at, link("progress", hook, parent));
    }
    let variants: [Vec<String>; 4] = [
        lines.to_vec(),
        lines.iter().cloned().map(unnamed).collect(),
        with_hooks.clone(),
        with_hooks.into_iter().map(unnamed).collect(),
    ];
    for lines in variants {
        let lines: Vec<String> = lines.into_iter().map(same_id).collect();
        let given = session(&lines);
        let pairs: Vec<String> = given
            .session
            .tools()
            .iter()
            .map(|tool| given.names(&[tool.call.unwrap(), tool.result.unwrap()]))
            .collect();
        assert_eq!(pairs, ["c1 r1", "c2 r2", "c3 r3"], "{lines:#?}");
        for (result, tool) in [("r1", "Bash"), ("r2", "Read"), ("r3", "Write")] {
            let tools: Vec<&str> =
                given.session.results_of(given.id(result)).map(|tool| &*tool.name).collect();
            assert_eq!(tools, [tool]);
        }
        assert_eq!(given.rules(), Vec::<&str>::new());
    }
}

/// Others give one id to all calls of a response: then the results come in order of the calls.
#[test]
fn calls_of_one_id_in_one_entry_are_answered_in_their_order() {
    let two = |line: String| {
        let block = r#"{"type":"tool_use","id":"toolu_c","name":"Bash","input":{}}"#;
        line.replace(block, &format!("{block},{}", block.replace("Bash", "Read")))
    };
    let plain = [
        prompt("u", "", "go"),
        two(call("c", "u", "m1", "Bash")),
        result("r1", "c"),
        result("r2", "c"),
        answer("a", "r2", "m2"),
    ];
    let unnamed = |line: String| line.replace("sourceToolAssistantUUID", "wasSource");
    let elsewhere = |line: String| {
        let from = r#""parentUuid":"c""#;
        if line.contains("tool_result") { line.replace(from, r#""parentUuid":"p""#) } else { line }
    };
    let mut aside: Vec<String> = plain.iter().cloned().map(unnamed).map(elsewhere).collect();
    aside.insert(2, link("progress", "p", "c"));
    for lines in [plain.to_vec(), plain.into_iter().map(unnamed).collect(), aside] {
        let given = session(&lines);
        let pairs: Vec<String> = given
            .session
            .tools()
            .iter()
            .map(|tool| format!("{} {}", tool.name, given.names(&[tool.call.unwrap(), tool.result.unwrap()])))
            .collect();
        assert_eq!(pairs, ["Bash c r1", "Read c r2"], "{lines:#?}");
        assert_eq!(given.rules(), Vec::<&str>::new());
    }
}

/// One odd line made a whole session unreadable.
#[test]
fn an_empty_uuid_names_nothing_and_is_read_again() {
    let mut lines = conversation(2);
    lines.insert(2, answer("", "a0", "m9"));
    lines.insert(3, answer("", "a0", "m10"));
    let given = session(&lines);
    assert_eq!(given.session.nodes().len(), 6);
    for id in given.session.ids() {
        given.session.entry(id).unwrap();
    }
}

/// Progress records are parents too, and programs that skip them saw forks.
#[test]
fn f75_progress_is_a_link_and_never_a_branch() {
    let given = session(&[
        prompt("u", "", "go"),
        call("c", "u", "m1", "Bash"),
        link("progress", "p1", "c"),
        link("progress", "p2", "p1"),
        link("progress", "p3", "c"),
        result("r", "p2"),
        link("attachment", "t", "r"),
        answer("a", "t", "m2"),
        link("progress", "p4", "a"),
    ]);
    assert_eq!(given.branches(), ["* u c p1 p2 p3 r t a p4"]);
}

/// Files repeat entries, up to five times, and some programs counted each.
#[test]
fn f76_repeated_entries_are_one_and_the_last_copy_counts() {
    let other = answer("a", "u", "m1").replace("answer a", "another answer");
    let moved =
        prompt("u", "", "go").replace(r#""isSidechain":false"#, r#""isSidechain":false,"cwd":"/elsewhere""#);
    let given = session(&[
        prompt("u", "", "go"),
        answer("a", "u", "m1"),
        prompt("u", "", "go"),
        moved,
        other,
        prompt("u2", "a", "on"),
    ]);
    assert_eq!(given.session.nodes().len(), 3);
    assert_eq!(given.rules(), ["unique-uuid", "unique-uuid", "conflicting-copies"]);
    let lines =
        |uuid| given.session.places(given.id(uuid)).iter().map(|place| place.line).collect::<Vec<_>>();
    assert_eq!((lines("u"), lines("a"), lines("u2")), (vec![1, 3, 4], vec![2, 5], vec![6]));
    assert_eq!(given.session.entry(given.id("u")).unwrap().cwd().as_deref(), Some("/elsewhere"));
    assert_eq!(given.session.entry(given.id("a")).unwrap().text(), "another answer");
    assert_eq!(given.branches(), ["* u a u2"]);
}

#[test]
fn f76_a_whole_copy_counts_more_than_one_saved_out_of_a_damaged_line() {
    let whole = prompt("u", "", "whole");
    let glued = format!(r#"{{"type":"user","mess{}"#, prompt("u", "", "whole").replace("10:00", "11:00"));
    for lines in [[whole.clone(), glued.clone()], [glued, whole]] {
        let given = session(&lines);
        assert!(!given.session.node(given.id("u")).is_salvaged());
        assert!(given.session.entry(given.id("u")).unwrap().timestamp().unwrap().contains("T10:00"));
        assert_eq!(given.session.places(given.id("u")).len(), 2);
    }
}

#[test]
fn entries_saved_out_of_damaged_lines_are_part_of_the_tree() {
    let cut = answer("lost", "u", "m0");
    let lines = format!(
        "{}\n{}{}\n{}\n",
        prompt("u", "", "go"),
        &cut[..60],
        answer("a", "u", "m1"),
        prompt("u2", "a", "on")
    );
    let given = session_of_bytes("s-1", lines.as_bytes(), &[]);
    assert_eq!(given.active(View::Unified), "u a u2");
    assert!(given.session.node(given.id("a")).is_salvaged());
    assert_eq!(given.session.entry(given.id("a")).unwrap().text(), "answer a");
    let counts = given.session.counts();
    assert_eq!((counts.lines, counts.entries, counts.damaged, counts.blank), (3, 2, 1, 0));
}

/// Forks repeat uuids, so an index over all files mixes sessions up.
#[test]
fn f77_files_do_not_share_uuids() {
    let side = |line: String| line.replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let agent = [side(prompt("u", "", "in the agent")), side(answer("a", "u", "m9"))];
    let given = super::given::session_with(
        &[prompt("u", "", "go"), answer("a", "u", "m1")],
        &[super::given::GivenAgent { id: "x", lines: &agent, sidecar: None }],
    );
    assert_eq!(given.session.nodes().len(), 4);
    assert!(given.rules().is_empty());
    for lane in given.session.lane_ids() {
        let id = given.session.by_uuid(lane, "a").unwrap();
        assert_eq!(given.session.node(id).lane, lane);
        assert_eq!(
            given.session.ancestors(id).map(|id| given.session.node(id).lane).collect::<Vec<_>>(),
            [lane]
        );
    }
}

/// Programs ran forever.
#[test]
fn f78_circles_are_cut_where_they_stand_first() {
    let given = session(&[
        prompt("u", "c", "go"),
        prompt("b", "u", "go"),
        prompt("c", "b", "go"),
        prompt("self", "self", "go"),
    ]);
    assert_eq!(given.rules(), ["parent-cycle", "parent-cycle"]);
    assert_eq!(given.active(View::Unified), "u b c self");
    let cut = given.session.roots(LaneId::MAIN);
    assert_eq!(cut.iter().filter(|root| root.kind == RootKind::Cut).count(), 2);
}

/// A snapshot's `messageId` is a message's uuid or looks like one.
#[test]
fn f79_snapshots_do_not_take_the_place_of_messages() {
    let snapshot = r#"{"type":"file-history-snapshot","messageId":"u","uuid":"u","snapshot":{"messageId":"u","trackedFileBackups":{}},"isSnapshotUpdate":false}"#;
    let given =
        session(&[snapshot.to_owned(), prompt("u", "", "go"), snapshot.to_owned(), answer("a", "u", "m1")]);
    assert_eq!(given.session.nodes().len(), 2);
    assert_eq!(given.session.entry(given.id("u")).unwrap().text(), "go");
    assert_eq!(given.session.side().records.len(), 2);
    assert!(given.rules().is_empty());
}

/// A resumed session showed the state from before its compaction, or nothing of it.
#[test]
fn f91_both_views_of_a_compacted_session() {
    let given = session(&[
        prompt("u", "", "go"),
        call("c", "u", "m1", "Bash"),
        result("r", "c"),
        answer("a", "r", "m2"),
        boundary("b", "a", "s", "a"),
        summary("s", "b"),
        prompt("u2", "s", "on"),
        answer("a2", "u2", "m3"),
        last_prompt("a2"),
    ]);
    assert_eq!(given.active(View::Unified), "u c r a b s u2 a2");
    assert_eq!(given.active(View::Model), "b s a u2 a2", "what was kept stands behind the summary");
    assert_eq!(given.branches().len(), 1);
}

/// Clocks jump; the order of lines and the parents do not.
#[test]
fn f136_times_do_not_change_the_tree() {
    let lines = conversation(6);
    let expected = session(&lines);
    let shuffled: Vec<String> = (0..lines.len())
        .map(|at| lines[at].replace("T10:00:00.000Z", &format!("T{:02}:00:00.000Z", (at * 7) % 12)))
        .collect();
    let odd: Vec<String> =
        lines.iter().map(|line| line.replace("2026-11-15T10:00:00.000Z", "yesterday")).collect();
    for given in [session(&shuffled), session(&odd)] {
        assert_eq!(given.branches(), expected.branches());
        assert_eq!(given.active(View::Unified), expected.active(View::Unified));
    }
}

#[test]
fn f138_times_that_cannot_be_read_are_left_out_and_stay_in_the_line() {
    let times = [r#""99999-01-01T00:00:00Z""#, "18446744073709551615", "1e400", r#""""#, "null", "{}"];
    for time in times {
        let line =
            format!(r#"{{"type":"user","uuid":"u","parentUuid":null,"timestamp":{time},"message":"x"}}"#);
        let given = session(std::slice::from_ref(&line));
        let node = given.session.node(given.id("u"));
        assert_eq!(node.at, None, "{time}");
        assert_eq!(given.session.entry(given.id("u")).unwrap().raw(), line.as_bytes());
    }
}

/// `last-prompt` names the leaf to resume from; entries added since belong to it, rewound ones do not.
#[test]
fn the_noted_leaf_is_active_with_what_was_added_since() {
    let mut lines = conversation(2);
    lines.push(prompt("u1b", "a0", "edited"));
    lines.push(answer("a1b", "u1b", "m9"));
    let with = |leaf: &str, more: &[String]| {
        let mut lines = lines.clone();
        lines.push(last_prompt(leaf));
        lines.extend_from_slice(more);
        session(&lines)
    };
    assert_eq!(session(&lines).active(View::Unified), "u0 a0 u1b a1b", "the last line, if nothing is noted");
    assert_eq!(with("a1", &[]).active(View::Unified), "u0 a0 u1 a1");
    assert_eq!(with("nowhere", &[]).active(View::Unified), "u0 a0 u1b a1b");
    let rewound = with("a0", &[]);
    assert_eq!(rewound.branches(), ["* u0 a0", "a0 > u1 a1", "a0 > u1b a1b"]);
    let added = with("a1", &[prompt("u2", "a1", "on"), link("attachment", "t", "u2")]);
    assert_eq!(added.active(View::Unified), "u0 a0 u1 a1 u2 t");
    let below_a_lost_line = with("lost", &[prompt("u2", "lost", "on"), prompt("u3", "a0", "x")]);
    assert!(below_a_lost_line.active(View::Unified).ends_with("u2"));
}

#[test]
fn entries_without_uuids_and_parents_follow_each_other() {
    let given = session(&[
        r#"{"type":"user","message":"one"}"#.to_owned(),
        r#"{"type":"assistant","message":"two"}"#.to_owned(),
        r#"{"type":"user","uuid":"u","message":"three"}"#.to_owned(),
    ]);
    assert_eq!(given.active(View::Unified), "- - u");
    assert_eq!(given.session.depth(given.id("u")), 2);
}

#[test]
fn an_id_of_megabytes_is_kept_short() {
    let long = "x".repeat(1 << 20);
    let given = session(&[prompt(&long, "", "go"), prompt("u", &long, "on")]);
    assert_eq!(given.session.depth(given.id("u")), 1);
    assert_eq!(given.session.by_uuid(LaneId::MAIN, &long).map(NodeId::index), Some(0));
    assert!(given.session.nodes()[0].uuid.as_ref().unwrap().len() < 300);
    assert!(given.session.entry(given.session.ids().next().unwrap()).is_ok());
}

#[test]
fn a_file_that_changes_meanwhile_gives_an_error_and_no_other_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs_err::write(&path, prompt("u", "", "go")).unwrap();
    let files = tidings_transcript::roots::SessionFiles::of_file(&path).unwrap();
    let session = tidings_transcript::session::Session::open(&files).unwrap();
    let id = session.ids().next().unwrap();
    assert_eq!(session.entry(id).unwrap().text(), "go");
    fs_err::write(&path, prompt("v", "", "go")).unwrap();
    assert!(session.entry(id).unwrap_err().to_string().contains("changed"));
    fs_err::write(&path, "").unwrap();
    assert!(session.entry(id).is_err());
}

/// F75: entries before the first island without an existing predecessor belong to it.
#[test]
fn f75_what_stands_before_the_first_island_belongs_to_it() {
    let given = session(&[
        answer("a", "r", "m1"),
        link("progress", "p", "elsewhere"),
        answer("r", "", "m1"),
        prompt("u", "a", "on"),
    ]);
    assert_eq!(given.branches(), ["* p a r u"]);
    holds(&given);
}

/// Checks the invariants of every session.
fn holds(given: &Given) {
    let session = &given.session;
    let mut on_lanes: Vec<_> = session.lanes().iter().flat_map(|lane| lane.nodes.clone()).collect();
    on_lanes.sort();
    assert_eq!(on_lanes, session.ids().collect::<Vec<_>>(), "every entry is on one lane");
    for lane in session.lane_ids() {
        let mut owned: Vec<_> =
            session.branches(lane).iter().flat_map(|branch| session.own_path(branch)).collect();
        owned.sort();
        assert_eq!(owned, session.lane(lane).nodes, "every entry belongs to one branch");
        for root in session.roots(lane) {
            assert_eq!(session.node(root.node).lane, lane);
        }
        let longest = session.longest_way(lane).len();
        assert!(session.ways(lane).all(|way| way.len() <= longest));
    }
    for id in session.ids() {
        assert!(session.ancestors(id).take(session.nodes().len() + 1).count() < session.nodes().len());
        assert!(!session.flow(id).as_str().is_empty() && !session.actor(id).to_string().is_empty());
        assert!(session.entry(id).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Any graph of parents ends, and has every entry once.
    #[test]
    fn f78_random_graphs_end_and_visit_each_entry_once(
        entries in prop::collection::vec((0..40_usize, 0..8_u8, 0..6_u8, any::<bool>(), 0..40_usize), 1..40)
    ) {
        let mut text = String::new();
        for (at, (parent, kind, message, side, logical)) in entries.iter().enumerate() {
            let around = envelope(&format!("n{at}"), &if *parent == 39 { String::new() } else { format!("n{parent}") });
            let around = around.replace(r#""isSidechain":false"#, &format!(r#""isSidechain":{side}"#));
            let line = match kind {
                0 => format!(r#"{{"type":"progress",{around}}}"#),
                1 => format!(r#"{{"type":"attachment",{around}}}"#),
                2 => format!(r#"{{"type":"system","subtype":"compact_boundary",{around},"logicalParentUuid":"n{logical}"}}"#),
                3 => format!(r#"{{"type":"user",{around},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t{message}","content":"x"}}]}}}}"#),
                4 => format!(r#"{{"type":"assistant",{around},"message":{{"id":"m{message}","content":[{{"type":"tool_use","id":"t{message}","name":"Task","input":{{}}}}]}}}}"#),
                5 => format!(r#"{{"type":"assistant",{around},"message":{{"id":"m{message}","content":"x"}}}}"#),
                6 => format!(r#"{{"type":"last-prompt","leafUuid":"n{logical}"}}"#),
                _ => format!(r#"{{"type":"user",{around},"agentId":"g{message}","message":{{"content":"x"}}}}"#),
            };
            writeln!(text, "{line}").unwrap();
        }
        holds(&session_of_bytes("s-1", text.as_bytes(), &[]));
    }
}

#[test]
fn deep_and_wide_sessions_need_no_stack_and_no_square_of_time() {
    let deep = session(&conversation(4_000));
    assert_eq!(deep.branches().len(), 1);
    assert_eq!(deep.session.longest_way(LaneId::MAIN).len(), 8_000);
    let mut wide = vec![prompt("root", "", "go")];
    wide.extend((0..4_000).map(|at| prompt(&format!("u{at}"), "root", "again")));
    let wide = session(&wide);
    assert_eq!(wide.session.branches(LaneId::MAIN).len(), 4_000);
}
