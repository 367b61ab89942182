//! The conversations of the session specification.

use tidings_protocol::entry::Dialect;
use tidings_transcript::session::{CommandTags, Flow, Join, LaneId, Step, Trigger, View};

use super::given::{
    Given, answer, boundary, call, envelope, link, prompt, result, seed, seed_call, seed_error, seed_result,
    seed_side, seed_text, session, summary,
};

/// Flow and step of every entry, in order.
fn flows(given: &Given) -> Vec<String> {
    let session = &given.session;
    session.ids().map(|id| format!("{} {}", session.flow(id), session.step(id).as_str())).collect()
}

/// The flow of each turn of the active path.
fn turns(given: &Given) -> Vec<Flow> {
    let leaf = given.session.active_leaf(LaneId::MAIN).unwrap();
    let path = given.session.path(leaf, View::Unified);
    given.session.turns(&path).iter().map(|turn| turn.flow).collect()
}

/// Pairs as `call=result`, in the order of calls.
fn pairs(given: &Given) -> Vec<String> {
    let name = |id: Option<_>| id.map_or("-".to_owned(), |id| given.names(&[id]));
    given.session.tools().iter().map(|tool| format!("{}={}", name(tool.call), name(tool.result))).collect()
}

#[test]
fn s1_17_a_call_is_paired_with_its_result() {
    let seeded = session(&[
        seed_text("user", "u", "", "go"),
        seed_call("c", "u", "Write"),
        seed_result("r", "c"),
        seed_text("assistant", "a", "r", "done"),
    ]);
    assert_eq!(pairs(&seeded), ["c=r"]);
    assert_eq!(seeded.session.dialect(), Some(Dialect::Seed));
    let real = session(&[
        prompt("u", "", "go"),
        call("c", "u", "m1", "Bash"),
        answer("late", "c", "m2"),
        result("r", "c"),
        call("open", "r", "m3", "Read"),
    ]);
    assert_eq!(pairs(&real), ["c=r", "open=-"]);
    assert_eq!(real.rules(), ["tool-result-missing"]);
}

#[test]
fn s1_18_parallel_results_find_their_calls_by_parent_or_by_order() {
    let calls = [
        seed_text("user", "u", "", "go"),
        seed_call("c1", "u", "Read"),
        seed_call("c2", "c1", "Grep"),
        seed_call("c3", "c2", "Glob"),
    ];
    // Each result hangs off its call, in any order.
    let by_parent = [seed_result("r3", "c3"), seed_result("r1", "c1"), seed_result("r2", "c2")];
    let after = [seed_text("assistant", "a", "r2", "done")];
    let given = session(&[&calls[..], &by_parent, &after].concat());
    assert_eq!(pairs(&given), ["c1=r1", "c2=r2", "c3=r3"]);
    assert_eq!(given.branches(), ["* u c1 c2 c3 r3 r1 r2 a"], "parallel calls are no branches");
    // Results hang off each other.
    let in_order = [seed_result("r1", "c3"), seed_result("r2", "r1"), seed_result("r3", "r2")];
    let given = session(&[&calls[..], &in_order].concat());
    assert_eq!(pairs(&given), ["c1=r1", "c2=r2", "c3=r3"]);
    // One is missing.
    let given = session(&[&calls[..], &in_order[..2]].concat());
    assert_eq!(pairs(&given), ["c1=r1", "c2=r2", "c3=-"]);
}

#[test]
fn s1_18_real_parallel_results_are_put_back_on_the_path() {
    let given = session(&[
        prompt("u", "", "go"),
        answer("a1", "u", "m1"),
        call("a2", "a1", "m1", "Read"),
        call("a3", "a2", "m1", "Bash"),
        call("a4", "a3", "m1", "Grep"),
        result("r4", "a4"),
        result("r2", "a2"),
        result("r3", "a3"),
        link("attachment", "t", "r3"),
        answer("b1", "t", "m2"),
    ]);
    // The parents of b1 alone include neither a4 nor r4 nor r2.
    assert_eq!(given.active(View::Unified), "u a1 a2 a3 a4 r4 r2 r3 t b1");
    assert_eq!(given.active(View::Model), given.active(View::Unified));
    assert_eq!(given.branches().len(), 1);
}

#[test]
fn s1_19_actors_come_from_the_lane_and_never_from_the_user_type() {
    let given = session(&[
        seed("user", "u", "", r#""message":"go","userType":"external""#),
        seed_text("assistant", "a", "u", "on it"),
        seed_side("user", "su", "a", "look"),
        seed_side("assistant", "sa", "su", "found"),
        seed_text("assistant", "end", "sa", "done"),
    ]);
    let actor = |uuid| given.session.actor(given.id(uuid)).to_string();
    assert_eq!(
        ["u", "a", "su", "sa", "end"].map(actor),
        ["User", "Assistant", "Claude [as user]", "Agent [unknown]", "Assistant"]
    );
}

#[test]
fn s1_21_a_linear_conversation_is_recognised() {
    let given = session(&[
        seed_text("user", "u1", "", "hello"),
        seed_text("assistant", "a1", "u1", "hi"),
        seed_text("user", "u2", "a1", "bye"),
        seed_text("assistant", "a2", "u2", "bye"),
    ]);
    assert_eq!(flows(&given), ["linear prompt", "linear answer", "linear prompt", "linear answer"]);
    assert_eq!(turns(&given), [Flow::Linear, Flow::Linear]);
    assert!(given.session.is_linear(LaneId::MAIN));
}

#[test]
fn s1_22_tool_use_is_recognised() {
    let seeded = session(&[
        seed_text("user", "u", "", "write it"),
        seed_text("assistant", "a", "u", "I will"),
        seed_call("c", "a", "Write"),
        seed_result("r", "c"),
        seed_text("assistant", "end", "r", "written"),
    ]);
    assert_eq!(
        flows(&seeded),
        ["linear prompt", "linear answer", "tool-use call", "tool-use result", "tool-use answer"]
    );
    assert_eq!(turns(&seeded), [Flow::ToolUse]);
    let real = session(&[
        prompt("u", "", "go"),
        call("c", "u", "m1", "Bash"),
        result("r", "c"),
        answer("a", "r", "m2"),
    ]);
    assert_eq!(turns(&real), [Flow::ToolUse]);
}

#[test]
fn s1_23_a_sidechain_is_a_lane_and_the_conversation_returns_from_it() {
    let given = session(&[
        seed_text("user", "u", "", "go"),
        seed_text("assistant", "a", "u", "I delegate"),
        seed_side("user", "su", "a", "look into it"),
        seed_side("assistant", "sa", "su", "found it"),
        seed_text("assistant", "end", "sa", "here it is"),
    ]);
    let [main, side] = given.session.lanes() else { panic!("two lanes") };
    assert_eq!((given.names(&main.nodes), given.names(&side.nodes)), ("u a end".into(), "su sa".into()));
    assert_eq!(given.active(View::Unified), "u a end");
    let agent = side.agent.as_ref().unwrap();
    assert_eq!((agent.started_by, agent.joined_by), (Some(given.id("a")), Some(Join::Parent)));
    assert!(agent.is_complete);
    assert_eq!(given.session.flow(given.id("su")), Flow::Sidechain);
    assert_eq!(given.session.flow(given.id("sa")), Flow::Sidechain);
    assert!(given.rules().is_empty());
}

#[test]
fn s1_24_error_recovery_chain_is_recognised() {
    let given = session(&[
        seed_text("user", "u", "", "write it"),
        seed_text("assistant", "a", "u", "first way"),
        seed_call("c1", "a", "Write"),
        seed_error("e", "c1"),
        seed_text("assistant", "b", "e", "another way"),
        seed_call("c2", "b", "Bash"),
        seed_result("r", "c2"),
    ]);
    assert_eq!(
        flows(&given),
        [
            "linear prompt",
            "linear answer",
            "error-recovery attempt",
            "error-recovery failure",
            "error-recovery retry",
            "error-recovery retry",
            "error-recovery recovery"
        ]
    );
    assert_eq!(turns(&given), [Flow::ErrorRecovery]);
    assert_eq!(pairs(&given), ["c1=e", "c2=r"]);
    assert!(given.session.tools()[0].is_error);
    assert_eq!(given.session.actor(given.id("e")).to_string(), "System [Error]");
}

#[test]
fn s1_25_compaction_flow_is_recognised() {
    let seeded = session(&[
        seed_text("user", "u", "", "hello"),
        seed_text("assistant", "a", "u", "hi"),
        seed_text("user", "k", "a", "/compact"),
        seed_text("compact_system", "k1", "k", "conversation_compacting"),
        seed(
            "compact_system",
            "k2",
            "k1",
            r#""message":"conversation_compacted","metadata":{"preservedMessages":15,"totalMessages":150,"compressionRatio":0.1}"#,
        ),
        seed_text("assistant", "ok", "k2", "compacted"),
    ]);
    assert_eq!(
        flows(&seeded)[2..],
        ["compaction command", "compaction compact", "compaction compact", "compaction answer"]
    );
    assert_eq!(turns(&seeded), [Flow::Linear, Flow::Compaction]);
    let [compaction] = seeded.session.compactions() else { panic!("one compaction") };
    assert_eq!(compaction.node, seeded.id("k2"));
    assert_eq!((compaction.preserved_messages, compaction.total_messages), (Some(15), Some(150)));
    assert_eq!((compaction.trigger, compaction.dialect), (Some(Trigger::Manual), Dialect::Seed));
    assert_eq!(seeded.active(View::Model), "k2 ok");
    assert_eq!(seeded.session.actor(compaction.node).to_string(), "System [Compact]");
}

#[test]
fn s1_26_an_edited_message_forms_a_sibling_and_both_branches_are_kept() {
    let given = session(&[
        seed_text("user", "1", "", "one"),
        seed_text("assistant", "2", "1", "two"),
        seed_text("user", "3", "2", "three"),
        seed_text("assistant", "4", "3", "four"),
        seed_text("user", "3b", "2", "three, edited"),
        seed_text("assistant", "4b", "3b", "four, edited"),
    ]);
    assert_eq!(given.branches(), ["* 1 2 3b 4b", "2 > 3 4"]);
    let abandoned = given.session.branches(LaneId::MAIN)[1];
    assert_eq!(given.names(&given.session.path(abandoned.leaf, View::Unified)), "1 2 3 4");
}

#[test]
fn s1_37_an_explicit_mark_chooses_the_active_branch() {
    let given = session(&[
        seed_text("human", "1", "", "one"),
        seed("human", "2", "1", r#""message":"marked","is_active":true"#),
        seed("human", "2b", "1", r#""message":"later","is_active":false"#),
    ]);
    assert_eq!(given.branches(), ["* 1 2", "1 > 2b"]);
}

#[test]
fn s1_39_a_path_goes_over_compactions_or_is_cut_into_epochs() {
    let given = session(&[
        prompt("u", "", "go"),
        answer("a", "u", "m1"),
        boundary("b", "a", "s", "a"),
        summary("s", "b"),
        prompt("u2", "s", "on"),
        answer("a2", "u2", "m2"),
    ]);
    assert_eq!(given.active(View::Unified), "u a b s u2 a2");
    let leaf = given.session.active_leaf(LaneId::MAIN).unwrap();
    let path = given.session.path(leaf, View::Unified);
    let epochs: Vec<String> =
        given.session.epochs(&path).into_iter().map(|epoch| given.names(epoch)).collect();
    assert_eq!(epochs, ["u a", "b s u2 a2"]);
}

#[test]
fn s1_40_compactions_report_trigger_and_tokens() {
    let given = session(&[prompt("u", "", "go"), boundary("b", "u", "s", "u"), summary("s", "b")]);
    let [compaction] = given.session.compactions() else { panic!("one compaction") };
    assert_eq!(compaction.trigger, Some(Trigger::Auto));
    assert_eq!((compaction.pre_tokens, compaction.post_tokens), (Some(155_000), Some(9_000)));
    assert_eq!(compaction.summary, Some(given.id("s")));
    assert_eq!(compaction.preserved, [given.id("u")]);
}

#[test]
fn s1_44_every_label() {
    let error = r#""isApiErrorMessage":true,"message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"overloaded"}]}"#;
    let given = session(&[
        prompt("user", "", "go"),
        prompt("command", "user", "<command-name>/model</command-name><command-args>opus</command-args>"),
        format!(
            r#"{{"type":"user",{},"userType":"team","message":{{"content":"hi"}}}}"#,
            envelope("typed", "command").replace(r#","userType":"external""#, "")
        ),
        call("assistant", "typed", "m", "Bash"),
        result("result", "assistant"),
        prompt("stop", "result", "[Request interrupted by user]"),
        link("system", "event", "stop"),
        boundary("compact", "event", "", ""),
        format!(
            r#"{{"type":"user",{},"isMeta":true,"message":{{"content":"caveat"}}}}"#,
            envelope("meta", "compact")
        ),
        format!(r#"{{"type":"assistant",{},{error}}}"#, envelope("error", "meta")),
        link("hologram", "unknown", "error"),
    ]);
    let labels: Vec<String> = given.session.ids().map(|id| given.session.actor(id).to_string()).collect();
    assert_eq!(
        labels,
        [
            "User",
            "User [command]",
            "User [team]",
            "Assistant",
            "Tool Result [Bash]",
            "User [interrupt]",
            "System",
            "System [Compact]",
            "System [Metadata]",
            "System [Error]",
            "Unknown [hologram]"
        ]
    );
}

#[test]
fn s1_47_command_tags_are_read() {
    let parse = |text| CommandTags::parse(text);
    let tags = parse("<command-name>/compact</command-name>\n  <command-message>compact</command-message>\n <command-args>focus on x</command-args>").unwrap();
    assert_eq!((tags.name.as_deref(), tags.args.as_deref()), (Some("/compact"), Some("focus on x")));
    assert_eq!(tags.message.as_deref(), Some("compact"));
    let printed = parse("<local-command-stdout>Set model</local-command-stdout>").unwrap();
    assert_eq!((printed.stdout.as_deref(), printed.name), (Some("Set model"), None));
    assert_eq!(parse("<local-command-stdout>cut").unwrap().stdout.as_deref(), Some("cut"));
    assert_eq!(parse("What does <command-name> do?"), None);
}

#[test]
fn steps_have_the_names_that_scripts_see() {
    assert_eq!(
        [Step::Prompt, Step::Recovery, Step::Aside].map(Step::as_str),
        ["prompt", "recovery", "aside"]
    );
}
